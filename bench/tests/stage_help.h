/* stage_help: runs one stage of an embedded lock for a test. Header only, since each test is one
 * program.
 *
 * A test says what must have happened (stage_case.faults, stage_case.enough), and the window ends then: run.duration is
 * only the longest that it waits. If the machine stood still during a stage, the stage is run again, since the
 * expectations of a test hold only on a machine that runs. A stage with a violation is always kept, because a busy
 * machine does not excuse a violation. */
#ifndef BENCH_TESTS_STAGE_HELP_H
#define BENCH_TESTS_STAGE_HELP_H

#include "bench/base/home.h"
#include "bench/place/place.h"
#include "bench/stage/supervise.h"
#include "bench/tests/unit.h"
#include "results/format/write.h"

#define SETS(...)                                                                                  \
    (const char *const[]) {                                                                        \
        __VA_ARGS__, NULL                                                                          \
    }

/* The longest window of a stage that ends by stage_case.faults or stage_case.enough. */
#define UNTIL_ENOUGH "run.duration=30s"

static volatile sig_atomic_t no_interrupts;

/* Wishes of a test that go beyond the settings which the plan's parser allows for the named lock. 0
 * = no wanted. */
struct stage_case {
    const struct lb_lock
        *instead; /* run this lock, with the options of the named one; NULL = the named one */
    int readers, depth, clients_per_session;
    uint32_t permits, bound;
    bool churn, renew;
    struct stage_promise promise;
    int faults; /* the window ends when so many faults are over ... */
    bool (*enough)(const struct stage *stage); /* ... or when this holds */
    /* the stage is run again until this holds: for events that chance may prevent, such as a pause that met a holder */
    bool (*until)(const struct stage *stage);
    bool
        grows; /* the window of each further run is longer by the first one's, for a machine that is busy all the time */
    bool stands_still; /* the test itself stops this process */
};

#define STAGE_TRIES 10                /* the test's assertions then fail on the last one */
#define STAGE_LOOK_NS (50 * LB_MS_NS) /* the supervisor looks so often, and then asks stage_look */

/* What stage_look sees. */
struct stage_watch {
    const struct stage_case *wanted;
    bool blocks; /* the lock blocks its threads, which then have no beats */
    int64_t first_ns, last_ns, longest_ns; /* of its calls, and the longest time between two */
};

static inline bool stage_look(void *arg, const struct stage *stage) {
    struct stage_watch *watch = arg;
    int64_t now_ns = lb_now();
    int over = 0;
    if (watch->first_ns == 0) watch->first_ns = watch->last_ns = now_ns;
    if (now_ns - watch->last_ns > watch->longest_ns) watch->longest_ns = now_ns - watch->last_ns;
    watch->last_ns = now_ns;
    for (int i = 0; i < stage->faults.count; i++) over += stage->faults.events[i].end_ns != 0;
    return (watch->wanted->faults && over >= watch->wanted->faults) ||
           (watch->wanted->enough && watch->wanted->enough(stage));
}

/* Whether the machine stood still for a tenth of the window in one piece, by the workers' beats or by
 * the supervisor's looks. */
static inline bool stage_lost_time(const struct stage *stage, const struct stage_watch *watch) {
    int64_t begin_ns = stage->window_begin_ns, end_ns = begin_ns + stage->window_ns;
    int64_t first_ns = watch->first_ns ? watch->first_ns : end_ns, longest_ns = watch->longest_ns;
    if (first_ns - begin_ns > longest_ns) longest_ns = first_ns - begin_ns;
    if (watch->last_ns && end_ns - watch->last_ns > longest_ns)
        longest_ns = end_ns - watch->last_ns;
    longest_ns -= STAGE_LOOK_NS;
    const struct hist *hiccup = stage->hist[METRIC_HICCUP];
    if (!watch->blocks && hiccup->count > 0 && hiccup->max > longest_ns) longest_ns = hiccup->max;
    return longest_ns > 20 * LB_MS_NS + stage->window_ns / 10;
}

static inline void apply_wanted(struct plan *plan, const struct stage_case *wanted) {
    if (wanted->instead) plan->locks[0].lock = wanted->instead;
    if (wanted->depth) plan->depth = wanted->depth;
    if (wanted->clients_per_session) plan->clients_per_session = wanted->clients_per_session;
    if (wanted->permits) plan->permits = wanted->permits;
    if (wanted->bound) plan->bound = wanted->bound;
    plan->churn |= wanted->churn;
    plan->renew |= wanted->renew;
}

/* Runs it once, for the tries-th time; see run_stage_as. */
static inline struct stage *run_stage_once(const char *lock, const struct stage_case *wanted,
                                           const char *const *sets, struct stage_watch *watch,
                                           int tries) {
    struct lb_err err = {0};
    char folder[512];
    int count = 0;
    while (sets[count]) count++;
    assert_int_equal(home_path("workloads", folder, sizeof folder, &err), 0);
    struct plan_ask plan_ask = {
        .workload = "smoke", .folder = folder, .locks = lock, .sets = sets, .set_count = count};
    struct plan *plan = plan_load(&plan_ask, &err);
    if (!plan) fail_msg("%s", err.text);
    apply_wanted(plan, wanted);
    if (wanted->grows) plan->duration_ns *= tries;
    watch->blocks = plan->locks[0].lock->caps & LB_CAP_BLOCKS_THREAD;
    struct place_ask place_ask = {
        .lock = &plan->locks[0], .durability = plan->durability, .interrupts = &no_interrupts};
    struct place *place = place_open(&place_ask, &err);
    if (!place) fail_msg("%s", err.text);
    struct stage_ask ask = {.of = {.plan = plan,
                                   .lock = &plan->locks[0],
                                   .clients = plan->clients[0],
                                   .window_ns = plan->duration_ns,
                                   .readers = wanted->readers},
                            .place = place,
                            .promise = wanted->promise,
                            .id = "test",
                            .version = "test",
                            .seed = plan->seed,
                            .interrupts = &no_interrupts,
                            .enough = stage_look,
                            .enough_arg = watch};
    struct stage *stage = stage_run(&ask, &err);
    if (!stage) fail_msg("%s", err.text);
    json_t *json = run_stage_json(&stage->result);
    assert_non_null(json);
    json_decref(json);
    stage->ask = NULL; /* it ends here */
    place_close(place);
    plan_free(plan);
    return stage;
}

/* The stages of the last two calls of run_stage_as; the next call frees the older one. */
static struct stage *stages_kept[2];

static inline struct stage *stage_keep(struct stage *stage) {
    stage_free(stages_kept[1]);
    stages_kept[1] = stages_kept[0];
    return stages_kept[0] = stage;
}

/* Runs the smoke workload of one lock with these settings, its first number of clients only. The stage lasts until the
 * next but one. */
static inline struct stage *run_stage_as(const char *lock, const struct stage_case *wanted,
                                         const char *const *sets) {
    for (int tries = 1;; tries++) {
        struct stage_watch watch = {.wanted = wanted};
        struct stage *stage = run_stage_once(lock, wanted, sets, &watch, tries);
        bool final = tries == STAGE_TRIES || stage->status != STAGE_COMPLETE ||
                     stage->exclusion.verdict == VERDICT_VIOLATED;
        bool lost_time = !wanted->stands_still && stage_lost_time(stage, &watch);
        if (final || (!lost_time && (!wanted->until || wanted->until(stage))))
            return stage_keep(stage);
        print_message(lost_time ? "the machine stood still: once more\n" : "once more\n");
        stage_free(stage);
    }
}

/* For stage_case.until: on a busy machine the clients of a lock that excludes nobody may not meet in one short window. */
static inline bool was_violated(const struct stage *stage) {
    return stage->exclusion.verdict == VERDICT_VIOLATED;
}

static inline struct stage *run_stage_of(const char *lock, const char *const *sets) {
    struct stage_case nothing = {0};
    return run_stage_as(lock, &nothing, sets);
}

static inline double sum_outcomes(const struct stage *stage) {
    const struct run_stage *result = &stage->result;
    return result->ok + result->busy + result->timeout + result->lost + result->unknown +
           result->refused + result->broken;
}

/* Whether a text of the array has the words. */
static inline bool any_text_has(const json_t *texts, const char *words) {
    const json_t *text;
    size_t i;
    json_array_foreach(texts, i, text) {
        if (strstr(json_string_value(text), words)) return true;
    }
    return false;
}

#endif
