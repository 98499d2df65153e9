/* self_check: checks whether a stage's figures add up, and whether the load had the shape that the plan asks for.
 *
 * Each check is a row of one table: a name, a condition, and a function over plain facts. A check of
 * counts is exact. A check of samples fails by chance in at most SELF_CHECK_ALPHA of the stages. A check
 * is not applicable if the stage has too few samples, a killed client, or ended early. The checks judge no lock. */
#ifndef BENCH_RUN_SELF_CHECK_H
#define BENCH_RUN_SELF_CHECK_H

#include "bench/run/self_facts.h"

#define SELF_CHECK_ALPHA 0.001

enum self_result { SELF_PASSED, SELF_FAILED, SELF_NOT_APPLICABLE };

struct self_check {
    const char *name;   /* "outcomes" */
    const char *what;   /* the condition that must hold, in words */
    const char *if_not; /* what a failure means for the figures */
    bool exact;         /* else chance fails it in SELF_CHECK_ALPHA of the stages */
    /* The figure passes up to the limit. Both are untouched where the check does not apply. */
    enum self_result (*compute)(const struct self_facts *facts, double *ret_figure,
                                double *ret_limit);
};

/* The table; it ends with a NULL name. */
const struct self_check *self_checks(void);

/* run.json's .stages[].self_checks: new reference, NULL when out of memory. */
json_t *self_checks_json(const struct self_facts *facts);

/* Adds a text for each failed check of such an array. */
void self_checks_warn(const json_t *checks, json_t *warnings);

#endif
