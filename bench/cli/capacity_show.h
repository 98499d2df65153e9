/* capacity_show: what a search for capacity prints: a line a probe on a terminal, the answers as a
 * table or as Markdown. Every number of a lock stands beside its guarantee, durability and
 * topology. */
#ifndef BENCH_CLI_CAPACITY_SHOW_H
#define BENCH_CLI_CAPACITY_SHOW_H

#include <stdio.h>

#include "bench/capacity/seek.h"
#include "bench/cli/progress.h"
#include "results/format/capacity_read.h"

/* For seek_ask.news; arg is a struct progress. On a terminal only. */
void capacity_show_probe(void *arg, const struct seek_news *news);

/* At most SCREEN_WIDTH columns wide. */
void capacity_show_table(const struct capacity *capacity, bool color, FILE *out);
void capacity_show_md(const struct capacity *capacity, FILE *out);

#endif
