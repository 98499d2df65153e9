/* What a search for capacity is asked for: promises as people write them, the order of sweeps, and the workload keys
 * for them. */
#include <math.h>

#include "bench/capacity/probe.h"
#include "bench/tests/plan_help.h"
#include "bench/tests/unit.h"
#include "bench/workload/stages.h"

TEST(promises_are_read_and_written) {
    static const struct {
        const char *text, *back;
        enum metric metric;
        double quantile;
        int64_t limit_ns;
    } good[] = {
        {"acquire_due.p99<=20ms", "acquire_due.p99<=20ms", METRIC_ACQUIRE_DUE, 0.99, 20 * LB_MS_NS},
        {" acquire . p99.9 <= 1s ", "acquire.p99.9<=1s", METRIC_ACQUIRE, 0.999, LB_S_NS},
        {"acquire.p50<=100us", "acquire.p50<=100us", METRIC_ACQUIRE, 0.5, 100 * LB_US_NS}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct stage_promise slo;
        struct lb_err err = {0};
        char text[80];
        if (slo_parse(good[i].text, &slo, &err)) fail_msg("%s", err.text);
        assert_int_equal(slo.metric, good[i].metric);
        assert_true(fabs(slo.quantile - good[i].quantile) < 1e-9);
        assert_int_equal(slo.limit_ns, good[i].limit_ns);
        assert_string_equal(slo_text(&slo, text, sizeof text), good[i].back);
    }
}

TEST(nonsense_is_no_promise) {
    static const char *const bad[][2] = {{"", "acquire_due.p99<=20ms"},
                                         {"p99<=20ms", "promise"},
                                         {"acquire_due.p99", "promise"},
                                         {"acquire_due.p99>=20ms", "promise"},
                                         {"acquire_due<=20.ms", "promise"},
                                         {"release.p99<=20ms", "'release'"},
                                         {"acquire_due.99<=20ms", "p50 to p99.99"},
                                         {"acquire_due.p100<=20ms", "p50 to p99.99"},
                                         {"acquire_due.p1<=20ms", "p50 to p99.99"},
                                         {"acquire_due.pnan<=20ms", "p50 to p99.99"},
                                         {"acquire_due.p99<=20", "the limit"},
                                         {"acquire_due.p99<=0", "the limit"},
                                         {"acquire_due.p99<=-5ms", "the limit"},
                                         {"acquire_due.p99<=9h", "the limit"},
                                         {"acquire_due.p99<=20msec", "the limit"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct stage_promise slo = {.limit_ns = 77};
        struct lb_err err = {0};
        assert_int_equal(slo_parse(bad[i][0], &slo, &err), -1);
        assert_int_equal(err.code, LB_EXIT_USAGE);
        if (!strstr(err.text, bad[i][1])) fail_msg("'%s': %s", bad[i][0], err.text);
        assert_int_equal(slo.limit_ns, 77);
    }
}

/* The loads of one repeat, "up:100 up:200 ..." */
static char *rungs_text(const struct plan *plan, int repeat, char *text, size_t size) {
    struct rung rungs[SWEEP_RUNGS_MAX];
    size_t used = 0;
    int count = sweep_rungs(plan, repeat, rungs);
    text[0] = '\0';
    for (int i = 0; i < count && used < size; i++) {
        if (rungs[i].at.by) assert_int_equal(rungs[i].at.step, i);
        used += (size_t)snprintf(text + used, size - used, "%s%s:%g", i ? " " : "",
                                 rungs[i].at.by ? rungs[i].at.leg : "",
                                 rungs[i].rate_per_s > 0 ? rungs[i].rate_per_s : rungs[i].clients);
    }
    return text;
}

TEST(sweeps_go_up_down_and_both_ways) {
    struct plan plan = {
        .clients = {8}, .clients_count = 1, .rates = {300, 100, 200}, .rates_count = 3, .seed = 1};
    char text[300];
    assert_string_equal(rungs_text(&plan, 0, text, sizeof text), ":300 :100 :200");
    plan.sweep = SWEEP_UP;
    assert_string_equal(rungs_text(&plan, 0, text, sizeof text), "up:100 up:200 up:300");
    plan.sweep = SWEEP_DOWN;
    assert_string_equal(rungs_text(&plan, 0, text, sizeof text), "down:300 down:200 down:100");
    plan.sweep = SWEEP_MIRROR;
    assert_string_equal(rungs_text(&plan, 0, text, sizeof text),
                        "up:100 up:200 up:300 down:200 down:100");
    struct plan clients = {.clients = {4, 1, 2}, .clients_count = 3, .sweep = SWEEP_UP};
    assert_string_equal(rungs_text(&clients, 0, text, sizeof text), "up:1 up:2 up:4");
    clients.sweep = SWEEP_LISTED;
    assert_string_equal(rungs_text(&clients, 0, text, sizeof text), ":4 :1 :2");
}

TEST(a_shuffle_is_the_seeds_and_differs_by_repeat) {
    struct plan plan = {.clients_count = 10, .sweep = SWEEP_SHUFFLED, .seed = 1};
    for (int i = 0; i < 10; i++) plan.clients[i] = i + 1;
    char first[300], again[300], other[300];
    rungs_text(&plan, 0, first, sizeof first);
    assert_string_equal(rungs_text(&plan, 0, again, sizeof again), first);
    assert_string_not_equal(rungs_text(&plan, 1, other, sizeof other), first);
    bool seen[11] = {false};
    struct rung rungs[SWEEP_RUNGS_MAX];
    assert_int_equal(sweep_rungs(&plan, 1, rungs), 10);
    for (int i = 0; i < 10; i++) seen[rungs[i].clients] = true;
    for (int i = 1; i <= 10; i++) assert_true(seen[i]);
}

TEST(stages_follow_the_sweep) {
    struct lb_err err = {0};
    const char *const sets[SETS_MAX + 1] = {"load.arrival=poisson:10/s", "load.rates=100..400 x2",
                                            "load.sweep=mirror", "load.clients=8"};
    struct plan *plan = load(NULL, "sim", sets, &err);
    if (!plan) fail_msg("%s", err.text);
    int count;
    char name[96];
    struct plan_stage *stages = stages_new(plan, STAGES_BY_PLACE, &count);
    assert_int_equal(count, 5);
    static const double rates[] = {100, 200, 400, 200, 100};
    for (int i = 0; i < 5; i++) {
        assert_true(stages[i].rate_per_s == rates[i]);
        assert_string_equal(stages[i].sweep.by, "rate");
        assert_string_equal(stages[i].sweep.order, "mirror");
        assert_string_equal(stages[i].sweep.leg, i < 3 ? "up" : "down");
    }
    assert_non_null(strstr(stage_name(&stages[2], name, sizeof name), "-c8-400ps-r0"));
    free(stages);
    plan_free(plan);
}

TEST(keys_that_contradict_each_other_are_refused) {
    static const struct {
        const char *sets[SETS_MAX + 1];
        const char *words;
    } bad[] = {{{"load.rates=100,200"}, "closed arrival has no rate"},
               {{"load.rates=100,200", "load.arrival=poisson:5/s", "load.clients=1,2"},
                "one ladder at a time"},
               {{"load.rates=0"}, "load.rates"},
               {{"load.rates=1e3"}, "load.rates"},
               {{"load.rates="}, "the value is missing"},
               {{"load.sweep=sideways"}, "as-listed, up, down, shuffled or mirror"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct lb_err err = {0};
        assert_null(load(NULL, "sim", bad[i].sets, &err));
        assert_int_equal(err.code, LB_EXIT_USAGE);
        if (!strstr(err.text, bad[i].words)) fail_msg("%s: %s", bad[i].sets[0], err.text);
    }
}

static bool warned(const struct plan *plan, const char *words) {
    size_t i;
    json_t *warning;
    json_array_foreach(plan->warnings, i, warning) {
        if (strstr(json_string_value(warning), words)) return true;
    }
    return false;
}

TEST(rates_that_no_key_carries_are_flagged) {
    struct lb_err err = {0};
    const char *const sets[SETS_MAX + 1] = {"load.arrival=poisson:10/s", "load.rates=50,100,150",
                                            "load.hold=10ms", "load.keys=1", "load.clients=8"};
    struct plan *plan = load(NULL, "sim", sets, &err);
    if (!plan) fail_msg("%s", err.text);
    assert_true(warned(plan, "at 150 requests a second load.hold takes 1.5 times"));
    plan_free(plan);
    const char *const fewer[SETS_MAX + 1] = {"load.arrival=poisson:10/s", "load.rates=50,90",
                                             "load.hold=10ms", "load.keys=1", "load.clients=8"};
    plan = load(NULL, "sim", fewer, &err);
    assert_false(warned(plan, "ask for"));
    plan_free(plan);
    const char *const none[SETS_MAX + 1] = {"load.sweep=up", "load.clients=8"};
    plan = load(NULL, "sim", none, &err);
    assert_true(warned(plan, "load.sweep has no effect"));
    plan_free(plan);
}

/* A key with several holders at a time carries a higher rate, and the baseline, which holds nothing, carries any. */
TEST(rates_are_flagged_by_how_many_may_hold_a_key) {
    static const struct {
        const char *lock, *sets[SETS_MAX + 1], *words; /* NULL: no warning */
    } cases[] = {
        {"mem-mutex", {NULL}, "2 times the time that the keys have (1 at a time may hold one)"},
        {"mem-mutex", {"acquire.mode=timed", "acquire.timeout=5ms"}, NULL},
        {"mem-mutex", {"load.hold=window", "run.warmup=0"}, NULL},
        {"mem-semaphore", {"acquire.bound=4"}, NULL},
        {"mem-semaphore", {"acquire.bound=2"}, "(2 at a time may hold one)"},
        {"mem-rwlock", {"acquire.readers=60,100"}, NULL},
        {"mem-rwlock", {"acquire.readers=0,100"}, "(1 at a time may hold one)"},
        {"null", {NULL}, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lb_err err = {0};
        const char *sets[SETS_MAX + 1] = {"load.arrival=poisson:200/s", "load.hold=10ms",
                                          "load.clients=8"};
        for (int s = 0; cases[i].sets[s]; s++) sets[3 + s] = cases[i].sets[s];
        struct plan *plan = load(NULL, cases[i].lock, sets, &err);
        if (!plan) fail_msg("%s", err.text);
        const char *words = cases[i].words ? cases[i].words : "load.hold takes";
        if (warned(plan, words) != (cases[i].words != NULL))
            fail_msg("case %zu, %s: %s", i, cases[i].lock, words);
        plan_free(plan);
    }
}

TEST_MAIN(find_folder, remove_path)
