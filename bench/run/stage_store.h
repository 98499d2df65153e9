/* stage_store: the sums of a stage's guarded store. */
#ifndef BENCH_RUN_STAGE_STORE_H
#define BENCH_RUN_STAGE_STORE_H

#include "bench/load/shared.h"
#include "bench/run/stage.h"

/* When all clients have left, and the backend's values, if any, were collected. */
void stage_store_sum(struct stage *stage, const struct shared *shared);

#endif
