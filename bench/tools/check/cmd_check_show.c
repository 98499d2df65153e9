/* cmd_check_show: what a check prints: the plan of a dry run, the cells that are left out, the cells as
 * they end, and the report; see check.h. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/output.h"
#include "bench/base/process.h"
#include "bench/cli/page.h"
#include "bench/cli/progress.h"
#include "bench/cli/terminal.h"
#include "bench/tools/check/cell_result.h"
#include "bench/tools/check/cmd_check.h"
#include "report/check/check_doc.h"

static const char *fault_of(const struct matrix *matrix, const struct matrix_cell *cell) {
    return matrix->columns[cell->column].name;
}

void check_show_end(const struct check_show *show) {
    if (show->terminal) fprintf(stderr, "\r\033[K");
}

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

void check_show_news(void *arg, const struct cell_schedule_news *news) {
    const struct check_show *show = arg;
    const struct matrix *matrix = show->result->ask.matrix;
    enum check_verdict verdict = news->cell_result->cell.verdict;
    bool worse = matrix->columns[news->cell->column].scenario != LB_SCENARIOS &&
                 cell_result_compare(verdict, news->cell->expected.worst) == CHECK_WORSE;
    const char *why = news->cell_result->cell.why ? news->cell_result->cell.why : "";
    check_show_end(show);
    /* If the output is no terminal, only cells that need attention are printed. A cell of the
     * conformance suite always is. */
    bool suite = matrix->columns[news->cell->column].suite;
    if (suite) show_suite(news->folder, matrix->column_count == 1);
    if (worse || suite || verdict == CHECK_FAILED || verdict == CHECK_INCONCLUSIVE) {
        fprintf(stderr, "lockbench: %s x %s, seed %llu: %s%s%s%s%s\n", news->cell->lock->name,
                fault_of(matrix, news->cell), (unsigned long long)news->seed,
                check_verdict_name(verdict), worse ? ", worse than expected" : "", *why ? ": " : "",
                why, news->again ? "; once more" : "");
    }
    if (!show->terminal) return;
    char line[300];
    int columns = output_columns(stderr);
    snprintf(line, sizeof line, "%d of %d  %s x %s: %s (%.1f s)", news->done, news->known,
             news->cell->lock->name, fault_of(matrix, news->cell), check_verdict_name(verdict),
             (double)news->took_ns / 1e9);
    fprintf(stderr, "%.*s", columns > 1 ? columns - 1 : 79, line);
    fflush(stderr);
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

void check_show_expected(const struct matrix *matrix, int seed_count, int capacity, FILE *out) {
    int64_t longest_ns = 0, weighed_ns = 0;
    int runs = matrix->cell_count * seed_count;
    char span[SPAN_MAX];
    for (int i = 0; i < matrix->cell_count; i++) {
        const struct matrix_cell *cell = &matrix->cells[i];
        weighed_ns += cell->time_ns * (cell->weight < capacity ? cell->weight : capacity);
        if (cell->time_ns > longest_ns) longest_ns = cell->time_ns;
    }
    int64_t expected_ns = weighed_ns / capacity * seed_count;
    fprintf(out, "%d run%s, about %s by the plan (an estimate)\n", runs, runs == 1 ? "" : "s",
            progress_about(expected_ns > longest_ns ? expected_ns : longest_ns, span));
}

void check_show_plan(const struct matrix *matrix, const uint64_t *seeds, int seed_count,
                     FILE *out) {
    int64_t time_ns = 0;
    for (int i = 0; i < matrix->cell_count; i++) {
        const struct matrix_cell *cell = &matrix->cells[i];
        fprintf(out, "%-36s %-18s %-20s expected %-9s %s\n", cell->lock->name,
                fault_of(matrix, cell), cell->topology ? cell->topology : "embedded",
                lb_expect_name(cell->expected.worst), cell->expected.why ? cell->expected.why : "");
        time_ns += cell->time_ns;
    }
    for (int i = 0; i < matrix->skip_count; i++) {
        const struct matrix_skip *skip = &matrix->skips[i];
        fprintf(out, "%-36s %-18s left out: %s%s%s\n", skip->lock->name,
                skip->scenario ? skip->scenario : "all", skip->reason,
                skip->install ? "; install: " : "", skip->install ? skip->install : "");
    }
    int cells = matrix->cell_count, runs = cells * seed_count;
    fprintf(out,
            "%d cell%s, %d run%s, from seed %llu; one after the other at most %.0f s of load\n",
            cells, cells == 1 ? "" : "s", runs, runs == 1 ? "" : "s", (unsigned long long)seeds[0],
            (double)time_ns / 1e9 * seed_count);
}

/* Prints the report for a terminal. It is made from memory, since the disk may be full. 0, or -1
 * with err. */
static int print_report(const struct result *result, const char *folder, struct lb_err *err) {
    bool color = terminal_has_color(stdout);
    char *text = json_dumps(result->root, JSON_REAL_PRECISION(10));
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/check.json", folder);
    struct check *check = text ? check_parse(text, strlen(text), path, err) : NULL;
    if (!text) err_set(err, LB_EXIT_MACHINE, "out of memory");
    int rc = check ? report_check_write(check, REPORT_TABLE, color, stdout, err) : -1;
    check_free(check);
    free(text);
    return rc;
}

static int render_summary(const void *check, FILE *out, struct lb_err *err) {
    return report_check_write(check, REPORT_MD, false, out, err);
}

int check_write_summary(const char *folder, struct lb_err *err) {
    char summary[PATH_MAX];
    snprintf(summary, sizeof summary, "%s/summary.md", folder);
    struct check *check = check_read(folder, err);
    int rc = check ? page_write(summary, render_summary, check, err) : -1;
    check_free(check);
    return rc;
}

void check_show_result(const struct result *result, bool json, const char *folder) {
    struct lb_err unprinted = {0};
    if (json) {
        json_dumpf(result->root, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
        putchar('\n');
    } else if (print_report(result, folder, &unprinted) != 0) {
        fprintf(stderr, "lockbench: the report could not be printed: %s\n", unprinted.text);
    }
}

/* In CI a missing server or library is a failure. */
static bool missed_in_ci(const struct matrix *matrix) {
    for (int i = 0; in_ci() && i < matrix->skip_count; i++) {
        if (matrix->skips[i].unavailable) return true;
    }
    return false;
}

int check_conclude(const struct matrix *matrix, const struct result *result, bool interrupted) {
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
    if (missed_in_ci(matrix)) {
        fprintf(stderr,
                "lockbench: in CI, cells that are left out because something is missing (see "
                "above) are a failure\n");
        return LB_EXIT_MACHINE;
    }
    return LB_EXIT_OK;
}
