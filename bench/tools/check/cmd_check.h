/* check: the parts of `lockbench check`: what it prints, and the conformance suite of one lock. */
#ifndef BENCH_TOOLS_CHECK_CMD_CHECK_H
#define BENCH_TOOLS_CHECK_CMD_CHECK_H

#include <stdio.h>

#include "bench/tools/check/cell_schedule.h"
#include "bench/tools/check/result.h"

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

/* Prints the report, or check.json. An error is only printed, since the result itself is saved. */
void check_show_result(const struct result *result, bool json, const char *folder);

/* Writes summary.md beside check.json. 0, or -1 with err. */
int check_write_summary(const char *folder, struct lb_err *err);

/* Prints one line if anything is wrong. Returns the exit code. */
int check_conclude(const struct matrix *matrix, const struct result *result, bool interrupted);

#endif
