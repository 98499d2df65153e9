/* window: decides how long a probe must last, so that its verdict is true for longer than the
 * probe.
 *
 * A queue that begins empty needs time to fill. Near the greatest rate that a key carries the queue
 * still grows when a short window ends, and the promise seems to be kept. Where one request is
 * served at a time, in the mean time 1/capacity, the influence of the queue's first state decays
 * with the relaxation time 1/capacity / (1 - sqrt(rate/capacity))^2 (Cohen, The Single Server
 * Queue, 1982). This file reads no clock and runs nothing. Times are in seconds, rates per
 * second. */
#ifndef BENCH_CAPACITY_WINDOW_H
#define BENCH_CAPACITY_WINDOW_H

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

#endif
