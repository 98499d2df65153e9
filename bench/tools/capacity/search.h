/* search: decides which load to probe next, and what all probes together say about the greatest
 * load that keeps a promise.
 *
 * First it finds a bracket: from a first guess up while the promise is kept, down while it is
 * broken. Then it runs rounds of probes on both sides of the estimated edge, in shuffled order, so
 * that a machine that becomes slower affects both sides alike. The answer is the edge of all probes
 * (below), not the end of one path, so one unlucky probe has little weight. Probes in which the
 * generator was too slow are left out, whether the promise was kept or not: leaving
 * out only the broken ones would push the edge up. Where one side has too few others, the kept ones
 * count, and the answer says why.
 *
 * An answer in requests a second is never above what the lock was seen to do: in the closed loop
 * before the search, or within a probe. A probe from an empty queue keeps its promise for a while
 * at any rate. The lower end of the interval is never above the rate whose queue settles within a
 * probe.
 *
 * This file runs nothing and reads no clock; the caller runs the probes and says how much time is
 * left. */
#ifndef BENCH_TOOLS_CAPACITY_SEARCH_H
#define BENCH_TOOLS_CAPACITY_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

/* edge: finds the load at which a promise begins to break, from all probes together.
 *
 * Each probe says at its load x (a logarithm) which share of its requests was over the limit: y, in
 * shares that are allowed. The edge is the load at which y is 1 in the mean. Near the edge the
 * share of a queue grows with the load like exp(steepness * x), and far from the edge a probe shows
 * only on which side of it the load is, so the curve is cut at EDGE_LOW below and EDGE_FAR above,
 * and so is each y. This limits the weight of a probe that something else disturbed. Late requests
 * come in clusters, and one cluster may be ten times what is allowed in a window: with a lower cut
 * such probes would count for less than they show, and the edge would be found too high.
 *
 * Each pair of a load and a steepness on a grid gets a weight: the quasi-likelihood of the counts
 * (Wedderburn, Biometrika 61, 1974) if that load is the edge; the answer is the median of these
 * weights and its interval their quantiles. Least squares of logarithms would be wrong: late
 * requests come in clusters, so the mean of the logarithms lies far below the logarithm of the
 * mean, and the edge would be found too high. For the same reason a probe counts as one sample,
 * whatever it measured inside, and probes are taken to scatter at least as much as the caller says.
 * This file knows no lock and no clock. */

#define EDGE_POINTS_MAX 256

#define SEARCH_LEVEL 0.95
#define SEARCH_ROUND 4 /* probes in a round */

/* Times are in seconds, rates a second. 0 in start, least and budget_s: search_init chooses. */
struct search_ask {
    double start, least, most; /* loads, above 0 */
    double allowed;            /* the share of samples that may be over the limit */
    bool whole;                /* loads are numbers of clients, and no rates */
    uint64_t seed;
    /* grants in a closed loop; 0 = not known, or a search by clients */
    double capacity_per_s;
    double limit_s;  /* of the promise */
    double warmup_s; /* the shortest warm-up of a probe */
    double budget_s; /* the time for all probes */
};

/* The waits of a probe; 0 = not known. worth: the window in relaxation times (batches_worth). */
struct search_waits {
    double worth, mean_s, square_s2;
};

struct search_result {
    double load;
    uint64_t over, samples;
    bool
        thin; /* not measured to the end, or too few samples: it shows nothing, as without samples */
    bool kept;    /* the promise was kept, with confidence */
    bool limited; /* the generator was so slow that it may have caused the verdict */
    bool grew;    /* the backlog grew: there is no steady state, so the promise will be broken */
    double throughput_per_s;
    double served_per_s; /* open loop: grants within the window; 0 = not known */
    double span_s;       /* warm-up and window together */
    struct search_waits waits;
};

struct search {
    struct search_ask ask;
    struct search_result results[EDGE_POINTS_MAX];
    int count;
    double round[SEARCH_ROUND]; /* loads still to probe, from the end */
    int round_left, rounds;
    double spent_s, cost_s; /* of the budget; by the longest probe. The caller counts */
};

/* How long a probe lasts. */
struct window {
    double warmup_s, duration_s;
};

enum search_limit { SEARCH_NO_ANSWER, SEARCH_BY_PROMISE, SEARCH_BY_GENERATOR, SEARCH_BY_RANGE };

struct search_answer {
    enum search_limit limit;
    double load, low,
        /* interval at SEARCH_LEVEL; high infinite where limit is the range or the generator */
        high;
    const char *why; /* in words; NULL when only the promise limits it */
    double times;    /* no answer: so many times the time would do; 0 = not known */
};

/* By default the budget is 2.5 to 10 minutes, by the promise. */
void search_init(struct search *search, const struct search_ask *ask);

/* Returns true and the next load; false if further probes would hardly change the answer, or can't improve it.
 * more: there is time for another probe. */
bool search_next(struct search *search, bool more, double *ret_load);
/* The same with the time of the probe, as long as the budget lasts. */
bool search_next_probe(struct search *search, double *ret_load, struct window *ret_window);

/* Adds the result of a probe. At most EDGE_POINTS_MAX; search_next ends the search before that. */
void search_add(struct search *search, const struct search_result *result);

/* The answer from all probes so far. */
struct search_answer search_answer(const struct search *search);

/* window: decides how long a probe must last, so that its verdict is true for longer than the
 * probe.
 *
 * A queue that begins empty needs time to fill. Near the greatest rate that a key carries the queue
 * still grows when a short window ends, and the promise seems to be kept. Where one request is
 * served at a time, in the mean time 1/capacity, the influence of the queue's first state decays
 * with the relaxation time 1/capacity / (1 - sqrt(rate/capacity))^2 (Cohen, The Single Server
 * Queue, 1982).
 *
 * The window of a probe lasts 20 limits or 8 relaxation times of the queue at the edge, whichever is longer, but no
 * longer than lets 12 probes fit into the budget (4 probes, if the quantile needs many samples); and never less than
 * 5 s. */
struct window search_window(const struct search *search, double load);

#endif
