/* test_read: the readers of run.json, check.json and capacity.json. What they refuse is in report/tests/refused.txt, and
 * what they make of sound files is in the reports of stored ones (report/tests/golden). */
#include <math.h>

#include "bench/base/rng.h"
#include "bench/tests/hdr_texts.h"
#include "bench/tests/unit.h"
#include "results/format/capacity_read.h"
#include "results/format/check_read.h"
#include "results/format/hdr.h"
#include "results/format/run_read.h"
#include "results/format/tree.h"
#include "results/format/write.h"

#define SEARCH "report/tests/golden/decide"

#define HEAD "{\"schema\":\"lockbench.run/2\",\"stages\":["
#define TAIL "]}"
#define STAGE(more) HEAD "{\"lock\":\"a\",\"clients\":2" more "}" TAIL

/* A sound run. */
static struct run *parse(const char *text) {
    struct lb_err err = {0};
    struct run *run = run_parse(text, strlen(text), "dir/run.json", &err);
    assert_string_equal(err.text, "");
    assert_non_null(run);
    return run;
}

/* What no stored table shows. */
TEST(test_the_inside_of_a_stage_is_read) {
    struct run *run = parse(
        STAGE(",\"fairness\":{\"grants_per_client\":[3,4]},\"outcomes\":{\"ok\":7,\"busy\":null}"));
    const struct run_stage *stage = &run->stages[0];
    assert_int_equal(json_array_size(stage->grants_per_client), 2);
    assert_true(stage->ok == 7 && isnan(stage->busy) && isnan(stage->timeout));
    run_free(run);
}

/* p99 of 44 values is their maximum. */
TEST(test_a_percentile_of_too_few_values_was_not_measured) {
    static const struct {
        double count;
        bool p50, p90, p99, p999;
    } known[] = {{9, 0, 0, 0, 0},   {10, 1, 0, 0, 0},  {49, 1, 0, 0, 0},   {50, 1, 1, 0, 0},
                 {499, 1, 1, 0, 0}, {500, 1, 1, 1, 0}, {4999, 1, 1, 1, 0}, {5000, 1, 1, 1, 1}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct lb_err err = {0};
        char stage[600];
        struct hist *hist = hist_new(2, HIST_HIGHEST_NS);
        assert_non_null(hist);
        for (int v = 0; v < (int)known[i].count; v++) hist_record(hist, 1000);
        char *hdr = hdr_encode(hist, &err);
        assert_non_null(hdr);
        snprintf(
            stage, sizeof stage,
            HEAD
            "{\"lock\":\"a\",\"clients\":1,\"latency_ns\":{\"acquire\":{\"count\":%.0f,\"min\":1,"
            "\"mean\":2,\"p50\":2,\"p90\":3,\"p99\":4,\"p999\":5,\"max\":6,\"over\":0,\"hdr\":"
            "\"%s\"}}}" TAIL,
            known[i].count, hdr);
        free(hdr);
        hist_free(hist);
        struct run *run = parse(stage);
        const struct run_latency *acquire = &run->stages[0].latency[METRIC_ACQUIRE];
        assert_int_equal(!isnan(acquire->p50), known[i].p50);
        assert_int_equal(!isnan(acquire->p90), known[i].p90);
        assert_int_equal(!isnan(acquire->p99), known[i].p99);
        assert_int_equal(!isnan(acquire->p999), known[i].p999);
        assert_true(acquire->max == 6 && acquire->mean == 2);
        run_free(run);
    }
}

/* 110 clients for a day have more nanoseconds together than a double counts one by one, and 2,000,000 have more than
 * 64 bits do. */
TEST(test_the_time_of_many_clients_is_written_and_read) {
    static const double times_ns[] = {1e16, 0x1p63 - 1024, 0x1p63, 2e6 * 86400e9};
    struct run *run = parse(STAGE(",\"client_time_ns\":{\"waiting\":10000000000000000}"));
    assert_true(run->stages[0].state_waiting_ns == 1e16);
    for (size_t i = 0; i < sizeof times_ns / sizeof *times_ns; i++) {
        run->stages[0].state_waiting_ns = times_ns[i];
        json_t *document = json_pack("{s:s, s:[o]}", "schema", "lockbench.run/2", "stages",
                                     run_stage_json(&run->stages[0]));
        char *text = json_dumps(document, 0);
        assert_non_null(text);
        struct run *again = parse(text);
        assert_true(again->stages[0].state_waiting_ns == times_ns[i]);
        run_free(again);
        free(text);
        json_decref(document);
    }
    run_free(run);
}

TEST(test_too_many_stages_are_refused_at_once) {
    size_t count = 1000000, size = count * 2 + 100;
    char *text = malloc(size), *at = text;
    struct lb_err err = {0};
    assert_non_null(text);
    at += sprintf(at, "%s0", HEAD);
    for (size_t i = 1; i < count; i++) at = memcpy(at, ",0", 2), at += 2;
    memcpy(at, TAIL, sizeof TAIL);
    assert_null(run_parse(text, strlen(text), "run.json", &err));
    assert_non_null(strstr(err.text, ".stages has 1000000 elements; at most"));
    assert_int_equal(err.code, LB_EXIT_USAGE);
    free(text);
}

TEST(test_files) {
    static const char *const paths[] = {"/nonexistent/run", "/dev/null", "/dev/zero",
                                        "/proc/self/task"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct lb_err err = {0};
        assert_null(run_read(paths[i], &err));
        assert_int_equal(err.code, LB_EXIT_USAGE);
        assert_true(strncmp(err.text, paths[i], strlen(paths[i])) == 0);
    }
}

/* Values beyond the range may or may not be in the count. */
TEST(test_the_count_of_a_histogram) {
    run_free(parse(
        STAGE(",\"latency_ns\":{\"acquire\":{\"count\":9,\"over\":1,\"hdr\":\"" HDR_9 "\"}}")));
    run_free(parse(
        STAGE(",\"latency_ns\":{\"acquire\":{\"count\":10,\"over\":1,\"hdr\":\"" HDR_9 "\"}}")));
}

/* A file with changed bytes or without its end gives an error or a check, never a crash. */
TEST(test_damaged_files) {
    static const char sound[] =
        "{\"schema\":\"lockbench.check/2\",\"faults\":[{\"name\":\"pause\"}],\"locks\":[{\"name\":"
        "\"a\"}],\"seeds\":[1],\"cells\":[{\"lock\":\"a\",\"fault\":\"pause\",\"verdict\":\"safe\","
        "\"recovery_ns\":{\"count\":1,\"trials\":[5]},\"counterexample\":[{\"client\":1}],"
        "\"faults\":[{\"acted\":true}],\"residue\":{\"count\":1}}]}";
    struct lb_rng rng;
    rng_seed(&rng, 7, 0);
    int kept = 0;
    for (int i = 0; i < 4000; i++) {
        char text[sizeof sound];
        size_t length = sizeof sound - 1;
        memcpy(text, sound, sizeof sound);
        for (int n = 0; n < 1 + i % 3; n++)
            text[rng_below(&rng, length)] = (char)(32 + rng_below(&rng, 95));
        if (i % 5 == 0) length = rng_below(&rng, length);
        struct lb_err err = {0};
        struct check *check = check_parse(text, length, "check.json", &err);
        assert_true(!check == (err.code != 0));
        kept += check != NULL;
        check_free(check);
    }
    assert_true(kept > 10); /* fewer: the texts tested the JSON parser only */
}

TEST(test_a_check_is_told_from_a_run) {
    assert_true(tree_is("report/tests/golden/check/faults", CHECK_FILE));
    assert_true(tree_is("report/tests/golden/check/faults/", CHECK_FILE));
    assert_true(tree_is("report/tests/golden/check/faults/check.json", CHECK_FILE));
    assert_false(tree_is("report/tests/golden/mixed", CHECK_FILE));
    assert_false(tree_is("/nonexistent", CHECK_FILE));
    assert_false(tree_is("/dev/zero", CHECK_FILE));
}

/* The numbers of the stored search, of which no table shows all. */
TEST(test_a_search_is_read) {
    struct lb_err err = {0};
    struct capacity *capacity = capacity_read(SEARCH, &err);
    if (!capacity) fail_msg("%s", err.text);
    assert_string_equal(capacity->dir, SEARCH);
    const struct capacity_lock *lock = &capacity->locks[0];
    assert_true(lock->by == CAPACITY_BY_RATE && lock->limited_by == CAPACITY_LIMIT_SLO);
    assert_true(lock->answered && lock->value == 390 && lock->low == 360 && lock->high == 425);
    assert_true(lock->quantile == 0.99 && lock->limit_ns == 20e6 && lock->clients == 32);
    assert_int_equal(lock->probe_count, 2);
    const struct capacity_probe *probe = &lock->probes[1];
    assert_true(probe->value == 450 && probe->verdict == PROMISE_BROKEN && probe->samples == 800 &&
                probe->quantile_ns == 60e6 && probe->low_ns == 54e6 && probe->over_share == 0.004);
    assert_null(probe->limited_by);
    capacity_free(capacity);
}

TEST(test_a_search_that_is_cut_off_is_refused) {
    char text[4000];
    FILE *file = fopen(SEARCH "/" CAPACITY_FILE, "r");
    assert_non_null(file);
    size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    assert_true(size < sizeof text);
    while (text[size - 1] != '}') size--;
    for (size_t length = 0; length < size; length++) {
        struct lb_err err = {0};
        assert_null(capacity_parse(text, length, "cut", &err));
        assert_int_equal(err.code, LB_EXIT_USAGE);
    }
}

TEST(test_a_search_is_told_from_other_files) {
    struct lb_err err = {0};
    assert_true(tree_is(SEARCH, CAPACITY_FILE) && tree_is(SEARCH "/" CAPACITY_FILE, CAPACITY_FILE));
    assert_false(tree_is("report/tests/golden/mixed", CAPACITY_FILE) ||
                 tree_is("/dev/null", CAPACITY_FILE));
    assert_null(capacity_read("report/tests/golden/mixed", &err));
    assert_int_equal(err.code, LB_EXIT_USAGE);
    assert_non_null(strstr(err.text, "report/tests/golden/mixed"));
}

/* Each path once, each figure in a place of its own: a slip in a table would show one figure as
 * another. */
TEST(test_fields_do_not_collide) {
    const struct result_field *const tables[] = {run_stage_fields(), check_cell_fields()};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        for (const struct result_field *a = tables[i]; a->path; a++) {
            for (const struct result_field *b = a + 1; b->path; b++) {
                assert_string_not_equal(a->path, b->path);
                if (!result_field_has_member(a) || !result_field_has_member(b)) continue;
                assert_int_not_equal(a->offset, b->offset);
            }
        }
    }
}

TEST_MAIN(NULL, NULL)
