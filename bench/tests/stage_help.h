/* stage_help: runs one stage of an embedded lock for a test. Header only, since each test is one program. */
#ifndef BENCH_TESTS_STAGE_HELP_H
#define BENCH_TESTS_STAGE_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "bench/base/home.h"
#include "bench/run/place.h"
#include "bench/run/stage.h"

#define SETS(...)                                                                                            \
    (const char *const[]) {                                                                                  \
        __VA_ARGS__, NULL                                                                                    \
    }

static volatile sig_atomic_t no_interrupts;

/* Runs the smoke workload of one lock with these settings, its first number of clients only. The caller
 * stage_frees. */
static inline struct stage *run_stage_of(const char *lock, const char *const *sets) {
    struct lb_err err = {0};
    char folder[512];
    int count = 0;
    while (sets[count]) count++;
    assert_int_equal(home_path("workloads", folder, sizeof folder, &err), 0);
    struct plan_wish wish = {
        .workload = "smoke", .folder = folder, .locks = lock, .sets = sets, .set_count = count};
    struct plan *plan = plan_load(&wish, &err);
    if (!plan) fail_msg("%s", err.text);
    struct place_ask place_ask = {
        .lock = &plan->locks[0], .durability = plan->durability, .interrupts = &no_interrupts};
    struct place *place = place_open(&place_ask, &err);
    if (!place) fail_msg("%s", err.text);
    struct stage_ask ask = {.plan = plan,
                            .lock = &plan->locks[0],
                            .server = &place->server,
                            .clients = plan->clients[0],
                            .id = "test",
                            .version = "test",
                            .seed = plan->seed,
                            .interrupts = &no_interrupts};
    struct stage *stage = stage_run(&ask, &err);
    if (!stage) fail_msg("%s", err.text);
    place_close(place);
    plan_free(plan);
    return stage;
}

#endif
