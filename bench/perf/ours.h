/* ours: runs stages of lockbench in this process, for comparison with another program (theirs.h). */
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

/* Runs one stage with so many clients. NULL with err, also when the stage is not complete. */
struct stage *ours_run(const struct ours *ours, int clients, struct lb_err *err);

#endif
