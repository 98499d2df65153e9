/* doc_terminal_table: a table in the width of a terminal. If the table is too wide, first the gaps
 * shrink. In a terminal of SCREEN_WIDTH columns and in files, then figures lose digits, then the least
 * important columns are left out, then names lose their middle. In a narrower terminal the columns that are too
 * many stand in a second block of the same rows, below the first one. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/doc/doc_parts.h"
#include "report/doc/screen.h"

#define NAME_MAX 34   /* the greatest width of the first column */
#define FIGURE_MAX 10 /* "14,800,000" */
#define FIGURE_MIN 7  /* "1.5e+07" */
#define WORDS_MIN 24  /* the least width of a last column that wraps */

struct layout {
    const struct doc_node *table;
    int *width; /* the width of each column; -1: the column is not shown */
    int gap, figure_max;
    int columns;  /* of the terminal */
    int from, to; /* the block: the first column, and from .. to - 1 */
};

static const char *head_of(const struct doc_column *column) {
    return column->brief ? column->brief : column->title;
}

static const char *unit_of(const struct doc_column *column) {
    return column->figure == DOC_NUMBER && column->unit ? column->unit->name : "";
}

/* Malloced; NULL when out of memory. */
static char *cell_text(const struct layout *layout, const struct doc_column *column,
                       const struct doc_node *cell) {
    char *text = doc_cell_text(column, cell, DOC_TERMINAL);
    if (!text || !cell->is_figure || column->figure != DOC_NUMBER ||
        screen_width(text) <= layout->figure_max)
        return text;
    free(text);
    double scale = column->unit ? column->unit->scale : 1;
    if (asprintf(&text, "%.*e", layout->figure_max > FIGURE_MIN ? 2 : 1, cell->value / scale) < 0)
        return NULL;
    return text;
}

static bool is_column(const struct layout *layout, int c) {
    const struct doc_column *column = &layout->table->columns[c];
    if (c > 0 && (c < layout->from || c >= layout->to)) return false;
    return !column->below && doc_is_for(column->only, DOC_TERMINAL) && layout->width[c] >= 0;
}

static int last_column(const struct layout *layout) {
    int last = layout->table->column_count - 1;
    while (last > 0 && !is_column(layout, last)) last--;
    return last;
}

static int max_of(int a, int b) {
    return a > b ? a : b;
}

/* Finds the widths that the cells need. 0, or -1 when out of memory. */
static int measure(struct layout *layout) {
    const struct doc_node *table = layout->table;
    for (int c = 0; c < table->column_count; c++) {
        const struct doc_column *column = &table->columns[c];
        if (is_column(layout, c))
            layout->width[c] = max_of(screen_width(head_of(column)), screen_width(unit_of(column)));
    }
    for (const struct doc_node *row = table->first; row; row = row->next) {
        const struct doc_node *cell = doc_cell_from(row->first);
        if (row->kind != NODE_ROW || !doc_is_for(row->only, DOC_TERMINAL)) continue;
        for (int c = 0; c < table->column_count && cell; c++, cell = doc_cell_from(cell->next)) {
            if (!is_column(layout, c)) continue;
            char *text = cell_text(layout, &table->columns[c], cell);
            if (!text) return -1;
            layout->width[c] = max_of(layout->width[c], screen_width(text));
            free(text);
        }
    }
    if (layout->width[0] > NAME_MAX) layout->width[0] = NAME_MAX;
    return 0;
}

static int gap_before(const struct layout *layout, int c) {
    return c > 0 ? layout->gap : 0;
}

/* By how many columns the table is wider than the terminal. */
static int excess_of(const struct layout *layout) {
    int total = 0, last = last_column(layout);
    for (int c = 0; c <= last; c++) {
        if (!is_column(layout, c)) continue;
        bool wraps = c == last && layout->table->columns[c].words;
        int width = layout->width[c];
        total += gap_before(layout, c) + (wraps && width > WORDS_MIN ? WORDS_MIN : width);
    }
    return total - layout->columns;
}

/* Leaves out the least important column. False if all must stay. */
static bool drop_column(struct layout *layout) {
    int most = -1;
    for (int c = 0; c < layout->table->column_count; c++) {
        int rank = is_column(layout, c) ? layout->table->columns[c].drop : 0;
        if (rank > 0 && (most < 0 || rank > layout->table->columns[most].drop)) most = c;
    }
    if (most >= 0) layout->width[most] = -1;
    return most >= 0;
}

/* Leaves the last column to the next block. False if it is the only one beside the names. */
static bool split_block(struct layout *layout) {
    int last = last_column(layout), before = last - 1;
    while (before >= layout->from && !is_column(layout, before)) before--;
    if (layout->columns >= SCREEN_WIDTH || before < layout->from) return false;
    layout->to = last;
    return true;
}

static int fit(struct layout *layout) {
    for (;;) {
        if (measure(layout) != 0) return -1;
        int excess = excess_of(layout);
        if (excess <= 0) return 0;
        if (layout->gap > 1) {
            layout->gap--;
        } else if (split_block(layout)) {
            continue;
        } else if (layout->figure_max > FIGURE_MIN) {
            layout->figure_max--;
        } else if (!drop_column(layout)) {
            layout->width[0] = max_of(layout->width[0] - excess, 1);
            return 0;
        }
    }
}

static void write_terminal_head(const struct screen *screen, const struct layout *layout,
                                bool units) {
    int last = last_column(layout);
    const struct doc_column *columns = layout->table->columns;
    while (units && last >= 0 && (!is_column(layout, last) || !*unit_of(&columns[last]))) last--;
    if (last < 0) return;
    for (int c = 0; c <= last; c++) {
        if (!is_column(layout, c)) continue;
        bool right = doc_is_number(&columns[c]);
        const char *text = units ? unit_of(&columns[c]) : head_of(&columns[c]);
        fprintf(screen->out, "%*s", gap_before(layout, c), "");
        int width = right ? layout->width[c] : c == last ? 0 : -layout->width[c];
        screen_put(screen, text, width, TONE_PLAIN);
    }
    fputc('\n', screen->out);
}

static int write_cells(const struct screen *screen, const struct layout *layout,
                       const struct doc_node *row) {
    const struct doc_node *cell = doc_cell_from(row->first);
    int last = last_column(layout), used = 0;
    for (int c = 0; c <= last && cell; c++, cell = doc_cell_from(cell->next)) {
        const struct doc_column *column = &layout->table->columns[c];
        if (!is_column(layout, c)) continue;
        char *text = cell_text(layout, column, cell);
        if (!text) return -1;
        fprintf(screen->out, "%*s", gap_before(layout, c), "");
        used += gap_before(layout, c);
        if (c == last && column->words) {
            screen_wrap(screen, text, used, used, cell->tone);
        } else {
            bool right = doc_is_number(column);
            bool short_end = c == last && !right && screen_width(text) <= layout->width[c];
            int width = short_end ? 0 : right ? layout->width[c] : -layout->width[c];
            (c == 0 ? screen_put_name : screen_put)(screen, text, width, cell->tone);
            used += layout->width[c];
            if (c == last) fputc('\n', screen->out);
        }
        free(text);
    }
    return 0;
}

static void say_below(const struct screen *screen, char **line, enum tone tone) {
    if (*line) screen_say(screen, 4, tone, "    %s", *line);
    free(*line);
    *line = NULL;
}

/* Writes the cells that stand below a row. */
static int write_below(const struct screen *screen, const struct doc_node *table,
                       const struct doc_node *row) {
    char *line = NULL;
    enum tone tone = TONE_PLAIN;
    const struct doc_node *cell = doc_cell_from(row->first);
    for (int c = 0; c < table->column_count && cell; c++, cell = doc_cell_from(cell->next)) {
        const struct doc_column *column = &table->columns[c];
        if (!column->below || !doc_is_for(column->only, DOC_TERMINAL)) continue;
        char *text = doc_cell_text(column, cell, DOC_TERMINAL), *longer = NULL;
        if (!text) break;
        if (!*text) {
            free(text);
            doc_terminal_details(screen, cell, cell->tone);
            continue;
        }
        if (!column->joined) say_below(screen, &line, tone);
        int length = asprintf(&longer, "%s%s%s%s%s", line ? line : "", line ? "; " : "",
                              head_of(column), *head_of(column) ? ": " : "", text);
        free(text);
        free(line);
        line = length < 0 ? NULL : longer;
        if (!line) return -1;
        tone = cell->tone;
        if (doc_has_details(cell)) say_below(screen, &line, tone);
        doc_terminal_details(screen, cell, cell->tone);
    }
    say_below(screen, &line, tone);
    return 0;
}

/* Writes the rows of a block. What stands below a row is written with the first block, notes with the
 * last one. */
static int write_rows(const struct screen *screen, const struct layout *layout) {
    bool any = false, first = layout->from == 1;
    bool last = layout->to == layout->table->column_count;
    for (const struct doc_node *row = layout->table->first; row; row = row->next) {
        if (!doc_is_for(row->only, DOC_TERMINAL)) continue;
        if (row->kind == NODE_GROUP) {
            if (any && doc_has_details(row)) fputc('\n', screen->out);
            if (doc_terminal_line(screen, row, "-- ", row->tone) != 0) return -1;
        } else if (row->kind == NODE_NOTE && last) {
            if (doc_terminal_line(screen, row, "", row->tone) != 0) return -1;
        } else if (row->kind == NODE_ROW) {
            if (write_cells(screen, layout, row) != 0 ||
                (first && write_below(screen, layout->table, row) != 0))
                return -1;
        }
        any = true;
    }
    return 0;
}

static int write_block(const struct screen *screen, struct layout *layout) {
    bool units = false;
    if (fit(layout) != 0) return -1;
    for (int c = 0; c < layout->table->column_count; c++)
        units |= is_column(layout, c) && *unit_of(&layout->table->columns[c]);
    if (last_column(layout) > 0) write_terminal_head(screen, layout, false);
    if (units) write_terminal_head(screen, layout, true);
    return write_rows(screen, layout);
}

/* True if a column of the table is for a terminal, and no block has had it yet. */
static bool has_more(const struct doc_node *table, int from) {
    for (int c = from; c < table->column_count; c++)
        if (!table->columns[c].below && doc_is_for(table->columns[c].only, DOC_TERMINAL))
            return true;
    return false;
}

int doc_terminal_table(const struct screen *screen, const struct doc_node *table) {
    struct layout layout = {.table = table, .columns = screen->columns, .from = 1};
    layout.width = calloc((size_t)table->column_count + 1, sizeof *layout.width);
    int rc = layout.width ? 0 : -1;
    if (rc == 0 && table->text && !table->headline)
        screen_say(screen, 2, TONE_PLAIN, "%s", table->text);
    do {
        layout.gap = 2;
        layout.figure_max = FIGURE_MAX;
        layout.to = table->column_count;
        if (rc == 0 && layout.from > 1) fputc('\n', screen->out);
        if (rc == 0) rc = write_block(screen, &layout);
        layout.from = layout.to;
    } while (rc == 0 && has_more(table, layout.from));
    free(layout.width);
    return rc;
}
