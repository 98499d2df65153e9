/* check_show: see check_show.h. */
#include "bench/cli/check_show.h"

#include <string.h>

#include "bench/base/output.h"
#include "bench/check/cell_result.h"
#include "bench/cli/progress.h"

static const char *fault_of(const struct matrix *matrix, const struct matrix_cell *cell) {
    return matrix->columns[cell->column].name;
}

static bool is_trouble(enum check_verdict verdict) {
    return verdict == CHECK_FAILED || verdict == CHECK_INCONCLUSIVE;
}

void check_show_end(const struct check_show *show) {
    if (show->terminal) fprintf(stderr, "\r\033[K");
}

void check_show_news(void *arg, const struct cell_schedule_news *news) {
    const struct check_show *show = arg;
    const struct matrix *matrix = show->result->ask.matrix;
    enum check_verdict verdict = news->cell_result->cell.verdict;
    bool worse = matrix->columns[news->cell->column].fault != LB_SCENARIOS &&
                 cell_result_compare(verdict, news->cell->expected.worst) == CHECK_WORSE;
    const char *why = news->cell_result->cell.why ? news->cell_result->cell.why : "";
    check_show_end(show);
    /* If the output is no terminal, only cells that need attention are printed. A cell of the
     * conformance suite always is, because its reason names the checks that were left out. */
    bool suite = matrix->columns[news->cell->column].suite;
    if (worse || is_trouble(verdict) || suite) {
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

/* " x leader-kill, minority-lost": the faults in which one lock is left out for this reason; it may
 * be in others. */
static void show_skipped_faults(const struct matrix *matrix, int first, FILE *out) {
    for (int i = first; i < matrix->skip_count; i++) {
        const struct matrix_skip *skip = &matrix->skips[i];
        if (!skip->fault || strcmp(skip->reason, matrix->skips[first].reason) != 0) continue;
        fprintf(out, "%s%s", i == first ? " x " : ", ", skip->fault);
    }
}

void check_show_skips(const struct matrix *matrix, FILE *out) {
    for (int i = 0; i < matrix->skip_count; i++) {
        const struct matrix_skip *skip = &matrix->skips[i];
        const struct lb_lock *last = skip->lock;
        bool said = false;
        int more = 0;
        /* The lock does not suit the workload, so nothing can be installed. */
        if (!skip->unavailable && !skip->out_of_reach) continue;
        for (int j = 0; j < matrix->skip_count; j++) {
            if (strcmp(matrix->skips[j].reason, skip->reason) != 0) continue;
            said |= j < i;
            more += j > i && matrix->skips[j].lock != last;
            if (j > i) last = matrix->skips[j].lock;
        }
        if (said) continue;
        fprintf(out, "lockbench: left out: %s", skip->lock->name);
        if (more > 0) fprintf(out, " and %d more", more);
        if (more == 0 && skip->fault) show_skipped_faults(matrix, i, out);
        fprintf(out, ": %s%s%s\n", skip->reason, skip->install ? "; install: " : "",
                skip->install ? skip->install : "");
    }
}

/* The recoveries that cells want, for which further runs may follow; 0 = no cell wants any. */
static int trials_wanted(const struct matrix *matrix) {
    int most = 0;
    for (int i = 0; i < matrix->cell_count; i++) {
        if (matrix->cells[i].trials > most) most = matrix->cells[i].trials;
    }
    return most;
}

/* The number of runs that is known does not have these. */
static void show_further_runs(const struct matrix *matrix, FILE *out) {
    int trials = trials_wanted(matrix);
    if (trials > 0)
        fprintf(out, "; more follow in cells with fewer than %d recover%s", trials,
                trials == 1 ? "y" : "ies");
    fputc('\n', out);
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
    fprintf(out, "%d run%s, about %s by the plan (an estimate)", runs, runs == 1 ? "" : "s",
            progress_about(expected_ns > longest_ns ? expected_ns : longest_ns, span));
    show_further_runs(matrix, out);
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
                skip->fault ? skip->fault : "all", skip->reason, skip->install ? "; install: " : "",
                skip->install ? skip->install : "");
    }
    int cells = matrix->cell_count, runs = cells * seed_count;
    fprintf(out, "%d cell%s, %d run%s, from seed %llu; one after the other at most %.0f s of load",
            cells, cells == 1 ? "" : "s", runs, runs == 1 ? "" : "s", (unsigned long long)seeds[0],
            (double)time_ns / 1e9 * seed_count);
    show_further_runs(matrix, out);
}
