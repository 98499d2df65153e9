/* html_tables: the page's tables of figures. See html_parts.h. They stand in the HTML itself:
 * without JavaScript only sorting and charts are missing. */
#include <math.h>
#include <string.h>

#include "report/page/html_parts.h"

/* data-v is what a click on the head sorts by; an unknown figure has none and sorts last. */
static void write_cell(FILE *out, const struct column *column, const struct report_group *group,
                       int r) {
    char text[NUMBER_TEXT_MAX];
    double value = column_value(column, &group->rows[r]);
    bool best = column_is_best(column, group, r);
    fprintf(out, "<td class=\"num%s\"", best ? " best" : "");
    if (isfinite(value)) fprintf(out, " data-v=\"%.9g\"", value);
    fputc('>', out);
    escape_html(out, number_text(value, column_unit(column, group), text));
    fputs("</td>", out);
}

static void write_head(FILE *out, const struct column *columns, const struct report_group *group) {
    fputs("<thead><tr><th scope=\"col\">lock</th>", out);
    fputs("<th scope=\"col\" title=\"does it exclude?\">verdict</th>"
          "<th scope=\"col\" title=\"what its state survives\">durability</th>"
          "<th scope=\"col\" title=\"where the truth lives, and so what can make two clients "
          "disagree\">guarantee</th>"
          "<th scope=\"col\" title=\"what ran\">topology</th>",
          out);
    if (columns == columns_of(IN_COMPARISON)) {
        fputs(
            "<th scope=\"col\" class=\"num\" title=\"how many times worse than the best of its durability: "
            "the geometric mean over these figures\">&times; best</th>",
            out);
    }
    for (const struct column *column = columns; column->key; column++) {
        const struct number_unit *unit = column_unit(column, group);
        if (!column_used(column, group) || !column_shown(column, group, false)) continue;
        fprintf(out, "<th scope=\"col\" class=\"num\" title=\"%s\">%s", column->help,
                column->title);
        if (*unit->name) fprintf(out, " <span class=\"unit\">%s</span>", unit->name);
        fputs("</th>", out);
    }
    fputs("</tr></thead>\n", out);
}

static void write_row(FILE *out, const struct report *report, const struct report_group *group,
                      int r, const struct column *columns) {
    const struct report_row *row = &group->rows[r];
    const struct report_lock *lock = &report->locks[row->lock];
    fprintf(out, "<tr%s><th scope=\"row\">", row->candidate ? "" : " class=\"aside\"");
    escape_html(out, lock->label);
    if (row->incomplete) {
        const char *status = row->typical->status; /* of the typical repeat, which may have none */
        fputs(" <span class=\"chip warn\" title=\"", out);
        escape_html(out, row->typical->error ? row->typical->error : "not all of it was measured");
        fprintf(out, "\">%s</span>",
                status && strcmp(status, "failed") == 0 ? "failed" : "partial");
    }
    if (row->limited) {
        fputs(" <span class=\"chip warn\" title=\"generator-limited: its times are partly the load "
              "generator's or the "
              "machine's own lateness\">limited</span>",
              out);
    }
    fputs("</th>", out);
    fputs("<td>", out);
    html_state(out, lock->state);
    fputs("</td><td title=\"", out);
    escape_html(out, row->typical->durability);
    fprintf(out, "\">%s</td><td>%s</td><td>", words_durability_text(words_durability(row->typical)),
            words_guarantee(row->typical));
    escape_html(out, row->typical->topology);
    fputs("</td>", out);
    if (columns == columns_of(IN_COMPARISON)) {
        char text[NUMBER_TEXT_MAX];
        double ratio = column_ratio_mean(group, r);
        fputs("<td class=\"num\"", out);
        if (isfinite(ratio)) fprintf(out, " data-v=\"%.9g\"", ratio);
        fprintf(out, ">%s</td>", number_text(ratio, &number_plain, text));
    }
    for (const struct column *column = columns; column->key; column++) {
        if (column_used(column, group) && column_shown(column, group, false))
            write_cell(out, column, group, r);
    }
    fputs("</tr>\n", out);
}

static int most_repeats(const struct report_group *group) {
    int most = 1;
    for (int r = 0; r < group->row_count; r++) {
        if (group->rows[r].repeats > most) most = group->rows[r].repeats;
    }
    return most;
}

static void write_title(FILE *out, const struct report_group *group) {
    char text[NUMBER_TEXT_MAX];
    fprintf(out, "%s client%s", number_count_text(group->clients, text),
            group->clients == 1 ? "" : "s");
    fputs("<span class=\"load\">: ", out);
    escape_html(out, group->load);
    if (most_repeats(group) > 1) fputs("; medians of the repeats", out);
    fputs("</span>", out);
}

void html_table(FILE *out, const struct report *report, const struct report_group *group,
                const struct column *columns, const char *what) {
    fprintf(out,
            "<div class=\"scroll\" tabindex=\"0\"><table class=\"figures sortable\"><caption%s>",
            columns == columns_of(IN_COMPARISON) ? " class=\"quiet\"" : "");
    fprintf(out, "%s, ", what);
    write_title(out, group);
    fputs("</caption>\n", out);
    write_head(out, columns, group);
    fputs("<tbody>\n", out);
    for (int r = 0; r < group->row_count; r++) write_row(out, report, group, r, columns);
    fputs("</tbody></table></div>\n", out);
}

/* A closed loop has a schedule too, in which everybody is always due: only arrivals make a group an
 * open one. */
static bool any_used(const struct column *columns, const struct report_group *group) {
    if (columns == columns_of(IN_OPEN_LOOP)) return column_used(columns, group);
    for (const struct column *column = columns; column->key; column++) {
        if (column_used(column, group)) return true;
    }
    return false;
}

void html_folded(FILE *out, const struct report *report, const struct column *columns,
                 const char *what) {
    int used = 0;
    for (int g = 0; g < report->group_count; g++) used += any_used(columns, &report->groups[g]);
    if (used == 0) return;
    fprintf(out, "<details class=\"fold\"><summary>%s as tables</summary>\n", what);
    for (int g = 0; g < report->group_count; g++) {
        if (any_used(columns, &report->groups[g]))
            html_table(out, report, &report->groups[g], columns, what);
    }
    fputs("</details>\n", out);
}
