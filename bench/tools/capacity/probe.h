/* probe: what the files of one run show about a promise at the run's load.
 *
 * Every operation that was due counts: one that never started, timed out or failed is over the
 * limit. Waits for one lock queue behind each other, so they are not independent samples: the
 * interval of the quantile comes from the spread between parts of the window
 * (results/stats/quantile.h), counted at the limit. Near the edge even these parts depend on each
 * other, so the verdict is only printed, and the search takes a probe as one sample. Where far
 * fewer than allowed are over the limit, nothing is known of the spread at the quantile, and there is
 * no interval. This file decides nothing about a search. */
#ifndef BENCH_TOOLS_CAPACITY_PROBE_H
#define BENCH_TOOLS_CAPACITY_PROBE_H

#include "bench/slo/slo.h"
#include "bench/tools/capacity/search.h"
#include "results/format/run_read.h"

/* The limit of the load generator that may have caused the verdict. */
enum probe_limit { PROBE_NOT_LIMITED, PROBE_LATE, PROBE_STOLEN, PROBE_BUSY, PROBE_POOL };

struct probe {
    char run[96]; /* the folder of its run, below that of the search */
    enum promise_verdict verdict;
    /* PROBE_LATE and PROBE_STOLEN are set even if the promise was kept nevertheless */
    enum probe_limit limit;
    bool few;      /* too few requests for an interval of the quantile to judge by */
    bool measured; /* the figures below are known */
    /* The quantile and its interval; NAN: not known. Any of them is NAN, too, if the value is
     * beyond the last granted request */
    double quantile_ns, low_ns, high_ns;
    /* What the search is told. samples: requests due in the window; in a closed loop, begun in it. The caller fills in
     * the load. */
    struct search_result seen;
};

#define PROBE_LEVEL 0.95

/* A stage's .hlog: the whole of each metric, and the promised one interval by interval. */
struct probe_log {
    struct stage_promise promise;
    struct hist *hist[METRICS];
    struct quantile_batch *batches;
    int count;
    bool failed; /* memory ran out */
};

/* 0, or -1 with err: it can't be read as a whole. probe_log_done in any case. */
int probe_log_read(struct probe_log *log, const struct stage_promise *promise, const char *path,
                   struct lb_err *err);
void probe_log_done(struct probe_log *log);

struct probe_ask {
    /* that was asked for: a shorter one ended because the promise was broken for good */
    double window_s;
    bool one_key; /* all clients wait for one key, which one of them may hold */
};

/* Reads a stage that was run with the log's promise and slo.stop. log: NULL = it can't be read, so nothing was measured. */
struct probe probe_read(const struct probe_ask *ask, const struct run_stage *stage,
                        const struct probe_log *log);

/* Why the verdict is unsure, in words, for users; NULL if it is not. A limit of the load generator
 * is told in the words of probe_limit_text. */
const char *probe_unsure_text(const struct probe *probe);

/* The limit in words, for users; NULL for PROBE_NOT_LIMITED. */
const char *probe_limit_text(enum probe_limit limit);

#endif
