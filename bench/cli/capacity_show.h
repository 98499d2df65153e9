/* capacity_show: the line that a search for capacity shows for each probe. */
#ifndef BENCH_CLI_CAPACITY_SHOW_H
#define BENCH_CLI_CAPACITY_SHOW_H

#include "bench/capacity/capacity_run.h"

/* For capacity_run_ask.news; arg is a struct progress. Nothing with --progress=none. */
void capacity_show_probe(void *arg, const struct capacity_run_news *news);

#endif
