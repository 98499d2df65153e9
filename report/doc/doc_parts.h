/* doc_parts: the nodes of a document. Only for the writers in report/doc. */
#ifndef REPORT_DOC_DOC_PARTS_H
#define REPORT_DOC_DOC_PARTS_H

#include "report/doc/doc.h"

enum doc_kind {
    NODE_ROOT,
    NODE_SECTION,
    NODE_BOX,
    NODE_FOLD,
    NODE_LIST,
    NODE_TERMS,
    NODE_TABLE,
    NODE_HEADING,
    NODE_SENTENCE,
    NODE_CODE,
    NODE_HTML,
    NODE_ITEM,
    NODE_TERM,
    NODE_GROUP,
    NODE_ROW,
    NODE_CELL,
    NODE_NOTE,
    NODE_SPAN,
};

struct doc_node {
    enum doc_kind kind;
    enum doc_style style; /* the style of a span */
    enum tone tone;
    unsigned only;
    /* is_open: of a fold; is_aside: of a row; has_value: the cell is sorted by value; is_figure:
     * the text of the cell is made from value, as its column says */
    bool is_open, is_aside, headline, shown, has_value, is_figure, is_command;
    double value;
    /* title: the help; link: the anchor or the class; mark: the mark of a
     * chip, or the label of a command */
    char *text, *title, *link, *mark;
    struct doc_column *columns; /* the columns of a table */
    int column_count;
    struct doc_node *parent, *first, *end, *next; /* end: the last of its children */
};

static inline bool doc_is_for(unsigned only, enum doc_format format) {
    return only == 0 || (only & format);
}

/* True if the format has the block; a section without blocks of its own has no heading either. */
static inline bool doc_is_shown(const struct doc_node *node, enum doc_format format) {
    const struct doc_node *child = node->first;
    if (node->kind == NODE_SPAN || !doc_is_for(node->only, format)) return false;
    while (child && !doc_is_shown(child, format)) child = child->next;
    return child || node->kind != NODE_SECTION;
}

static inline bool doc_is_number(const struct doc_column *column) {
    return column->figure != DOC_TEXT || column->right;
}

/* The first cell among `node` and its next siblings, which are children of a row; NULL if there is
 * none. */
static inline const struct doc_node *doc_cell_from(const struct doc_node *node) {
    while (node && node->kind != NODE_CELL) node = node->next;
    return node;
}

/* True if a terminal shows lines of their own below the node: one of its spans is a detail. */
static inline bool doc_has_details(const struct doc_node *node) {
    const struct doc_node *span = node->first;
    while (span && (span->kind != NODE_SPAN || span->style != DOC_DETAIL)) span = span->next;
    return span != NULL;
}

/* The contents of a cell as a bare text, spans included; malloced, NULL when out of memory. */
char *doc_cell_text(const struct doc_column *column, const struct doc_node *cell,
                    enum doc_format format);
/* The same for any node: its text and its spans, without its details. */
char *doc_flat_text(const struct doc_node *node, enum doc_format format);

/* The writers. 0, or -1 when out of memory. */
int doc_write_terminal(const struct doc_node *root, bool color, FILE *out);
int doc_write_md(const struct doc_node *root, FILE *out);
int doc_write_html(const struct doc_node *root, FILE *out);

struct screen;
/* Writes the line of a node, with its details below. 0, or -1 when out of memory. */
int doc_terminal_line(const struct screen *screen, const struct doc_node *node, const char *before,
                      enum tone tone);
void doc_terminal_details(const struct screen *screen, const struct doc_node *node, enum tone tone);
int doc_terminal_table(const struct screen *screen, const struct doc_node *table);

#endif
