/* slo: a promise about a figure of a stage, as people write it: "acquire_due.p99<=20ms",
 * "failed<=0.1%", "throughput_per_s>=500".
 *
 * Every figure that results/format/stage.def declares may be promised by its path, by the end of
 * its path, or by its name in `lockbench compare`; of every latency also any quantile from p50 to
 * p99.99. A quantile is judged alike under each of its names (acquire.p99, acquire_p99). */
#ifndef BENCH_SLO_SLO_H
#define BENCH_SLO_SLO_H

#include <math.h>

#include "bench/base/verdict.h"
#include "results/format/run_read.h"
#include "results/stats/quantile.h"

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

/* Reads thresholds with commas between; "" = none. A time takes a duration, a figure without a unit a number or per cent. ret
 * has room for THRESHOLDS_MAX. The number, or -1 with err (LB_EXIT_USAGE): what is wrong, with the nearest name. */
int thresholds_read(const char *text, struct threshold *ret, struct lb_err *err);

/* The metric of a threshold about a quantile; METRICS for one about a figure. */
enum metric threshold_metric(const struct threshold *threshold);

/* True if only an open loop has the figure, because it is counted from due times. */
bool threshold_needs_schedule(const struct threshold *threshold);

/* True if the figure is a time of acquire, which in an open loop leaves out the wait for a free
 * client. */
bool threshold_leaves_out_wait(const struct threshold *threshold);

/* The promise that a search for capacity is about: of those above, only a limit of a quantile of the wait has a greatest
 * load. */
struct stage_promise {
    enum metric metric;
    double quantile;
    int64_t limit_ns; /* 0 = there is no promise */
};

/* The default promises. The limit is not shorter, because etcd wakes waiters at ticks of 100 ms:
 * its lock would keep no shorter promise at any load. */
#define SLO_BY_RATE "acquire_due.p99<=200ms"
#define SLO_BY_CLIENTS "acquire.p99<=200ms"

/* Reads "acquire_due.p99<=20ms", "acquire.p99.9 <= 1s". METRIC_ACQUIRE_DUE (due to granted; needs
 * arrivals by a schedule) or METRIC_ACQUIRE (called to granted); p50 to p99.99; a limit above 0, up
 * to an hour. Returns 0, or -1 with err (LB_EXIT_USAGE), which says what is wrong with the text;
 * then *ret is untouched. */
int slo_parse(const char *text, struct stage_promise *ret, struct lb_err *err);

/* Writes the promise as text. Returns text. */
char *slo_text(const struct stage_promise *slo, char *text, size_t size);

/* The first of the promises that is about the wait of a load: acquire_due at a rate, acquire in a closed loop. False, and
 * *ret is untouched: there is none. */
bool slo_of_waits(const struct threshold *thresholds, int count, bool closed,
                  struct stage_promise *ret);

/* The values of a histogram as a batch, of which `below` are up to limit_ns; a slot of the histogram that contains the limit
 * counts as a whole. */
struct quantile_batch slo_batch(const struct hist *hist, int64_t limit_ns);

/* Whether so many of `whole` operations are over the limit that chance is no explanation, although nothing is known
 * of how much they depend on each other. */
bool slo_is_far_over(const struct stage_promise *promise, double over, double whole);

/* A part of a window so far. counted, within: values, and those up to the limit; granted: grants of its operations, also
 * those whose values are not known yet, because they are still held. */
struct slo_so_far {
    double window_ns, elapsed_ns; /* of the whole window; of what is over of it */
    double offered_per_s;         /* open loop: arrivals; else 0 */
    double counted, within, granted;
};

/* Whether so many operations are over the limit that the whole window can only break the promise. One that was due and
 * was not granted for longer than the limit is over it. */
bool slo_is_hopeless(const struct stage_promise *promise, const struct slo_so_far *so_far);

/* Reads a stage's .hlog: calls `take` for each of its lines, with the number of the interval, from 0. 0, or -1 with err:
 * there is no log, or a line of it is not sound. */
int slo_read_log(const char *path,
                 void (*take)(void *arg, enum metric metric, int interval, const struct hist *hist),
                 void *arg, struct lb_err *err);

/* verdict: says whether one lock kept a threshold under one load, in one repeat or several, and how
 * sure that is.
 *
 * If the samples are too few, or scatter too much, the threshold is unsure: neither kept nor broken. Requests queue
 * behind each other, so a quiet window shows nothing of the next one: a quantile or a share is kept only if the window
 * is long enough for its values, by batches_worth; else it is unsure, and the remedy says how long a window would do. If the
 * load generator was the limit, a threshold that seems broken is unsure too, because a faster generator
 * might have shown otherwise; a threshold that was kept nevertheless is kept. A request that was never
 * granted lies above every limit. This file runs nothing and prints nothing. */

#define SLO_LEVEL 0.95
#define SLO_REPEATS_MIN 6 /* for an interval of the median over repeats */

/* The samples of the repeats of one lock under one load, for one threshold; zeroed: none yet. The
 * struct owns all its memory. */
struct slo_evidence {
    double *figures; /* of each repeat; INFINITY: the quantile lies among requests never granted */
    int repeats;
    int thin; /* repeats whose requests are too few to show the quantile: the figure is NAN, and their seconds count */
    /* A second each, of all repeats; a whole repeat where its seconds are not known. A quantile: how
     * many requests, and how many were within the limit. A share: how many attempts, and how many
     * belong to the share. */
    struct quantile_batch *batches;
    int batch_count;
    bool whole;      /* the batches are whole repeats */
    double window_s; /* the windows of all repeats together; 0 = not known */
    double *seconds; /* for a mean: its value in each second */
    int second_count;
    int limited; /* repeats in which the load generator itself was the limit */
    int ended; /* repeats that ended early, because their whole window could only break the promise */
    bool failed; /* memory ran out, and something is missing */
};

struct slo_answer {
    enum promise_verdict verdict;
    /* the median of the repeats; NAN: not measured, or the requests are too few to show it */
    double figure;
    double low, high; /* its interval; NAN: not known */
    char basis[160];  /* what the verdict and the interval are based on */
    /* what would make an unsure verdict sure, without a full stop; "": it is sure, or that is not known */
    char remedy[100];
};

void slo_add_figure(struct slo_evidence *evidence, double figure);
void slo_add_batch(struct slo_evidence *evidence, const struct quantile_batch *batch);
void slo_add_second(struct slo_evidence *evidence, double value);
void slo_evidence_done(struct slo_evidence *evidence);

struct slo_answer slo_judge(const struct threshold *threshold, const struct slo_evidence *evidence);

#endif
