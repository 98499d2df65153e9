/* test_stage_verdict: what is to be read beside a stage's figures, from facts that are made here: nothing runs. Each
 * warning stands beside a fact that is just not enough for it. */
#include <math.h>

#include "bench/stage/stage.h"
#include "bench/tests/unit.h"

static const struct lb_backend backend = {.name = "made"};
static const struct lb_lock lock = {.name = "made", .backend = &backend};
static const struct plan_lock entry = {.lock = &lock};
static struct plan plan;
static struct stage stage;
static struct stage_ask ask;
static struct hist *hists[METRICS];

/* A stage of a second that nothing is wrong with. */
FIXTURE(set_up) {
    memset(&stage, 0, sizeof stage);
    plan = (struct plan){.drain_ns = LB_S_NS};
    ask = (struct stage_ask){
        .of = {.plan = &plan, .lock = &entry, .clients = 1, .window_ns = LB_S_NS}};
    stage.ask = &ask;
    result_field_clear_all(run_stage_fields(), &stage.result);
    for (int i = 0; i < METRICS; i++) {
        stage.hist[i] = hists[i] = hist_new(2, 100 * LB_S_NS);
        assert_non_null(stage.hist[i]);
    }
    stage.window_ns = LB_S_NS;
    stage.result.threads = 1;
    stage.client_cpu_ns = stage.server_cpu_ns = NAN;
    stage.stolen_ns = -1;
    return 0;
}

FIXTURE(tear_down) {
    for (int i = 0; i < METRICS; i++) hist_free(hists[i]);
    return 0;
}

#define OF_A_STAGE(name) TEST_WITH(name, set_up, tear_down)

/* The warnings, with | between. */
static const char *warned(void) {
    static char text[2000];
    json_t *warnings = stage_warnings(&stage);
    text[0] = '\0';
    for (size_t i = 0; i < json_array_size(warnings); i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", used ? "|" : "",
                 json_string_value(json_array_get(warnings, i)));
    }
    json_decref(warnings);
    return text;
}

static void assert_warned(const char *begin) {
    const char *text = warned();
    if (strncmp(text, begin, strlen(begin)) != 0 || strchr(text, '|'))
        fail_msg("'%s' does not begin '%s' alone", text, begin);
}

OF_A_STAGE(a_stage_that_nothing_is_wrong_with_has_no_warning) {
    assert_string_equal(warned(), "");
}

OF_A_STAGE(a_step_of_the_wall_clock_tells_which_way_leases_were_wrong) {
    static const struct {
        double step_s;
        int largest_s;
        const char *by, *when;
    } cases[] = {{3, 2, "by +3 s in all", "early by as much"},
                 {-3, 3, "by -3 s in all", "late by as much"},
                 {1e-8, 2, "to and fro", "early or late"},
                 {1, 2, "by +1 s in all", "early or late"}};
    stage.result.wall_step_ns = 0;
    assert_string_equal(warned(), "");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char begin[120];
        stage.result.wall_step_ns = cases[i].step_s * 1e9;
        stage.wall_largest_ns = cases[i].largest_s * LB_S_NS;
        snprintf(begin, sizeof begin, "this machine's wall clock stepped %s, at most %d s at once",
                 cases[i].by, cases[i].largest_s);
        assert_warned(begin);
        if (!strstr(warned(), cases[i].when)) fail_msg("'%s': %s", cases[i].when, warned());
    }
}

/* 2 % of one processor, over the window and the drain. */
OF_A_STAGE(steal_is_a_limit_of_the_load_generator) {
    stage.window_ns = 4 * LB_S_NS;
    stage.drain_ns = LB_S_NS;
    stage.stolen_ns = 90 * LB_MS_NS;
    assert_string_equal(warned(), "");
    stage.stolen_ns = 110 * LB_MS_NS;
    assert_true(stage_is_limited(&stage));
    assert_warned("generator-limited: the host of this virtual machine took 0.11 s of processor "
                  "time in 5 s (steal)");
}

/* More than 1 % of the window, and more than 20 ms. */
OF_A_STAGE(standing_still_is_a_limit_of_the_load_generator) {
    stage.result.duration_s = 1;
    stage.result.stood_still_ns = 19e6;
    assert_string_equal(warned(), "");
    stage.result.stood_still_ns = 21e6;
    assert_warned("generator-limited: lockbench itself stood still for 0.021 s of 1 s");
    stage.window_ns = 4 * LB_S_NS;
    stage.result.duration_s = 4;
    assert_string_equal(warned(), "");
}

/* Of a lock that blocks its thread the beats say nothing, and a hold that ends late does. */
OF_A_STAGE(holds_that_end_late_are_a_limit_of_a_lock_that_blocks_its_thread) {
    const struct lb_lock blocking = {
        .name = "made", .backend = &backend, .caps = LB_CAP_BLOCKS_THREAD};
    const struct plan_lock its_entry = {.lock = &blocking};
    plan.hold = (struct dist){.mean_ns = 2 * LB_MS_NS};
    for (int i = 0; i < 100; i++) hist_record(hists[METRIC_HOLD], 9 * LB_MS_NS);
    assert_string_equal(warned(), "");
    ask.of.lock = &its_entry;
    assert_true(stage_is_limited(&stage));
    assert_warned("generator-limited: holds lasted 7.0 ms longer than load.hold says");
    plan.hold.kind = DIST_EXPONENTIAL; /* they may be drawn so */
    assert_string_equal(warned(), "");
}

/* What a check of tokens would have done beside what was done. */
OF_A_STAGE(stale_writes_are_told_with_what_a_fence_did) {
    stage.result.stale_accepted_unfenced = 5;
    assert_warned("stale writes: 5 overwrote a value after a later holder had got the lock; the "
                  "lock has no tokens by which to reject them");
    stage.result.stale_rejected_fenced = 4;
    stage.result.stale_accepted_fenced = 1;
    assert_warned("stale writes: 5 overwrote a value after a later holder had got the lock; a "
                  "check of tokens rejected 4 and let 1 pass");
}

static void waits_lasted(enum metric metric, int count, int64_t ns) {
    hist_record_times(hists[metric], ns, count);
}

/* Of 10 s that clients waited in the window, the percentiles have what they were given here. */
OF_A_STAGE(waits_that_no_percentile_has_are_told) {
    struct run_latency *acquire = &stage.result.latency[METRIC_ACQUIRE];
    plan.arrival.kind = ARRIVAL_CLOSED;
    stage.result.arrival = "closed";
    stage.result.state_waiting_ns = 10e9;
    stage.result.state_connecting_ns = 90e9; /* no part of acquire, so no percentile lacks it */
    *acquire = stage.result.latency[METRIC_WAIT_FAILED] =
        (struct run_latency){.count = 4, .mean = 1e9};
    assert_warned("at least 20 % of the time that clients waited is in no percentile of acquire");
    stage.result.arrival = "constant:1/s"; /* acquire_due counts from due */
    plan.arrival.kind = ARRIVAL_CONSTANT;
    assert_string_equal(warned(), "");
    stage.result.arrival = "closed";
    plan.arrival.kind = ARRIVAL_CLOSED;
    acquire->count = 6;
    assert_string_equal(warned(), "");
}

/* A late start is the fault of the load generator, or of a pool that is too small because the lock keeps its clients
 * waiting. */
OF_A_STAGE(late_starts_are_told_apart) {
    plan.arrival.kind = ARRIVAL_CONSTANT;
    waits_lasted(METRIC_LAG, 1000000, 5 * LB_MS_NS);
    stage.result.stood_still_ns = 0;
    stage.result.due = 1000;
    stage.result.queued = 9;
    assert_warned(
        "generator-limited: starts were late by 5.0 ms at p99 although clients were free");
    stage.result.queued = 500;
    assert_warned(
        "starts were late by 5.0 ms at p99: 500 of 1000 arrivals fell due while all clients were busy");
}

/* Some requests wait at the window's end by chance; a rate that is too high leaves many. */
OF_A_STAGE(requests_that_wait_when_the_window_ends) {
    plan.arrival.kind = ARRIVAL_CONSTANT;
    stage.result.due = 1000;
    stage.result.queued = 0;
    stage.result.missed = 60;
    assert_string_equal(warned(), "");
    stage.result.missed = 70; /* more than two standard deviations of 1,000 arrivals */
    assert_warned("70 of 1000 arrivals could not be started");
}

TEST_MAIN(NULL, NULL)
