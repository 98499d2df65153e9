/* sum_help: a stage whose counts a test sets; nothing runs. Whoever includes it has the stage and the counts as
 * static variables. */
#ifndef BENCH_TESTS_SUM_HELP_H
#define BENCH_TESTS_SUM_HELP_H

#include "bench/evidence/stage_history.h"
#include "bench/stage/stage.h"
#include "bench/tests/unit.h"

#define CLIENTS 4

static const struct lb_backend backend = {.name = "made"};
static const struct lb_lock lock = {
    .name = "made", .backend = &backend, .primitive = LB_MUTEX, .caps = LB_CAP_FAIR};
static const struct plan_lock entry = {.lock = &lock};
static const struct plan plan = {.mode = MODE_WAIT};
static struct cell cells[1];
static struct client_stats clients[CLIENTS];
static struct worker_stats workers[2];
static struct shared shared;
static struct stage stage;
static struct hist granted, failed;

/* Each client had so many grants. */
static inline void count_grants(const uint64_t *grants) {
    memset(cells, 0, sizeof cells);
    memset(clients, 0, sizeof clients);
    memset(workers, 0, sizeof workers);
    memset(&shared, 0, sizeof shared);
    memset(&stage, 0, sizeof stage);
    result_field_clear_all(run_stage_fields(), &stage.result);
    stage.window_ns = 2 * LB_S_NS;
    memset(&granted, 0, sizeof granted);
    memset(&failed, 0, sizeof failed);
    stage.hist[METRIC_ACQUIRE] = &granted;
    stage.hist[METRIC_WAIT_FAILED] = &failed;
    stage.client_cpu_ns = stage.server_cpu_ns = NAN;
    shared.plan = &plan;
    shared.lease_ns = LB_NEVER;
    shared.lock = &entry;
    shared.clients = CLIENTS;
    shared.threads = 2;
    shared.processes = 1;
    shared.key_count = shared.cell_count = 1;
    shared.cells = cells;
    shared.client = clients;
    shared.worker = workers;
    uint64_t sum = 0;
    for (int i = 0; i < CLIENTS; i++) {
        clients[i].grants = grants[i];
        clients[i].state_idle_ns = stage.window_ns;
        clients[i].max_wait_ns = clients[i].connect_ns = -1;
        sum += grants[i];
    }
    granted.count = (int64_t)sum;
    atomic_store(&cells[0].grants, sum);
    atomic_store(&cells[0].counter, sum);
    atomic_store(&workers[1].outcomes[LB_OK], sum);
    atomic_store(&workers[1].window_grants, sum);
}

/* Adds the counts up into stage.result. */
static inline void sum_up(void) {
    stage_sum(&stage, &shared);
    if (stage.err.code) fail_msg("%s", stage.err.text);
}

/* Frees what the sum allocated. */
static inline void free_sum(void) {
    json_decref(stage.result.kept);
    stage.result.kept = NULL;
}

#endif
