/* cell_result: the result of a cell: from the run.json of an ordinary run to an element of
 * check.json's .cells, and the verdict.
 *
 * JSON in and JSON out, as results/README.md documents both. Nothing in a run.json is assumed to
 * exist or to have the right type. It reads no file. */
#ifndef BENCH_CHECK_CELL_RESULT_H
#define BENCH_CHECK_CELL_RESULT_H

#include <jansson.h>
#include <stdbool.h>

#include "drivers/scenario.h"
#include "results/format/check_read.h"

/* A key is stuck when the recovery took longer than CELL_STUCK_TIMES its greatest theoretical time,
 * plus CELL_STUCK_SLACK_NS. */
#define CELL_STUCK_TIMES 3
#define CELL_STUCK_SLACK_NS (2 * INT64_C(1000000000))
/* The servers must have settled this long before the end of the window; otherwise nobody can say
 * that the lock does not recover. */
#define CELL_AWAY_S 3

/* The result of one run. run: its run.json, NULL = there is none; trouble: why the run itself
 * failed, NULL = it did not; needs_fault: without an injection that took effect the run shows
 * nothing. New reference, NULL when out of memory. */
json_t *cell_result_of_run(const json_t *run, const char *trouble, bool needs_fault);

/* Two runs of a cell together: the verdict and evidence of the worse one, the sums of counts, all
 * trials. New reference, NULL when out of memory. */
json_t *cell_result_merge(const json_t *a, const json_t *b);

enum check_verdict cell_result_verdict(const json_t *cell_result);
/* The number of recoveries that it measured. */
int cell_result_trials(const json_t *cell_result);

/* Compares a verdict with the expected one. */
enum check_compared cell_result_compare(enum check_verdict verdict, enum lb_expect expected);
/* "as expected", "worse", "better"; NULL = not compared. */
const char *cell_result_compared_name(enum check_compared compared);

#endif
