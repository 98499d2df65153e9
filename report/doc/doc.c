/* doc: builds a document, and has its texts for the writers, which are in files of their own. See doc.h. */
#define _GNU_SOURCE
#include "report/doc/doc.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/output.h"
#include "report/doc/doc_parts.h"
#include "report/doc/escape.h"

const char *tone_name(enum tone tone) {
    static const char *const names[] = {"plain", "good", "warn", "bad", "plain"};
    return names[tone];
}

const char *tone_mark(enum tone tone) {
    static const char *const marks[] = {"", "✅ ", "⚠️ ", "❌ ", ""};
    return marks[tone];
}

static struct doc_node *make_node(struct doc *doc, enum doc_kind kind) {
    struct doc_node *node = doc->failed ? NULL : calloc(1, sizeof *node);
    if (!node) {
        doc->failed = true;
        return NULL;
    }
    node->kind = kind;
    node->value = NAN;
    return node;
}

static void append_to(struct doc_node *parent, struct doc_node *node) {
    node->parent = parent;
    if (parent->end) {
        parent->end->next = node;
    } else {
        parent->first = node;
    }
    parent->end = node;
}

/* Adds a block to the innermost open one; NULL when out of memory. */
static struct doc_node *add_block(struct doc *doc, enum doc_kind kind) {
    if (!doc->root) doc->root = doc->open = doc->last = make_node(doc, NODE_ROOT);
    struct doc_node *node = make_node(doc, kind);
    if (!node) return NULL;
    append_to(doc->open, node);
    doc->last = node;
    return node;
}

/* Copies a text; NULL for NULL, and when memory runs out. */
static char *copy_of(struct doc *doc, const char *text) {
    char *copy = text ? strdup(text) : NULL;
    if (text && !copy) doc->failed = true;
    return copy;
}

static void copy_text(struct doc *doc, char **to, const char *text) {
    if (!text) return;
    free(*to);
    *to = copy_of(doc, text);
}

static void format_text(struct doc *doc, struct doc_node *node, const char *format, va_list args) {
    if (node && vasprintf(&node->text, format, args) < 0) {
        node->text = NULL;
        doc->failed = true;
    }
}

/* Fills the text of a node that was just added from the arguments after format. */
#define FORMAT_TEXT(doc, node, format)                                                             \
    do {                                                                                           \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        format_text(doc, node, format, args);                                                      \
        va_end(args);                                                                              \
    } while (0)

static struct doc_node *open_block(struct doc *doc, enum doc_kind kind, const char *link,
                                   const char *text) {
    struct doc_node *node = add_block(doc, kind);
    if (!node) return NULL;
    copy_text(doc, &node->link, link);
    copy_text(doc, &node->text, text);
    doc->open = node;
    return node;
}

void doc_section(struct doc *doc, const char *id, const char *title) {
    open_block(doc, NODE_SECTION, id, title);
}

void doc_box(struct doc *doc) {
    open_block(doc, NODE_BOX, NULL, NULL);
}

void doc_fold(struct doc *doc, bool is_open, const char *format, ...) {
    struct doc_node *node = open_block(doc, NODE_FOLD, NULL, NULL);
    if (node) node->is_open = is_open;
    FORMAT_TEXT(doc, node, format);
}

void doc_list(struct doc *doc) {
    open_block(doc, NODE_LIST, NULL, NULL);
}

void doc_terms(struct doc *doc) {
    open_block(doc, NODE_TERMS, NULL, NULL);
}

void doc_table(struct doc *doc, const char *class, const char *caption) {
    open_block(doc, NODE_TABLE, class, caption);
}

void doc_end(struct doc *doc) {
    if (doc->failed || doc->open == doc->root) return;
    doc->last = doc->open;
    doc->open = doc->open->parent;
}

void doc_heading(struct doc *doc, const char *format, ...) {
    FORMAT_TEXT(doc, add_block(doc, NODE_HEADING), format);
}

/* Adds a block with a tone; NULL when out of memory. */
static struct doc_node *add_toned(struct doc *doc, enum doc_kind kind, enum tone tone) {
    struct doc_node *node = add_block(doc, kind);
    if (node) node->tone = tone;
    return node;
}

void doc_say(struct doc *doc, enum tone tone, const char *format, ...) {
    FORMAT_TEXT(doc, add_toned(doc, NODE_SENTENCE, tone), format);
}

void doc_item(struct doc *doc, enum tone tone, const char *format, ...) {
    FORMAT_TEXT(doc, add_toned(doc, NODE_ITEM, tone), format);
}

void doc_note(struct doc *doc, enum tone tone, const char *format, ...) {
    FORMAT_TEXT(doc, add_toned(doc, NODE_NOTE, tone), format);
}

void doc_group(struct doc *doc, enum tone tone, const char *format, ...) {
    FORMAT_TEXT(doc, add_toned(doc, NODE_GROUP, tone), format);
}

static void add_text_node(struct doc *doc, enum doc_kind kind, const char *text) {
    struct doc_node *node = add_block(doc, kind);
    if (node) copy_text(doc, &node->text, text);
}

void doc_code(struct doc *doc, const char *text) {
    add_text_node(doc, NODE_CODE, text);
}

void doc_html(struct doc *doc, const char *markup) {
    add_text_node(doc, NODE_HTML, markup);
}

void doc_term(struct doc *doc, const char *name, const char *format, ...) {
    struct doc_node *node = add_block(doc, NODE_TERM);
    if (node) copy_text(doc, &node->title, name);
    FORMAT_TEXT(doc, node, format);
}

void doc_column(struct doc *doc, const struct doc_column *column) {
    struct doc_node *table = doc->open;
    if (doc->failed) return;
    struct doc_column *more =
        reallocarray(table->columns, (size_t)table->column_count + 1, sizeof *table->columns);
    if (!more) {
        doc->failed = true;
        return;
    }
    table->columns = more;
    struct doc_column *own = &table->columns[table->column_count++];
    *own = *column;
    own->title = copy_of(doc, column->title);
    own->brief = copy_of(doc, column->brief);
    own->help = copy_of(doc, column->help);
}

void doc_columns(struct doc *doc, const struct doc_column *columns) {
    for (; columns->title; columns++) doc_column(doc, columns);
}

void doc_row(struct doc *doc, enum doc_row_kind kind) {
    struct doc_node *node = add_block(doc, NODE_ROW);
    if (node) node->is_aside = kind == DOC_ASIDE;
}

/* Adds a cell to the last row. */
static struct doc_node *add_cell_node(struct doc *doc) {
    struct doc_node *node = make_node(doc, NODE_CELL);
    if (!node) return NULL;
    append_to(doc->open->end, node);
    doc->last = node;
    return node;
}

void doc_cell(struct doc *doc, const char *format, ...) {
    FORMAT_TEXT(doc, add_cell_node(doc), format);
}

void doc_value(struct doc *doc, double value, const char *format, ...) {
    struct doc_node *node = add_cell_node(doc);
    if (node) {
        node->value = value;
        node->has_value = !isnan(value);
    }
    FORMAT_TEXT(doc, node, format);
}

void doc_figure(struct doc *doc, double value) {
    struct doc_node *node = add_cell_node(doc);
    if (!node) return;
    node->value = value;
    node->has_value = !isnan(value);
    node->is_figure = true;
}

static struct doc_node *add_span(struct doc *doc, enum doc_style style) {
    struct doc_node *node = make_node(doc, NODE_SPAN);
    if (!node) return NULL;
    node->style = style;
    append_to(doc->last, node);
    return node;
}

void doc_span(struct doc *doc, enum doc_style style, const char *format, ...) {
    FORMAT_TEXT(doc, add_span(doc, style), format);
}

void doc_chip(struct doc *doc, enum doc_style style, enum tone tone, const char *mark,
              const char *text, const char *title) {
    struct doc_node *node = add_span(doc, style);
    if (!node) return;
    node->tone = tone;
    copy_text(doc, &node->mark, mark);
    copy_text(doc, &node->text, text);
    copy_text(doc, &node->title, title);
}

void doc_command(struct doc *doc, const char *label, const char *command) {
    struct doc_node *node = add_span(doc, DOC_DETAIL);
    if (!node) return;
    node->is_command = true;
    copy_text(doc, &node->mark, label);
    copy_text(doc, &node->text, command);
}

void doc_set_only(struct doc *doc, unsigned formats) {
    if (!doc->failed) doc->last->only = formats;
}

void doc_set_tone(struct doc *doc, enum tone tone) {
    if (!doc->failed) doc->last->tone = tone;
}

void doc_set_headline(struct doc *doc) {
    if (!doc->failed) doc->last->headline = true;
}

void doc_set_shown(struct doc *doc) {
    if (!doc->failed) doc->last->shown = true;
}

void doc_set_title(struct doc *doc, const char *title) {
    if (!doc->failed) copy_text(doc, &doc->last->title, title);
}

static void free_doc_node(struct doc_node *node) {
    while (node) {
        struct doc_node *next = node->next;
        free_doc_node(node->first);
        free(node->text);
        free(node->title);
        free(node->link);
        free(node->mark);
        for (int c = 0; c < node->column_count; c++) {
            free((char *)node->columns[c].title);
            free((char *)node->columns[c].brief);
            free((char *)node->columns[c].help);
        }
        free(node->columns);
        free(node);
        node = next;
    }
}

void doc_free(struct doc *doc) {
    free_doc_node(doc->root);
    *doc = (struct doc){0};
}

/* ---- bare texts ---- */

/* Writes a span as a bare text. */
static void write_bare_span(FILE *out, const struct doc_node *span, enum doc_format format) {
    const char *text = span->text ? span->text : "";
    switch (span->style) {
    case DOC_MARK:
        if (format == DOC_TERMINAL) {
            fputs(span->mark, out);
        } else {
            fprintf(out, " (%s)", text);
        }
        return;
    case DOC_DETAIL:
        return;
    default:
        fputs(text, out);
    }
}

char *doc_flat_text(const struct doc_node *node, enum doc_format format) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    fputs(node->text ? node->text : "", out);
    for (const struct doc_node *span = node->first; span; span = span->next)
        if (span->kind == NODE_SPAN) write_bare_span(out, span, format);
    if (fclose(out) == 0) return text;
    free(text);
    return NULL;
}

char *doc_cell_text(const struct doc_column *column, const struct doc_node *cell,
                    enum doc_format format) {
    char number[NUMBER_TEXT_MAX];
    if (!cell->is_figure) return doc_flat_text(cell, format);
    switch (column->figure) {
    case DOC_COUNT:
        number_count_text(cell->value, number);
        break;
    case DOC_TIME:
        number_time_text(cell->value, number);
        break;
    case DOC_TEXT:
    case DOC_NUMBER:
        number_text(cell->value, column->unit ? column->unit : &number_plain, number);
    }
    return strdup(number);
}

static int add_sentences(const struct doc_node *node, json_t *array) {
    for (; node; node = node->next) {
        if (node->kind != NODE_SENTENCE) {
            if (add_sentences(node->first, array) != 0) return -1;
            continue;
        }
        char *text = doc_flat_text(node, DOC_MARKDOWN);
        int rc = text ? json_array_append_new(array, escape_json(text)) : -1;
        free(text);
        if (rc != 0) return -1;
    }
    return 0;
}

json_t *doc_sentences(const struct doc *doc) {
    json_t *array = doc->failed ? NULL : json_array();
    if (array && doc->root && add_sentences(doc->root->first, array) != 0) {
        json_decref(array);
        array = NULL;
    }
    return array;
}

/* ---- the writers ---- */

int doc_write(const struct doc *doc, enum doc_format format, bool color, FILE *out,
              struct lb_err *err) {
    int rc = 0;
    if (doc->failed) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    if (!doc->root) return 0;
    switch (format) {
    case DOC_TERMINAL:
        rc = doc_write_terminal(doc->root, color, out);
        break;
    case DOC_MARKDOWN:
        rc = doc_write_md(doc->root, out);
        break;
    case DOC_HTML:
        rc = doc_write_html(doc->root, out);
        break;
    case DOC_NONE:
        break;
    }
    if (rc != 0) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    return output_check(out, "the report", err);
}

int doc_write_and_free(struct doc *doc, enum doc_format format, bool color, FILE *out,
                       struct lb_err *err) {
    int rc = doc_write(doc, format, color, out, err);
    doc_free(doc);
    return rc;
}
