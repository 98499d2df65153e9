/* test_hosts_alike: twelve clients of one host, and four of each of three hosts that are joined by sockets: the histograms are
 * the same within 2 %. The lock is one whose service time is known.
 *
 * Needs: the machine to itself. */
#include <math.h>

#include "bench/tests/hosts_help.h"

static double quantile_of(const struct stage *stage, enum metric metric, double part) {
    return (double)hist_quantile(stage->hist[metric], part);
}

/* Whether count and quantiles of a metric are within 2 %; else *why says which are not. */
static bool are_alike(const struct stage *one, const struct stage *three, enum metric metric,
                      char why[200]) {
    static const double parts[] = {0.1, 0.25, 0.5, 0.75, 0.9};
    double ones = (double)one->hist[metric]->count, threes = (double)three->hist[metric]->count;
    if (fabs(threes / ones - 1) > 0.02) {
        snprintf(why, 200, "%s: %.0f values of one host, %.0f of three", metric_name(metric), ones,
                 threes);
        return false;
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        double a = quantile_of(one, metric, parts[i]), b = quantile_of(three, metric, parts[i]);
        if (fabs(b / a - 1) <= 0.02) continue;
        snprintf(why, 200, "%s, quantile %g: %.0f ns of one host, %.0f ns of three",
                 metric_name(metric), parts[i], a, b);
        return false;
    }
    return true;
}

static void run_sim(const struct far_case *wanted, struct far_run *run) {
    begin_run(run, wanted, "sim",
              SETS("load.clients=12", "load.keys=own", "run.duration=5s",
                   "load.hold=lognormal:60ms:0.3", "sim.service=80ms", "acquire.lease=60s"));
    const struct stage *stage = go(run, NULL);
    if (stage->status != STAGE_COMPLETE) fail_msg("%s", stage->err.text);
    assert_int_equal(stage->exclusion.verdict, VERDICT_CLEAN);
}

/* The same seeds, so the same holds; the same service time, so the same waits. Which machine does the work is all that differs. */
TEST(test_twelve_clients_of_one_host_and_four_of_each_of_three_measure_the_same) {
    char why[200] = "";
    struct far_run one, three;
    run_sim(&(struct far_case){.alone = true}, &one);
    run_sim(NULL, &three);
    assert_int_equal(json_array_size(three.stage->result.hosts), HOSTS);
    assert_null(one.stage->result.hosts);
    bool alike = are_alike(one.stage, three.stage, METRIC_ACQUIRE, why) &&
                 are_alike(one.stage, three.stage, METRIC_HOLD, why) &&
                 are_alike(one.stage, three.stage, METRIC_RELEASE, why);
    end_run(&one);
    end_run(&three);
    if (!alike) fail_msg("%s", why);
}

TEST_MAIN(NULL, NULL)
