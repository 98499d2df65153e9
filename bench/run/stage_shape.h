/* stage_shape: the memory that the workers of a stage share, in the shape that the stage is asked for. */
#ifndef BENCH_RUN_STAGE_SHAPE_H
#define BENCH_RUN_STAGE_SHAPE_H

#include "bench/load/shared.h"
#include "bench/run/stage.h"

/* NULL with err. The caller frees it with shared_free. */
struct shared *stage_shape(const struct stage_ask *ask, struct lb_err *err);

/* The time limit for the clients of a stage to open their sessions; it grows with their number. */
int64_t stage_connect_limit_ns(const struct stage_ask *ask);

#endif
