/* stage_help: runs one stage of an embedded lock for a test. Header only, since each test is one
 * program. */
#ifndef BENCH_TESTS_STAGE_HELP_H
#define BENCH_TESTS_STAGE_HELP_H

#include "bench/base/home.h"
#include "bench/run/place.h"
#include "bench/run/supervise.h"
#include "bench/tests/unit.h"
#include "results/format/write.h"

#define SETS(...)                                                                                  \
    (const char *const[]) {                                                                        \
        __VA_ARGS__, NULL                                                                          \
    }

static volatile sig_atomic_t no_interrupts;

/* What a test asks beyond the settings that the plan's parser allows the named lock. 0 = as they
 * are. */
struct stage_wish {
    const struct lb_lock
        *instead; /* run this lock, with the options of the named one; NULL = the named one */
    int readers, depth, keys_at_once, clients_per_session;
    uint32_t permits, bound;
    uint64_t stock;
    bool churn, renew;
    struct stage_promise promise;
};

static inline void grant_wish(struct plan *plan, const struct stage_wish *wish) {
    if (wish->instead) plan->locks[0].lock = wish->instead;
    if (wish->depth) plan->depth = wish->depth;
    if (wish->keys_at_once) plan->keys_at_once = wish->keys_at_once;
    if (wish->clients_per_session) plan->clients_per_session = wish->clients_per_session;
    if (wish->permits) plan->permits = wish->permits;
    if (wish->bound) plan->bound = wish->bound;
    if (wish->stock) plan->stock = wish->stock;
    plan->churn |= wish->churn;
    plan->renew |= wish->renew;
}

/* Runs the smoke workload of one lock with these settings, its first number of clients only. The
 * caller stage_frees. */
static inline struct stage *run_stage_as(const char *lock, const struct stage_wish *wish,
                                         const char *const *sets) {
    struct lb_err err = {0};
    char folder[512];
    int count = 0;
    while (sets[count]) count++;
    assert_int_equal(home_path("workloads", folder, sizeof folder, &err), 0);
    struct plan_wish plan_wish = {
        .workload = "smoke", .folder = folder, .locks = lock, .sets = sets, .set_count = count};
    struct plan *plan = plan_load(&plan_wish, &err);
    if (!plan) fail_msg("%s", err.text);
    grant_wish(plan, wish);
    struct place_ask place_ask = {
        .lock = &plan->locks[0], .durability = plan->durability, .interrupts = &no_interrupts};
    struct place *place = place_open(&place_ask, &err);
    if (!place) fail_msg("%s", err.text);
    struct stage_ask ask = {.plan = plan,
                            .lock = &plan->locks[0],
                            .server = &place->server,
                            .clients = plan->clients[0],
                            .readers = wish->readers,
                            .promise = wish->promise,
                            .id = "test",
                            .topology = "test",
                            .durability = "test",
                            .version = "test",
                            .seed = plan->seed,
                            .interrupts = &no_interrupts};
    struct stage *stage = stage_run(&ask, &err);
    if (!stage) fail_msg("%s", err.text);
    json_t *json = run_stage_json(&stage->result);
    assert_non_null(json);
    json_decref(json);
    place_close(place);
    plan_free(plan);
    return stage;
}

static inline struct stage *run_stage_of(const char *lock, const char *const *sets) {
    struct stage_wish nothing = {0};
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
