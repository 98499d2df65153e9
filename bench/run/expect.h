/* expect: estimates how long a run will take: first by its plan, then also by how much longer than planned its stages
 * took. The estimate does not foresee servers that do not start, or locks that get stuck. */
#ifndef BENCH_RUN_EXPECT_H
#define BENCH_RUN_EXPECT_H

#include <stdbool.h>

#include "bench/workload/stages.h"

struct expect {
    int64_t ahead_ns;         /* planned time of the stages that have not begun */
    int64_t done_ns;          /* planned time of the stages that have ended */
    int64_t stage_ns;         /* planned time of the stage that runs */
    int64_t begin_ns, now_ns; /* when the first and the newest stage began */
};

/* A stage by the plan: connecting, warm-up, window, the usual drain. starts: with servers to start. */
int64_t expect_stage_ns(const struct plan_stage *stage, bool starts);

/* The next stage begins, or is left out. stage_ns: as expect_stage_ns said. */
void expect_begin(struct expect *expect, int64_t stage_ns);
void expect_skip(struct expect *expect, int64_t stage_ns);

/* The estimated time until the end of the run. */
int64_t expect_left_ns(const struct expect *expect);

#endif
