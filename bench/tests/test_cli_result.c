/* run.json and the .hlog files of real runs: the figures agree with each other,
 * and the logs agree with the figures. Which fields there are: results/format/tests/test_reference.
 * Needs: servers. */
#define _GNU_SOURCE
#include "bench/tests/cli_help.h"

#include "results/format/hdr.h"
#include "results/format/hist.h"

static const char *const metrics[] = {"acquire", "acquire_due", "release",     "hold",
                                      "handoff", "lag",         "wait_failed", "ping"};
static const char *const rising[] = {"p50", "p90", "p99", "p999", "max"};
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* What no stage looks at itself: one that counts attempts, grants and arrivals in two ways that do not agree fails
 * (test_stage_sum). */
static void assert_stage_whole(const json_t *stage) {
    double sum = 0, before = 0;
    assert_string_equal(cli_text_at(stage, "status"), "complete");
    for (size_t i = 0; i < COUNT(metrics); i++) {
        const json_t *latency = json_object_get(cli_get(stage, "latency_ns"), metrics[i]);
        assert_non_null(latency);
        if (json_is_null(latency)) continue;
        cli_assert_paths(latency, "count min mean p50 p90 p99 p999 max over hdr", metrics[i]);
        before = cli_number_at(latency, "min");
        for (size_t p = 0; p < COUNT(rising); p++) {
            if (json_is_null(cli_get(latency, rising[p]))) continue; /* of too few values */
            assert_true(cli_number_at(latency, rising[p]) >= before);
            before = cli_number_at(latency, rising[p]);
        }
    }
    assert_true(cli_number_at(stage, "latency_ns.hold.count") == cli_number_at(stage, "grants"));
    const json_t *each = cli_get(stage, "fairness.grants_per_client");
    assert_int_equal(json_array_size(each), (size_t)cli_number_at(stage, "clients"));
    for (size_t i = 0; i < json_array_size(each); i++)
        sum += json_number_value(json_array_get(each, i));
    assert_true(sum == cli_number_at(stage, "grants"));
    const json_t *second;
    size_t at;
    json_array_foreach(cli_get(stage, "series"), at, second) {
        bool draining = json_is_true(cli_get(second, "draining"));
        assert_true(!draining || at + 1 == json_array_size(cli_get(stage, "series")));
        /* How many times there are is not known: a thread on a busy machine hands them over later. */
        bool median = !json_is_null(cli_get(second, "acquire_p50_ns"));
        assert_false(median && draining);
        assert_true(median || json_is_null(cli_get(second, "acquire_p99_ns")));
    }
    bool clean = strcmp(cli_text_at(stage, "exclusion.verdict"), "clean") == 0;
    const json_t *inside = cli_get(stage, "exclusion.inside_mean_ns");
    const json_t *trip = cli_get(stage, "latency_ns.ping.p50");
    bool hardly = json_is_number(inside) && json_number_value(inside) < json_number_value(trip);
    if (!clean || hardly || cli_number_at(stage, "exclusion.tested") <= 3) {
        assert_true(json_is_null(cli_get(stage, "exclusion.bound95")));
    } else {
        double bound =
            cli_number_at(stage, "exclusion.bound95") * cli_number_at(stage, "exclusion.tested");
        assert_true(bound > 2.9999 && bound < 3.0001);
    }
}

/* The .hlog of a stage, second by second, adds up to its histograms in run.json. */
static void assert_hlog_agrees(const json_t *stage, const char *out) {
    char path[600], *text, *line;
    snprintf(path, sizeof path, "%s/%s.hlog", out, cli_text_at(stage, "id"));
    char *rest = text = cli_text(path);
    struct hist *sums[COUNT(metrics)] = {0};
    for (size_t m = 0; m < COUNT(metrics); m++) sums[m] = hist_new(HIST_DIGITS, HIST_HIGHEST_NS);
    while ((line = strsep(&rest, "\n"))) {
        struct lb_err err = {0};
        if (strncmp(line, "Tag=", 4) != 0) continue;
        char *tag = line + 4, *hdr = strrchr(line, ',') + 1;
        tag[strcspn(tag, ",")] = '\0';
        struct hist *h = hdr_decode(hdr, &err);
        if (!h) fail_msg("%s: %s: %s", path, tag, err.text);
        for (size_t m = 0; m < COUNT(metrics); m++) {
            if (strcmp(tag, metrics[m]) == 0) assert_int_equal(hist_add(sums[m], h), 0);
        }
        hist_free(h);
    }
    for (size_t m = 0; m < COUNT(metrics); m++) {
        const json_t *latency = json_object_get(cli_get(stage, "latency_ns"), metrics[m]);
        bool logged = strcmp(metrics[m], "ping") != 0; /* not in the window */
        double count = json_is_null(latency) || !logged ? 0 : cli_number_at(latency, "count");
        if ((double)sums[m]->count != count)
            fail_msg("%s: %s: %lld values, not %.0f", path, metrics[m], (long long)sums[m]->count,
                     count);
        /* run.json never shows more than the exact maximum, which a log does not keep: compare
         * slots. */
        static const double quantiles[] = {0.5, 0.9, 0.99, 0.999};
        for (size_t q = 0; q < COUNT(quantiles) && count > 0; q++) {
            if (json_is_null(cli_get(latency, rising[q]))) continue;
            int64_t wanted = (int64_t)cli_number_at(latency, rising[q]);
            assert_int_equal(hist_slot(sums[m], hist_quantile(sums[m], quantiles[q])),
                             hist_slot(sums[m], wanted));
        }
        hist_free(sums[m]);
    }
}

TEST(a_result_has_every_figure) {
    char *out = cli_path("figures");
    cli_ends(0, ARGS("run", "smoke", "--lock", "null,sim,mem-mutex", "--set", "run.duration=1700ms",
                     "--set", "load.clients=1,4", "--set", "sim.service=1ms", "--out", out));
    json_t *run = cli_result(out), *stage;
    size_t index;
    assert_string_equal(cli_text_at(run, "schema"), "lockbench.run/2");
    assert_string_equal(cli_text_at(run, "verdict"), "clean");
    assert_has(cli_text_at(run, "command"), "lockbench run smoke --lock null,sim,mem-mutex");
    assert_lacks(cli_text_at(run, "command"), "--out");
    assert_int_equal(json_array_size(cli_get(run, "stages")), 6);
    json_array_foreach(cli_get(run, "stages"), index, stage) {
        assert_stage_whole(stage);
        assert_hlog_agrees(stage, out);
    }
    /* The window's two intervals: a second, and the rest. The drain may follow. */
    assert_true(cli_number_at(run, "stages.0.series.0.t_s") == 0);
    assert_true(cli_number_at(run, "stages.0.series.1.t_s") == 1);
    assert_false(json_is_true(cli_get(run, "stages.0.series.1.draining")));
}

/* What a worker had measured before it was killed is in the second of its death. */
TEST(a_log_has_the_figures_of_a_killed_worker) {
    char *out = cli_path("killed");
    cli_ends(0, ARGS("run", "crash", "--lock", "sim", "--set", "load.clients=8", "--set",
                     "load.keys=8 uniform", "--set", "load.hold=1ms", "--set", "run.warmup=0",
                     "--set", "run.duration=1s", "--set", "acquire.lease=100ms", "--set",
                     "fault.first=700ms", "--out", out));
    json_t *run = cli_result(out);
    assert_int_equal(json_array_size(cli_get(run, "stages.0.faults")), 1);
    assert_hlog_agrees(cli_get(run, "stages.0"), out);
}

/* On a real server every cost is a figure; open arrival counts its slots. */
TEST(a_result_of_a_server_has_its_costs) {
    cli_need("redis");
    char *out = cli_path("costs");
    cli_ends(0, ARGS("run", "smoke", "--lock", "redis-setnx", "--set", "load.clients=4", "--set",
                     "load.arrival=poisson:400/s", "--set", "run.duration=1s", "--out", out));
    json_t *run = cli_result(out), *stage = cli_get(run, "stages.0");
    assert_stage_whole(stage);
    assert_hlog_agrees(stage, out);
    static const char *const figures[] = {
        "cost.commands_per_grant",      "cost.bytes_per_grant", "cost.client_cpu_ns_per_grant",
        "cost.server_cpu_ns_per_grant", "latency_ns.ping.p50",  "arrivals.due",
        "latency_ns.acquire_due.p50"};
    for (size_t i = 0; i < COUNT(figures); i++) assert_true(cli_number_at(stage, figures[i]) > 0);
    assert_string_equal(cli_text_at(run, "servers.0.backend"), "redis");
    assert_string_equal(cli_text_at(run, "servers.0.started_by"), "lockbench");
    assert_true(json_is_string(cli_get(run, "servers.0.facts.version")));
    cli_assert_nothing_left();
}

/* With repeats the servers of all backends stay up: a round has each lock, the first one only warms the servers, and in
 * the others one lock runs twice. */
TEST(repeats_are_rounds_over_all_locks) {
    cli_need("redis");
    char *out = cli_path("rounds");
    cli_ends(0, ARGS("run", "smoke", "--lock", "redis-setnx,mem-mutex", "--set", "load.clients=4",
                     "--set", "run.duration=300ms", "--set", "run.repeat=2", "--out", out));
    json_t *run = cli_result(out), *stage;
    size_t index;
    int of_redis[6] = {0}, of_memory[6] = {0}, repeat = 0, good = 0;
    assert_true(json_is_true(cli_get(run, "paired")));
    assert_int_equal(json_array_size(cli_get(run, "servers")), 2);
    json_array_foreach(cli_get(run, "stages"), index, stage) {
        bool redis = strcmp(cli_text_at(stage, "lock"), "redis-setnx") == 0;
        bool aside = !json_is_null(cli_get(stage, "aside"));
        assert_true(cli_number_at(stage, "repeat") >= repeat);
        repeat = (int)cli_number_at(stage, "repeat");
        assert_in_range(repeat, 0, 5); /* a busy machine gets spare rounds */
        (redis ? of_redis : of_memory)[repeat]++;
        if (repeat == 0) assert_true(aside);
        good += !redis && !aside;
        assert_stage_whole(stage);
    }
    assert_int_equal(good, 2);
    for (int r = 0; r <= repeat; r++) {
        assert_int_equal(of_redis[r], r > 0 ? 2 : 1);
        assert_int_equal(of_memory[r], 1);
    }
}

TEST_MAIN(cli_setup, cli_teardown)
