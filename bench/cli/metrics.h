/* metrics: the value of --metric: some of the compared figures, by their names in JSON. */
#ifndef BENCH_CLI_METRICS_H
#define BENCH_CLI_METRICS_H

#include "bench/option/option.h"

/* uint32_t, a choice of figures as report/compare/compare.h has it. It is given once, as a list. */
extern const struct lb_option_type arg_type_metrics;
#define ARG_METRICS (&arg_type_metrics)

#endif
