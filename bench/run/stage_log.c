/* stage_log: see stage_log.h. */
#include "bench/run/stage_log.h"

#include <string.h>

#include "results/format/hlog_read.h"

enum metric stage_log_metric(const char *tag) {
    int metric = 0;
    while (metric < METRICS && strcmp(metric_name((enum metric)metric), tag) != 0) metric++;
    return (enum metric)metric;
}

int stage_log_read(const char *path, stage_log_visit *visit, void *arg, struct lb_err *err) {
    struct hlog_reader *reader = hlog_open(path, err);
    struct hlog_line line;
    int intervals[METRICS] = {0}, got;
    if (!reader) return -1;
    while ((got = hlog_next(reader, &line, err)) > 0) {
        enum metric metric = stage_log_metric(line.tag);
        if (metric < METRICS) visit(arg, metric, intervals[metric]++, line.length_ns, line.hist);
    }
    hlog_close(reader);
    return got;
}
