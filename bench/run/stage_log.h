/* stage_log: reads a stage's .hlog back, second by second, for figures that the totals do not give. */
#ifndef BENCH_RUN_STAGE_LOG_H
#define BENCH_RUN_STAGE_LOG_H

#include "bench/base/err.h"
#include "results/format/hist.h"
#include "results/format/metric.h"

/* Called once for each interval and metric, intervals in order, from 0. hist lives until it
 * returns. */
typedef void stage_log_visit(void *arg, enum metric metric, int interval, int64_t length_ns,
                             const struct hist *hist);

/* The metric of a line's tag; METRICS if the tag is no metric's name. */
enum metric stage_log_metric(const char *tag);

/* 0, or -1 with err: there is no log, or a line of it is not sound. */
int stage_log_read(const char *path, stage_log_visit *visit, void *arg, struct lb_err *err);

#endif
