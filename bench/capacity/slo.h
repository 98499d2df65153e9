/* slo: the promise that a search for capacity is about. bench/slo/slo.h reads promises; of
 * these, only a limit of a quantile of the wait has a greatest load. This file measures nothing. */
#ifndef BENCH_CAPACITY_SLO_H
#define BENCH_CAPACITY_SLO_H

#include "bench/run/stage.h"

/* The default promises. The limit is not shorter, because etcd wakes waiters at ticks of 100 ms:
 * its lock would keep no shorter promise at any load. */
#define SLO_BY_RATE "acquire_due.p99<=200ms"
#define SLO_BY_CLIENTS "acquire.p99<=200ms"

/* Reads "acquire_due.p99<=20ms", "acquire.p99.9 <= 1s". METRIC_ACQUIRE_DUE (due to granted; needs
 * arrivals by a schedule) or METRIC_ACQUIRE (called to granted); p50 to p99.99; a limit above 0, up
 * to an hour. Returns 0, or -1 with err (LB_EXIT_USAGE), which says what is wrong with the text;
 * then *ret is untouched. */
int slo_parse(const char *text, struct stage_promise *ret, struct lb_err *err);

/* Writes the promise as text. Returns text. */
char *slo_text(const struct stage_promise *slo, char *text, size_t size);

#endif
