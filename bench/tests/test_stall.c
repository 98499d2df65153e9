/* test_stall: time that lockbench itself lost is told apart from time that the lock lost. The recorder of stalls with
 * given stamps; then whole stages on `sim` whose process is stopped and resumed by a child. */
#include <math.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "bench/measure/stall.h"
#include "bench/tests/toy_help.h"

/* ---- the recorder, with given stamps: the window is 1,000 ms .. 6,000 ms ---- */

#define MS LB_MS_NS

struct scene {
    struct stalls stalls;
    struct hist *late;
};

static struct scene scene_at(int64_t now_ms) {
    struct scene scene = {.late = hist_new(HIST_DIGITS, HIST_HIGHEST_NS)};
    assert_non_null(scene.late);
    stalls_begin(&scene.stalls, MS, now_ms * MS);
    return scene;
}

static void beat_at(struct scene *scene, int64_t now_ns) {
    stalls_beat(&scene->stalls, now_ns, 1000 * MS, 6000 * MS, scene->late);
}

/* Beats on time up to and including until_ms. */
static void beat_until(struct scene *scene, int64_t until_ms) {
    while (scene->stalls.due_ns <= until_ms * MS) beat_at(scene, scene->stalls.due_ns);
}

TEST(a_long_stall_weighs_what_it_lasted) {
    struct scene scene = scene_at(0);
    beat_until(&scene, 2000);
    beat_at(&scene, 5000 * MS);
    beat_until(&scene, 7000);
    assert_int_equal(scene.late->count, 5000); /* a beat for each ms of the window */
    assert_int_equal(scene.stalls.lost_ns, 2999 * MS);
    assert_int_equal(scene.late->max, 2999 * MS);
    assert_int_equal(scene.late->sum, MS * (2999 * 3000 / 2));
    /* two of five seconds were as they should be: the median is in the stall */
    assert_true(hist_quantile(scene.late, 0.5) >= 499 * MS);
    assert_true(hist_quantile(scene.late, 0.39) < MS);
    hist_free(scene.late);
}

TEST(many_short_stalls_weigh_what_they_lasted) {
    struct scene scene = scene_at(1000 - 1);
    for (int64_t at = 1000; at < 6000; at += 150) { /* a third of the time in pieces of 50 ms */
        beat_until(&scene, at);
        beat_at(&scene, (at + 50) * MS);
    }
    assert_int_equal(scene.stalls.lost_ns, 34 * 49 * MS);
    assert_true(hist_quantile(scene.late, 0.99) >= 45 * MS);
    hist_free(scene.late);
}

TEST(a_stall_counts_in_the_window_only) {
    struct scene scene = scene_at(0);
    beat_until(&scene, 900);
    beat_at(&scene, 1100 * MS);
    assert_int_equal(scene.late->count, 101);
    assert_int_equal(scene.stalls.lost_ns, 100 * MS);
    beat_until(&scene, 5900);
    beat_at(&scene, 8000 * MS);
    assert_int_equal(scene.late->count, 5000);
    assert_int_equal(scene.stalls.lost_ns, 100 * MS + 99 * MS);
    assert_int_equal(scene.late->max, 8000 * MS - 5901 * MS);
    beat_at(&scene, 9000 * MS);
    assert_int_equal(scene.late->count, 5000);
    hist_free(scene.late);
}

/* An hour costs as little as four seconds, and weighs an hour. */
TEST(a_very_long_stall_costs_little) {
    struct scene scene = scene_at(0);
    const int64_t hour_ns = 3600 * LB_S_NS;
    stalls_beat(&scene.stalls, hour_ns, 0, LB_NEVER, scene.late);
    assert_int_equal(scene.late->count, 3600000);
    int64_t slots = 0;
    for (int32_t i = scene.late->first; i <= scene.late->last; i++)
        slots += scene.late->counts[i] > 0;
    assert_true(slots <= STALL_RECORDS_MAX);
    assert_true(hist_quantile(scene.late, 0.5) > 1790 * LB_S_NS);
    assert_true(hist_quantile(scene.late, 0.5) < 1810 * LB_S_NS);
    hist_free(scene.late);
}

TEST(a_planned_pause_is_excused) {
    struct scene scene = scene_at(0);
    beat_until(&scene, 2000);
    stalls_plan(&scene.stalls, 2000 * MS + 5, LB_NEVER);
    assert_int_equal(0, stalls_around(&scene.stalls, 2500 * MS, 2600 * MS));
    stalls_plan(&scene.stalls, 2000 * MS + 5, 3000 * MS);
    beat_at(&scene, 3000 * MS + 7);
    assert_int_equal(scene.late->count, 1001 + 1); /* without the beats of the pause */
    assert_true(scene.late->max < MS);
    assert_int_equal(scene.stalls.lost_ns, 7);
    /* a stall that was not planned counts, also right after a pause */
    beat_at(&scene, 3500 * MS);
    assert_int_equal(scene.stalls.lost_ns, 7 + 499 * MS);
    hist_free(scene.late);
}

TEST(what_fell_due_in_a_stall_is_known_before_its_beat) {
    struct scene scene = scene_at(0);
    beat_until(&scene, 2000);
    assert_int_equal(0, stalls_around(&scene.stalls, 2000 * MS, 2000 * MS + 10));
    /* another fiber runs first */
    assert_int_equal(500 * MS, stalls_around(&scene.stalls, 2100 * MS, 2500 * MS));
    assert_int_equal(0, stalls_around(&scene.stalls, 1999 * MS, 2500 * MS));
    beat_at(&scene, 2500 * MS);
    beat_until(&scene, 3000);
    assert_int_equal(500 * MS, stalls_around(&scene.stalls, 2100 * MS, 3000 * MS));
    assert_int_equal(0, stalls_around(&scene.stalls, 2600 * MS, 3000 * MS));
    hist_free(scene.late);
}

/* The sum does not ask for the window, nor whether the late beat has come. */
TEST(what_a_wait_lost_by_stalls) {
    struct scene scene = scene_at(0);
    beat_until(&scene, 500);
    beat_at(&scene, 700 * MS); /* before the window; the first beat was due at 501 ms */
    assert_int_equal(scene.stalls.lost_ns, 0);
    assert_int_equal(stalls_sum(&scene.stalls, 700 * MS + 10), 199 * MS);
    beat_until(&scene, 6999);
    assert_int_equal(stalls_sum(&scene.stalls, 7000 * MS), 199 * MS);
    assert_int_equal(stalls_sum(&scene.stalls, 9000 * MS), 2199 * MS);
    beat_at(&scene, 9000 * MS);
    assert_int_equal(stalls_sum(&scene.stalls, 9000 * MS), 2199 * MS);
    hist_free(scene.late);
}

/* ---- whole stages ---- */

/* The stops of a stage. They are made in looks of the supervisor, from 100 ms after the window's begin on, so that none
 * comes too early. */
static struct {
    int times, for_ms; /* still to come, each so long */
    int64_t first_look_ns, last_stop_ns;
} stops;

/* A child stops this process and lets it go on. */
static void stop_this_process(int for_ms) {
    pid_t parent = getpid(), child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        kill(parent, SIGSTOP);
        for (int64_t end_ns = lb_now() + for_ms * MS; lb_now() < end_ns;) lb_nap(MS);
        kill(parent, SIGCONT);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

/* Stops once in each look, and ends the window 300 ms after the last stop. */
static bool stops_are_over(const struct stage *stage) {
    (void)stage;
    int64_t now_ns = lb_now();
    if (stops.first_look_ns == 0) stops.first_look_ns = now_ns;
    if (now_ns - stops.first_look_ns < 100 * MS) return false;
    if (stops.times == 0) return now_ns - stops.last_stop_ns > 300 * MS;
    stops.times--;
    stop_this_process(stops.for_ms);
    stops.last_stop_ns = lb_now();
    return false;
}

static struct stage *run_lock_with_stops(const char *lock, int times, int for_ms,
                                         const char *const *sets) {
    memset(&stops, 0, sizeof stops);
    stops.times = times;
    stops.for_ms = for_ms;
    struct stage_case wanted = {.enough = stops_are_over};
    return run_stage_as(lock, &wanted, sets);
}

static struct stage *run_with_stops(int times, int for_ms, const char *const *sets) {
    return run_lock_with_stops("sim", times, for_ms, sets);
}

/* Fails unless the stage says that the load generator was its limit, and that it stood still for so
 * long. */
static void assert_stood_still(const struct stage *stage, int64_t least_ns) {
    if (!stage->result.limited_by) fail_msg("limited_by is null");
    assert_string_equal(stage->result.limited_by, "generator");
    assert_true(any_text_has(stage->result.warnings, "lockbench itself stood still for"));
    if (!(stage->result.stood_still_ns >= (double)least_ns))
        fail_msg("stood still for %.0f ns, not %ld", stage->result.stood_still_ns, (long)least_ns);
}

TEST(a_stop_in_an_open_loop_is_ours) {
    struct stage *stage = run_with_stops(1, 400,
                                         SETS("load.clients=4", "load.arrival=constant:300/s",
                                              "sim.service=0", "run.warmup=0", UNTIL_ENOUGH));
    assert_int_equal(stage->status, STAGE_COMPLETE);
    assert_stood_still(stage, 399 * MS);
    assert_in_range(stage->result.stalled, 119, 120); /* fell due in 400 ms */
    assert_in_range(stage->result.queued, 0, 1);
    assert_false(any_text_has(stage->result.warnings, "clients were busy"));
}

/* A lock that blocks its thread has no beats to be judged by, but its clients were idle when their arrivals fell due. */
TEST(a_stop_of_idle_threads_is_ours) {
    struct stage *stage =
        run_lock_with_stops("mem-mutex", 1, 700,
                            SETS("load.clients=40", "load.arrival=constant:100/s", "load.hold=0",
                                 "run.warmup=0", "run.duration=600ms"));
    assert_true(isnan(stage->result.stood_still_ns));
    assert_true(stage->result.missed > 0);
    assert_true(stage->result.stalled >=
                30); /* of the 50 that fell due in the stop, 40 or more had an idle client */
    assert_string_equal(stage->result.limited_by, "generator");
    assert_true(any_text_has(stage->result.warnings, "lockbench itself stood still (it was"));
    assert_false(any_text_has(stage->result.warnings, "does not carry"));
}

/* Nobody frees the key, so that the drain limit ends all waits. They lasted for more than 5 s, but that was a stop of the
 * clients themselves, and no fault of the lock. */
TEST(a_wait_over_a_stop_starves_nobody) {
    struct stage *stage = run_with_stops(1, 6000,
                                         SETS("load.clients=3", "sim.lose_every=1",
                                              "acquire.lease=1h", "sim.service=0", "run.warmup=0",
                                              "run.duration=300ms", "run.drain=100ms"));
    assert_int_equal(stage->status, STAGE_COMPLETE);
    assert_true(stage->result.starved == 3); /* the drain limit did end them */
    assert_true(stage->result.max_wait_ns > 6000 * MS);
    assert_int_equal(stage->exclusion.starved, 0);
    assert_int_equal(stage->exclusion.stuck, 0);
    assert_true(any_text_has(stage->result.warnings, "lockbench itself stood still for up to"));
}

/* A driver that sleeps instead of waiting, and does not say so. */
static enum lb_outcome blocking_acquire(struct lb_session *session,
                                        const struct lb_request *request, struct lb_grant *grant) {
    lb_nap(20 * MS);
    return toy_acquire(session, request, grant);
}

TEST(a_driver_that_blocks_its_thread_is_told) {
    struct lb_lock blocking = toy_mutex;
    struct lb_algorithm algorithm = *blocking.algorithm;
    algorithm.acquire = blocking_acquire;
    blocking.algorithm = &algorithm;
    struct stage *stage =
        run_toy(&blocking, RIGHT, PLAIN, SETS("load.clients=4", "run.duration=400ms"));
    assert_true(stage->result.stood_still_ns > 0);
    assert_true(stage->result.blocked_ns_max >= 20 * MS);
    assert_true(any_text_has(stage->result.warnings, "a fiber kept its loop for"));
}

TEST_MAIN(NULL, NULL)
