/* check: the parts of `lockbench check`: what it prints, and the conformance suite of one lock. */
#ifndef BENCH_TOOLS_CHECK_CMD_CHECK_H
#define BENCH_TOOLS_CHECK_CMD_CHECK_H

#include <stdio.h>

#include "bench/tools/check/cell_schedule.h"
#include "bench/tools/check/result.h"

/* For cell_schedule_run: a line for each run. */
void check_show_news(const struct cell_schedule_news *news);

/* Prints what is left out and why, a line for each reason. */
void check_show_skips(const struct matrix *matrix, FILE *out);

/* The planned time of all cells, when as many run at once as the check says. */
void check_show_expected(const struct result_ask *ask, FILE *out);

/* Prints the report, or check.json, and writes summary.md beside that. An error is only printed, since the result itself
 * is saved. */
void check_show_result(const struct result *result, bool json);

/* Prints one line if anything is wrong. Returns the exit code. */
int check_conclude(const struct result *result, bool interrupted);

#endif
