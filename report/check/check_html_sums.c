/* check_html_sums: what held and what broke, added up, on a check's page: by family of locks and by
 * fault, and the recoveries of each backend beside theory. See check_html.h and check_sums.h. */
#include <math.h>

#include "report/check/check_html.h"
#include "report/check/check_sums.h"

#define BACKENDS_MAX 32
#define FAULTS_MAX 64

static void write_number(FILE *out, double number, bool time, bool bad) {
    char text[NUMBER_TEXT_MAX];
    fprintf(out, "<td class=\"num%s\"", bad ? " bad" : "");
    if (isfinite(number)) fprintf(out, " data-v=\"%.9g\"", number);
    fprintf(out, ">%s</td>",
            time ? number_time_text(number, text) : number_count_text(number, text));
}

static void open_table(FILE *out, const char *caption, const char *const *heads,
                       size_t head_count) {
    fprintf(out,
            "<div class=\"scroll\" tabindex=\"0\"><table class=\"figures "
            "sortable\"><caption>%s</caption><thead><tr>",
            caption);
    for (size_t h = 0; h < head_count; h++)
        fprintf(out, "<th scope=\"col\"%s>%s</th>", h > 0 ? " class=\"num\"" : "", heads[h]);
    fputs("</tr></thead><tbody>\n", out);
}

#define OPEN_TABLE(out, caption, heads)                                                            \
    open_table(out, caption, heads, sizeof(heads) / sizeof *(heads))

static void write_families(FILE *out, const struct check_view *view) {
    static const char *const heads[] = {
        "locks",      "how many",           "cells", "safe", "expired", "stuck", "violated",
        "no verdict", "worse than claimed", "better"};
    OPEN_TABLE(out, "Cells, by what the lock's truth rests on", heads);
    for (int f = 0; f < FAMILIES; f++) {
        const struct check_counts *counts = &view->families[f];
        if (counts->cells == 0) continue;
        const int *seen = counts->verdict;
        fprintf(out, "<tr><th scope=\"row\">%s</th>", check_family_title((enum check_family)f));
        write_number(out, view->locks[f], false, false);
        write_number(out, counts->cells, false, false);
        for (int v = CHECK_SAFE; v <= CHECK_VIOLATED; v++) write_number(out, seen[v], false, false);
        write_number(out, seen[CHECK_INCONCLUSIVE] + seen[CHECK_FAILED], false, false);
        write_number(out, counts->worse, false, counts->worse > 0 && f != FAMILY_CONTROL);
        write_number(out, counts->better, false, false);
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

static void write_faults(FILE *out, const struct check_view *view) {
    static const char *const heads[] = {"under",
                                        "judged",
                                        "safe",
                                        "overlaps",
                                        "grants",
                                        "stale, accepted unfenced",
                                        "rejected fenced",
                                        "longest without a grant"};
    OPEN_TABLE(out, "By fault, without the controls", heads);
    for (int c = 0; c < view->column_count; c++) {
        struct check_sums sums;
        check_sum_fault(view, view->column[c], &sums);
        if (sums.judged == 0) continue;
        fputs("<tr><th scope=\"row\">", out);
        escape_html(out, view->check->faults[view->column[c]].name);
        fputs("</th>", out);
        write_number(out, sums.judged, false, false);
        write_number(out, sums.safe, false, false);
        write_number(out, sums.overlaps, false, false);
        write_number(out, sums.grants, false, false);
        write_number(out, sums.stale_accepted, false, false);
        write_number(out, sums.stale_rejected, false, false);
        write_number(out, sums.unavailable_max, true, false);
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

static void write_recovery(FILE *out, const struct check_recovery *recovery) {
    char range[CHECK_RANGE_MAX], count[NUMBER_TEXT_MAX];
    fputs("<td class=\"words\">", out);
    if (!(recovery->trials > 0) && recovery->never == 0) fputs(NUMBER_NONE, out);
    if (recovery->trials > 0) {
        fprintf(out, "%s <span class=\"unit\">n = %s</span>",
                check_range_text(recovery->min, recovery->max, range),
                number_count_text(recovery->trials, count));
    }
    if (recovery->never > 0)
        fprintf(out, "%s%d never", recovery->trials > 0 ? "; " : "", recovery->never);
    if (isfinite(recovery->theory_max)) {
        fprintf(out, "<br><span class=\"unit\">theory %s</span>",
                check_range_text(recovery->theory_min, recovery->theory_max, range));
    }
    fputs("</td>", out);
}

static void write_recoveries(FILE *out, const struct check_view *view) {
    const char *backends[BACKENDS_MAX];
    int faults[FAULTS_MAX], backend_count = check_backends(view, backends, BACKENDS_MAX);
    int fault_count = check_recovery_faults(view, faults, FAULTS_MAX);
    if (fault_count == 0) return;
    fputs(
        "<div class=\"scroll\" tabindex=\"0\"><table class=\"figures\"><caption>Recovery: fastest and "
        "slowest of all "
        "trials, from the fault to the next grant</caption><thead><tr><th scope=\"col\">backend</th>",
        out);
    for (int f = 0; f < fault_count; f++) {
        fputs("<th scope=\"col\">", out);
        escape_html(out, view->check->faults[faults[f]].name);
        fputs("</th>", out);
    }
    fputs("</tr></thead><tbody>\n", out);
    for (int b = 0; b < backend_count; b++) {
        fputs("<tr><th scope=\"row\">", out);
        escape_html(out, backends[b]);
        fputs("</th>", out);
        for (int f = 0; f < fault_count; f++) {
            struct check_recovery recovery;
            check_recovery_of(view, backends[b], faults[f], &recovery);
            write_recovery(out, &recovery);
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

void check_html_sums(FILE *out, const struct check_view *view) {
    html_section(out, "sums", "What held, what broke, for how long");
    if (view->row_count > 0) {
        write_families(out, view);
        write_faults(out, view);
        write_recoveries(out, view);
    }
    fputs("</section>\n", out);
}
