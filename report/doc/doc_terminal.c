/* doc_terminal: a document for a terminal, as wide as that (screen.h). Titles of sections
 * are left out: the sentences come first. Tables are in doc_terminal_table. */
#include <stdlib.h>
#include <string.h>

#include "report/doc/doc_parts.h"
#include "report/doc/screen.h"

/* doc_terminal_matrix: a table of signs for a terminal: the names of its columns are written
 * downwards. As many columns stand side by side as there is room for, the next ones below. */

#define NAME_MAX 30    /* the greatest width of a row's name */
#define HEAD_MAX 18    /* lines of a column's name */
#define SIGN_WIDTH 2   /* a sign and a space ... */
#define MARKED_WIDTH 3 /* ... and between them a mark, where any sign of the table has one */

struct matrix {
    const struct screen *screen;
    const struct doc_node *table;
    int name_width, sign_width;
    int from, to; /* the columns of the table; the first one has the names */
};

/* One code point of a text, or a space beyond its end. */
static void put_point(const struct screen *screen, const char *text, int index) {
    char point[8] = " ";
    int at = 0;
    for (; *text; text++) {
        if (((unsigned char)*text & 0xC0) == 0x80) continue;
        if (at++ < index) continue;
        size_t length = 1;
        while (length < 4 && ((unsigned char)text[length] & 0xC0) == 0x80) length++;
        memcpy(point, text, length);
        point[length] = '\0';
        break;
    }
    screen_put(screen, point, 1, TONE_PLAIN);
}

/* The names end right above their columns. */
static void write_heads(const struct matrix *matrix) {
    const struct doc_column *columns = matrix->table->columns;
    int tall = 0;
    for (int c = matrix->from; c < matrix->to; c++) {
        int width = screen_width(columns[c].title);
        if (width > tall) tall = width;
    }
    if (tall > HEAD_MAX) tall = HEAD_MAX;
    for (int line = 0; line < tall; line++) {
        screen_put(matrix->screen, line == tall - 1 ? columns[0].title : "", -matrix->name_width,
                   TONE_PLAIN);
        for (int c = matrix->from; c < matrix->to; c++) {
            int width = screen_width(columns[c].title), skip = width < tall ? tall - width : 0;
            int gap = c == matrix->from ? 1 : matrix->sign_width - 1;
            fprintf(matrix->screen->out, "%*s", gap, "");
            if (line < skip) {
                fputc(' ', matrix->screen->out);
            } else {
                put_point(matrix->screen, columns[c].title, line - skip);
            }
        }
        fputc('\n', matrix->screen->out);
    }
}

static int write_matrix_row(const struct matrix *matrix, const struct doc_node *row) {
    const struct doc_node *cell = doc_cell_from(row->first);
    for (int c = 0; cell && c < matrix->to; c++, cell = doc_cell_from(cell->next)) {
        if (c > 0 && c < matrix->from) continue;
        char *text = doc_flat_text(cell, DOC_TERMINAL);
        if (!text) return -1;
        int width = c == 0 ? matrix->name_width : c + 1 < matrix->to ? matrix->sign_width : 0;
        screen_put(matrix->screen, text, -width, c == 0 ? TONE_PLAIN : cell->tone);
        if (c == 0) fputc(' ', matrix->screen->out);
        free(text);
    }
    fputc('\n', matrix->screen->out);
    return 0;
}

static int widen(int *width, const struct doc_node *cell) {
    char *text = doc_flat_text(cell, DOC_TERMINAL);
    if (!text) return -1;
    if (screen_width(text) > *width) *width = screen_width(text);
    free(text);
    return 0;
}

static int measure_matrix(struct matrix *matrix) {
    int sign = 1;
    for (const struct doc_node *row = matrix->table->first; row; row = row->next) {
        if (row->kind != NODE_ROW) continue;
        const struct doc_node *cell = doc_cell_from(row->first);
        int *width = &matrix->name_width;
        for (; cell; cell = doc_cell_from(cell->next), width = &sign) {
            if (widen(width, cell) != 0) return -1;
        }
    }
    matrix->sign_width = sign > 1 ? MARKED_WIDTH : SIGN_WIDTH;
    if (matrix->name_width > NAME_MAX) matrix->name_width = NAME_MAX;
    return 0;
}

/* Writes a table whose columns are upright. */
static int doc_terminal_matrix(const struct screen *screen, const struct doc_node *table) {
    struct matrix matrix = {.screen = screen, .table = table};
    matrix.name_width = screen_width(table->columns[0].title);
    if (measure_matrix(&matrix) != 0) return -1;
    int room = (screen->columns - 1 - matrix.name_width) / matrix.sign_width;
    for (matrix.from = 1; matrix.from < table->column_count; matrix.from = matrix.to) {
        matrix.to = matrix.from + room;
        if (matrix.to > table->column_count) matrix.to = table->column_count;
        if (matrix.from > 1) fputc('\n', screen->out);
        write_heads(&matrix);
        for (const struct doc_node *row = table->first; row; row = row->next) {
            int rc = row->kind == NODE_GROUP ? doc_terminal_line(screen, row, "", TONE_BEST)
                     : row->kind == NODE_ROW ? write_matrix_row(&matrix, row)
                                             : 0;
            if (rc != 0) return -1;
        }
    }
    return 0;
}

#define TERM_WIDTH 22

/* The kind of the last output, which decides whether a blank line is next. */
enum block { BLOCK_NOTHING, BLOCK_HEAD, BLOCK_LINES, BLOCK_TABLE };

struct writer {
    struct screen screen;
    enum block before;
};

static void begin_block(struct writer *writer, enum block block) {
    bool joined = writer->before == BLOCK_NOTHING ||
                  (writer->before == BLOCK_HEAD && block != BLOCK_HEAD) ||
                  (writer->before == BLOCK_LINES && block == BLOCK_LINES);
    if (!joined) fputc('\n', writer->screen.out);
    writer->before = block;
}

void doc_terminal_details(const struct screen *screen, const struct doc_node *node,
                          enum tone tone) {
    for (const struct doc_node *span = node->first; span; span = span->next) {
        if (span->kind != NODE_SPAN || span->style != DOC_DETAIL) continue;
        if (span->is_command) {
            fputs("    ", screen->out);
            screen_put(screen, span->mark, 0, TONE_PLAIN);
            fputs(": ", screen->out);
            screen_put(screen, span->text, 0, TONE_PLAIN);
            fputc('\n', screen->out);
        } else {
            screen_say(screen, 6, tone, "    %s", span->text);
        }
    }
}

int doc_terminal_line(const struct screen *screen, const struct doc_node *node, const char *before,
                      enum tone tone) {
    char *text = doc_flat_text(node, DOC_TERMINAL);
    if (!text) return -1;
    screen_say(screen, 2, tone, "%s%s", before, text);
    free(text);
    doc_terminal_details(screen, node, TONE_PLAIN);
    return 0;
}

static int write_term(const struct screen *screen, const struct doc_node *term) {
    char *text = doc_flat_text(term, DOC_TERMINAL);
    if (!text) return -1;
    fputs("  ", screen->out);
    screen_put(screen, term->title, -TERM_WIDTH, TONE_PLAIN);
    fputc(' ', screen->out);
    screen_wrap(screen, text, TERM_WIDTH + 3, TERM_WIDTH + 3, TONE_PLAIN);
    free(text);
    return 0;
}

static int write_terminal_blocks(struct writer *writer, const struct doc_node *node);

static int write_terminal_block(struct writer *writer, const struct doc_node *node) {
    const struct screen *screen = &writer->screen;
    enum tone tone = node->headline && node->tone == TONE_PLAIN ? TONE_BEST : node->tone;
    switch (node->kind) {
    case NODE_HEADING:
    case NODE_FOLD:
        begin_block(writer, BLOCK_HEAD);
        if (doc_terminal_line(screen, node, "", TONE_BEST) != 0) return -1;
        return node->kind == NODE_FOLD ? write_terminal_blocks(writer, node->first) : 0;
    case NODE_SENTENCE:
        begin_block(writer, BLOCK_LINES);
        return doc_terminal_line(screen, node, "", tone);
    case NODE_ITEM:
        begin_block(writer, BLOCK_LINES);
        return doc_terminal_line(screen, node, "- ", tone);
    case NODE_TERM:
        begin_block(writer, BLOCK_LINES);
        return write_term(screen, node);
    case NODE_CODE:
        begin_block(writer, BLOCK_LINES);
        fputs("  ", screen->out);
        screen_put(screen, node->text, 0, TONE_PLAIN);
        fputc('\n', screen->out);
        return 0;
    case NODE_TABLE:
        begin_block(writer, BLOCK_TABLE);
        return node->column_count > 1 && node->columns[1].upright
                   ? doc_terminal_matrix(screen, node)
                   : doc_terminal_table(screen, node);
    case NODE_HTML:
        return 0;
    case NODE_SECTION:
        if (writer->before == BLOCK_LINES) writer->before = BLOCK_TABLE;
        return write_terminal_blocks(writer, node->first);
    default:
        return write_terminal_blocks(writer, node->first);
    }
}

static int write_terminal_blocks(struct writer *writer, const struct doc_node *node) {
    for (; node; node = node->next) {
        if (node->kind == NODE_SPAN || !doc_is_for(node->only, DOC_TERMINAL)) continue;
        if (write_terminal_block(writer, node) != 0) return -1;
    }
    return 0;
}

int doc_write_terminal(const struct doc_node *root, bool color, FILE *out) {
    struct writer writer = {screen_of(out, color), BLOCK_NOTHING};
    return write_terminal_blocks(&writer, root->first);
}
