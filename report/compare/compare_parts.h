/* compare_parts: what compare.c is put together of; for the files of compare only. */
#ifndef REPORT_COMPARE_COMPARE_PARTS_H
#define REPORT_COMPARE_COMPARE_PARTS_H

#include "report/compare/compare.h"

/* A side's stages of one lock and load, in the order of their runs. */
struct compare_pick {
    const struct run_stage **stages;
    int *runs; /* the index of each one's run */
    int count;
    bool by_run; /* a run's stages are one sample together */
};

/* compare_read: adds the runs that paths name, or that lie in the folders that they name. 0, or -1
 * with err. */
int compare_read_side(const char *const *paths, int path_count, struct run ***runs, int *count,
                      struct lb_err *err);
/* Refuses a run that stands twice, on one side or on both. 0, or -1 with err. */
int compare_check_runs(const struct compare *compare, struct lb_err *err);

/* compare_differ: fills compare->differences. 0, or -1 when out of memory. */
int compare_find_differences(struct compare *compare);

/* compare_figure: the stages of a side that are no samples since the load generator was their
 * limit. */
int compare_count_limited(const struct compare_pick *pick);

/* A figure's samples, shift and uncorrected p. 0, or -1 with err. */
int compare_fill_figure(struct compare_figure *figure, const struct result_field *metric,
                        const struct compare_pick *base, const struct compare_pick *new,
                        struct lb_err *err);
/* A value of a figure, a time with its own best unit. text holds NUMBER_TEXT_MAX bytes; returns it. */
char *compare_value_text(double value, const struct result_field *metric, char *text);
/* Holm's correction over all figures, then their verdicts. 0, or -1 when out of memory. */
int compare_judge(struct compare *compare);

#endif
