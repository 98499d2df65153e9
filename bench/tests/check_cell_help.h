/* check_cell_help: what the tests of cells share: results of runs made by hand, and the cell that they give. Header
 * only, since each test is one program. */
#ifndef BENCH_TESTS_CHECK_CELL_HELP_H
#define BENCH_TESTS_CHECK_CELL_HELP_H

#include <math.h>

#include "bench/tests/unit.h"
#include "bench/tools/check/cell_result.h"
#include "results/format/write.h"

#define S_NS 1000000000LL

/* A run with one stage that is fine: a fault at 1 s, grants before and after, recovered in time. */
static inline json_t *good_run(void) {
    json_t *stage = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:i, s:I, s:{s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i},"
        " s:s, s:[{s:s, s:s, s:b, s:f, s:f, s:s}], s:[{s:f, s:i}, {s:f, s:i}, {s:f, s:i}]}",
        "lock", "redis-setnx", "backend", "redis", "topology", "redis", "durability", "in memory",
        "status", "complete", "clients", 4, "lease_ns", (json_int_t)(2 * S_NS), "exclusion",
        "verdict", "clean", "grants", 300, "double_holders", 0, "expired_holders", 0,
        "lost_updates", 0, "token_errors", 0, "detected", 0, "stuck", 0, "fault", "pause", "faults",
        "kind", "pause", "section", "fault", "acted", 1, "from_s", 1.2, "to_s", 8.2, "sign",
        "it stood still", "series", "t_s", 0.0, "ok", 10, "t_s", 1.0, "ok", 3, "t_s", 2.0, "ok", 7);
    json_object_set_new(
        stage, "recovery",
        json_pack("{s:[I, I], s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:I, s:i, s:i}", "trials_ns",
                  (json_int_t)(2 * S_NS), (json_int_t)(1 * S_NS), "count", 2, "min_ns",
                  (json_int_t)(1 * S_NS), "p50_ns", (json_int_t)(1 * S_NS), "p90_ns",
                  (json_int_t)(2 * S_NS), "max_ns", (json_int_t)(2 * S_NS), "theory_min_ns",
                  (json_int_t)0, "theory_max_ns", (json_int_t)(2 * S_NS), "theory",
                  "0 to the lease", "unavailable_ns", (json_int_t)(3 * S_NS), "grants_lost", 0,
                  "lost_wakeups", 0));
    json_object_set_new(stage, "history",
                        json_pack("{s:s, s:[]}", "model", "mutex", "counterexample"));
    json_object_set_new(stage, "store",
                        json_pack("{s:i, s:i, s:i, s:i}", "stale_attempted", 2,
                                  "stale_accepted_unfenced", 1, "stale_rejected_fenced", 2,
                                  "stale_accepted_fenced", 0));
    return json_pack("{s:s, s:b, s:[{s:s, s:{s:s}}], s:[o]}", "schema", "lockbench.run/2",
                     "partial", 0, "servers", "backend", "redis", "facts", "version", "7.0.15",
                     "stages", stage);
}

static inline json_t *part(json_t *run, const char *name) {
    json_t *stage = json_array_get(json_object_get(run, "stages"), 0);
    return name ? json_object_get(stage, name) : stage;
}

static inline void add_fault(json_t *run, const char *section, const char *kind, bool acted,
                             double from_s) {
    json_array_append_new(part(run, "faults"),
                          json_pack("{s:s, s:s, s:b, s:f, s:n, s:s}", "kind", kind, "section",
                                    section, "acted", acted, "from_s", from_s, "to_s", "sign",
                                    acted ? "gone" : "nobody held"));
}

static inline struct cell_result result_of(json_t *root, const char *trouble, bool needs_fault) {
    struct cell_result result;
    struct lb_err err = {0};
    struct run *run = root ? run_from_json(root, "run.json", &err) : NULL;
    if (!run && !trouble) trouble = err.text;
    assert_int_equal(cell_result_of_run(run, trouble, needs_fault, &result, &err), 0);
    run_free(run);
    json_decref(root);
    return result;
}

/* As check.json has it; frees the result. */
static inline json_t *json_of(struct cell_result result) {
    json_t *json = result_fields_json(check_cell_fields(), &result.cell);
    assert_non_null(json);
    cell_result_free(&result);
    return json;
}

/* Judges and frees the run. */
static inline json_t *judge(json_t *run, const char *trouble, bool needs_fault) {
    return json_of(result_of(run, trouble, needs_fault));
}

static inline void assert_seen(json_t *seen, const char *verdict, const char *why) {
    const char *is = json_string_value(json_object_get(seen, "verdict"));
    const char *says = json_string_value(json_object_get(seen, "why"));
    assert_string_equal(is, verdict);
    if (why && (!says || !strstr(says, why)))
        fail_msg("'%s' is not in '%s'", why, says ? says : "(null)");
    if (!why && says) fail_msg("why: %s", says);
    json_decref(seen);
}

static inline json_int_t whole(const json_t *seen, const char *name) {
    return json_integer_value(json_object_get(seen, name));
}

static inline struct cell_result merged(struct cell_result a, struct cell_result b) {
    struct lb_err err = {0};
    assert_int_equal(cell_result_merge(&a, &b, &err), 0);
    cell_result_free(&b);
    return a;
}

static inline void assert_bound(const json_t *seen, double bound) {
    const json_t *is = json_object_get(seen, "bound95");
    if (bound == 0) {
        assert_true(json_is_null(is));
    } else if (fabs(json_real_value(is) - bound) > 1e-9) {
        fail_msg("bound95 is %g, not %g", json_real_value(is), bound);
    }
}

static inline json_t *tested_run(int grants, int tested) {
    json_t *run = good_run(), *exclusion = part(run, "exclusion");
    json_object_set_new(exclusion, "grants", json_integer(grants));
    json_object_set_new(exclusion, "tested", json_integer(tested));
    return run;
}

#endif
