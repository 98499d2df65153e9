/* cmd_check_show: what a check prints: the cells that are left out, the cells as
 * they end, and the report; see check.h. */
#include <limits.h>
#include <string.h>

#include "bench/base/process.h"
#include "bench/cli/page.h"
#include "bench/cli/progress.h"
#include "bench/cli/terminal.h"
#include "bench/tools/check/cell_result.h"
#include "bench/tools/check/cmd_check.h"
#include "report/check/check_doc.h"

/* Prints what the conformance suite said of each check; beside other columns only of those that
 * failed. */
static void show_suite(const char *folder, bool alone) {
    char path[800], line[1200];
    snprintf(path, sizeof path, "%s/log", folder);
    FILE *log = fopen(path, "r");
    while (log && fgets(line, sizeof line, log)) {
        if (alone || strncmp(line, "FAILED", 6) == 0) fputs(line, stderr);
    }
    if (log) fclose(log);
}

void check_show_news(const struct cell_schedule_news *news) {
    const struct matrix_column *column = news->cell->column;
    enum check_verdict verdict = news->cell_result->cell.verdict;
    bool worse = column->scenario != LB_SCENARIOS &&
                 cell_result_compare(verdict, news->cell->expected.worst) == CHECK_WORSE;
    const char *why = news->cell_result->cell.why ? news->cell_result->cell.why : "";
    bool attention = worse || verdict == CHECK_FAILED || verdict == CHECK_INCONCLUSIVE;
    if (column->suite) show_suite(news->folder, news->result->ask.matrix->column_count == 1);
    fprintf(stderr, "%s%d of %d, %.1f s: %s x %s, seed %llu: %s%s%s%s%s\n",
            attention ? "lockbench: " : "", news->done, news->known, (double)news->took_ns / 1e9,
            news->cell->lock->name, column->name, (unsigned long long)news->seed,
            check_verdict_name(verdict), worse ? ", worse than expected" : "", *why ? ": " : "",
            why, news->again ? "; once more" : "");
}

void check_show_skips(const struct matrix *matrix, FILE *out) {
    for (int i = 0; i < matrix->skip_count; i++) {
        const struct matrix_skip *skip = &matrix->skips[i];
        int same = 0, before = 0;
        /* The lock does not suit the workload, so nothing can be installed. */
        if (!skip->unavailable && !skip->out_of_reach) continue;
        for (int j = 0; j < matrix->skip_count; j++) {
            if (strcmp(matrix->skips[j].reason, skip->reason) != 0) continue;
            before += j < i;
            same += j > i;
        }
        if (before > 0) continue;
        fprintf(out, "lockbench: left out: %s%s%s", skip->lock->name, skip->scenario ? " x " : "",
                skip->scenario ? skip->scenario : "");
        if (same > 0) fprintf(out, " and %d more", same);
        fprintf(out, ": %s%s%s\n", skip->reason, skip->install ? "; install: " : "",
                skip->install ? skip->install : "");
    }
}

void check_show_expected(const struct result_ask *ask, FILE *out) {
    const struct matrix *matrix = ask->matrix;
    int64_t longest_ns = 0, weighed_ns = 0;
    int runs = matrix->cell_count * ask->seed_count, weight_max = ask->weight_max;
    char span[SPAN_MAX];
    for (int i = 0; i < matrix->cell_count; i++) {
        const struct matrix_cell *cell = &matrix->cells[i];
        weighed_ns += cell->time_ns * (cell->weight < weight_max ? cell->weight : weight_max);
        if (cell->time_ns > longest_ns) longest_ns = cell->time_ns;
    }
    int64_t expected_ns = weighed_ns / weight_max * ask->seed_count;
    fprintf(out, "%d run%s, about %s by the plan (an estimate)\n", runs, runs == 1 ? "" : "s",
            progress_about(expected_ns > longest_ns ? expected_ns : longest_ns, span));
}

static int render_summary(const void *check, FILE *out, struct lb_err *err) {
    return report_check_write(check, REPORT_MD, false, out, err);
}

/* All of it is made from memory, since the disk may be full. */
void check_show_result(const struct result *result, bool json) {
    struct lb_err unprinted = {0}, unwritten = {0};
    char path[PATH_MAX], summary[PATH_MAX];
    snprintf(path, sizeof path, "%s/check.json", result->ask.folder);
    snprintf(summary, sizeof summary, "%s/summary.md", result->ask.folder);
    struct check *check = check_from_json(result->root, path, &unprinted);
    if (!check || report_check_write(check, json ? REPORT_JSON : REPORT_TABLE,
                                     terminal_has_color(stdout), stdout, &unprinted) != 0)
        fprintf(stderr, "lockbench: the report could not be printed: %s\n", unprinted.text);
    if (check && page_write(summary, render_summary, check, &unwritten) != 0)
        fprintf(stderr, "lockbench: the summary could not be written: %s\n", unwritten.text);
    check_free(check);
}

/* In CI a missing server or library is a failure. */
static bool missed_in_ci(const struct matrix *matrix) {
    for (int i = 0; in_ci() && i < matrix->skip_count; i++) {
        if (matrix->skips[i].unavailable) return true;
    }
    return false;
}

int check_conclude(const struct result *result, bool interrupted) {
    struct result_sum sum = result_sum(result);
    if (interrupted) {
        fprintf(stderr, "lockbench: interrupted: what was found until then is saved\n");
        return LB_EXIT_INTERRUPTED;
    }
    if (sum.worse > 0) {
        fprintf(stderr, "lockbench: %d cell%s worse than the driver states\n", sum.worse,
                sum.worse == 1 ? " is" : "s are");
        return LB_EXIT_VIOLATED;
    }
    if (sum.missed > 0) {
        fprintf(stderr,
                "lockbench: %d lock%s broken on purpose %s not caught: do not trust these checks\n",
                sum.missed, sum.missed == 1 ? "" : "s", sum.missed == 1 ? "was" : "were");
        return LB_EXIT_MACHINE;
    }
    if (sum.failed > 0) {
        fprintf(stderr, "lockbench: %d cell%s runs that failed or showed nothing\n", sum.failed,
                sum.failed == 1 ? " has" : "s have");
        return LB_EXIT_MACHINE;
    }
    if (missed_in_ci(result->ask.matrix)) {
        fprintf(stderr,
                "lockbench: in CI, cells that are left out because something is missing (see "
                "above) are a failure\n");
        return LB_EXIT_MACHINE;
    }
    return LB_EXIT_OK;
}
