/* threshold: a promise about a figure of a stage, as people write it: "acquire_due.p99<=20ms",
 * "failed<=0.1%", "throughput_per_s>=500".
 *
 * Every figure that results/format/stage.def declares may be promised by its path, by the end of
 * its path, or by its name in `lockbench compare`; of every latency also any quantile from p50 to
 * p99.99. A quantile is judged alike under each of its names (acquire.p99, acquire_p99). This file only
 * reads promises; verdict.h judges them. */
#ifndef BENCH_SLO_THRESHOLD_H
#define BENCH_SLO_THRESHOLD_H

#include <math.h>

#include "results/format/run_read.h"

#define THRESHOLD_QUANTILE_MIN 0.5
#define THRESHOLD_QUANTILE_MAX 0.9999
#define THRESHOLD_TEXT_MAX 120
#define THRESHOLDS_MAX 32 /* in one run */

struct threshold {
    char text[THRESHOLD_TEXT_MAX]; /* the text as it was written, without blanks */
    /* its row of the table; for a quantile the row of the latency object */
    const struct result_field *figure;
    double quantile; /* NAN: the threshold is about the figure itself */
    bool at_least;   /* true: ">=", false: "<=" */
    double limit;    /* ns for times; a share for a limit in per cent */
};

/* Reads one threshold. A time takes a duration, a figure without a unit a number or per cent. 0, or
 * -1 with err (LB_EXIT_USAGE): what is wrong with it, with the nearest name; then *ret is
 * untouched. */
int threshold_read(const char *text, struct threshold *ret, struct lb_err *err);

/* Reads several, with commas between; "" = none. ret has room for THRESHOLDS_MAX. The number, or -1
 * with err. */
int thresholds_read(const char *text, struct threshold *ret, struct lb_err *err);

/* The metric of a threshold about a quantile; METRICS for one about a figure. */
enum metric threshold_metric(const struct threshold *threshold);

/* True if only an open loop has the figure, because it is counted from due times. */
bool threshold_needs_schedule(const struct threshold *threshold);

/* The remedy for a promise of acquire in an open loop. */
#define THRESHOLD_PROMISE_DUE "at a rate, a request waits from its due time: promise acquire_due"
/* True if the figure is a time of acquire, which in an open loop leaves out the wait for a free
 * client. */
bool threshold_leaves_out_wait(const struct threshold *threshold);

#endif
