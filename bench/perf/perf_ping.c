/* perf_ping: what a lock's acquire costs above an empty round trip on the same connection,
 * uncontended: its p50 against the ping's, for the locks that need one round trip. */
#include <stdio.h>

#include "bench/perf/ours.h"
#include "bench/perf/perf.h"

static int ping_once(const char *lock, struct lb_err *err) {
    static const char *const sets[] = {"run.duration=1s", "run.warmup=200ms", "load.threads=1",
                                       NULL};
    struct ours ours;
    double ratios[PERF_ROUNDS], acquire_us = 0, ping_us = 0;
    char what[80];
    int failed = ours_open(&ours, lock, sets, err);
    for (int i = 0; i < PERF_ROUNDS && !failed; i++) {
        struct stage *stage = ours_run(&ours, 1, err);
        failed = stage ? 0 : -1;
        if (failed) break;
        acquire_us = (double)hist_quantile(stage->hist[METRIC_ACQUIRE], 0.5) / 1e3;
        ping_us = (double)hist_quantile(stage->hist[METRIC_PING], 0.5) / 1e3;
        ratios[i] = acquire_us / ping_us;
        stage_free(stage);
    }
    ours_close(&ours);
    if (failed) return -1;
    snprintf(what, sizeof what, "%s acquire p50 / ping p50, uncontended", lock);
    perf_print(what, "at most 1.15", ratios, PERF_ROUNDS);
    printf("    last pair: %.1f us against %.1f us\n", acquire_us, ping_us);
    return 0;
}

int perf_ping(struct lb_err *err) {
    static const char *const locks[] = {"redis-setnx", "pg-advisory", "mysql-getlock",
                                        "memcached-add"};
    int failed = 0;
    for (size_t i = 0; i < sizeof locks / sizeof *locks && !failed; i++)
        failed = ping_once(locks[i], err);
    return failed;
}
