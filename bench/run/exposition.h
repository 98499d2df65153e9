/* exposition: the figures of a run while it goes on, in Prometheus' text exposition format 0.0.4.
 *
 * All names, types and explanations are rows of one table, from which the page results/METRICS.md is made
 * too. All figures come from the supervisor. A quantile is written only if the second has enough values
 * for it (results/stats/quantile.h). */
#ifndef BENCH_RUN_EXPOSITION_H
#define BENCH_RUN_EXPOSITION_H

#include <stdio.h>

#include "bench/run/stage.h"

struct exposition {
    const char *version;
    int stages_planned;            /* 0 = not known before they end */
    int stages_begun;              /* stages that have begun, including the stage that runs */
    const struct stage_ask *ask;   /* the stage that began last; NULL = none has begun */
    const struct stage_news *news; /* its figures; NULL = it has none yet, all counters are 0 */
    /* How the run ended, for exposition_write_end: its exit code, -1 = nobody knows; and why it is not 0. */
    int exit_code;
    const char *reason;
};

#define EXPOSITION_END                                                                             \
    "lockbench_end_info" /* the family that only a file which a run left behind has */

/* Writes everything but the end; the caller looks for an error of the file. */
void exposition_write(FILE *out, const struct exposition *run);

/* Writes how the run ended, to follow the rest. */
void exposition_write_end(FILE *out, const struct exposition *run);

/* Writes the names and what they mean: a Markdown table. */
void exposition_reference(FILE *out);

#endif
