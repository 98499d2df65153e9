/* What a search for capacity is asked for: promises as people write them, the order of sweeps, and the workload keys
 * for them. */
#include <math.h>

#include "bench/tests/plan_help.h"
#include "bench/tools/capacity/probe.h"
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

static bool warned(const struct plan *plan, const char *words) {
    size_t i;
    json_t *warning;
    json_array_foreach(plan->warnings, i, warning) {
        if (strstr(json_string_value(warning), words)) return true;
    }
    return false;
}

/* A key with several holders at a time carries a higher rate, and the baseline, which holds nothing, carries any. */
TEST(rates_are_flagged_by_how_many_may_hold_a_key) {
    static const struct {
        const char *lock, *sets[SETS_MAX + 1], *words; /* NULL: no warning */
    } cases[] = {
        {"mem-mutex", {NULL}, "2 times the time that the keys have (1 at a time may hold one)"},
        {"sim",
         {"load.rates=50,150", "load.keys=1"},
         "at 150 requests a second load.hold takes 1.5"},
        {"sim", {"load.rates=50,90", "load.keys=1"}, NULL},
        {"mem-mutex", {"acquire.mode=timed", "acquire.timeout=5ms"}, NULL},
        {"mem-mutex", {"load.hold=window", "run.warmup=0"}, NULL},
        {"mem-semaphore", {"acquire.bound=4"}, NULL},
        {"mem-semaphore", {"acquire.bound=2"}, "(2 at a time may hold one)"},
        {"mem-rwlock", {"acquire.readers=60,100"}, NULL},
        {"mem-rwlock", {"acquire.readers=0,100"}, "(1 at a time may hold one)"},
        {"null", {NULL}, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *sets[SETS_MAX + 1] = {"load.arrival=poisson:200/s", "load.hold=10ms",
                                          "load.clients=8"};
        for (int s = 0; cases[i].sets[s]; s++) sets[3 + s] = cases[i].sets[s];
        struct plan *plan = taken(NULL, cases[i].lock, sets);
        const char *words = cases[i].words ? cases[i].words : "load.hold takes";
        if (warned(plan, words) != (cases[i].words != NULL))
            fail_msg("case %zu, %s: %s", i, cases[i].lock, words);
    }
}

TEST_MAIN(find_folder, remove_path)
