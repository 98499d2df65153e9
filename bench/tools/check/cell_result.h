/* cell_result: makes a cell of check.json (struct check_cell), with its verdict, from a run of an
 * ordinary workload; and puts several runs of a cell together.
 *
 * This file reads no result file, and only cell_result_compare knows what a driver states. */
#ifndef BENCH_TOOLS_CHECK_CELL_RESULT_H
#define BENCH_TOOLS_CHECK_CELL_RESULT_H

#include <stdbool.h>

#include "drivers/scenario.h"
#include "results/format/check_read.h"

/* A key is stuck if the recovery took longer than CELL_STUCK_TIMES times the longest time that
 * theory allows, plus VERDICT_STUCK_PATIENCE_NS; the time for which lockbench itself stood still does
 * not count. */
#define CELL_STUCK_TIMES 3
/* A lock is said not to recover only if its servers had settled so long before the window's end; twice the time for
 * which lockbench itself stood still does not count. */
#define CELL_AWAY_S 3
#define CELL_WHY_MAX 400

/* A cell and the memory of its texts and arrays. {0} is an empty one. */
struct cell_result {
    struct check_cell cell;
    json_t *kept;
    bool hardly_tested; /* a run of it without a fault: cell_was_hardly_tested */
    bool no_trial;      /* inconclusive only because no fault tested the lock: cell_verdict */
};

/* Makes the result of one run of a cell. run: NULL = the run left no result that can be read;
 * trouble: why the run itself failed, NULL = it did not fail; needs_fault: a run without a fault
 * that acted shows nothing. ret borrows nothing from the run. Returns 0, or -1 with err when out of
 * memory. The caller frees ret with cell_result_free. */
int cell_result_of_run(const struct run *run, const char *trouble, bool needs_fault,
                       struct cell_result *ret, struct lb_err *err);

/* The same from a conformance.json (NULL: there is none). The verdict is violated if two clients
 * held at once, or if a check that failed twice got a yes where it must get a no; stuck for the
 * reverse; failed for all other failures. last_words: the suite's last output, if it did not come
 * to its end. */
int cell_result_of_suite(const json_t *suite, const char *last_words, struct cell_result *ret,
                         struct lb_err *err);

/* Adds another run of the same cell to those in `into`: the verdict and the evidence of the worse
 * one, the sums of the counts, the trials of both. `more` stays the caller's. 0, or -1 with err
 * when out of memory. */
int cell_result_merge(struct cell_result *into, const struct cell_result *more, struct lb_err *err);

/* Copies a text, or takes a reference to a JSON value, for the cell; NULL when out of memory. */
const char *cell_result_keep_text(struct cell_result *result, const char *text);
json_t *cell_result_keep(struct cell_result *result, json_t *value);

void cell_result_free(struct cell_result *result);

/* The faults that acted. hit: those that put the lock to the test (bench/evidence/recovery.h; or met a waiter, in
 * scenarios that hit waiters), and that did not come too late. untested: the others. An injection that hits several
 * servers counts as one fault. Where a scenario has several sections, a whole round counts as one fault: a promotion
 * without the cut before it tests nothing. */
struct cell_trials {
    double hit, untested;
};

/* broken: the lock failed, so each fault that met a client was in time. */
struct cell_trials cell_trials(const struct run *run, const struct run_stage *stage, bool broken);

/* Whether holders were inside for less than a round trip, so that the grants of the stage allow no bound. */
bool cell_was_hardly_tested(const struct run_stage *stage);

/* The verdict on one stage of a run, and its reason in `why` (CELL_WHY_MAX bytes), which is "" if
 * the verdict needs none. *ret_no_trial: the verdict is inconclusive only since no fault put the lock to the
 * test: beside other runs, the run is one of 0 trials. */
enum check_verdict cell_verdict(const struct run *run, const struct run_stage *stage,
                                bool needs_fault, char *why, bool *ret_no_trial);

/* Compares a verdict with the expected one. */
enum check_compared cell_result_compare(enum check_verdict verdict, enum lb_expect expected);

#endif
