/* stage_help: runs one stage of an embedded lock for a test. Header only, since each test is one
 * program.
 *
 * Its time is bench/tests/virtual_clock.h's: a stage does the same in each run, so it runs once. */
#ifndef BENCH_TESTS_STAGE_HELP_H
#define BENCH_TESTS_STAGE_HELP_H

#include "bench/base/home.h"
#include "bench/place/place.h"
#include "bench/stage/supervise.h"
#include "bench/tests/unit.h"
#include "bench/tests/virtual_clock.h"
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
};

static inline bool stage_look(void *arg, const struct stage *stage) {
    const struct stage_case *wanted = arg;
    int over = 0;
    for (int i = 0; i < stage->faults.count; i++) over += stage->faults.events[i].end_ns != 0;
    return (wanted->faults && over >= wanted->faults) || (wanted->enough && wanted->enough(stage));
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

/* The stages of the last two calls of run_stage_as; the next call frees the older one. */
static struct stage *stages_kept[2];

/* Runs the smoke workload of one lock with these settings, its first number of clients only. The stage lasts until the
 * next but one. */
static inline struct stage *run_stage_as(const char *lock, const struct stage_case *wanted,
                                         const char *const *sets) {
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
    struct place_ask place_ask = {
        .lock = &plan->locks[0], .durability = plan->durability, .interrupts = &no_interrupts};
    struct place *place = place_open(&place_ask, &err);
    if (!place) fail_msg("%s", err.text);
    struct stage_ask ask = {.of = {.plan = plan,
                                   .lock = &plan->locks[0],
                                   .clients = plan->clients[0],
                                   .window_ns = plan->duration_ns,
                                   .lease_ns = plan->leases_ns[0],
                                   .readers = wanted->readers},
                            .place = place,
                            .promise = wanted->promise,
                            .id = "test",
                            .version = "test",
                            .interrupts = &no_interrupts,
                            .enough = stage_look,
                            .enough_arg = (void *)(uintptr_t)wanted};
    struct stage *stage = stage_run(&ask, &err);
    if (!stage) fail_msg("%s", err.text);
    stage_conclude(stage);
    json_t *json = run_stage_json(&stage->result);
    assert_non_null(json);
    json_decref(json);
    stage->ask = NULL; /* it ends here */
    place_close(place);
    plan_free(plan);
    stage_free(stages_kept[1]);
    stages_kept[1] = stages_kept[0];
    return stages_kept[0] = stage;
}

static inline struct stage *run_stage_of(const char *lock, const char *const *sets) {
    struct stage_case nothing = {0};
    return run_stage_as(lock, &nothing, sets);
}

/* The stage, which was not ended early. */
static inline struct stage *whole(struct stage *stage) {
    if (stage->status != STAGE_COMPLETE) fail_msg("not complete: %s", stage->err.text);
    return stage;
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
