/* compare: two sets of runs, stage by stage and figure by figure: whether each is better, worse,
 * not shown to change, or has too few samples.
 *
 * A run is one sample, however much it measured: percentiles of several runs are never pooled, and
 * the repeats of a stage within one run are one sample, their median. Only if each side has a
 * single run, its stages are the samples. Stages are paired by their lock and their load. A figure
 * has changed when its shift is both significant (Mann and Whitney, corrected by Holm over all
 * figures that are compared) and at least min_effect; the shift is Hodges and Lehmann's, of the
 * logarithms, so that it reads as per cent. This code reads results only and prints nothing. */
#ifndef REPORT_COMPARE_COMPARE_H
#define REPORT_COMPARE_COMPARE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "bench/base/err.h"
#include "report/doc/doc.h"
#include "report/run/model.h"
#include "results/format/run_read.h"

/* The figures that are compared: the rows of results/format/stage.def with COMPARED, in the order of
 * their places there. */
#define COMPARE_METRICS_MAX 32
int compare_metric_count(void);
const struct result_field *compare_metric(int index);

enum compare_verdict {
    COMPARE_UNKNOWN,  /* one of the sides has no such figure */
    COMPARE_UNJUDGED, /* the user chose to judge other figures only */
    /* no change shown, and a change above COMPARE_SAME_TIMES times min_effect is excluded */
    COMPARE_SAME,
    COMPARE_BETTER,
    COMPARE_INCONCLUSIVE, /* the samples are too few, or too noisy */
    COMPARE_WORSE
};

/* A choice of figures: bit m is compare_metric(m). 0 = all of them. */
_Static_assert(COMPARE_METRICS_MAX <= 32, "a choice has a bit for each figure");
static inline uint32_t choice_with(uint32_t choice, int metric) {
    return choice | UINT32_C(1) << metric;
}
static inline bool choice_has(uint32_t choice, int metric) {
    return choice == 0 || (choice >> metric & 1);
}

/* Writes the names of the figures of a choice, as --metric reads them; "" for 0, all. Returns text. */
#define COMPARE_METRICS_TEXT_MAX 400
char *compare_metrics_text(uint32_t choice, char text[COMPARE_METRICS_TEXT_MAX]);

/* True if the stage is a sample of the figure; NULL = of any. A disturbance on the load generator's side takes away what it
 * disturbs: no cost, a median where more than 5 % of the window was lost, a tail in any case. */
bool compare_is_sample(const struct run_stage *stage, const struct result_field *metric);

/* The value of a figure of a stage. NAN = not measured, or another figure takes its place (in an
 * open loop the response time, instead of the time from the call). INFINITY = never. */
double compare_value(const struct result_field *metric, const struct run_stage *stage);

struct compare_side {
    double *values; /* the samples; owned */
    int count;
    double median;
    bool
        disturbed; /* no stage is a sample: the values are those of all that ran to their end, and are not judged */
};

struct compare_figure {
    enum compare_verdict verdict;
    struct compare_side base, new;
    /* the change of new against base: 0.05 = 5 % more; INFINITY = to never, or from 0. low, high:
     * its confidence interval; low is -INFINITY if there are too few samples for an interval */
    double shift, low, high;
    double p; /* corrected for the number of figures */
};

struct compare_row {
    const char *lock; /* borrowed from the runs */
    char *load;       /* the load in words; owned */
    /* guarantee, topology and durability of each side, in words; owned */
    char *guarantee, *new_guarantee;
    double clients;
    int place;                 /* rows stand in the order of the base's stages */
    int base_count, new_count; /* samples */
    /* stages whose limit was the load generator */
    int base_limited, new_limited;
    /* the worst state of the new stages; LOCK_BASELINE for a lock that is broken on purpose */
    enum lock_state state;
    struct compare_figure figure[COMPARE_METRICS_MAX];
};

struct compare {
    struct run **base, **new; /* owned; NULL in the gate of a history */
    int base_count, new_count;
    /* each side is one run, so its stages are the samples: nothing tells a change of the machine between the two from
     * a change of the lock */
    bool by_stage;
    int newest; /* in the gate of a history: its runs, and at most as many before them; else 0 */
    double min_effect;
    uint32_t metrics; /* the figures that are judged: a choice */
    struct compare_row *rows;
    int row_count;
    json_t *differences; /* of plans and environments, a text for each; NULL: none; owned */
    json_t *alone;       /* locks under loads that only one side has, a text for each; the same */
    int missing;         /* how many of them only the base has */
    int counts[COMPARE_WORSE + 1]; /* the number of figures with each verdict */
    int partial_count;             /* runs of both sides that are incomplete */
    /* stages of both sides whose limit was the load generator, and the number of all stages */
    int limited_count, stage_count;
    /* why there are fewer runs than the user wanted, or NULL; borrowed */
    const char *partial_reason;
    /* the worst state of all rows, and of the locks that only the new runs have */
    enum lock_state state;
};

#define COMPARE_ALPHA 0.05 /* significance, over all judged figures together */
/* The default of --min-effect, also as text for tables of options. */
#define COMPARE_MIN_EFFECT_PERCENT 3
#define COMPARE_MIN_EFFECT (COMPARE_MIN_EFFECT_PERCENT / 100.0)
#define COMPARE_TEXT_OF(number) #number
#define COMPARE_TEXT(number) COMPARE_TEXT_OF(number)

/* A figure is COMPARE_SAME if its interval excludes all changes greater than this multiple of
 * min_effect. */
#define COMPARE_SAME_TIMES 2

struct compare_ask {
    const char *const *base, *const *new; /* runs, or folders of runs */
    int base_count, new_count;
    double min_effect; /* COMPARE_MIN_EFFECT */
    /* the figures that are judged: a choice; the other figures are shown, but the correction for several
     * figures does not count them */
    uint32_t metrics;
    const char *partial_reason; /* see struct compare */
};

/* Reads and compares. NULL with err (LB_EXIT_USAGE): a file that can't be read, or sides that have
 * nothing in common. */
struct compare *compare_make(const struct compare_ask *ask, struct lb_err *err);
void compare_free(struct compare *compare);

/* Writes the round trip that the wire adds; "none" without a wire. text: NUMBER_TEXT_MAX bytes. Returns text. */
char *compare_rtt_text(const struct run_stage *stage, char *text);

/* Whether two runs, which may be planned only, have a stage in common: a lock under the same load with as
 * many clients. 0, or -1 with err, which says what differs. */
int compare_check_loads(struct run *base, struct run *new, struct lb_err *err);

/* The test. A row has its lock, load, guarantees, limited stages and state; each side of a figure has its samples.
 * Finds the medians, the shift, the interval and the uncorrected p. 0, or -1 with err. */
int compare_test(struct compare_row *row, int metric, struct lb_err *err);
/* Corrects the p of all figures of all rows by Holm's method, then finds their verdicts. 0, or -1 when out
 * of memory. */
int compare_judge(struct compare *compare);

/* The exit code for a lock of the new runs in this state: 3 if two clients held at once or fencing
 * tokens did not grow, 4 if clients were left without a grant, 0 otherwise. */
int compare_fails(enum lock_state state);
/* The exit code for continuous integration, the worst first: 3 violated; 4 worse, stuck or starved;
 * 5 inconclusive, or missing in the new runs; 0. */
int compare_exit(const struct compare *compare);

/* Adds a text to a list, which may be NULL, once. 0, or -1 when out of memory. */
int compare_add_text(json_t **list, const char *format, ...) DOC_FORMAT(2);
/* compare_differ: fills compare->differences. 0, or -1 when out of memory. */
int compare_find_differences(struct compare *compare);
/* Adds what makes two stages of a row answer different questions: topology, durability, executor, ... 0, or -1 when out
 * of memory. */
int compare_differ_stages(struct compare *compare, const struct run_stage *base,
                          const struct run_stage *new);

enum compare_format { COMPARE_TABLE, COMPARE_MD, COMPARE_JSON };

/* Renders the comparison in a format. brief: what fits a screen; JSON has all. 0, or -1 with err. */
int compare_write(const struct compare *compare, enum compare_format format, bool brief, bool color,
                  FILE *out, struct lb_err *err);

#endif
