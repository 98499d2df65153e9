/* compare_result: the table of a comparison as JSON, which `lockbench compare --json` prints.
 *
 * The code that compares fills the structs. Nothing reads a comparison back, so there is no
 * reader. */
#ifndef RESULTS_FORMAT_COMPARE_RESULT_H
#define RESULTS_FORMAT_COMPARE_RESULT_H

#include <jansson.h>
#include <stdbool.h>

#define COMPARE_SCHEMA "lockbench.compare/3"

enum compare_verdict {
    COMPARE_UNKNOWN,  /* one of the sides has no such figure */
    COMPARE_UNJUDGED, /* the user chose to judge other figures only */
    /* no change shown, and a change above COMPARE_SAME_TIMES times min_effect is excluded */
    COMPARE_SAME,
    COMPARE_BETTER,
    COMPARE_INCONCLUSIVE, /* the samples are too few, or too noisy */
    COMPARE_WORSE
};

/* "better", "worse", "no change shown", "inconclusive", "not judged", "unknown". */
const char *compare_word(enum compare_verdict verdict);

/* The members follow results/format/field.h: borrowed texts and arrays, NAN = null. */
struct compare_result_side {
    double median; /* INFINITY = never */
    const json_t *values;
};

struct compare_result_figure {
    const char *verdict;
    struct compare_result_side base, new;
    double shift, low, high, p;
};

struct compare_result_row {
    const char *lock, *load, *base_guarantee, *new_guarantee;
    double clients, base_samples, new_samples, base_limited, new_limited;
    bool violated, stuck;
    const json_t *figures; /* the figures, under their names in `compare` */
};

struct compare_result {
    double exit_code, partial_runs, min_effect, alpha;
    const char *samples_of, *partial_reason;
    bool partial, violated;
    const json_t *differences, *only_one_side, *rows;
};

/* New references; NULL when out of memory. */
json_t *compare_result_figure_json(const struct compare_result_figure *figure);
json_t *compare_result_row_json(const struct compare_result_row *row);
json_t *compare_result_json(const struct compare_result *result);

#endif
