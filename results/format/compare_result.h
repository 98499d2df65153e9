/* compare_result: the table of a comparison as JSON, which `lockbench compare --json` prints.
 *
 * Whoever compares fills the structs; nothing reads a comparison back, so it has no reader. */
#ifndef RESULTS_FORMAT_COMPARE_RESULT_H
#define RESULTS_FORMAT_COMPARE_RESULT_H

#include <jansson.h>
#include <stdbool.h>

#define COMPARE_SCHEMA "lockbench.compare/1"

enum compare_verdict {
    COMPARE_UNKNOWN, /* one of the sides has no such figure */
    COMPARE_SAME,    /* no change shown, and one above COMPARE_SAME_TIMES min_effect is excluded */
    COMPARE_BETTER,
    COMPARE_INCONCLUSIVE, /* too few samples, or too noisy */
    COMPARE_WORSE
};

/* "better", "worse", "no change shown", "inconclusive", "unknown". */
const char *compare_word(enum compare_verdict verdict);

/* The members are as results/format/field.h has them: borrowed texts and arrays, NAN = null. */
struct compare_result_side {
    double median; /* INFINITY = never */
    const json_t *values;
};

struct compare_result_figure {
    const char *verdict;
    struct compare_result_side base, new;
    double shift, low, high, p, repeats_wanted;
};

struct compare_result_row {
    const char *lock, *new_lock, *load, *base_guarantee, *new_guarantee;
    double clients, base_samples, new_samples, base_limited, new_limited;
    bool violated, stuck;
    const json_t *figures; /* by the names that figures have in `compare` */
};

struct compare_result {
    double exit_code, partial_runs, min_effect, alpha;
    const char *partial_reason;
    bool partial, violated;
    const json_t *differences, *only_one_side, *rows;
};

/* New references; NULL when out of memory. */
json_t *compare_result_figure_json(const struct compare_result_figure *figure);
json_t *compare_result_row_json(const struct compare_result_row *row);
json_t *compare_result_json(const struct compare_result *result);

#endif
