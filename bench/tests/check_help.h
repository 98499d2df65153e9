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

#define CHECK_SEEDS 5
#ifndef CHECK_JOBS
#define CHECK_JOBS "8" /* cells side by side: they mostly wait */
#endif

/* Runs the check with five seeds of each cell. The result; the caller decrefs. */
static inline json_t *check_five_seeds(const char *name, const char *const *args) {
    const char *all[CLI_ARGS_MAX] = {
        "check", "--seed", "1..5", "--jobs", CHECK_JOBS, "--out", cli_path("%s", name)};
    int count = 7;
    while (*args && count < CLI_ARGS_MAX - 1) all[count++] = *args++;
    struct cli cli = cli_run(NULL, all);
    if (cli.code != 0 && cli.code != 3) fail_msg("exit code %d; it said: %s", cli.code, cli.err);
    json_t *check = check_result(all[6]);
    assert_true(json_is_false(cli_get(check, "partial")));
    return check;
}

static inline bool check_stage_is(const json_t *stage, const char *path, const char *word) {
    return strcmp(cli_text_at(stage, path), word) == 0;
}

/* Whether a stage of the run in this folder has the verdict; false if there is no such run. */
static inline bool check_run_shows(const char *folder, const char *verdict) {
    char path[600];
    snprintf(path, sizeof path, "%s/run.json", folder);
    if (access(path, F_OK) != 0) return false;
    json_t *run = cli_json(path);
    const json_t *stage;
    size_t i;
    bool shown = false;
    json_array_foreach(cli_get(run, "stages"), i, stage) {
        shown |= check_stage_is(stage, "exclusion.verdict", verdict);
    }
    return shown;
}

/* In a stage of each of the seeds' runs, not just of the worst of them. A run that showed nothing was tried once
 * more. */
static inline void check_each_seed(const char *name, const char *lock, const char *fault,
                                   const char *verdict) {
    for (int seed = 1; seed <= CHECK_SEEDS; seed++) {
        const char *run = cli_path("%s/cells/%s.%s.%d", name, lock, fault, seed);
        const char *again = cli_path("%s/cells/%s.%s.%d.again", name, lock, fault, seed);
        if (check_run_shows(run, verdict) || check_run_shows(again, verdict)) continue;
        fail_msg("%s x %s, seed %d: neither its cells nor its history is %s", lock, fault, seed,
                 verdict);
    }
}

#endif
