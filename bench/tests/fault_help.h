/* fault_help: runs the program on a workload that a test writes, with one lock, and looks at what
 * its faults did. Header only, since each test is one program. */
#ifndef BENCH_TESTS_FAULT_HELP_H
#define BENCH_TESTS_FAULT_HELP_H

#include "bench/tests/cli_help.h"

/* One stage: clients in processes of their own (or processes = 1), one key, and then the sections.
 * No warm-up: an attempt that begins in it is not counted, and a fault may strike just that one. */
#define FAULT_LOAD(clients, processes, keys, hold, lease, duration)                                \
    "[load]\nclients = " clients "\nprocesses = " processes "\nkeys = " keys "\nhold = " hold      \
    "\n[acquire]\nlease = " lease "\n[run]\nwarmup = 0\nduration = " duration "\ndrain = 10s\n"

#define FAULT_TRIES 4

/* Whether the machine stood still for a tenth of a window in one piece. A fault at such a moment hits other clients
 * than it should, or none. */
static inline bool fault_lost_time(const json_t *run) {
    size_t i;
    json_t *stage;
    json_array_foreach(cli_get(run, "stages"), i, stage) {
        const json_t *hiccup_ns = cli_get(stage, "executor.hiccup_ns.max");
        double limit_ns = 20e6 + 1e8 * json_number_value(cli_get(stage, "duration_s"));
        if (json_is_number(hiccup_ns) && json_number_value(hiccup_ns) > limit_ns) return true;
    }
    return false;
}

/* Runs the workload and returns run.json. The run must end with this code. A run in which the machine stood still is
 * run again, unless the run saw a violation, which no machine excuses. */
static inline json_t *fault_run(const char *lock, const char *text, int code) {
    static int number;
    for (int tries = 1;; tries++) {
        char *file = cli_path("fault-%d.ini", number), *out = cli_path("fault-%d", number);
        number++;
        cli_write(file, text);
        struct cli cli = cli_run(NULL, ARGS("run", file, "--lock", lock, "--out", out));
        json_t *run = cli.code == code || cli.code == 2 ? cli_result(out) : NULL;
        bool final = tries == FAULT_TRIES || !run ||
                     strcmp(cli_text_at(run, "verdict"), "violated") == 0 || !fault_lost_time(run);
        if (final && cli.code != code)
            fail_msg("%s: code %d, not %d: %s%s", lock, cli.code, code, cli.out, cli.err);
        if (final) return run;
        print_message("the machine stood still: once more\n");
        json_decref(run);
    }
}

/* The number-th logged fault. Borrowed. */
static inline const json_t *fault_at(const json_t *run, int number) {
    const json_t *faults = cli_get(run, "stages.0.faults");
    if ((size_t)number >= json_array_size(faults))
        fail_msg("only %zu faults", json_array_size(faults));
    return json_array_get(faults, (size_t)number);
}

static inline void assert_fault(const json_t *run, int number, const char *kind, bool acted,
                                const char *sign) {
    const json_t *fault = fault_at(run, number);
    const char *its = cli_text_at(fault, "sign");
    assert_string_equal(cli_text_at(fault, "kind"), kind);
    if (json_is_true(cli_get(fault, "acted")) != acted || !strstr(its, sign)) {
        fail_msg("%s: acted %d: %s", kind, json_is_true(cli_get(fault, "acted")), its);
    }
}

static inline double stage_number(const json_t *run, const char *path) {
    char whole[200];
    snprintf(whole, sizeof whole, "stages.0.%s", path);
    return cli_number_at(run, whole);
}

/* A stage of one client, or of clients with a key each, can't be clean: nothing put the lock to the
 * test. */
static inline void assert_stage_is(const json_t *run, const char *status, const char *verdict) {
    bool own = strcmp(cli_text_at(run, "stages.0.key_distribution"), "own") == 0;
    bool alone = own || cli_number_at(run, "stages.0.clients") < 2;
    if (alone && strcmp(verdict, "clean") == 0) verdict = "untested";
    assert_string_equal(cli_text_at(run, "stages.0.status"), status);
    if (strcmp(cli_text_at(run, "stages.0.exclusion.verdict"), verdict) != 0) {
        char *text = json_dumps(cli_get(run, "stages.0.exclusion"), 0);
        fail_msg("not %s: %s", verdict, text);
    }
}

/* The number of grants in the window's seconds from from_s on. */
static inline double granted_from(const json_t *run, double from_s) {
    double sum = 0;
    size_t i;
    json_t *second;
    json_array_foreach(cli_get(run, "stages.0.series"), i, second) {
        if (cli_number_at(second, "t_s") >= from_s) sum += cli_number_at(second, "ok");
    }
    return sum;
}

#endif
