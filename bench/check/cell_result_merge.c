/* cell_result_merge: merges several runs of one cell. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/check/cell_result.h"

/* Which of two is to be shown. What failed hides what is fine, but not what is bad. */
static int badness(const json_t *cell_result) {
    static const int order[] = {
        [CHECK_SAFE] = 0,    [CHECK_INCONCLUSIVE] = 1, [CHECK_FAILED] = 2,
        [CHECK_EXPIRED] = 3, [CHECK_STUCK] = 4,        [CHECK_VIOLATED] = 5};
    return order[cell_result_verdict(cell_result)];
}

static bool is_number(const json_t *json, const char *name) {
    return json_is_number(json_object_get(json, name));
}

static double number(const json_t *json, const char *name) {
    return json_number_value(json_object_get(json, name));
}

/* Adds, or keeps the greater; null beside a number is nothing. */
static void join(json_t *into, const json_t *a, const json_t *b, const char *name, bool add) {
    if (!is_number(a, name) && !is_number(b, name)) return;
    double x = is_number(a, name) ? number(a, name) : 0,
           y = is_number(b, name) ? number(b, name) : 0;
    double value = add ? x + y : fmax(x, y);
    json_object_set_new(into, name, json_integer((json_int_t)value));
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The nearest rank: a value that was measured. */
static json_t *quantile(const double *sorted, size_t count, double q) {
    size_t rank = (size_t)ceil(q * (double)count);
    return json_integer((json_int_t)sorted[rank > 0 ? rank - 1 : 0]);
}

static void summarise(json_t *recovery) {
    const json_t *trials = json_object_get(recovery, "trials");
    size_t count = json_array_size(trials);
    double *sorted = count > 0 ? calloc(count, sizeof *sorted) : NULL;
    json_object_set_new(recovery, "count", json_integer((json_int_t)count));
    if (!sorted) return;
    for (size_t i = 0; i < count; i++) sorted[i] = json_number_value(json_array_get(trials, i));
    qsort(sorted, count, sizeof *sorted, by_value);
    json_object_set_new(recovery, "min", quantile(sorted, count, 0));
    json_object_set_new(recovery, "p50", quantile(sorted, count, 0.5));
    json_object_set_new(recovery, "p90", quantile(sorted, count, 0.9));
    json_object_set_new(recovery, "max", quantile(sorted, count, 1));
    free(sorted);
}

/* All trials of both, whichever is shown. */
static void join_recovery(json_t *into, const json_t *a, const json_t *b) {
    const json_t *x = json_object_get(a, "recovery_ns"), *y = json_object_get(b, "recovery_ns");
    if (!json_is_object(x) && !json_is_object(y)) return;
    json_t *both = json_copy((json_t *)(uintptr_t)(json_is_object(x) ? x : y));
    json_t *trials = json_array();
    if (json_is_array(json_object_get(x, "trials")))
        json_array_extend(trials, json_object_get(x, "trials"));
    if (json_is_array(json_object_get(y, "trials")))
        json_array_extend(trials, json_object_get(y, "trials"));
    json_object_set_new(both, "trials", trials);
    summarise(both);
    json_object_set_new(into, "recovery_ns", both);
}

static void join_recovered(json_t *into, const json_t *a, const json_t *b) {
    const json_t *x = json_object_get(a, "recovered"), *y = json_object_get(b, "recovered");
    bool no = json_is_false(x) || json_is_false(y), yes = json_is_true(x) || json_is_true(y);
    json_object_set_new(into, "recovered", no ? json_false() : yes ? json_true() : json_null());
}

static void join_residue(json_t *into, const json_t *a, const json_t *b) {
    const json_t *x = json_object_get(a, "residue"), *y = json_object_get(b, "residue");
    if (!json_is_object(x) || !json_is_object(y)) {
        const json_t *one = json_is_object(x) ? x : y;
        if (json_is_object(one)) json_object_set(into, "residue", (json_t *)(uintptr_t)one);
        return;
    }
    json_t *both = json_copy((json_t *)(uintptr_t)(number(x, "count") > 0 ? x : y));
    json_object_set_new(both, "count",
                        json_integer((json_int_t)(number(x, "count") + number(y, "count"))));
    json_object_set_new(into, "residue", both);
}

json_t *cell_result_merge(const json_t *a, const json_t *b) {
    static const char *const sums[] = {"grants",          "overlaps",
                                       "detected",        "lost_updates",
                                       "stale_attempted", "stale_accepted_unfenced",
                                       "grants_lost",     "stale_rejected_fenced",
                                       "lost_wakeups",    "stale_accepted_fenced",
                                       "inversions"};
    static const char *const maxima[] = {"detect_ns_max", "unavailable_ns"};
    /* Of two alike the first one stays. */
    json_t *both = json_copy((json_t *)(uintptr_t)(badness(b) > badness(a) ? b : a));
    if (!both) return NULL;
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) join(both, a, b, sums[i], true);
    for (size_t i = 0; i < sizeof maxima / sizeof *maxima; i++) join(both, a, b, maxima[i], false);
    join_recovery(both, a, b);
    join_recovered(both, a, b);
    join_residue(both, a, b);
    double grants = number(both, "grants");
    bool safe = cell_result_verdict(both) == CHECK_SAFE && grants > 0;
    json_object_set_new(both, "bound95", safe ? json_real(3.0 / grants) : json_null());
    return both;
}
