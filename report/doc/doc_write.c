/* doc_write: the code that the writers share: the choice of a writer, and bare texts of cells and
 * lines. CSV, the smallest writer, is here, too: a document's tables by RFC 4180, with an empty
 * line between. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "bench/base/output.h"
#include "report/doc/doc_parts.h"
#include "report/doc/escape.h"

/* Writes a span for a terminal or for CSV. */
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
    case DOC_LINE:
        fprintf(out, ", %s", text);
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

static int write_csv_cell(const struct doc_column *column, const struct doc_node *cell, FILE *out) {
    if (cell->is_figure) {
        escape_csv_figure(out, cell->value);
        return 0;
    }
    char *text = doc_cell_text(column, cell, DOC_CSV);
    if (!text) return -1;
    escape_csv(out, text);
    free(text);
    return 0;
}

static int write_csv_row(const struct doc_node *table, const struct doc_node *row, FILE *out) {
    const char *comma = "";
    const struct doc_node *cell = doc_cell_from(row->first);
    for (int c = 0; c < table->column_count && cell; c++, cell = doc_cell_from(cell->next)) {
        if (!doc_is_for(table->columns[c].only, DOC_CSV)) continue;
        fputs(comma, out);
        comma = ",";
        if (write_csv_cell(&table->columns[c], cell, out) != 0) return -1;
    }
    fputs("\r\n", out);
    return 0;
}

static int write_csv_table(const struct doc_node *table, FILE *out) {
    const char *comma = "";
    for (int c = 0; c < table->column_count; c++) {
        if (!doc_is_for(table->columns[c].only, DOC_CSV)) continue;
        fputs(comma, out);
        comma = ",";
        escape_csv(out, table->columns[c].title);
    }
    fputs("\r\n", out);
    for (const struct doc_node *row = table->first; row; row = row->next) {
        if (row->kind == NODE_ROW && doc_is_for(row->only, DOC_CSV) &&
            write_csv_row(table, row, out) != 0)
            return -1;
    }
    return 0;
}

static int write_csv_blocks(const struct doc_node *node, bool *between, FILE *out) {
    for (; node; node = node->next) {
        if (!doc_is_for(node->only, DOC_CSV)) continue;
        if (node->kind == NODE_TABLE) {
            if (*between) fputs("\r\n", out);
            *between = true;
            if (write_csv_table(node, out) != 0) return -1;
        } else if (write_csv_blocks(node->first, between, out) != 0) {
            return -1;
        }
    }
    return 0;
}

static int doc_write_csv(const struct doc_node *root, FILE *out) {
    bool between = false;
    return write_csv_blocks(root->first, &between, out);
}

static int add_sentences(const struct doc_node *node, json_t *array) {
    for (; node; node = node->next) {
        if (node->kind != NODE_SENTENCE) {
            if (add_sentences(node->first, array) != 0) return -1;
            continue;
        }
        char *text = doc_flat_text(node, DOC_CSV);
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
    case DOC_CSV:
        rc = doc_write_csv(doc->root, out);
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
