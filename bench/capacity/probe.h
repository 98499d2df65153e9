/* probe: what one stage shows about a promise at the stage's load.
 *
 * Every operation that was due counts: one that never started, timed out or failed is over the
 * limit. Waits for one lock queue behind each other, so they are not independent samples: the
 * interval of the quantile comes from the spread between parts of the window
 * (results/stats/quantile.h), counted at the limit. Near the edge even these parts depend on each
 * other, so the verdict is only printed, and the search takes a probe as one sample. Where far
 * fewer than allowed are over the limit, nothing is known of the spread at the quantile, and there is
 * no interval. This file decides nothing about a search. */
#ifndef BENCH_CAPACITY_PROBE_H
#define BENCH_CAPACITY_PROBE_H

#include "bench/capacity/search.h"
#include "bench/run/stage.h"
#include "results/format/capacity_read.h"

/* slo: the promise that a search for capacity is about. bench/slo/slo.h reads promises; of
 * these, only a limit of a quantile of the wait has a greatest load. This file measures nothing. */

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

/* window: decides how long a probe must last, so that its verdict is true for longer than the
 * probe.
 *
 * A queue that begins empty needs time to fill. Near the greatest rate that a key carries the queue
 * still grows when a short window ends, and the promise seems to be kept. Where one request is
 * served at a time, in the mean time 1/capacity, the influence of the queue's first state decays
 * with the relaxation time 1/capacity / (1 - sqrt(rate/capacity))^2 (Cohen, The Single Server
 * Queue, 1982). This file reads no clock and runs nothing. Times are in seconds, rates per
 * second. */

struct window_ask {
    double limit_s, allowed; /* limit_s: of the promise; allowed: the share that may be over it */
    /* throughput of the closed loop; 0 = not known, or a search by clients */
    double capacity_per_s;
    double warmup_s; /* the shortest warm-up */
    double budget_s; /* the time for all probes of a lock */
};

struct window {
    double warmup_s, duration_s;
};

/* The warm-up and the window of a probe at this rate (0 = not known). The window lasts 20 limits or 8 relaxation times
 * of the queue at the edge, whichever is longer, but no longer than lets 12 probes fit into the budget (4 probes, if
 * the quantile needs many samples); and never less than 5 s. */
struct window window_of(const struct window_ask *ask, double rate_per_s);

/* The greatest rate whose queue settles within a warm-up and window of span_s together; 0 = none. */
double window_settled_rate(double capacity_per_s, double span_s);

/* The variance between probes of the share over the limit, in shares that are allowed, at the edge:
 * requests over the limit come in clusters that last for about a relaxation time, so a window has
 * few clusters if little is allowed. If the queue still grows when the window ends, its length
 * decides rather than chance, and window_settled_rate bounds the answer. The factor is from a
 * simulation of ideal queues (bench/tests/test_capacity_truth.c). */
double window_scatter(const struct window_ask *ask, double rate_per_s);

/* The time that the probes of a lock take for this promise if the user gives no time: 2.5 to 10
 * minutes. */
double window_budget_s(double limit_s, double allowed, double capacity_per_s);

/* The limit of the load generator that may have caused the verdict. */
enum probe_limit { PROBE_NOT_LIMITED, PROBE_LATE, PROBE_STOLEN, PROBE_BUSY, PROBE_POOL };

struct probe {
    char stage[96]; /* the stage's id */
    double load;    /* arrivals a second, or clients */
    enum promise_verdict verdict;
    /* PROBE_LATE and PROBE_STOLEN are set even if the promise was kept nevertheless */
    enum probe_limit limit;
    const char *few; /* why there is no interval of the quantile to judge by, in words; or NULL */
    bool measured;   /* the figures below are known */
    /* The quantile and its interval; NAN: not known. Any of them is NAN, too, if the value is
     * beyond the last granted request */
    double quantile_ns, low_ns, high_ns;
    /* samples: requests due in the window; in a closed loop, begun in it */
    uint64_t samples, over, missed;
    double hold_mean_ns, handoff_mean_ns; /* NAN where there is none */
    double throughput_per_s;
    /* Open loop only. grew: the backlog grew in the window by more than chance explains;
     * served_per_s: grants a second before the window's end, 0 = not known */
    bool grew;
    double served_per_s;
    double span_s; /* warm-up and window together */
};

#define PROBE_LEVEL 0.95

/* Reads a stage that was run with ask->promise. */
struct probe probe_read(const struct stage *stage, const struct stage_ask *ask, double load);

/* True if this machine was so slow that the stage shows too little of the lock and is better run
 * again. */
bool probe_is_spoilt(const struct stage *stage, const struct stage_ask *ask);

/* The probe as the search takes it. allowed: the share that may be over the limit. */
struct search_result probe_result(const struct probe *probe, double allowed);

/* Why the verdict is unsure, in words, for users; NULL if it is not. A limit of the load generator
 * is told in the words of probe_limit_text. */
const char *probe_unsure_text(const struct probe *probe);

/* The limit in words, for users; NULL for PROBE_NOT_LIMITED. */
const char *probe_limit_text(enum probe_limit limit);

#endif
