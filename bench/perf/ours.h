/* ours: stages of our own, run in this process, for comparison with somebody else's program. */
#ifndef BENCH_PERF_OURS_H
#define BENCH_PERF_OURS_H

#include "bench/run/place.h"
#include "bench/run/supervise.h"

struct ours {
    struct plan *plan;
    struct place *place;
};

/* Reads the smoke workload for one lock with these settings (NULL-terminated), and starts its
 * server. 0, or -1 with err. */
int ours_open(struct ours *ours, const char *lock, const char *const *sets, struct lb_err *err);
void ours_close(struct ours *ours);

/* One stage of it, with so many clients. NULL with err, also when the stage is not complete. */
struct stage *ours_run(const struct ours *ours, int clients, struct lb_err *err);

#endif
