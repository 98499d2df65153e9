/* test_hosts_alike: twelve clients of one host, and four of each of three hosts that are joined by sockets: the histograms are
 * the same within 2 %. The lock is one whose service time is known.
 *
 * Needs: the machine to itself. */
#include <math.h>
#include <stdio.h>

#include "bench/tests/hosts_help.h"

static const struct far_wish no_wish = {.workload = NULL};

static double quantile_of(const struct stage *stage, enum metric metric, double part) {
    return (double)hist_quantile(stage->hist[metric], part);
}

static void assert_alike(const struct stage *one, const struct stage *three, enum metric metric) {
    static const double parts[] = {0.1, 0.25, 0.5, 0.75, 0.9};
    double ones = (double)one->hist[metric]->count, threes = (double)three->hist[metric]->count;
    if (fabs(threes / ones - 1) > 0.02)
        fail_msg("%s: %.0f values of one host, %.0f of three", metric_name(metric), ones, threes);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        double a = quantile_of(one, metric, parts[i]), b = quantile_of(three, metric, parts[i]);
        if (fabs(b / a - 1) > 0.02)
            fail_msg("%s, quantile %g: %.0f ns of one host, %.0f ns of three", metric_name(metric),
                     parts[i], a, b);
    }
}

static bool run_sim(const struct far_wish *wish, struct far_run *run) {
    struct lb_err err = {0};
    begin_run(run, wish, "sim",
              SETS("load.clients=12", "load.keys=own", "run.duration=6s",
                   "load.hold=lognormal:60ms:0.3", "sim.service=40ms", "acquire.lease=60s"));
    const struct stage *stage = go(run, NULL, &err);
    if (!stage) fail_msg("%s", err.text);
    if (stage->status != STAGE_COMPLETE) fail_msg("%s", stage->err.text);
    assert_int_equal(stage->exclusion.verdict, VERDICT_CLEAN);
    return quantile_of(stage, METRIC_HICCUP, 0.9) < 400e3;
}

/* The same seeds, so the same holds; the same service time, so the same waits. Which machine does the work is all that differs.
 * A machine that has other work meanwhile has two more tries. */
TEST(test_twelve_clients_of_one_host_and_four_of_each_of_three_measure_the_same) {
    struct far_run one, three;
    bool quiet = false;
    for (int i = 0; i < 3 && !quiet; i++) {
        if (i > 0) {
            end_run(&one);
            end_run(&three);
        }
        quiet = run_sim(&(struct far_wish){.alone = true}, &one);
        quiet &= run_sim(&no_wish, &three);
    }
    assert_int_equal(json_array_size(three.stage->result.hosts), HOSTS);
    assert_null(one.stage->result.hosts);
    assert_alike(one.stage, three.stage, METRIC_ACQUIRE);
    assert_alike(one.stage, three.stage, METRIC_HOLD);
    assert_alike(one.stage, three.stage, METRIC_RELEASE);
    end_run(&one);
    end_run(&three);
}

TEST_MAIN(NULL, NULL)
