/* compare_parts: the parts of compare.c; only for the files of report/compare. */
#ifndef REPORT_COMPARE_COMPARE_PARTS_H
#define REPORT_COMPARE_COMPARE_PARTS_H

#include "report/compare/compare.h"

/* The stages of one side with the same lock and load, in the order of their runs. */
struct compare_pick {
    const struct run_stage **stages;
    int *runs; /* the index of each stage's run */
    int count;
    bool by_run; /* the stages of a run are one sample together */
};

/* True if each side has one run, so that its stages are the samples: then nothing tells a change of the machine
 * between the two runs from a change of the lock. */
bool compare_is_by_stage(const struct compare *compare);
/* The samples in a word: "runs" or "stages". */
const char *compare_samples_word(const struct compare *compare);
#define COMPARE_BY_STAGE_WARNING                                                                   \
    "the samples are the stages of one run a side: a change of the machine between the two runs "  \
    "looks like a change of the lock"

/* compare_twice: refuses a run that stands twice, on one side or on both. 0, or -1 with err. */
int compare_check_runs(const struct compare *compare, struct lb_err *err);

/* compare_differ: fills compare->differences. 0, or -1 when out of memory. */
int compare_find_differences(struct compare *compare);

/* compare_apart: sets err to the difference between the loads of two stages of the same lock, and returns
 * -1. */
int compare_say_apart(const struct run_stage *base, const struct run_stage *new,
                      struct lb_err *err);

/* compare_need: the need of an inconclusive figure of which a side has no sample, so that its p is not known. */
struct compare_need compare_need_of_side(const struct compare_row *row,
                                         const struct compare_figure *figure,
                                         const struct result_field *metric);
/* The repeats that give each side so many samples, if as large a part of them are samples as of the
 * repeats so far. */
struct compare_need compare_need_of_samples(const struct compare_row *row,
                                            const struct compare_figure *figure, double samples);

/* compare_figure: true if the stage ran to its end and the load generator was not its limit. */
bool compare_is_sample(const struct run_stage *stage);
/* The number of stages of a side that are no samples, because the load generator
 * was their limit. */
int compare_count_limited(const struct compare_pick *pick);

/* Finds the samples, the shift and the uncorrected p of a figure. 0, or -1 with err. */
int compare_fill_figure(struct compare_figure *figure, const struct result_field *metric,
                        const struct compare_pick *base, const struct compare_pick *new,
                        struct lb_err *err);
/* Corrects the p of all figures by Holm's method, then finds their verdicts. 0, or -1 when out of
 * memory. */
int compare_judge(struct compare *compare);

#endif
