/* test_stage_sum: the figures of a stage from counts that are made here: nothing runs. */
#include "bench/run/stage_sum.h"

#include <math.h>

#include "bench/run/stage_history.h"
#include "bench/tests/unit.h"

#define CLIENTS 4

static const struct lb_backend backend = {.name = "made"};
static const struct lb_lock lock = {
    .name = "made", .backend = &backend, .primitive = LB_MUTEX, .caps = LB_CAP_FAIR};
static const struct plan_lock entry = {.lock = &lock};
static const struct plan plan = {.mode = MODE_WAIT, .lease_ns = LB_NEVER};
static struct found holders[CLIENTS];
static struct cell cells[1];
static struct client_stats clients[CLIENTS];
static struct worker_stats workers[2];
static struct shared shared;
static struct stage stage;

static void sum_of(const uint64_t *grants, const uint64_t *runs) {
    memset(holders, 0, sizeof holders);
    memset(cells, 0, sizeof cells);
    memset(clients, 0, sizeof clients);
    memset(workers, 0, sizeof workers);
    memset(&shared, 0, sizeof shared);
    memset(&stage, 0, sizeof stage);
    result_field_clear_all(run_stage_fields(), &stage.result);
    stage.window_ns = 2 * LB_S_NS;
    stage.client_cpu_ns = stage.server_cpu_ns = -1;
    stage.client_idle_ns_per_s = stage.server_idle_ns_per_s = -1;
    shared.plan = &plan;
    shared.lock = &entry;
    shared.clients = CLIENTS;
    shared.threads = 2;
    shared.processes = 1;
    shared.key_count = shared.cell_count = 1;
    shared.cells = cells;
    shared.client = clients;
    shared.worker = workers;
    shared.findings.holders = holders;
    uint64_t sum = 0;
    for (int i = 0; i < CLIENTS; i++) {
        clients[i].grants = grants[i];
        clients[i].longest_run = runs ? runs[i] : 0;
        clients[i].max_wait_ns = clients[i].connect_ns = -1;
        sum += grants[i];
    }
    atomic_store(&cells[0].grants, sum);
    atomic_store(&cells[0].counter, sum);
    atomic_store(&workers[1].attempts, sum);
    atomic_store(&workers[1].outcomes[LB_OK], sum);
    atomic_store(&workers[1].window_grants, sum);
    stage_sum(&stage, &shared);
    if (stage.err.code) fail_msg("%s", stage.err.text);
}

static void done(void) {
    json_decref(stage.result.kept);
    stage.result.kept = NULL;
    free(stage.grants_per_client);
    stage.grants_per_client = NULL;
}

static void assert_real(double value, double expected) {
    if (!(fabs(value - expected) < 1e-12)) fail_msg("%.15g is not %.15g", value, expected);
}

TEST(jain_is_the_square_of_the_sum_by_n_times_the_sum_of_the_squares) {
    assert_real(jain_index((const uint64_t[]){7, 1, 1, 1}, 4), 100.0 / 208);
    assert_real(jain_index((const uint64_t[]){5, 5, 5, 5}, 4), 1);
    assert_real(jain_index((const uint64_t[]){9, 0, 0, 0}, 4), 0.25);
    assert_real(jain_index((const uint64_t[]){3}, 1), 1);
    assert_real(jain_index((const uint64_t[]){0, 0}, 2), 0);
    /* the squares are more than 64 bits have room for */
    assert_real(jain_index((const uint64_t[]){7ull << 40, 1ull << 40, 1ull << 40, 1ull << 40}, 4),
                100.0 / 208);
}

TEST(the_figures_of_fairness) {
    sum_of((const uint64_t[]){7, 1, 2, 2}, (const uint64_t[]){3, 1, 5, 2});
    assert_real(stage.result.jain, 144.0 / (4 * 58));
    assert_real(stage.result.min_share, 1.0 * 4 / 12);
    assert_real(stage.result.longest_run, 5);
    assert_real(stage.result.grants, 12);
    assert_real(stage.result.throughput_per_s, 6);
    assert_int_equal(stage.grants_per_client[2], 2);
    assert_int_equal(json_integer_value(json_array_get(stage.result.grants_per_client, 0)), 7);
    done();
}

TEST(a_starved_client_and_a_fair_stage) {
    sum_of((const uint64_t[]){4, 0, 4, 4}, NULL);
    assert_real(stage.result.min_share, 0);
    assert_real(stage.result.jain, 0.75);
    done();
    sum_of((const uint64_t[]){4, 4, 4, 4}, NULL);
    assert_real(stage.result.min_share, 1);
    assert_real(stage.result.jain, 1);
    done();
}

TEST(without_grants_nothing_is_known) {
    sum_of((const uint64_t[]){0, 0, 0, 0}, NULL);
    assert_true(isnan(stage.result.jain) && isnan(stage.result.min_share));
    done();
}

/* Client 1 waited for 9 s, until the drain limit, at 20 s by the clock. How many starved? */
static uint64_t starved_of(bool blocks, int64_t thread_stood_s, int64_t from_s, int64_t until_s) {
    static struct lb_lock blocking;
    blocking = lock;
    blocking.caps |= blocks ? LB_CAP_BLOCKS_THREAD : 0;
    struct plan_lock of = {.lock = &blocking};
    sum_of((const uint64_t[]){4, 0, 4, 4}, NULL);
    done();
    result_field_clear_all(run_stage_fields(), &stage.result);
    shared.lock = &of;
    clients[1].cut_off_ns = 9 * LB_S_NS;
    clients[1].cut_off_at_ns = 20 * LB_S_NS;
    clients[1].cut_off_stood_ns = thread_stood_s * LB_S_NS;
    stage.stood_from_ns = from_s * LB_S_NS;
    stage.stood_until_ns = until_s * LB_S_NS;
    stage_sum(&stage, &shared);
    assert_real(stage.result.starved, 1);
    uint64_t starved = stage.exclusion.starved;
    done();
    return starved;
}

/* More than 5 s make the verdict, but not those for which lockbench itself stood still. */
TEST(who_waited_for_the_lock_and_who_for_lockbench) {
    assert_int_equal(starved_of(false, 0, 0, 0), 1);
    assert_int_equal(starved_of(false, 3, 0, 0), 1);
    assert_int_equal(starved_of(false, 5, 0, 0), 0);
    assert_int_equal(starved_of(false, 0, 12, 20), 1); /* its thread ran on */
    /* A thread that its lock blocks by design: only the supervisor knows. */
    assert_int_equal(starved_of(true, 0, 0, 0), 1);
    assert_int_equal(starved_of(true, 0, 14, 17), 1);
    assert_int_equal(starved_of(true, 0, 14, 19), 0);
    assert_int_equal(starved_of(true, 0, 17, 22), 1); /* 3 s of it */
    assert_int_equal(starved_of(true, 0, 3, 12), 1);  /* before most of it */
}

/* Requests to a program are no requests to the server. */
TEST(what_a_program_sends_is_not_known) {
    static const char *const some[] = {"redis", NULL};
    for (int speaks = 0; speaks < 2; speaks++) {
        const struct lb_backend remote = {
            .name = "made", .schemes = some, .topologies = some, .program_speaks = speaks};
        struct lb_lock of = lock;
        struct plan_lock named = {.lock = &of};
        of.backend = &remote;
        sum_of((const uint64_t[]){4, 4, 4, 4}, NULL);
        done();
        result_field_clear_all(run_stage_fields(), &stage.result);
        shared.lock = &named;
        for (int i = 0; i < CLIENTS; i++) {
            clients[i].commands = clients[i].wakeups = 8;
            clients[i].drained = true;
        }
        stage_sum(&stage, &shared);
        if (speaks) {
            assert_true(isnan(stage.result.commands_per_grant));
            assert_true(isnan(stage.result.wakeups_per_grant));
        } else {
            assert_real(stage.result.commands_per_grant, 2);
            assert_real(stage.result.wakeups_per_grant, 2);
        }
        done();
    }
}

/* One host's cells do not see the grants of the others between two of its own. */
TEST(runs_of_one_host_of_several) {
    sum_of((const uint64_t[]){1, 1, 1, 1}, (const uint64_t[]){1, 1, 1, 1});
    done();
    shared.split = true;
    result_field_clear_all(run_stage_fields(), &stage.result);
    stage_sum(&stage, &shared);
    assert_true(isnan(stage.result.longest_run));
    done();
}

/* Nothing was wrong on any host, and nobody looked between them. */
TEST(hosts_without_a_judged_record_are_unchecked) {
    static struct stage_history history;
    static struct oplog oplog;
    memset(&history, 0, sizeof history);
    sum_of((const uint64_t[]){1, 1, 1, 1}, (const uint64_t[]){1, 1, 1, 1});
    done();
    shared.split = true;
    shared.oplog = &oplog;
    stage.history = &history;
    err_set(&history.err, LB_EXIT_MACHINE, "the clocks moved");
    result_field_clear_all(run_stage_fields(), &stage.result);
    stage_sum(&stage, &shared);
    assert_string_equal(stage.result.verdict, "unchecked");
    assert_int_equal(stage.status, STAGE_FAILED);
    assert_non_null(strstr(stage.err.text, "is not known: the clocks moved"));
    done();
    /* A double holder on one host is one, whatever the record says. */
    stage.status = STAGE_COMPLETE;
    atomic_store(&shared.findings.double_holders, 1);
    result_field_clear_all(run_stage_fields(), &stage.result);
    stage_sum(&stage, &shared);
    assert_string_equal(stage.result.verdict, "violated");
    done();
    history.judged = true;
    stage.status = STAGE_COMPLETE;
    stage.err.code = 0;
    atomic_store(&shared.findings.double_holders, 0);
    result_field_clear_all(run_stage_fields(), &stage.result);
    stage_sum(&stage, &shared);
    assert_string_not_equal(stage.result.verdict, "unchecked");
    assert_int_equal(stage.status, STAGE_COMPLETE);
    done();
}

TEST_MAIN(NULL, NULL)
