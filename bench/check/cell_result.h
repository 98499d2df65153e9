/* cell_result: what a cell of the check showed: from the run of an ordinary workload to a cell of
 * check.json (struct check_cell), with the verdict; and several runs of a cell put together.
 *
 * It reads no file and compares nothing with what a driver states but by cell_result_compare. */
#ifndef BENCH_CHECK_CELL_RESULT_H
#define BENCH_CHECK_CELL_RESULT_H

#include <stdbool.h>

#include "drivers/scenario.h"
#include "results/format/check_read.h"

/* A key is stuck when the recovery took longer than CELL_STUCK_TIMES its theory at the most and
 * VERDICT_STUCK_PATIENCE_NS. */
#define CELL_STUCK_TIMES 3
/* So long before the window's end its servers must have settled, or nobody can say that it does not
 * recover. */
#define CELL_AWAY_S 3
#define CELL_WHY_MAX 400

/* Its texts and arrays live as long as `kept`. {0} is none. */
struct cell_result {
    struct check_cell cell;
    json_t *kept;
};

/* What one run showed. run: NULL = there is none that can be read; trouble: why the run itself
 * failed, NULL = it did not; needs_fault: without a fault that acted nothing is shown. Nothing of
 * ret is borrowed from the run. 0, or -1 with err when out of memory. The caller
 * cell_result_frees. */
int cell_result_of_run(const struct run *run, const char *trouble, bool needs_fault,
                       struct cell_result *ret, struct lb_err *err);

/* The same of conformance.json (NULL: there is none): violated if two held at once or a check that failed twice got a
 * yes where it must get a no, stuck for the reverse, failed for all else. last_words: what the suite said
 * when it did not come to its end. */
int cell_result_of_suite(const json_t *suite, const char *last_words, struct cell_result *ret,
                         struct lb_err *err);

/* Puts another run of the same cell beside those in `into`: the worse one's verdict and evidence,
 * sums of counts, all trials. `more` stays the caller's. 0, or -1 with err when out of memory. */
int cell_result_merge(struct cell_result *into, const struct cell_result *more, struct lb_err *err);

/* Gives the cell a text, or a reference to a JSON value, of its own; NULL when out of memory. */
const char *cell_result_keep_text(struct cell_result *result, const char *text);
json_t *cell_result_keep(struct cell_result *result, json_t *value);

/* How many recoveries it has measured. */
int cell_result_trials(const struct cell_result *result);

void cell_result_free(struct cell_result *result);

/* The verdict on one stage of a run, and in `why` (CELL_WHY_MAX bytes) what made it so; "" = nothing
 * to say. */
enum check_verdict cell_verdict(const struct run *run, const struct run_stage *stage,
                                bool needs_fault, char *why);

/* A verdict beside what was expected. */
enum check_compared cell_result_compare(enum check_verdict verdict, enum lb_expect expected);

#endif
