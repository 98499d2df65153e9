/* stage_log: a stage's .hlog read back, second by second: for what needs more than the totals. */
#ifndef BENCH_RUN_STAGE_LOG_H
#define BENCH_RUN_STAGE_LOG_H

#include "bench/base/err.h"
#include "results/format/hist.h"
#include "results/format/metric.h"

/* Called once for each interval and metric, intervals in order, from 0. hist lives until it
 * returns. */
typedef void stage_log_visit(void *arg, enum metric metric, int interval, int64_t length_ns,
                             const struct hist *hist);

/* The metric of a line's tag; METRICS if it is none of ours. */
enum metric stage_log_metric(const char *tag);

/* 0, or -1 with err: there is no log, or a line of it is not sound. */
int stage_log_read(const char *path, stage_log_visit *visit, void *arg, struct lb_err *err);

#endif
