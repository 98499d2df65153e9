/* perf_threads: what a second thread adds where nothing is shared: locks in this process's memory, a key a client. */
#include <stdio.h>

#include "bench/perf/ours.h"
#include "bench/perf/perf.h"

static int grants_per_s(const struct ours *ours, int clients, double *ret_rate_per_s,
                        struct lb_err *err) {
    struct stage *stage = ours_run(ours, clients, err);
    if (!stage) return -1;
    *ret_rate_per_s = (double)stage->result.ok * 1e9 / (double)stage->window_ns;
    stage_free(stage);
    return 0;
}

static int compare_threads(const char *lock, struct lb_err *err) {
    /* A stage uses at most one thread for each client. */
    static const char *const sets[] = {"run.duration=500ms", "run.warmup=50ms", "load.threads=2",
                                       "load.clients=2",     "load.keys=own",   NULL};
    struct ours ours;
    char what[80];
    double ratios[PERF_ROUNDS], one = 0, two = 0;
    int failed = ours_open(&ours, lock, sets, err);
    for (int i = 0; i < PERF_ROUNDS && !failed; i++) {
        failed = grants_per_s(&ours, 1, &one, err);
        if (!failed) failed = grants_per_s(&ours, 2, &two, err);
        ratios[i] = two / one;
    }
    ours_close(&ours);
    if (failed) return -1;
    snprintf(what, sizeof what, "%s, own keys: grants/s, two threads / one", lock);
    perf_print(what, "at least 1.9", ratios, PERF_ROUNDS);
    return 0;
}

int perf_threads(struct lb_err *err) {
    static const char *const locks[] = {"null", "mem-mutex", "mem-spin", "mem-ticket", "mem-mcs"};
    for (size_t i = 0; i < sizeof locks / sizeof *locks; i++) {
        if (compare_threads(locks[i], err) != 0) return -1;
    }
    return 0;
}
