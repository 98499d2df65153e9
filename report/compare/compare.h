/* compare: two sets of runs, stage by stage and figure by figure: better, worse, no change shown,
 * or too little to say.
 *
 * A run is one sample, whatever it measured inside: percentiles of several runs are never pooled,
 * and the repeats of a stage within one run are one sample, their median. Only where each side has
 * a single run are its stages the samples. Stages are paired by their lock and their load. A figure
 * has changed when its shift is both significant (Mann and Whitney, corrected by Holm over all
 * figures that are compared) and at least min_effect; the shift is Hodges and Lehmann's, of the
 * logarithms, so that it reads as per cent. It reads results only and prints nothing. */
#ifndef REPORT_COMPARE_COMPARE_H
#define REPORT_COMPARE_COMPARE_H

#include <stdbool.h>
#include <stdio.h>

#include "bench/base/err.h"
#include "report/doc/doc.h"
#include "report/run/model.h"
#include "results/format/compare_result.h"
#include "results/format/run_read.h"

/* The figures that are compared: the rows of results/format/stage.def with COMPARED, in the order of
 * their places there. */
#define COMPARE_METRICS_MAX 32
int compare_metric_count(void);
const struct result_field *compare_metric(int index);

/* What is compared of a stage; NAN = not measured, or another figure stands in its place (the
 * response time of an open loop instead of the time from asking). INFINITY = never. */
double compare_value(const struct result_field *metric, const struct run_stage *stage);

struct compare_side {
    double *values; /* one a stage; owned */
    int count;
    double median;
};

#define COMPARE_WANTED_MAX 1000 /* so many or more: no number of repeats helps */

struct compare_figure {
    enum compare_verdict verdict;
    struct compare_side base, new;
    /* new against base: 0.05 = 5 % more; INFINITY = to never, or from 0. low, high: of the confidence
     * interval; low is -INFINITY where the samples are too few for one */
    double shift, low, high;
    double p;   /* corrected */
    int wanted; /* inconclusive: repeats on each side that would do */
};

struct compare_row {
    const char *lock,
        *new_lock; /* borrowed from the runs; the same unless one lock is held against another */
    char *load;    /* in words; owned */
    /* topology, durability and claims of each side, in words; owned */
    char *guarantee, *new_guarantee;
    double clients;
    int place;                 /* rows stand in the order of the base's stages */
    int base_count, new_count; /* samples */
    /* stages that are no samples: the load generator was their limit */
    int base_limited, new_limited;
    /* All stages, those of the base first, and the index of each one's run on its side; the arrays
     * are owned. */
    const struct run_stage **stages;
    int *runs;
    int base_stages, new_stages;
    enum lock_state state; /* the worst of the new ones; LOCK_BASELINE if broken on purpose */
    bool baseline;         /* no lock at all: the tool's own cost */
    struct compare_figure figure[COMPARE_METRICS_MAX];
};

/* A lock under a load that one side lacks. */
struct compare_alone {
    char *text; /* "only in the base runs: redis-setnx, 16 clients, one key, ..."; owned */
    bool new;
};

struct compare {
    struct run **base, **new; /* owned */
    int base_count, new_count;
    double min_effect, alpha;
    struct compare_row *rows;
    int row_count;
    char **differences; /* of plans and environments, a line each; owned */
    int difference_count;
    struct compare_alone *alone;   /* what only one side has; owned */
    int alone_count, missing;      /* missing: of them, those that only the base has */
    int counts[COMPARE_WORSE + 1]; /* figures of each verdict */
    int partial_count;             /* runs of both sides that did not come to their end */
    /* stages of both sides that are no samples since the load generator was their limit, and all */
    int limited_count, stage_count;
    /* why there are fewer runs than were wanted, or NULL; borrowed */
    const char *partial_reason;
    enum lock_state state; /* the worst of all rows, and of locks that only the new runs have */
};

/* The defaults, for the tables of options as text, too. */
#define COMPARE_MIN_EFFECT_PERCENT 3
#define COMPARE_MIN_EFFECT (COMPARE_MIN_EFFECT_PERCENT / 100.0)
#define COMPARE_ALPHA 0.05
#define COMPARE_TEXT_OF(number) #number
#define COMPARE_TEXT(number) COMPARE_TEXT_OF(number)

/* A figure is COMPARE_SAME when its interval excludes changes greater than so many times min_effect. */
#define COMPARE_SAME_TIMES 2

struct compare_ask {
    const char *const *base, *const *new; /* runs, or folders of runs */
    int base_count, new_count;
    double min_effect; /* COMPARE_MIN_EFFECT */
    double alpha;      /* COMPARE_ALPHA */
    /* also what ought not to be compared: other topology, durability, executor */
    bool anyway;
    const char *partial_reason;       /* see struct compare */
    const char *base_lock, *new_lock; /* this lock against that one; NULL: each against itself */
};

/* Reads and compares. NULL with err (LB_EXIT_USAGE): what can't be read, nothing in common, not
 * comparable. */
struct compare *compare_make(const struct compare_ask *ask, struct lb_err *err);
void compare_free(struct compare *compare);

/* The exit code that a lock of the new runs in this state means by itself: 3 where two were let in or
 * fencing tokens did not grow, 4 where clients were left without a grant, 0 otherwise. */
int compare_fails(enum lock_state state);
/* What the headline says of such a lock: "EXCLUSION VIOLATED". */
const char *compare_failure(enum lock_state state);

/* 3 violated, 4 worse (or stuck, or starved), 5 inconclusive (or missing in the new runs), 0: for continuous
 * integration, the worst first. */
int compare_exit(const struct compare *compare);

enum compare_format {
    COMPARE_TABLE,
    COMPARE_MD,
    COMPARE_JSON,
    COMPARE_JUNIT,
    COMPARE_BENCHSTAT,
    COMPARE_CSV,
    COMPARE_HTML
};

/* Renders. 0, or -1 with err. */
int compare_write(const struct compare *compare, enum compare_format format, bool color, FILE *out,
                  struct lb_err *err);

/* Parts of it. */
/* Adds the comparison to a document. */
void compare_doc(const struct compare *compare, struct doc *doc);
/* Adds one table with a line for each figure: for DOC_CSV. */
void compare_csv(const struct compare *compare, struct doc *doc);
/* Writes the page. 0, or -1 with err: a histogram that is not sound, no memory, a full disk. */
int compare_page(const struct compare *compare, FILE *out, struct lb_err *err);

#endif
