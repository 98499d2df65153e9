/* The cells of a check: only those for which a driver states a verdict; each control in the
 * workload that exposes it; and the locks and faults that are left out, with the reason. */
#include "bench/base/home.h"
#include "bench/servers/topo.h"
#include "bench/tests/unit.h"
#include "bench/tools/check/matrix.h"
#include "bench/tools/check/result.h"
#include "drivers/registry.h"

static char workloads[512];

FIXTURE(find_workloads) {
    struct lb_err err = {0};
    return home_path("workloads", workloads, sizeof workloads, &err);
}

static struct matrix make(struct matrix_ask wanted) {
    struct matrix matrix;
    struct lb_err err = {0};
    wanted.folder = workloads;
    if (matrix_make(&wanted, &matrix, &err) != 0) fail_msg("%s", err.text);
    return matrix;
}

/* The cells of one lock, or group, in these scenarios. The next call frees those of the last one. */
static const struct matrix *cells_of(const char *lock, const char *faults,
                                     struct matrix_ask wanted) {
    static struct matrix matrix;
    matrix_done(&matrix);
    wanted.locks = &lock;
    wanted.lock_count = 1;
    wanted.faults = faults;
    matrix = make(wanted);
    return &matrix;
}

static void assert_refused(struct matrix_ask wanted, enum lb_exit code, const char *words) {
    struct matrix matrix;
    struct lb_err err = {0};
    wanted.folder = workloads;
    assert_int_equal(matrix_make(&wanted, &matrix, &err), -1);
    assert_int_equal(err.code, code);
    if (!strstr(err.text, words)) fail_msg("no '%s' in: %s", words, err.text);
    matrix_done(&matrix);
}

static const char *name_of(const struct matrix *matrix, int cell) {
    return matrix->cells[cell].column->name;
}

TEST(only_what_is_stated_is_run) {
    struct matrix matrix = make((struct matrix_ask){.full = true});
    int stated = 0, controls = 0, skipped = 0;
    assert_int_equal(matrix.column_count, LB_SCENARIOS + 1);
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        if ((lock->caps & LB_CAP_BASELINE) || lock->needs || lb_unavailable(lock->backend))
            continue;
        controls += (lock->caps & LB_CAP_CONTROL) != 0;
        for (int fault = 0; fault < LB_SCENARIOS; fault++)
            stated += lb_expected(lock, (enum lb_scenario)fault)->worst != LB_EXPECT_UNSTATED;
    }
    for (int i = 0; i < matrix.skip_count; i++) skipped += matrix.skips[i].scenario != NULL;
    assert_int_equal(matrix.cell_count + skipped, stated + controls);
    for (int i = 0; i < matrix.cell_count; i++) {
        const struct matrix_cell *cell = &matrix.cells[i];
        assert_int_not_equal(cell->expected.worst, LB_EXPECT_UNSTATED);
        assert_true(cell->weight >= 1);
        assert_true(cell->time_ns > 0);
        assert_false(cell->lock->caps & LB_CAP_BASELINE);
        if (i == 0 || matrix.cells[i - 1].lock != cell->lock) continue;
        assert_true(matrix.cells[i - 1].column < cell->column);
    }
    matrix_done(&matrix);
}

/* A lock whose driver states a verdict under a fault can run under that fault. */
TEST(every_stated_cell_can_run) {
    struct matrix matrix = make((struct matrix_ask){.full = true});
    for (int i = 0; i < matrix.skip_count; i++) {
        const struct matrix_skip *skip = &matrix.skips[i];
        if (skip->scenario) fail_msg("%s x %s: %s", skip->lock->name, skip->scenario, skip->reason);
    }
    matrix_done(&matrix);
}

TEST(the_short_tour_has_four_faults_and_the_controls) {
    static const char *const names[] = {"pause", "holder-kill", "server-restart", "wire-cut",
                                        CHECK_EXPOSED};
    struct matrix matrix = make((struct matrix_ask){0});
    assert_int_equal(matrix.column_count, 5);
    for (int i = 0; i < 5; i++) assert_string_equal(matrix.columns[i].name, names[i]);
    matrix_done(&matrix);
}

static bool has_set(const struct matrix_cell *cell, const char *set) {
    for (size_t i = 0; i < sizeof cell->sets / sizeof *cell->sets && cell->sets[i]; i++) {
        if (strcmp(cell->sets[i], set) == 0) return true;
    }
    return false;
}

/* A reader/writer lock that is only asked for its exclusive mode would pass as a mutex. */
TEST(a_shared_mode_is_put_to_the_test) {
    const char *const locks[] = {"mem-rwlock", "mem-robust"};
    struct matrix matrix = make(
        (struct matrix_ask){.locks = locks, .lock_count = 2, .faults = "none,pause,holder-kill"});
    int with = 0;
    for (int i = 0; i < matrix.cell_count; i++) {
        bool wanted = matrix.cells[i].lock->primitive == LB_RWLOCK &&
                      strcmp(name_of(&matrix, i), "holder-kill") != 0;
        assert_int_equal(has_set(&matrix.cells[i], "acquire.readers=50"), wanted);
        with += wanted;
    }
    assert_int_equal(with, 2);
    matrix_done(&matrix);
}

/* Known answers of drivers' tables. */
TEST(each_control_is_run_where_it_must_show) {
    static const struct {
        const char *lock, *workload;
        enum lb_expect expected;
    } cases[] = {{"unsafe-none", "check/none", LB_EXPECT_VIOLATED},
                 {"unsafe-redis-setnx-expire", "crash", LB_EXPECT_STUCK},
                 {"unsafe-redis-del", "late", LB_EXPECT_VIOLATED},
                 {"unsafe-redlock-no-validity", "slow-quorum", LB_EXPECT_VIOLATED},
                 {"unsafe-redisson-unlock-old", "overstay", LB_EXPECT_VIOLATED},
                 {"unsafe-redis-ttl-short", "short-lease", LB_EXPECT_EXPIRED}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct lb_lock *lock = registry_lock(cases[i].lock);
        if (lb_unavailable(lock->backend)) continue;
        const struct matrix *matrix =
            cells_of(cases[i].lock, CHECK_EXPOSED, (struct matrix_ask){0});
        assert_int_equal(matrix->cell_count, 1);
        assert_string_equal(matrix->cells[0].workload, cases[i].workload);
        assert_int_equal(matrix->cells[0].expected.worst, cases[i].expected);
    }
    int controls = 0;
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        controls += (lock->caps & LB_CAP_CONTROL) && !lb_unavailable(lock->backend);
    }
    assert_int_equal(cells_of("controls", CHECK_EXPOSED, (struct matrix_ask){0})->cell_count,
                     controls);
}

/* As the topology's own script states it. */
static int stated_weight(void *scripts, const char *topology) {
    struct topo_info info;
    struct lb_err err = {0};
    if (topo_info(scripts, topology, &info, &err) != 0) fail_msg("%s", err.text);
    return info.weight;
}

TEST(servers_that_a_fault_needs_are_chosen) {
    static const struct {
        const char *lock, *fault, *topology;
        int weight;
    } cases[] = {{"etcd-mutex", "leader-kill", "etcd-3", 2},
                 {"zk-lock", "leader-kill", "zookeeper-3", 4},
                 {"nats-kv", "leader-kill", "nats-3", 1},
                 {"nats-kv", "pause", "nats", 1},
                 {"zk-lock", "pause", "zookeeper", 2},
                 {"redis-setnx", "primary-lost", "redis-replicas", 1},
                 {"redis-setnx", "pause", "redis", 1},
                 {"redis-redlock", "node-empty", "redis-independents", 1}};
    struct lb_err err = {0};
    char scripts[512];
    assert_int_equal(home_path("compose/local", scripts, sizeof scripts, &err), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (lb_unavailable(registry_lock(cases[i].lock)->backend)) continue;
        const struct matrix *matrix =
            cells_of(cases[i].lock, cases[i].fault,
                     (struct matrix_ask){.weigh = stated_weight, .why_not_context = scripts});
        assert_int_equal(matrix->cell_count, 1);
        assert_string_equal(matrix->cells[0].topology, cases[i].topology);
        assert_int_equal(matrix->cells[0].weight, cases[i].weight);
    }
}

/* A driver's statement may name settings without which the scenario would not test the lock; the command line's win. */
TEST(what_a_scenario_needs_for_a_lock_is_set) {
    const char *const sets[] = {"load.hold=1s"};
    if (lb_unavailable(registry_lock("pg-lease")->backend)) return;
    const struct matrix *matrix = cells_of("pg-lease", "primary-lost,holder-kill",
                                           (struct matrix_ask){.sets = sets, .set_count = 1});
    assert_int_equal(matrix->cell_count, 2);
    for (int i = 0; i < 2; i++) {
        bool needs = strcmp(name_of(matrix, i), "primary-lost") == 0;
        assert_int_equal(has_set(&matrix->cells[i], "load.hold=8s"), needs);
        assert_int_equal(has_set(&matrix->cells[i], "acquire.lease=10s"), needs);
    }
}

/* A lock that can't wait is tried again and again. Of a row that is only read and written, which has no holder, the fault
 * hits any client. */
TEST(scenarios_fit_what_a_lock_can) {
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        bool tries = !(lock->caps & (LB_CAP_WAIT | LB_CAP_BASELINE)) &&
                     lb_expected(lock, LB_SCENARIO_PAUSE)->worst != LB_EXPECT_UNSTATED;
        bool has_no_holder = strcmp(lock->name, "sqlite-optimistic") == 0;
        if (lb_unavailable(lock->backend) || (!tries && !has_no_holder)) continue;
        const struct matrix *matrix = cells_of(lock->name, "pause", (struct matrix_ask){0});
        assert_int_equal(matrix->cell_count, 1);
        assert_string_equal(matrix->cells[0].sets[0],
                            has_no_holder ? "fault.target=any" : "acquire.mode=try");
    }
}

static const char *nothing_here(void *context, const struct lb_lock *lock, const char *topology,
                                const struct plan *plan, const char **ret_install) {
    (void)context;
    (void)plan;
    *ret_install = topology ? "toyd" : NULL;
    return lock->backend->topologies ? "toyd not found" : NULL;
}

static void need_redis(void) {
    need(!lb_unavailable(registry_backend("redis")), "the redis backend", "libhiredis-dev");
}

TEST(what_this_machine_lacks_is_said) {
    static const char *const group[] = {"redis", "mem-robust"}, *const named[] = {"redis-setnx"};
    need_redis();
    struct matrix matrix = make((struct matrix_ask){
        .locks = group, .lock_count = 2, .faults = "pause", .why_not = nothing_here});
    assert_int_equal(matrix.cell_count, 1);
    assert_string_equal(matrix.cells[0].lock->name, "mem-robust");
    assert_true(matrix.skip_count > 10);
    assert_string_equal(matrix.skips[0].reason, "toyd not found");
    assert_string_equal(matrix.skips[0].install, "toyd");
    assert_true(matrix.skips[0].unavailable);
    matrix_done(&matrix);
    assert_refused(
        (struct matrix_ask){
            .locks = named, .lock_count = 1, .faults = "pause", .why_not = nothing_here},
        LB_EXIT_MACHINE, "install: toyd");
}

static const char *one_server_only(void *context, const struct lb_lock *lock, const char *topology,
                                   const struct plan *plan, const char **ret_install) {
    (void)context, (void)lock, (void)plan;
    *ret_install = "more";
    return strcmp(topology, "redis") == 0 ? NULL : "replicas not found";
}

/* One column's servers are missing: the others are run. */
TEST(who_was_named_runs_where_it_can) {
    static const char *const named[] = {"redis-setnx"};
    need_redis();
    const struct matrix *matrix = cells_of("redis-setnx", "pause,primary-lost",
                                           (struct matrix_ask){.why_not = one_server_only});
    assert_int_equal(matrix->cell_count, 1);
    assert_string_equal(name_of(matrix, 0), "pause");
    assert_int_equal(matrix->skip_count, 1);
    assert_true(matrix->skips[0].unavailable);
    assert_string_equal(matrix->skips[0].scenario, "primary-lost");
    assert_string_equal(matrix->skips[0].reason, "replicas not found");
    assert_refused(
        (struct matrix_ask){
            .locks = named, .lock_count = 1, .faults = "primary-lost", .why_not = one_server_only},
        LB_EXIT_MACHINE, "redis-setnx can't run: replicas not found; install: more");
}

/* ---- what a finished check counts ---- */

static const struct lb_backend backend = {.name = "memory"};
static const struct lb_lock control = {
    .name = "unsafe-x", .backend = &backend, .caps = LB_CAP_CONTROL};

/* A control is broken on purpose: its verdict under a fault is shown, but does not count. */
TEST(a_control_under_a_fault_does_not) {
    static struct matrix_column column = {.name = "pause", .scenario = LB_SCENARIO_PAUSE};
    struct matrix_cell cell = {
        .lock = &control, .column = &column, .expected = {.worst = LB_EXPECT_SAFE}};
    struct matrix matrix = {.columns = &column, .column_count = 1, .cells = &cell, .cell_count = 1};
    struct cell_result shown = {.kept = json_array(), .cell = {.verdict = CHECK_VIOLATED}};
    struct lb_err err = {0};
    struct result result;
    char folder[] = "/tmp/lockbench-result-XXXXXX", file[64];
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/check.json", folder);
    struct result_ask ask = {.matrix = &matrix,
                             .folder = folder,
                             .version = "1",
                             .command = "lockbench check",
                             .tour = "short"};
    assert_int_equal(result_init(&result, &ask, &err), 0);
    assert_int_equal(result_add(&result, 0, 1, "cells/x", &shown, &err), 0);
    assert_int_equal(result_sum(&result).worse, 0);
    assert_int_equal(result_sum(&result).missed, 0);
    cell_result_free(&shown);
    result_done(&result);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(rmdir(folder), 0);
}

TEST_MAIN(find_workloads, NULL)
