/* doc_terminal_matrix: a table of signs for a terminal: the names of its columns are written
 * downwards. As many columns stand side by side as there is room for, the next ones below. */
#include <stdlib.h>
#include <string.h>

#include "report/doc/doc_parts.h"
#include "report/doc/screen.h"

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
        int width = c == 0 ? matrix->name_width + 1 : c + 1 < matrix->to ? matrix->sign_width : 0;
        screen_put(matrix->screen, text, -width, c == 0 ? TONE_PLAIN : cell->tone);
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

int doc_terminal_matrix(const struct screen *screen, const struct doc_node *table) {
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
