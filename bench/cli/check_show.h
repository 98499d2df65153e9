/* check_show: prints a check before its report: the plan of a dry run, the cells that are left out,
 * and the cells as they end. */
#ifndef BENCH_CLI_CHECK_SHOW_H
#define BENCH_CLI_CHECK_SHOW_H

#include <stdio.h>

#include "bench/check/cell_schedule.h"
#include "bench/check/result.h"

struct check_show {
    const struct result *result;
    bool terminal; /* standard error is a terminal */
};

/* For cell_schedule_ask.news; arg is a struct check_show. */
void check_show_news(void *arg, const struct cell_schedule_news *news);
/* Clears the line that the next one would overwrite. */
void check_show_end(const struct check_show *show);

/* Prints what is left out and why, a line for each reason. */
void check_show_skips(const struct matrix *matrix, FILE *out);

/* The planned time of all cells, when weights up to `capacity` run at once
 * (cell_schedule_ask.capacity). */
void check_show_expected(const struct matrix *matrix, int seed_count, int capacity, FILE *out);

/* For --dry-run: prints every cell with its run, and the sums. */
void check_show_plan(const struct matrix *matrix, const uint64_t *seeds, int seed_count, FILE *out);

#endif
