/* matrix: see matrix.h. */
#include "bench/tools/check/matrix.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/clock.h"
#include "bench/base/nearest.h"
#include "bench/workload/plan.h"
#include "bench/workload/stages.h"
#include "drivers/registry.h"

#define SETS_MAX 160
/* the planned time of the conformance suite; most locks take one minute */
#define SUITE_NS (300 * LB_S_NS)

/* The short tour: the scenarios that a check runs if no others are named and without --full. */
static const enum lb_scenario short_tour[] = {LB_SCENARIO_PAUSE, LB_SCENARIO_HOLDER_KILL,
                                              LB_SCENARIO_SERVER_RESTART, LB_SCENARIO_WIRE_CUT};

/* The scenarios on servers of the user besides the conformance suite: faults of clients and of
 * their connections. */
static const enum lb_scenario deployed_tour[] = {LB_SCENARIO_NONE,         LB_SCENARIO_PAUSE,
                                                 LB_SCENARIO_HOLDER_KILL,  LB_SCENARIO_WAITER_KILL,
                                                 LB_SCENARIO_STARVED,      LB_SCENARIO_WIRE_DELAY,
                                                 LB_SCENARIO_WIRE_CUT,     LB_SCENARIO_WIRE_RESET,
                                                 LB_SCENARIO_WIRE_ONE_WAY, LB_SCENARIO_LOST_REPLY};

/* The scenarios in which half of the attempts on a lock with a shared mode ask as readers. In the other scenarios all
 * ask as writers, because the figures there, such as the time until the next grant, are those of writers. */
static const enum lb_scenario with_readers[] = {LB_SCENARIO_NONE, LB_SCENARIO_PAUSE,
                                                LB_SCENARIO_STARVED, LB_SCENARIO_WIRE_DELAY};

static bool is_one_of(enum lb_scenario scenario, const enum lb_scenario *of, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (of[i] == scenario) return true;
    }
    return false;
}

/* ---- columns ---- */

static void add_column(struct matrix *matrix, enum lb_scenario scenario) {
    for (int i = 0; i < matrix->column_count; i++) {
        if (matrix->columns[i].scenario == scenario && !matrix->columns[i].suite) return;
    }
    bool exposed = scenario == LB_SCENARIOS;
    matrix->columns[matrix->column_count++] = (struct matrix_column){
        exposed ? CHECK_EXPOSED : lb_scenario_name(scenario),
        exposed ? "a lock broken on purpose, in the workload that is meant to show it"
                : lb_scenario_summary(scenario),
        scenario, false};
}

static void add_suite_column(struct matrix *matrix) {
    for (int i = 0; i < matrix->column_count; i++) {
        if (matrix->columns[i].suite) return;
    }
    matrix->columns[matrix->column_count++] = (struct matrix_column){
        CHECK_CONFORMANCE, "the checks that every lock must pass", LB_SCENARIO_NONE, .suite = true};
}

static int add_named(struct matrix *matrix, const char *name, struct lb_err *err) {
    enum lb_scenario scenario = lb_scenario_from(name);
    if (strcmp(name, CHECK_CONFORMANCE) == 0) {
        add_suite_column(matrix);
        return 0;
    }
    if (scenario < LB_SCENARIOS || strcmp(name, CHECK_EXPOSED) == 0) {
        add_column(matrix, scenario);
        return 0;
    }
    struct nearest nearest;
    char hint[100];
    nearest_init(&nearest, name);
    for (int i = 0; i < LB_SCENARIOS; i++)
        nearest_offer(&nearest, lb_scenario_name((enum lb_scenario)i));
    nearest_offer(&nearest, CHECK_EXPOSED);
    nearest_offer(&nearest, CHECK_CONFORMANCE);
    return err_set(err, LB_EXIT_USAGE, "no fault '%.60s'%s ('lockbench check --help' shows all)",
                   name, nearest_hint(&nearest, hint, sizeof hint));
}

static int make_columns(struct matrix *matrix, const struct matrix_ask *ask, struct lb_err *err) {
    matrix->columns = calloc(LB_SCENARIOS + 2, sizeof *matrix->columns);
    if (!matrix->columns) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    for (const char *at = ask->faults; at;) {
        char name[80];
        size_t len = strcspn(at, ",");
        while (len > 0 && *at == ' ') at++, len--;
        snprintf(name, sizeof name, "%.*s", (int)len, at);
        if (add_named(matrix, name, err)) return -1;
        at = at[len] ? at + len + 1 : NULL;
    }
    if (ask->faults) return 0;
    const enum lb_scenario *tour = ask->deployed ? deployed_tour : short_tour;
    size_t count = ask->deployed ? sizeof deployed_tour / sizeof *deployed_tour
                                 : sizeof short_tour / sizeof *short_tour;
    if (ask->deployed) add_suite_column(matrix);
    for (int i = 0; i < LB_SCENARIOS; i++) {
        if (ask->full || is_one_of((enum lb_scenario)i, tour, count))
            add_column(matrix, (enum lb_scenario)i);
    }
    if (!ask->deployed) add_column(matrix, LB_SCENARIOS);
    return 0;
}

/* ---- locks ---- */

static bool is_asked(const struct matrix_ask *ask, const struct lb_lock *lock) {
    if (lock->caps & LB_CAP_BASELINE) return false; /* the baseline is no lock */
    for (int i = 0; i < ask->lock_count; i++) {
        if (lock_word_means(ask->locks[i], lock)) return true;
    }
    return ask->lock_count == 0 && !lock->needs;
}

/* True if the lock was named itself, and not as one of a group or with a "?". */
static bool is_named(const struct matrix_ask *ask, const struct lb_lock *lock) {
    for (int i = 0; i < ask->lock_count; i++) {
        if (strcmp(ask->locks[i], lock->name) == 0) return true;
    }
    return false;
}

/* ---- cells ---- */

__attribute__((format(printf, 4, 5))) static struct matrix_skip *skip(struct matrix *matrix,
                                                                      const struct lb_lock *lock,
                                                                      const char *scenario,
                                                                      const char *format, ...) {
    struct matrix_skip *entry = &matrix->skips[matrix->skip_count++];
    *entry = (struct matrix_skip){.lock = lock, .scenario = scenario};
    va_list args;
    va_start(args, format);
    vsnprintf(entry->reason, sizeof entry->reason, format, args);
    va_end(args);
    return entry;
}

/* The same for something that this machine lacks. install may be NULL. */
static void skip_missing(struct matrix *matrix, const struct lb_lock *lock, const char *scenario,
                         const char *install, const char *reason) {
    struct matrix_skip *entry = skip(matrix, lock, scenario, "%s", reason);
    entry->unavailable = true;
    entry->install = install;
}

/* The settings for a lock that can go through the scenario's fault but can't do what the scenario's
 * plan asks, or can do more; and those that its driver states. Fills sets; the command line's come last, since the last
 * one wins. Returns their count. */
static int adapt(struct matrix_cell *cell, const struct plan *plan, const struct matrix_ask *ask,
                 const char **sets) {
    const struct lb_lock *lock = cell->lock;
    int count = 0;
    if (!(lock->caps & LB_CAP_WAIT)) {
        cell->sets[count++] = "acquire.mode=try";
        cell->sets[count++] = "load.think=10ms"; /* the pause between two tries */
    }
    if (plan->renew && (lock->caps & LB_CAP_LEASE) && !(lock->caps & LB_CAP_RENEW)) {
        cell->sets[count++] = "acquire.renew=no";
        /* The hold must end before the lease does if the lock can't renew. */
        if (plan->hold.mean_ns >= plan->leases_ns[0]) cell->sets[count++] = "load.hold=1500ms";
    }
    if ((lock->caps & LB_CAP_SHARED) &&
        is_one_of(cell->column->scenario, with_readers, sizeof with_readers / sizeof *with_readers))
        cell->sets[count++] = "acquire.readers=50";
    /* Such locks have no holder. */
    bool holds = lock->primitive != LB_OPTIMISTIC;
    if (!holds && plan->faults[0].kind != INJECT_NONE && plan->faults[0].target == TARGET_HOLDER)
        cell->sets[count++] = "fault.target=any";
    for (int i = 0; i < LB_EXPECT_SETS && cell->expected.sets[i]; i++)
        cell->sets[count++] = cell->expected.sets[i];
    for (int i = 0; i < count; i++) sets[i] = cell->sets[i];
    for (int i = 0; i < ask->set_count; i++) sets[count++] = ask->sets[i];
    return count;
}

/* True if the plan names topologies and the lock can run on none of them. */
static bool lacks_topology(const struct plan *plan, const struct lb_lock *lock) {
    const char *first = topologies_of(plan, lock, 0);
    if (plan->topology_count == 0) return false;
    for (int i = 0; first && i < plan->topology_count; i++) {
        if (strcmp(plan->topologies[i], first) == 0) return false;
    }
    return true;
}

/* Why the cell's lock can't run by this plan on this machine, or NULL. */
static const char *why_no_cell(const struct matrix_ask *ask, const struct plan *plan,
                               const struct lb_lock *lock, const char **ret_install) {
    const char *reason = NULL;
    for (int i = 0; ask->why_not && !reason; i++) {
        const char *topology = topologies_of(plan, lock, i);
        if (!topology && i > 0) break;
        reason = ask->why_not(ask->why_not_context, lock, topology, plan, ret_install);
    }
    return reason;
}

/* A baseline can do everything that a plan may ask, so an error with it is an error of the workload or of the command
 * line. NULL with err. */
static struct plan *load_base(const struct matrix_ask *ask, const char *workload,
                              struct lb_err *err) {
    return plan_load(&(struct plan_ask){.workload = workload,
                                        .folder = ask->folder,
                                        .locks = "null",
                                        .sets = ask->sets,
                                        .set_count = ask->set_count},
                     err);
}

/* Adds the cell, or why it is left out. 0, or -1 with err. */
static int add_matrix_cell(struct matrix *matrix, struct matrix_cell *cell,
                           const struct matrix_ask *ask, struct lb_err *err) {
    const char *sets[SETS_MAX], *install = NULL, *scenario = cell->column->name;
    int64_t time_ns;
    struct lb_err unfit = {0};
    struct plan *base = load_base(ask, cell->workload, err);
    if (!base) return -1;
    struct plan_ask plan_ask = {.workload = cell->workload,
                                .folder = ask->folder,
                                .locks = cell->lock->name,
                                .sets = sets,
                                .set_count = adapt(cell, base, ask, sets)};
    plan_free(base);
    struct plan *plan = plan_load(&plan_ask, &unfit);
    if (!plan) {
        skip(matrix, cell->lock, scenario, "%s", unfit.text);
        return 0;
    }
    const char *reason = why_no_cell(ask, plan, cell->lock, &install);
    char text[SKIP_REASON_MAX];
    const char *far = NULL;
    if (ask->out_of_reach)
        far = ask->out_of_reach(ask->why_not_context, plan, cell->lock, text, sizeof text);
    if (far) {
        skip(matrix, cell->lock, scenario, "%s", far)->out_of_reach = true;
    } else if (lacks_topology(plan, cell->lock)) {
        skip(matrix, cell->lock, scenario, "it can't run on the servers that this takes");
    } else if (reason) {
        skip_missing(matrix, cell->lock, scenario, install, reason);
    } else {
        cell->topology = topologies_of(plan, cell->lock, 0);
        cell->weight =
            cell->topology && ask->weigh ? ask->weigh(ask->why_not_context, cell->topology) : 1;
        int stages = plan_stages(plan, &time_ns);
        cell->time_ns = plan->drain_ns * stages + time_ns;
        matrix->cells[matrix->cell_count++] = *cell;
    }
    plan_free(plan);
    return 0;
}

/* The verdict that a control must get in its own workload, as a cell's expectation. */
static struct lb_expectation must_show(const struct lb_about *about) {
    static const enum lb_expect expects[] = {[LB_EXPOSED_VIOLATED] = LB_EXPECT_VIOLATED,
                                             [LB_EXPOSED_EXPIRED] = LB_EXPECT_EXPIRED,
                                             [LB_EXPOSED_STUCK] = LB_EXPECT_STUCK};
    return (struct lb_expectation){.worst = expects[about->exposed_as], .why = about->mistake};
}

/* Fills in the driver's statements about a cell. False if there are none: the cell is not run. */
static bool describe_cell(struct matrix_cell *cell) {
    const struct matrix_column *column = cell->column;
    const struct lb_about *about = &cell->lock->about;
    if (column->scenario == LB_SCENARIOS) {
        if (!(cell->lock->caps & LB_CAP_CONTROL)) return false;
        snprintf(cell->workload, sizeof cell->workload, "%s",
                 about->exposed_by ? about->exposed_by : "check/none");
        cell->expected = must_show(about);
        return true;
    }
    cell->expected = *lb_expected(cell->lock, column->scenario);
    snprintf(cell->workload, sizeof cell->workload, "check/%s", column->name);
    return cell->expected.worst != LB_EXPECT_UNSTATED;
}

/* Adds the cell of the conformance suite, which has no workload: a plan is made only to find wrong settings. Controls
 * get no such cell, since they would fail it. 0, or -1 with err. */
static int add_suite(struct matrix *matrix, struct matrix_cell *cell, const struct matrix_ask *ask,
                     struct lb_err *err) {
    if (cell->lock->caps & LB_CAP_CONTROL) return 0;
    struct plan *plan = load_base(ask, "check/none", err);
    if (!plan) return -1;
    plan_free(plan);
    cell->expected =
        (struct lb_expectation){.worst = LB_EXPECT_SAFE, .why = "a lock passes them all"};
    cell->weight = 1;
    cell->time_ns = SUITE_NS;
    snprintf(cell->workload, sizeof cell->workload, "%s", CHECK_CONFORMANCE);
    matrix->cells[matrix->cell_count++] = *cell;
    return 0;
}

/* True if the lock can do nothing without an option that no setting has. */
static bool lacks_option(const struct matrix_ask *ask, const struct lb_lock *lock) {
    size_t len = lock->needs ? strlen(lock->needs) : 0;
    for (int i = 0; i < ask->set_count; i++) {
        if (len && strncmp(ask->sets[i], lock->needs, len) == 0 && ask->sets[i][len] == '=')
            return false;
    }
    return len > 0;
}

/* A lock that was named must run somewhere. A scenario whose servers are missing is only
 * reported. */
static int add_lock_cells(struct matrix *matrix, const struct lb_lock *lock,
                          const struct matrix_ask *ask, struct lb_err *err) {
    int cells = matrix->cell_count, skips = matrix->skip_count;
    if (lb_unavailable(lock->backend) && is_named(ask, lock)) {
        return err_set(err, LB_EXIT_MACHINE, "%s can't run: %s; install: %s", lock->name,
                       lb_unavailable(lock->backend), lock->backend->install);
    }
    if (lb_unavailable(lock->backend)) {
        skip_missing(matrix, lock, NULL, lock->backend->install, lb_unavailable(lock->backend));
        return 0;
    }
    if (lacks_option(ask, lock) && is_named(ask, lock))
        return err_set(err, LB_EXIT_USAGE, "%s can't run without %s: --set %s=VALUE", lock->name,
                       lock->needs, lock->needs);
    if (lacks_option(ask, lock)) {
        skip(matrix, lock, NULL, "it can't run without %s", lock->needs);
        return 0;
    }
    for (int i = 0; i < matrix->column_count; i++) {
        struct matrix_cell cell = {.lock = lock, .column = &matrix->columns[i]};
        int failed = cell.column->suite     ? add_suite(matrix, &cell, ask, err)
                     : describe_cell(&cell) ? add_matrix_cell(matrix, &cell, ask, err)
                                            : 0;
        if (failed) return -1;
    }
    if (!is_named(ask, lock) || matrix->cell_count > cells) return 0;
    for (int i = skips; i < matrix->skip_count; i++) {
        const struct matrix_skip *skip = &matrix->skips[i];
        if (!skip->unavailable) continue;
        return err_set(err, LB_EXIT_MACHINE, "%s can't run: %s%s%s", lock->name, skip->reason,
                       skip->install ? "; install: " : "", skip->install ? skip->install : "");
    }
    return 0;
}

int matrix_make(const struct matrix_ask *ask, struct matrix *ret_matrix, struct lb_err *err) {
    struct matrix *matrix = ret_matrix;
    int locks = 0;
    *matrix = (struct matrix){0};
    for (int i = 0; i < ask->lock_count; i++) {
        if (lock_word_check(ask->locks[i], err)) return -1;
    }
    if (make_columns(matrix, ask, err)) return -1;
    while (registry_locks()[locks]) locks++;
    size_t room = (size_t)locks * (size_t)matrix->column_count + (size_t)locks;
    matrix->cells = calloc(room, sizeof *matrix->cells);
    matrix->skips = calloc(room, sizeof *matrix->skips);
    if (!matrix->cells || !matrix->skips) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    for (int i = 0; i < locks; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        if (is_asked(ask, lock) && add_lock_cells(matrix, lock, ask, err)) return -1;
    }
    if (matrix->cell_count > 0) return 0;
    const struct matrix_skip *first = &matrix->skips[0];
    if (matrix->skip_count > 0 && first->lock) {
        return err_set(err, LB_EXIT_MACHINE, "no cell can run here; the first, %s%s%s: %s",
                       first->lock->name, first->scenario ? " x " : "",
                       first->scenario ? first->scenario : "", first->reason);
    }
    return err_set(
        err, LB_EXIT_USAGE,
        "no driver states what these locks do under these faults: there is nothing to compare");
}

void matrix_done(struct matrix *matrix) {
    free(matrix->columns);
    free(matrix->cells);
    free(matrix->skips);
    *matrix = (struct matrix){0};
}
