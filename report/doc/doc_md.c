/* doc_md: a document as GitHub Markdown. Every text is escaped. The rows of each group are a table
 * of their own, as Markdown has no row across all columns. */
#include <stdlib.h>

#include "report/doc/doc_parts.h"
#include "report/doc/escape.h"

/* between: the text before a detail. */
static void write_span(const struct doc_node *span, bool in_table, const char *between, FILE *out) {
    const char *text = span->text ? span->text : "";
    switch (span->style) {
    case DOC_STRONG:
        fputs("**", out);
        escape_md(out, text);
        fputs("**", out);
        return;
    case DOC_INLINE:
        escape_md_code(out, text, in_table);
        return;
    case DOC_MARK:
        fputs(" (", out);
        escape_md(out, text);
        fputc(')', out);
        return;
    case DOC_DETAIL:
        fputs(between, out);
        if (!span->is_command) break;
        escape_md(out, span->mark);
        fputs(": ", out);
        escape_md_code(out, text, in_table);
        return;
    default:
        break;
    }
    escape_md(out, text);
}

static void write_md_line(const struct doc_node *node, bool in_table, FILE *out) {
    bool any = node->text && *node->text;
    if (any) escape_md(out, node->text);
    for (const struct doc_node *span = node->first; span; span = span->next) {
        if (span->kind != NODE_SPAN) continue;
        write_span(span, in_table, any ? "; " : "", out);
        any = true;
    }
}

static int write_cell(const struct doc_column *column, const struct doc_node *cell, FILE *out) {
    bool bold = cell->tone == TONE_BAD && doc_is_number(column);
    fputs(bold ? " **" : " ", out);
    if (cell->is_figure) {
        char *text = doc_cell_text(column, cell, DOC_MARKDOWN);
        if (!text) return -1;
        fputs(text, out);
        free(text);
    } else {
        if (!doc_is_number(column)) fputs(tone_mark(cell->tone), out);
        write_md_line(cell, true, out);
    }
    fputs(bold ? "** |" : " |", out);
    return 0;
}

static void write_md_head(const struct doc_node *table, FILE *out) {
    fputc('|', out);
    for (int c = 0; c < table->column_count; c++) {
        const struct doc_column *column = &table->columns[c];
        if (!doc_is_for(column->only, DOC_MARKDOWN)) continue;
        fputc(' ', out);
        escape_md(out, column->title);
        if (column->figure == DOC_NUMBER && column->unit && *column->unit->name)
            fprintf(out, " (%s)", column->unit->name);
        fputs(" |", out);
    }
    fputs("\n|", out);
    for (int c = 0; c < table->column_count; c++) {
        if (!doc_is_for(table->columns[c].only, DOC_MARKDOWN)) continue;
        fputs(doc_is_number(&table->columns[c]) ? "--:|" : "---|", out);
    }
    fputc('\n', out);
}

static int write_md_row(const struct doc_node *table, const struct doc_node *row, FILE *out) {
    const struct doc_node *cell = doc_cell_from(row->first);
    fputc('|', out);
    for (int c = 0; c < table->column_count && cell; c++, cell = doc_cell_from(cell->next)) {
        if (!doc_is_for(table->columns[c].only, DOC_MARKDOWN)) continue;
        if (write_cell(&table->columns[c], cell, out) != 0) return -1;
    }
    fputc('\n', out);
    return 0;
}

static int write_table(const struct doc_node *table, FILE *out) {
    bool headed = false;
    if (table->text && !table->headline) {
        escape_md(out, table->text);
        fputs("\n\n", out);
    }
    for (const struct doc_node *row = table->first; row; row = row->next) {
        if (!doc_is_for(row->only, DOC_MARKDOWN)) continue;
        if (row->kind == NODE_ROW) {
            if (!headed) write_md_head(table, out);
            headed = true;
            if (write_md_row(table, row, out) != 0) return -1;
        } else if (row->kind == NODE_GROUP) {
            fputs(headed ? "\n**" : "**", out);
            if (row->text) escape_md(out, row->text);
            fputs("**", out);
            for (const struct doc_node *span = row->first; span; span = span->next)
                if (span->kind == NODE_SPAN) write_span(span, false, "<br>", out);
            fputs("\n\n", out);
            headed = false;
        } else if (row->kind == NODE_NOTE) {
            fputs(headed ? "\n" : "", out);
            fputs(tone_mark(row->tone), out);
            write_md_line(row, false, out);
            fputc('\n', out);
        }
    }
    fputc('\n', out);
    return 0;
}

static int write_md_blocks(const struct doc_node *node, FILE *out);

static int write_fold(const struct doc_node *fold, FILE *out) {
    if (fold->headline) {
        fputs("### ", out);
        write_md_line(fold, false, out);
        fputs("\n\n", out);
        return write_md_blocks(fold->first, out);
    }
    fputs("<details><summary>", out);
    escape_html(out, fold->text);
    fputs("</summary>\n\n", out);
    int rc = write_md_blocks(fold->first, out);
    fputs("</details>\n\n", out);
    return rc;
}

static int write_md_block(const struct doc_node *node, FILE *out) {
    switch (node->kind) {
    case NODE_SECTION:
        fputs("## ", out);
        escape_md(out, node->text);
        fputs("\n\n", out);
        return write_md_blocks(node->first, out);
    case NODE_FOLD:
        return write_fold(node, out);
    case NODE_HEADING:
        fputs("### ", out);
        write_md_line(node, false, out);
        fputs("\n\n", out);
        return 0;
    case NODE_SENTENCE:
        fprintf(out, "%s%s", node->headline ? "**" : "", tone_mark(node->tone));
        write_md_line(node, false, out);
        fprintf(out, "%s\n\n", node->headline ? "**" : "");
        return 0;
    case NODE_ITEM:
        fprintf(out, "- %s", tone_mark(node->tone));
        write_md_line(node, false, out);
        fputc('\n', out);
        return 0;
    case NODE_TERM:
        fputs("- ", out);
        escape_md(out, node->title);
        fputs(": ", out);
        write_md_line(node, false, out);
        fputc('\n', out);
        return 0;
    case NODE_LIST:
    case NODE_TERMS:
        if (write_md_blocks(node->first, out) != 0) return -1;
        if (node->first) fputc('\n', out);
        return 0;
    case NODE_CODE:
        fputs("    ", out);
        escape_line(out, node->text);
        fputs("\n\n", out);
        return 0;
    case NODE_TABLE:
        return write_table(node, out);
    case NODE_HTML:
        return 0;
    default:
        return write_md_blocks(node->first, out);
    }
}

static int write_md_blocks(const struct doc_node *node, FILE *out) {
    for (; node; node = node->next) {
        if (!doc_is_shown(node, DOC_MARKDOWN)) continue;
        if (write_md_block(node, out) != 0) return -1;
    }
    return 0;
}

int doc_write_md(const struct doc_node *root, FILE *out) {
    return write_md_blocks(root->first, out);
}
