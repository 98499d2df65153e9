/* check_read: see check_read.h. Each cell must name a lock and a fault of the file's own lists. */
#include "results/format/check_read.h"

#include <stdlib.h>
#include <string.h>

#include "bench/base/verdict.h"
#include "results/format/tree.h"

#define LOCKS_MAX 2000
#define FAULTS_MAX 1000
#define CELLS_MAX 100000
#define SKIPS_MAX 100000
#define FAULTS_LOGGED_MAX 100000 /* elements of a cell's log of faults */
#define HOLDS_MAX 10000

static const char *const comparisons[] = {"as expected", "worse", "better"};

const char *check_compared_name(enum check_compared compared) {
    return compared == CHECK_NOT_COMPARED ? NULL : comparisons[compared];
}

static const struct result_field lock_fields[] = {
    ROW(check_lock, TEXT, name, "name", .help = "name of the lock"),
    ROW(check_lock, TEXT, guarantee, "guarantee", .words = GUARANTEE_WORDS,
        .help = "where the truth about the lock lives"),
    ROW(check_lock, FLAG, control, "control", .help = "it is broken on purpose"),
    {.path = NULL},
};

static const struct result_field fault_fields[] = {
    ROW(check_fault, TEXT, name, "name", .help = "name of the column"),
    ROW(check_fault, TEXT, summary, "summary", .help = "what happens"),
    {.path = NULL},
};

static const struct result_field skip_fields[] = {
    ROW(check_skip, TEXT, lock, "lock", .help = "the lock that was left out"),
    ROW(check_skip, TEXT, backend, "backend", .help = "its backend"),
    ROW(check_skip, TEXT, fault, "fault", .help = "under which fault; null = under all of them"),
    ROW(check_skip, TEXT, reason, "reason", .help = "why it was left out"),
    ROW(check_skip, TEXT, install, "install", .help = "the package that is missing"),
    {.path = NULL},
};

#define CELL(kind, member, path, ...) ROW(check_cell, kind, member, path, __VA_ARGS__)

static const struct result_field cell_fields[] = {
    CELL(TEXT, lock_name, "lock", .help = "name of the row"),
    CELL(TEXT, fault_name, "fault", .help = "name of the column"),
    CELL(
        TEXT, verdict_word, "verdict", .words = CHECK_VERDICT_WORDS,
        .help = "the worst verdict of its seeds",
        .more =
            "safe: nothing seen. expired: a holder outlived its lease or session. stuck: no "
            "client got the key for longer than theory allows, or nothing was granted any more "
            "although the servers had been back, or gone for good, for 3 s. violated: two "
            "holders inside their leases, or state lost. inconclusive: a part of the scenario "
            "did not act, or a server came back too late to show anything, or nothing was "
            "granted before or after it, or no fault put the lock to the test, or, in the column without a fault, no client ever waited for another. failed: the run failed."),
    CELL(TEXT, expected, "expected",
         .help = "the worst verdict that its driver allows, or unstated"),
    CELL(TEXT, compared_word, "compared", .words = "as expected, worse, better",
         .help = "the verdict against the expected one; null when there is nothing to compare"),
    CELL(TEXT, why, "why", .help = "the reason of the verdict"),
    CELL(TEXT, expected_why, "expected_why", .help = "the reason of the expected verdict"),
    CELL(FLAG, missed, "missed",
         .help = "a control that was not exposed by the workload which is made for it: the "
                 "checks can't be trusted"),
    CELL(COUNT, failed_runs, "failed_runs", .sums = true,
         .help =
             "the number of runs that failed or showed nothing; without those whose faults tested "
             "nothing, if others tested the lock"),
    CELL(TEXT, workload, "workload", .help = "workload that ran"),
    CELL(TEXT, topology, "topology", .help = "servers that it ran on"),
    CELL(TEXT, durability, "durability", .help = "how they keep their data, in words"),
    CELL(TEXT, durability_note, "durability_note", .help = "as durability_note of a stage"),
    CELL(TEXT, server, "server", .help = "the server with its version"),
    CELL(COUNT, clients, "clients", .help = "clients that shared the lock"),
    CELL(COUNT, grants, "grants", .sums = true, .help = "grants of all seeds"),
    CELL(COUNT, tested, "tested", .sums = true,
         .help = "of these grants, those during which another client waited for the key; as "
                 "exclusion.tested of a stage"),
    CELL(COUNT, faults_hit, "faults_hit", .sums = true,
         .help = "faults that put the lock to the test: `tested` of a fault is not 0, or it hit a "
                 "waiter; null in the column without a fault"),
    CELL(
        COUNT, faults_untested, "faults_untested", .sums = true,
        .help =
            "the other faults that acted: no trials of the lock; null in the column without a fault"),
    CELL(
        REAL, bound95, "bound95",
        .help = "if safe: with 95 % confidence the lock fails in a smaller share of such faults",
        .more =
            "1 - 0.05^(1/faults_hit); in the column without a fault 3/tested, a share of those "
            "grants; 3/grants where tested is null. Null where exclusion was hardly tested: `why` tells."),
    CELL(COUNT, overlaps, "overlaps", .sums = true,
         .help = "double and expired holders, and contradictions"),
    CELL(COUNT, detected, "detected", .sums = true,
         .help = "losses that the holder learned of before it wrote"),
    CELL(COUNT, lost_updates, "lost_updates", .sums = true, .help = "updates that are missing"),
    CELL(COUNT, stale_attempted, "stale_attempted", .sums = true,
         .help = "as store.stale_attempted of a stage"),
    CELL(COUNT, stale_accepted_unfenced, "stale_accepted_unfenced", .sums = true,
         .help = "as store.stale_accepted_unfenced of a stage"),
    CELL(COUNT, stale_rejected_fenced, "stale_rejected_fenced", .sums = true,
         .help = "as store.stale_rejected_fenced of a stage; null without tokens"),
    CELL(COUNT, stale_accepted_fenced, "stale_accepted_fenced", .sums = true,
         .help = "as store.stale_accepted_fenced of a stage; null without tokens"),
    CELL(YES_NO, recovered, "recovered",
         .help = "false: no client got a key any more; null: there was nothing to recover from"),
    NO_MEMBER(OPTIONAL, "recovery_ns", .help = "as recovery of a stage, all trials together"),
    CELL(COUNT, recovery_count, "recovery_ns.count", .help = "trials"),
    CELL(NS, recovery_min, "recovery_ns.min", .help = "the shortest"),
    CELL(NS, recovery_p50, "recovery_ns.p50", .help = "the median"),
    CELL(NS, recovery_max, "recovery_ns.max", .help = "the longest"),
    CELL(NS, theory_max, "recovery_ns.theory_max", .help = "the longest that theory allows"),
    CELL(NUMBERS, trials, "recovery_ns.trials", .help = "all trials, sorted"),
    CELL(COUNT, grants_lost, "grants_lost", .sums = true,
         .help = "as recovery.grants_lost of a stage"),
    CELL(COUNT, lost_wakeups, "lost_wakeups", .sums = true,
         .help = "as recovery.lost_wakeups of a stage"),
    NO_MEMBER(OPTIONAL, "residue", .help = "as residue of a stage"),
    CELL(COUNT, residue, "residue.count", .sums = true,
         .help = "keys, rows or nodes that were left"),
    CELL(COUNT, seed, "seed", .help = "the seed of the run with the worst verdict"),
    CELL(TEXT, command, "command", .help = "the command that repeats it"),
    CELL(TEXT, run, "run", .help = "its folder"),
    CELL(NUMBERS, seeds, "seeds", .help = "all seeds"),
    CELL(OBJECTS, faults, "faults", .most = FAULTS_LOGGED_MAX,
         .help = "as faults of a stage, of that run"),
    CELL(OBJECTS, counterexample, "counterexample", .most = HOLDS_MAX,
         .help = "as history.counterexample of a stage, of that run"),
    {.path = NULL},
};

static const struct result_field check_fields[] = {
    RESULT_HEAD_ROWS(check),
    ROW(check, TEXT, tour, "tour", .words = "short full chosen",
        .help = "which faults were tried; chosen: those of --fault"),
    ROW(check, COUNT, planned, "planned",
        .help = "the number of cells that were to be run: more than `cells` has if it is partial"),
    ROW(check, FREE, environment, "environment", .help = "as in run.json"),
    ROW(check, NUMBERS, seeds, "seeds", .help = "the seeds that were asked for"),
    LIST_ROW(check, faults, fault_count, "faults", .items = fault_fields, .most = FAULTS_MAX,
             .help = "the columns; `exposed` is not a fault but the workload that is made to "
                     "expose a control"),
    LIST_ROW(check, locks, lock_count, "locks", .items = lock_fields, .most = LOCKS_MAX,
             .help = "the rows"),
    LIST_ROW(check, skips, skip_count, "skipped", .items = skip_fields, .most = SKIPS_MAX,
             .help = "the cells that were left out, and what would bring them in"),
    LIST_ROW(check, cells, cell_count, "cells", .items = cell_fields, .most = CELLS_MAX,
             .help = "one for each lock and fault that was run, all seeds together: the worst "
                     "verdict with its evidence, sums of counts, all trials of recovery"),
    {.path = NULL},
};

const struct result_field *check_cell_fields(void) {
    return cell_fields;
}

static int read_verdict(struct tree_place *place, struct check_cell *cell) {
    int compared = 0;
    cell->verdict = check_verdict_from(cell->verdict_word);
    if (cell->verdict == CHECK_VERDICTS) return tree_bad_word(place, "verdict", cell->verdict_word);
    const char *word = cell->compared_word;
    while (word && compared < CHECK_NOT_COMPARED && strcmp(comparisons[compared], word) != 0)
        compared++;
    if (word && compared == CHECK_NOT_COMPARED) return tree_bad_word(place, "compared", word);
    cell->compared = word ? (enum check_compared)compared : CHECK_NOT_COMPARED;
    return 0;
}

/* Finds the indices of the cell's lock and fault. */
static int read_names(struct tree_place *place, const struct check *check,
                      struct check_cell *cell) {
    const char *lock = cell->lock_name, *fault = cell->fault_name;
    if (!lock) return tree_bad(place, "lock", "is missing");
    if (!fault) return tree_bad(place, "fault", "is missing");
    while (cell->lock < check->lock_count && strcmp(check->locks[cell->lock].name, lock) != 0)
        cell->lock++;
    while (cell->fault < check->fault_count && strcmp(check->faults[cell->fault].name, fault) != 0)
        cell->fault++;
    if (cell->lock == check->lock_count) return tree_bad_word(place, "lock", lock);
    return cell->fault < check->fault_count ? 0 : tree_bad_word(place, "fault", fault);
}

/* Each element of .locks or .faults must have a name, its first member. */
static int check_names(struct tree_place *place, const char *path, const void *list,
                       size_t item_bytes, int count) {
    for (int i = 0; i < count; i++) {
        const char *name;
        memcpy(&name, (const char *)list + (size_t)i * item_bytes, sizeof name);
        snprintf(place->where, sizeof place->where, ".%s[%d]", path, i);
        if (!name || !*name) return tree_bad(place, "name", "is missing");
    }
    return 0;
}

static int check_check(struct tree_place *place, void *of) {
    struct check *check = of;
    if (!tree_at(check->root, "cells")) return tree_bad(place, "cells", "is missing");
    if (check_names(place, "faults", check->faults, sizeof *check->faults, check->fault_count) ||
        check_names(place, "locks", check->locks, sizeof *check->locks, check->lock_count))
        return -1;
    for (int i = 0; i < check->cell_count; i++) {
        struct check_cell *cell = &check->cells[i];
        snprintf(place->where, sizeof place->where, ".cells[%d]", i);
        if (read_names(place, check, cell) || read_verdict(place, cell)) return -1;
    }
    return 0;
}

const struct result_document check_document = {
    .file = CHECK_FILE,
    .schema = CHECK_SCHEMA,
    .kind = "lockbench check",
    .about = "The result of `lockbench check`: the matrix, with a cell for each lock and fault.",
    .fields = check_fields,
    .bytes = sizeof(struct check),
    .check = check_check,
};

struct check *check_parse(const char *text, size_t length, const char *path, struct lb_err *err) {
    json_t *root = tree_parse(text, length, path, check_document.kind, err);
    return tree_document(&check_document, root, path, err);
}

struct check *check_from_json(json_t *root, const char *path, struct lb_err *err) {
    return tree_document(&check_document, json_incref(root), path, err);
}

struct check *check_read(const char *path, struct lb_err *err) {
    return tree_read(&check_document, path, err);
}

void check_free(struct check *check) {
    tree_free(&check_document, check);
}
