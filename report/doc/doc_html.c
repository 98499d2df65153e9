/* doc_html: a document as elements of a page, without the page's head and end. It is complete
 * without JavaScript: scripts sort its tables by data-v. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/doc/doc_parts.h"
#include "report/doc/escape.h"

static void write_attribute(const char *name, const char *value, FILE *out) {
    fprintf(out, " %s=\"", name);
    escape_html(out, value);
    fputc('"', out);
}

static void write_chip(const struct doc_node *chip, FILE *out) {
    fprintf(out, "%s<span class=\"chip %s\"", chip->style == DOC_MARK ? " " : "",
            tone_name(chip->tone));
    if (chip->title) write_attribute("title", chip->title, out);
    fputc('>', out);
    if (chip->style == DOC_CHIP && chip->mark && *chip->mark) {
        fputs("<span aria-hidden=\"true\">", out);
        escape_html(out, chip->mark);
        fputs("</span> ", out);
    }
    escape_html(out, chip->text);
    fputs("</span>", out);
}

static void write_span(const struct doc_node *span, FILE *out) {
    static const char *const elements[][2] = {
        [DOC_PLAIN] = {"", ""},
        [DOC_STRONG] = {"<b>", "</b>"},
        [DOC_SOFT] = {"<span class=\"unit\">", "</span>"},
        [DOC_INLINE] = {"<code>", "</code>"},
        [DOC_DETAIL] = {"", ""},
    };
    if (span->style == DOC_CHIP || span->style == DOC_MARK) {
        write_chip(span, out);
        return;
    }
    fputs(elements[span->style][0], out);
    escape_html(out, span->text);
    fputs(elements[span->style][1], out);
}

static void write_html_line(const struct doc_node *node, FILE *out) {
    bool any = node->text && *node->text;
    if (any) escape_html(out, node->text);
    for (const struct doc_node *span = node->first; span; span = span->next) {
        if (span->kind != NODE_SPAN) continue;
        if (any && span->style == DOC_DETAIL) fputs("; ", out);
        write_span(span, out);
        any = true;
    }
}

static void write_html_head(const struct doc_node *table, FILE *out) {
    fputs("<thead><tr>", out);
    for (int c = 0; c < table->column_count; c++) {
        const struct doc_column *column = &table->columns[c];
        if (!doc_is_for(column->only, DOC_HTML)) continue;
        fprintf(out, "<th scope=\"col\"%s", doc_is_number(column) ? " class=\"num\"" : "");
        if (column->help) write_attribute("title", column->help, out);
        fputc('>', out);
        escape_html(out, column->title);
        if (column->figure == DOC_NUMBER && column->unit && *column->unit->name)
            fprintf(out, " <span class=\"unit\">%s</span>", column->unit->name);
        fputs("</th>", out);
    }
    fputs("</tr></thead>\n", out);
}

/* Writes a number as JavaScript reads it. */
static void write_sort_value(double value, FILE *out) {
    if (isinf(value)) {
        fprintf(out, " data-v=\"%sInfinity\"", value < 0 ? "-" : "");
    } else {
        fprintf(out, " data-v=\"%.9g\"", value);
    }
}

static int write_cell(const struct doc_column *column, const struct doc_node *cell, bool is_first,
                      FILE *out) {
    bool number = doc_is_number(column);
    const char *tone = tone_name(cell->tone);
    fputs(is_first ? "<th scope=\"row\"" : "<td", out);
    if (number || column->words || cell->tone != TONE_PLAIN)
        fprintf(out, " class=\"%s%s%s\"",
                number          ? "num"
                : column->words ? "words"
                                : "",
                cell->tone == TONE_PLAIN ? "" : " ", cell->tone == TONE_PLAIN ? "" : tone);
    if (cell->has_value) write_sort_value(cell->value, out);
    if (cell->title) write_attribute("title", cell->title, out);
    fputc('>', out);
    if (cell->is_figure) {
        char *text = doc_cell_text(column, cell, DOC_HTML);
        if (!text) return -1;
        escape_html(out, text);
        free(text);
    } else {
        write_html_line(cell, out);
    }
    fputs(is_first ? "</th>" : "</td>", out);
    return 0;
}

static int write_html_row(const struct doc_node *table, const struct doc_node *row, FILE *out) {
    const struct doc_node *cell = doc_cell_from(row->first);
    bool is_first = true;
    fputs(row->is_aside ? "<tr class=\"aside\">" : "<tr>", out);
    for (int c = 0; c < table->column_count && cell; c++, cell = doc_cell_from(cell->next)) {
        if (!doc_is_for(table->columns[c].only, DOC_HTML)) continue;
        if (write_cell(&table->columns[c], cell, is_first, out) != 0) return -1;
        is_first = false;
    }
    fputs("</tr>\n", out);
    return 0;
}

static void write_group(const struct doc_node *group, int columns, bool is_first, FILE *out) {
    fprintf(out, "%s<tr class=\"family\"><th scope=\"rowgroup\" colspan=\"%d\"><span>",
            is_first ? "" : "</tbody><tbody>\n", columns);
    write_html_line(group, out);
    fputs("</span></th></tr>\n", out);
}

static int write_table(const struct doc_node *table, FILE *out) {
    const char *class = table->link ? table->link : "figures";
    fprintf(out, "<div class=\"scroll\" tabindex=\"0\"><table class=\"%s\">", class);
    if (table->text) {
        fprintf(out, "<caption%s>", table->headline ? " class=\"quiet\"" : "");
        escape_html(out, table->text);
        fputs("</caption>\n", out);
    }
    write_html_head(table, out);
    fputs("<tbody>\n", out);
    int columns = 0;
    for (int c = 0; c < table->column_count; c++)
        columns += doc_is_for(table->columns[c].only, DOC_HTML);
    for (const struct doc_node *row = table->first; row; row = row->next) {
        if (!doc_is_for(row->only, DOC_HTML)) continue;
        if (row->kind == NODE_GROUP) write_group(row, columns, row == table->first, out);
        if (row->kind == NODE_ROW && write_html_row(table, row, out) != 0) return -1;
    }
    fputs("</tbody></table></div>\n", out);
    for (const struct doc_node *note = table->first; note; note = note->next) {
        if (note->kind != NODE_NOTE || !doc_is_for(note->only, DOC_HTML)) continue;
        fputs("<p class=\"note\">", out);
        write_html_line(note, out);
        fputs("</p>\n", out);
    }
    return 0;
}

static int write_html_blocks(const struct doc_node *node, FILE *out);

/* The tone of the worst sentence in a box; good if there is none. */
static enum tone worst_tone(const struct doc_node *box) {
    enum tone worst = TONE_GOOD;
    for (const struct doc_node *node = box->first; node; node = node->next) {
        if (node->tone == TONE_BAD) return TONE_BAD;
        if (node->tone == TONE_WARN) worst = TONE_WARN;
    }
    return worst;
}

static int write_around(const char *before, const struct doc_node *node, const char *after,
                        FILE *out) {
    fputs(before, out);
    int rc = write_html_blocks(node->first, out);
    fputs(after, out);
    return rc;
}

static int write_fold(const struct doc_node *fold, FILE *out) {
    fprintf(out, "<details class=\"fold\"%s><summary>%s", fold->is_open ? " open" : "",
            fold->headline ? "<h3>" : "");
    escape_html(out, fold->text);
    fputs(fold->headline ? "</h3>" : "", out);
    for (const struct doc_node *span = fold->first; span; span = span->next)
        if (span->kind == NODE_SPAN) write_span(span, out);
    return write_around("</summary>\n", fold, "</details>\n", out);
}

/* A sentence of a box's summary: the box has it once more, where a style hides it. */
static void write_summary_line(const struct doc_node *node, const char *class, FILE *out) {
    fprintf(out, "<span class=\"%s %s\">", class, tone_name(node->tone));
    write_html_line(node, out);
    fputs("</span>", out);
}

/* The headline of the box is always visible, and below it what is set as shown, and the number of
 * other warnings. */
static int write_folded_box(const struct doc_node *box, FILE *out) {
    const struct doc_node *headline = NULL;
    int doubts = 0;
    for (const struct doc_node *node = box->first; node; node = node->next) {
        if (!headline && node->headline)
            headline = node;
        else if (!node->shown)
            doubts += node->tone == TONE_BAD || node->tone == TONE_WARN;
    }
    fprintf(out, "<details class=\"verdict %s\"><summary>", tone_name(worst_tone(box)));
    if (headline) write_summary_line(headline, "headline", out);
    for (const struct doc_node *node = box->first; node; node = node->next)
        if (node->shown && node != headline) write_summary_line(node, "shown", out);
    if (doubts)
        fprintf(out, " <span class=\"more\">(%d more warning%s)</span>", doubts,
                doubts == 1 ? "" : "s");
    return write_around("</summary>\n", box, "</details>\n", out);
}

static void write_term(const struct doc_node *term, FILE *out) {
    fputs("<div><dt>", out);
    escape_html(out, term->title);
    fputs("</dt><dd>", out);
    write_html_line(term, out);
    fputs("</dd></div>", out);
}

static void write_html_sentence(const struct doc_node *node, FILE *out) {
    fprintf(out, "<p class=\"%s%s\">", tone_name(node->tone),
            node->headline ? " headline"
            : node->shown  ? " shown"
                           : "");
    write_html_line(node, out);
    fputs("</p>\n", out);
}

static int write_html_block(const struct doc_node *node, FILE *out) {
    const char *id = node->link;
    switch (node->kind) {
    case NODE_SECTION:
        fprintf(out, "<section id=\"%s\" aria-labelledby=\"%s-title\">\n<h2 id=\"%s-title\">", id,
                id, id);
        escape_html(out, node->text);
        return write_around("</h2>\n", node, "</section>\n", out);
    case NODE_BOX:
        if (node->headline) return write_folded_box(node, out);
        fprintf(out, "<div class=\"verdict %s\">\n", tone_name(worst_tone(node)));
        return write_around("", node, "</div>\n", out);
    case NODE_FOLD:
        return write_fold(node, out);
    case NODE_LIST:
        return write_around("<ul>\n", node, "</ul>\n", out);
    case NODE_TERMS:
        return write_around("<dl class=\"tree\">", node, "</dl>\n", out);
    case NODE_TERM:
        write_term(node, out);
        return 0;
    case NODE_TABLE:
        return write_table(node, out);
    case NODE_HEADING:
        fputs("<h3>", out);
        write_html_line(node, out);
        fputs("</h3>\n", out);
        return 0;
    case NODE_SENTENCE:
        write_html_sentence(node, out);
        return 0;
    case NODE_ITEM:
        fputs("<li", out);
        if (node->tone != TONE_PLAIN) write_attribute("class", tone_name(node->tone), out);
        fputc('>', out);
        write_html_line(node, out);
        fputs("</li>\n", out);
        return 0;
    case NODE_CODE:
        fputs("<pre class=\"command\"><code>", out);
        escape_html(out, node->text);
        fputs("</code></pre>\n", out);
        return 0;
    case NODE_HTML:
        fputs(node->text, out);
        return 0;
    default:
        return write_html_blocks(node->first, out);
    }
}

static int write_html_blocks(const struct doc_node *node, FILE *out) {
    for (; node; node = node->next) {
        if (!doc_is_shown(node, DOC_HTML)) continue;
        if (write_html_block(node, out) != 0) return -1;
    }
    return 0;
}

int doc_write_html(const struct doc_node *root, FILE *out) {
    return write_html_blocks(root->first, out);
}
