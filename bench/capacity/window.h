/* window: how long a probe must last for its verdict to hold for longer than the probe.
 *
 * A queue that begins empty needs time to fill. Near the greatest rate that a key carries the queue
 * still grows when a short window ends, and the promise seems to be kept. Where one request is served
 * at a time, in the mean time 1/capacity, the influence of the queue's first state decays with the
 * relaxation time 1/capacity / (1 - sqrt(rate/capacity))^2 (Cohen, The Single Server Queue, 1982).
 * This file reads no clock and runs nothing. Times are in seconds, rates per second. */
#ifndef BENCH_CAPACITY_WINDOW_H
#define BENCH_CAPACITY_WINDOW_H

struct window_ask {
    double limit_s, allowed; /* of the promise; allowed: the share over the limit */
    double capacity_per_s;   /* what the closed loop did; 0 = not known, or a search by clients */
    double warmup_s;         /* the least */
    double budget_s;         /* for all probes of a lock */
};

struct window {
    double warmup_s, duration_s;
};

/* Warm-up and window of a probe at this rate (0 = not known). The window lasts at least 5 s, 20
 * limits, and several relaxation times of the queue at the edge, but no longer than the budget allows
 * for about a dozen probes; where the quantile takes more samples, for a few. */
struct window window_of(const struct window_ask *ask, double rate_per_s);

/* The greatest rate whose queue settles within a warm-up and window of span_s together; 0 = none. */
double window_settled_rate(double capacity_per_s, double span_s);

/* The variance between probes of the share over the limit, in shares that are allowed, at the edge: a
 * queue is over the limit in clusters, which last for about a relaxation time, so a window has few of
 * them where little is allowed. Where the queue still grows when the window ends, its length says more
 * than chance does, and window_settled_rate bounds the answer. The factor is from a simulation of
 * ideal queues (bench/tests/test_capacity_truth.c). */
double window_scatter(const struct window_ask *ask, double rate_per_s);

/* The time that the probes of a lock take for this promise where the user gives none: 2.5 to 10
 * minutes. */
double window_budget_s(double limit_s, double allowed, double capacity_per_s);

#endif
