/* store_help: asserts on a stage of a run.json that fencing tokens protect data. Header only, since
 * each test is one program. */
#ifndef BENCH_TESTS_STORE_HELP_H
#define BENCH_TESTS_STORE_HELP_H

#include "bench/tests/check_help.h"

/* Fails unless the stage's fenced store rejected every stale write and lost no update, while the
 * store without the check accepted each of them. Returns the number of stale writes: 0 if the
 * holder learned in time that it had lost its grant. where: for the message. */
static inline uint64_t store_assert_fenced(const json_t *stage, const char *where) {
    const json_t *store = cli_get(stage, "store");
    if (!json_is_true(cli_get(store, "fenced"))) fail_msg("%s: no fenced store", where);
    double tried = cli_number_at(store, "stale_attempted");
    if (cli_number_at(store, "writes") < 5) fail_msg("%s: hardly anything was written", where);
    if (cli_number_at(store, "stale_accepted_unfenced") != tried ||
        cli_number_at(store, "stale_rejected_fenced") != tried ||
        cli_number_at(store, "stale_accepted_fenced") != 0 ||
        cli_number_at(store, "lost_updates_fenced") != 0) {
        fail_msg("%s: not every stale write was rejected: %s", where, json_dumps(store, 0));
    }
    return (uint64_t)tried;
}

/* The same for the cell of a check over some seeds: "OUT/cells/LOCK.FAULT.SEED". Returns the
 * sum. */
static inline uint64_t store_assert_cells(const char *out, const char *lock, const char *fault,
                                          int seeds) {
    uint64_t sum = 0;
    for (int seed = 1; seed <= seeds; seed++) {
        char where[200];
        snprintf(where, sizeof where, "%s x %s, seed %d", lock, fault, seed);
        json_t *run = check_run_of(out, lock, fault, seed);
        sum += store_assert_fenced(cli_get(run, "stages.0"), where);
        json_decref(run);
    }
    return sum;
}

#endif
