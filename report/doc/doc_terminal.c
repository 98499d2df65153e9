/* doc_terminal: a document for a terminal, as wide as that (screen.h). Titles of sections
 * are left out: the sentences come first. Tables are in doc_terminal_table. */
#include <stdlib.h>

#include "report/doc/doc_parts.h"
#include "report/doc/screen.h"

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
        return doc_terminal_table(screen, node);
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
        if (!doc_is_shown(node, DOC_TERMINAL)) continue;
        if (write_terminal_block(writer, node) != 0) return -1;
    }
    return 0;
}

int doc_write_terminal(const struct doc_node *root, bool color, FILE *out) {
    struct writer writer = {screen_of(out, color), BLOCK_NOTHING};
    return write_terminal_blocks(&writer, root->first);
}
