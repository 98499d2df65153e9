/* test_response: the response time of an open loop counts what was never granted. */
#include <math.h>

#include "bench/tests/unit.h"
#include "results/format/hdr.h"
#include "results/format/metric.h"
#include "results/format/run_read.h"
#include "results/format/write.h"

/* 1 ms, 2 ms, ... count ms. */
static struct hist *milliseconds(int count) {
    struct hist *hist = hist_new(HIST_DIGITS, HIST_HIGHEST_NS);
    assert_non_null(hist);
    for (int i = 1; i <= count; i++) hist_record(hist, (int64_t)i * 1000000);
    return hist;
}

static void assert_ms(double ns, double ms) {
    if (fabs(ns - ms * 1e6) > 0.001 * ms * 1e6) fail_msg("%.6g ms, not %.6g", ns / 1e6, ms);
}

TEST(test_what_was_not_granted_ranks_last) {
    struct hist *hist = milliseconds(90);
    assert_ms(response_quantile(hist, 90, 0.5), 45);
    assert_ms(response_quantile(hist, 100, 0.5), 50);
    assert_ms(response_quantile(hist, 100, 0.9), 90);
    assert_true(isinf(response_quantile(hist, 100, 0.91)));
    assert_true(isinf(response_quantile(hist, 100, 0.99)));
    assert_ms(response_quantile(hist, 10, 1), 90); /* fewer asked than granted: no more than all */
    assert_true(isinf(response_quantile(NULL, 3, 0.5)));
    assert_true(isnan(response_quantile(NULL, 0, 0.5)));
    hist_free(hist);
}

static struct run_stage stage_of(double due, double attempts, double grants) {
    struct run_stage stage;
    result_field_clear_all(run_stage_fields(), &stage);
    stage.lock = "a";
    stage.clients = 2;
    stage.due = due;
    stage.attempts = attempts;
    stage.grants = grants;
    return stage;
}

TEST(test_the_share_that_was_not_granted) {
    static const struct {
        double due, attempts, grants, share;
    } cases[] = {
        {NAN, 200, 150, 0.25}, /* closed loop: of the attempts */
        {400, 200, 150, 0.625}, {NAN, 10, 10, 0}, {NAN, 0, 0, NAN},
        {NAN, NAN, 5, NAN},     {10, 10, 11, 0}, /* a killed worker's counts may differ by one */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run_stage stage = stage_of(cases[i].due, cases[i].attempts, cases[i].grants);
        run_fill_response(&stage, NULL);
        double share = stage.not_granted;
        if (share != cases[i].share && !(isnan(share) && isnan(cases[i].share)))
            fail_msg("case %zu: %g, not %g", i, share, cases[i].share);
    }
}

static struct run *read_stage(const struct run_stage *stage) {
    struct lb_err err = {0};
    json_t *root = json_pack("{s:s, s:[o]}", "schema", RUN_SCHEMA, "stages", run_stage_json(stage));
    struct run *run = run_from_json(root, "run.json", &err);
    if (!run) fail_msg("%s", err.text);
    json_decref(root);
    return run;
}

TEST(test_never_is_written_and_read) {
    struct run_stage stage = stage_of(100, 95, 90);
    struct hist *hist = milliseconds(90);
    run_fill_response(&stage, hist);
    json_t *json = run_stage_json(&stage);
    const json_t *response = json_object_get(json, "response_ns");
    assert_string_equal(json_string_value(json_object_get(response, "p99")), RESULT_NEVER);
    assert_true(json_is_integer(json_object_get(response, "p50")));
    json_decref(json);
    struct run *run = read_stage(&stage);
    assert_true(run->stages[0].response_p99 == INFINITY);
    assert_ms(run->stages[0].response_p90, 90);
    assert_true(fabs(run->stages[0].not_granted - 0.1) < 1e-9);
    run_free(run);
    hist_free(hist);
}

TEST_MAIN(NULL, NULL)
