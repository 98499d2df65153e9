/* check_help: runs `lockbench check` for tests, and finds cells in its check.json. */
#ifndef BENCH_TESTS_CHECK_HELP_H
#define BENCH_TESTS_CHECK_HELP_H

#include "bench/tests/cli_help.h"

/* A check's check.json; the caller decrefs. */
static inline json_t *check_result(const char *folder) {
    char path[600];
    snprintf(path, sizeof path, "%s/check.json", folder);
    return cli_json(path);
}

/* The cell of a lock and a fault. Fails if there is none. Borrowed. */
static inline json_t *check_cell(const json_t *check, const char *lock, const char *fault) {
    json_t *cell;
    size_t i;
    json_array_foreach(cli_get(check, "cells"), i, cell) {
        if (strcmp(cli_text_at(cell, "lock"), lock) == 0 &&
            strcmp(cli_text_at(cell, "fault"), fault) == 0)
            return cell;
    }
    fail_msg("no cell %s x %s", lock, fault);
    return NULL;
}

/* Fails, with the cell's own reason, unless the cell has this verdict. */
static inline void check_assert(const json_t *check, const char *lock, const char *fault,
                                const char *verdict) {
    const json_t *cell = check_cell(check, lock, fault);
    if (strcmp(cli_text_at(cell, "verdict"), verdict) == 0) return;
    fail_msg("%s x %s is %s, not %s: %s (%s)", lock, fault, cli_text_at(cell, "verdict"), verdict,
             cli_text_at(cell, "why"), cli_text_at(cell, "command"));
}

/* Fails unless the lock was granted again after the fault, and how long that took is known. */
static inline void check_recovered(const json_t *check, const char *lock, const char *fault) {
    const json_t *cell = check_cell(check, lock, fault);
    if (!json_is_true(cli_get(cell, "recovered")))
        fail_msg("%s x %s: nothing was granted any more", lock, fault);
    if (!(cli_number_at(cell, "recovery_ns.count") > 0))
        fail_msg("%s x %s: no time of a recovery", lock, fault);
}

#endif
