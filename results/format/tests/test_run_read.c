/* test_run_read: the structs that a sound run.json becomes, and the one line of error for each
 * unsound one. */

#include <math.h>

#include "bench/tests/hdr_texts.h"
#include "bench/tests/unit.h"
#include "results/format/hdr.h"
#include "results/format/run_read.h"
#include "results/format/write.h"

#define HEAD "{\"schema\":\"lockbench.run/2\",\"stages\":["
#define TAIL "]}"
#define STAGE(more) HEAD "{\"lock\":\"a\",\"clients\":2" more "}" TAIL

static struct run *parse(const char *text, struct lb_err *err) {
    return run_parse(text, strlen(text), "dir/run.json", err);
}

TEST(test_a_stage_is_read) {
    struct lb_err err = {0};
    struct run *run = parse(
        STAGE(
            ",\"keys\":1000,\"key_distribution\":\"zipf:0.99\",\"control\":true,\"throughput_per_s\":12.5,"
            "\"outcomes\":{\"ok\":7,\"busy\":null},\"fairness\":{\"jain\":0.5,\"grants_per_client\":[3,4]},"
            "\"exclusion\":{\"verdict\":\"violated\",\"grants\":7,\"first\":{\"key\":3,\"holder\":{"
            "\"client\":1,"
            "\"acquired_ns\":10},\"intruder\":{\"client\":2,\"acquired_ns\":30,\"token\":"
            "1152921504606846976}}},"
            "\"latency_ns\":{\"acquire\":null},\"unheard_of\":{\"x\":1}"),
        &err);
    assert_string_equal(err.text, "");
    assert_non_null(run);
    assert_string_equal(run->dir, "dir");
    const struct run_stage *stage = &run->stages[0];
    assert_string_equal(stage->keys, "1000");
    assert_string_equal(stage->key_distribution, "zipf:0.99");
    assert_true(stage->control);
    assert_false(stage->baseline);
    assert_true(stage->throughput_per_s == 12.5);
    assert_true(stage->ok == 7);
    assert_true(isnan(stage->busy));
    assert_true(isnan(stage->timeout));
    assert_true(isnan(stage->latency[METRIC_ACQUIRE].p50));
    assert_null(stage->latency[METRIC_ACQUIRE].hdr);
    assert_true(stage->jain == 0.5);
    assert_int_equal(json_array_size(stage->grants_per_client), 2);
    assert_true(stage->has_overlap);
    assert_true(stage->overlap_key == 3);
    assert_true(stage->holder.client == 1 && stage->intruder.acquired_ns == 30);
    assert_true(isnan(stage->holder.token) && stage->intruder.token == 0x1p60);
    assert_null(stage->error);
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
        struct run *run = parse(stage, &err);
        assert_string_equal(err.text, "");
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
    struct lb_err err = {0};
    struct run *run = parse(STAGE(",\"client_time_ns\":{\"waiting\":10000000000000000}"), &err);
    assert_string_equal(err.text, "");
    assert_true(run->stages[0].state_waiting_ns == 1e16);
    for (size_t i = 0; i < sizeof times_ns / sizeof *times_ns; i++) {
        run->stages[0].state_waiting_ns = times_ns[i];
        json_t *document = json_pack("{s:s, s:[o]}", "schema", "lockbench.run/2", "stages",
                                     run_stage_json(&run->stages[0]));
        char *text = json_dumps(document, 0);
        assert_non_null(text);
        struct run *again = parse(text, &err);
        assert_string_equal(err.text, "");
        assert_true(again->stages[0].state_waiting_ns == times_ns[i]);
        run_free(again);
        free(text);
        json_decref(document);
    }
    run_free(run);
}

TEST(test_the_frame_is_read) {
    struct lb_err err = {0};
    struct run *run = parse(
        "{\"schema\":\"lockbench.run/"
        "2\",\"partial\":true,\"partial_reason\":\"Ctrl-C\",\"verdict\":\"clean\","
        "\"tool\":{\"version\":\"0.1\"},\"plan\":{\"workload\":{\"name\":\"w\"}},"
        "\"servers\":[{\"backend\":\"redis\",\"facts\":{\"version\":\"7\"}}],"
        "\"skipped\":[{\"lock\":\"x\",\"reason\":\"no\"}],\"stages\":[{\"lock\":\"a\",\"clients\":1}]}",
        &err);
    assert_string_equal(err.text, "");
    assert_non_null(run);
    assert_true(run->partial);
    assert_string_equal(run->partial_reason, "Ctrl-C");
    assert_string_equal(run->tool_version, "0.1");
    assert_string_equal(run->workload, "w");
    assert_null(run->command);
    assert_int_equal(run->server_count, 1);
    assert_string_equal(json_string_value(json_object_get(run->servers[0].facts, "version")), "7");
    assert_int_equal(run->skip_count, 1);
    assert_null(run->skips[0].install);
    run_free(run);
}

TEST(test_bad_input_gets_one_clear_line) {
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "is not sound JSON: the file ends too early"},
        {HEAD "{\"lock\":\"a\",\"cli",
         "dir/run.json:1: is not sound JSON: the file ends too early"},
        {"{\n\"schema\":nope}", "dir/run.json:2: is not sound JSON"},
        {"{}{}", "dir/run.json:1: is not sound JSON: something follows its end"},
        {"{}\nx", "dir/run.json:2: is not sound JSON: something follows its end"},
        {"null", "dir/run.json:1: is not sound JSON ("},
        {"[]", "is not a result of lockbench run"},
        {"{}", "is not a result of lockbench run"},
        {"{\"schema\":7}", "is not a result of lockbench run"},
        {"{\"schema\":\"other/1\"}", "is not a result of lockbench run"},
        {"{\"schema\":\"lockbench.run/1\",\"stages\":[]}",
         "lockbench of an unknown version wrote it (schema lockbench.run/1), and this one reads "
         "lockbench.run/2: measure again, or use that lockbench"},
        {HEAD TAIL, "has no stages"},
        {"{\"schema\":\"lockbench.run/2\"}", "has no stages"},
        {"{\"schema\":\"lockbench.run/2\",\"stages\":{}}", "has no stages"},
        {"{\"schema\":\"lockbench.run/2\",\"partial_reason\":\"no server\",\"stages\":[]}",
         "nothing was measured: no server"},
        {HEAD "3" TAIL, ".stages[0] is not an object"},
        {HEAD "{\"clients\":1}" TAIL, ".stages[0].lock is missing"},
        {HEAD "{\"lock\":\"\",\"clients\":1}" TAIL, ".stages[0].lock is missing"},
        {HEAD "{\"lock\":\"a\"}" TAIL, ".stages[0].clients is missing"},
        {HEAD "{\"lock\":\"a\",\"clients\":0}" TAIL, ".stages[0].clients is missing"},
        {HEAD "{\"lock\":\"a\",\"clients\":1e12}" TAIL, ".stages[0].clients is missing or absurd"},
        {HEAD "{\"lock\":\"a\",\"clients\":1},{\"lock\":5.5e0,\"clients\":true}" TAIL,
         ".stages[1].clients is not"},
        {STAGE(",\"throughput_per_s\":NaN"), "is not sound JSON"},
        {STAGE(",\"throughput_per_s\":1e999"), "is not sound JSON"},
        {STAGE(",\"throughput_per_s\":\"fast\""), ".stages[0].throughput_per_s is not a number"},
        {STAGE(",\"throughput_per_s\":-1"), ".stages[0].throughput_per_s is negative"},
        {STAGE(",\"throughput_per_s\":1e300"), ".stages[0].throughput_per_s is absurdly large"},
        {STAGE(",\"exclusion\":{\"grants\":1e16}"), ".exclusion.grants is absurdly large"},
        {STAGE(",\"client_time_ns\":{\"idle\":1e22}"), ".client_time_ns.idle is absurdly large"},
        {STAGE(",\"control\":1"), ".stages[0].control is not true or false"},
        {STAGE(",\"error\":[]"), ".stages[0].error is not a text"},
        {STAGE(",\"exclusion\":{\"verdict\":\"Violated\"}"),
         ".stages[0].exclusion.verdict is \"Violated\", which is not known here"},
        {STAGE(",\"exclusion\":{\"verdict\":\"\"}"), ".exclusion.verdict is \"\""},
        {STAGE(",\"exclusion\":{\"verdict\":\"clean violated\"}"), ".exclusion.verdict is"},
        {"{\"schema\":\"lockbench.run/2\",\"verdict\":\"fine\",\"stages\":[]}",
         ".verdict is \"fine\""},
        {"{\"schema\":\"lockbench.run/2\",\"slo\":[{\"verdict\":\"held\"}],\"stages\":[]}",
         ".slo[0].verdict is \"held\""},
        {HEAD
         "{\"lock\":\"a\",\"clients\":1,\"id\":\"x\"},{\"lock\":\"a\",\"clients\":1,\"id\":\"y\"},"
         "{\"lock\":\"a\",\"clients\":1,\"id\":\"x\"}" TAIL,
         ".stages[2].id is \"x\", as that of .stages[0]"},
        {STAGE(",\"status\":\"completed\""),
         ".stages[0].status is \"completed\", which is not known here"},
        {STAGE(",\"fairness\":{\"grants_per_client\":{}}"), "grants_per_client is not an array"},
        {STAGE(",\"fairness\":{\"grants_per_client\":[1,\"2\"]}"),
         "grants_per_client has a bad number"},
        {STAGE(",\"exclusion\":{\"first\":{\"holder\":{\"client\":\"x\"}}}"),
         "exclusion.first has something else"},
        {STAGE(",\"latency_ns\":{\"acquire\":{\"count\":5,\"p50\":1}}"),
         ".stages[0].latency_ns.acquire has no histogram (hdr)"},
        {STAGE(",\"latency_ns\":{\"acquire\":{\"count\":5,\"hdr\":6}}"),
         "latency_ns.acquire.hdr is not a text"},
        {STAGE(",\"latency_ns\":{\"acquire\":7}"), "latency_ns.acquire is not an object"},
        {STAGE(",\"lock\":\"b\""), "is not sound JSON"},
        {"{\"schema\":\"lockbench.run/2\",\"servers\":[1],\"stages\":[]}",
         ".servers[0] is not an object"},
        {"{\"schema\":\"lockbench.run/2\",\"skipped\":{},\"stages\":[]}",
         "skipped is not an array"},
        {"{\"schema\":\"lockbench.run/2\",\"servers\":[{\"facts\":[]}],\"stages\":[]}",
         "facts is not an object"},
        {"{\"schema\":\"lockbench.run/2\",\"partial\":\"no\",\"stages\":[]}",
         ".partial is not true or false"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lb_err err = {0};
        struct run *run = parse(cases[i].text, &err);
        if (run || !strstr(err.text, cases[i].says) || strncmp(err.text, "dir/run.json", 12) != 0) {
            fail_msg("case %zu: said \"%s\", not \"%s\"", i, err.text, cases[i].says);
        }
        assert_int_equal(err.code, LB_EXIT_USAGE);
        assert_null(strchr(err.text, '\n'));
    }
}

TEST(test_too_many_stages_are_refused_at_once) {
    size_t count = 1000000, size = count * 2 + 100;
    char *text = malloc(size), *at = text;
    struct lb_err err = {0};
    assert_non_null(text);
    at += sprintf(at, "%s0", HEAD);
    for (size_t i = 1; i < count; i++) at = memcpy(at, ",0", 2), at += 2;
    memcpy(at, TAIL, sizeof TAIL);
    assert_null(parse(text, &err));
    assert_non_null(strstr(err.text, "has 1000000 stages; at most"));
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

/* A run with one acquire histogram of three values, and a count that says `count`. */
static struct run *with_hist(int count, const char *hdr) {
    struct lb_err err = {0};
    char *text = malloc(strlen(hdr) + 1000);
    assert_non_null(text);
    sprintf(text, STAGE(",\"latency_ns\":{\"acquire\":{\"count\":%d,\"over\":1,\"hdr\":\"%s\"}}"),
            count, hdr);
    struct run *run = parse(text, &err);
    assert_string_equal(err.text, "");
    assert_non_null(run);
    free(text);
    return run;
}

/* Values beyond the range may or may not be in the count. */
TEST(test_histograms) {
    struct lb_err err = {0};
    struct hist *hist = hist_new(HIST_DIGITS, HIST_HIGHEST_NS);
    assert_non_null(hist);
    for (int i = 1; i <= 3; i++) hist_record(hist, 1000 * i);
    char *hdr = hdr_encode(hist, &err);
    assert_non_null(hdr);
    run_free(with_hist(3, hdr));
    run_free(with_hist(4, hdr));
    free(hdr);
    hist_free(hist);
}

/* A damaged histogram is refused by the reader itself, so that no report shows percentiles that
 * nothing supports; the line names the file, the stage and the field. */
TEST(test_a_damaged_histogram_is_refused) {
    static const struct {
        const char *latencies, *says;
    } known[] = {
        {"\"latency_ns\":{\"acquire\":{\"count\":3,\"hdr\":\"HISTFAAAgarbage\"}}",
         ".latency_ns.acquire.hdr (stage 007-a): histogram text is damaged: it is not base64"},
        {"\"latency_ns\":{\"release\":{\"count\":3,\"hdr\":\"\"}}",
         ".latency_ns.release.hdr (stage 007-a): histogram text is damaged: it is cut short"},
        {"\"executor\":{\"hiccup_ns\":{\"count\":3,\"hdr\":\"HISTx\"}}",
         ".executor.hiccup_ns.hdr (stage 007-a): histogram text is damaged: it is not base64"},
        {"\"latency_ns\":{\"acquire\":{\"count\":10,\"hdr\":\"" HDR_9 "\"}}",
         ".latency_ns.acquire.hdr (stage 007-a): the histogram holds 9 values, its count says 10"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct lb_err err = {0};
        char text[600], says[200];
        snprintf(text, sizeof text, STAGE(",\"id\":\"007-a\",%s"), known[i].latencies);
        snprintf(says, sizeof says, "dir/run.json: .stages[0]%s", known[i].says);
        assert_null(parse(text, &err));
        assert_int_equal(err.code, LB_EXIT_USAGE);
        assert_non_null(strstr(err.text, says));
    }
}

/* Each path once, each figure in a place of its own: a slip in the table would show one figure as
 * another. */
TEST(test_fields_do_not_collide) {
    const struct result_field *fields = run_stage_fields();
    for (const struct result_field *a = fields; a->path; a++) {
        for (const struct result_field *b = a + 1; b->path; b++) {
            assert_string_not_equal(a->path, b->path);
            if (!result_field_has_member(a) || !result_field_has_member(b)) continue;
            assert_int_not_equal(a->offset, b->offset);
        }
    }
}

TEST_MAIN(NULL, NULL)
