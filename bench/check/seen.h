/* seen: what a cell showed: from the run.json of an ordinary run to an element of check.json's
 * .cells, and the verdict.
 *
 * All is JSON in and JSON out, as results/README.md has both; nothing of a run.json is believed to
 * be there or to be of the right type. It reads no file. */
#ifndef BENCH_CHECK_SEEN_H
#define BENCH_CHECK_SEEN_H

#include <jansson.h>
#include <stdbool.h>

#include "drivers/scenario.h"
#include "results/format/check_read.h"

/* A key is stuck when the recovery took longer than SEEN_STUCK_TIMES its theory at the most and a
 * little. */
#define SEEN_STUCK_TIMES 3
#define SEEN_STUCK_SLACK_NS (2 * INT64_C(1000000000))
/* So long before the window's end its servers must have settled, or nobody can say that it does not
 * recover. */
#define SEEN_AWAY_S 3

/* What one run showed. run: its run.json, NULL = there is none; trouble: why the run itself failed,
 * NULL = it did not; needs_fault: without a fault that acted nothing is shown. New reference, NULL
 * when out of memory. */
json_t *seen_of_run(const json_t *run, const char *trouble, bool needs_fault);

/* Two runs of a cell together: the worse one's verdict and evidence, sums of counts, all trials.
 * New reference, NULL when out of memory. */
json_t *seen_merge(const json_t *a, const json_t *b);

enum check_verdict seen_verdict(const json_t *seen);
/* How many recoveries it has measured. */
int seen_trials(const json_t *seen);

/* A verdict beside what was expected. */
enum check_compared seen_compare(enum check_verdict verdict, enum lb_expect expected);
/* "as expected", "worse", "better"; NULL = not compared. */
const char *seen_compared_name(enum check_compared compared);

#endif
