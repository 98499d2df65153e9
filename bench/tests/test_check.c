/* `lockbench check` end to end: cells on real processes and a real Redis, what it says and leaves,
 * exit codes, and interruption by all means.
 * Needs: servers. */
#define _GNU_SOURCE
#include "bench/tests/check_help.h"

#include "results/format/check_read.h"

/* The whole way: four cells as they are known to be. */
TEST(known_cells_come_out) {
    cli_need("redis");
    char *out = cli_path("known");
    struct cli cli = cli_ends(0, ARGS("check", "redis-setnx,mem-robust", "--fault",
                                      "pause,holder-kill", "--out", out, "--seed", "7"));
    assert_has(cli.out, "a fencing token saves the data: 1 of 2 under pause\n");
    assert_has(cli.err, "4 runs, about ");
    assert_has(cli.err, " by the plan (an estimate)");
    assert_has(cli.out,
               "No lock did worse than its driver states: 4 cells, 2 locks, 2 scenarios\n");
    json_t *check = check_result(out);
    check_assert(check, "mem-robust", "pause", "safe");
    check_assert(check, "mem-robust", "holder-kill", "safe");
    check_assert(check, "redis-setnx", "pause", "expired");
    check_assert(check, "redis-setnx", "holder-kill", "safe");
    assert_true(json_is_false(cli_get(check, "partial")));
    const json_t *cell = check_cell(check, "redis-setnx", "pause");
    assert_string_equal(cli_text_at(cell, "compared"), "as expected");
    assert_string_equal(cli_text_at(cell, "command"),
                        "lockbench check redis-setnx --fault pause --seed 7");
    const char *place =
        cli_text_at(cell, "run"); /* ".again" after it, when the first run showed nothing */
    assert_int_equal(
        strncmp(place, "cells/redis-setnx.pause.7", strlen("cells/redis-setnx.pause.7")), 0);
    assert_has(cli_text_at(cell, "server"), "redis ");
    assert_int_equal(cli_number_at(cell, "seeds.0"), 7);
    assert_true(json_is_true(cli_get(cell, "faults.0.acted")));
    assert_true(cli_number_at(cell, "overlaps") > 0);
    /* The evidence is an ordinary run's, with the same seed. */
    json_t *run = cli_json(cli_path("known/%s/run.json", place));
    assert_int_equal(cli_number_at(run, "plan.load.seed"), 7);
    /* Reports can read it. */
    struct lb_err err = {0};
    struct check *read = check_read(out, &err);
    if (!read) fail_msg("%s", err.text);
    assert_int_equal(read->cell_count, 4);
    check_free(read);
    cli = cli_ends(1, ARGS("check", "mem-robust", "--fault", "none", "--out", out));
    assert_has(cli.err, "there is a check.json already");
    cli_assert_nothing_left();
}

TEST(seeds_make_one_cell_of_several_runs) {
    char *out = cli_path("seeds");
    struct cli cli = cli_ends(0, ARGS("check", "mem-robust", "--fault", "none", "--seed", "3..5",
                                      "--out", out, "--set", "run.duration=300ms"));
    assert_has(cli.out, "Is it a lock? 1 of 1 survived all that was judged: mem-robust");
    json_t *check = check_result(out);
    assert_int_equal(json_array_size(cli_get(check, "cells")), 1);
    double grants = 0;
    for (int seed = 3; seed <= 5; seed++) {
        json_t *run = cli_json(cli_path("seeds/cells/mem-robust.none.%d/run.json", seed));
        assert_int_equal(cli_number_at(run, "plan.load.seed"), seed);
        grants += cli_number_at(run, "stages.0.exclusion.grants");
    }
    assert_true(cli_number_at(check, "cells.0.grants") == grants);
    assert_int_equal(json_array_size(cli_get(check, "cells.0.seeds")), 3);
}

TEST(json_is_the_file) {
    char *out = cli_path("json");
    struct cli cli = cli_ends(0, ARGS("check", "mem-robust", "--fault", "none", "--json", "--out",
                                      out, "--set", "run.duration=300ms"));
    json_t *said = json_loads(cli.out, 0, NULL), *check = check_result(out);
    assert_non_null(said);
    assert_true(json_equal(said, check));
    assert_string_equal(json_string_value(cli_get(check, "tour")), "chosen");
    json_decref(said);
}

/* For cli_until: the first cell's run has begun. */
static bool has_run(void *path) {
    return access(path, F_OK) == 0;
}

/* If writing to standard output fails, the summary is written nevertheless, and the folder is told last. */
TEST(a_full_standard_output_costs_no_file) {
    char command[1024], last[300];
    char *out = cli_path("unprinted");
    snprintf(command, sizeof command,
             "ASAN_OPTIONS=verify_asan_link_order=0 " /* stdbuf preloads a library of its own */
             "stdbuf -o0 %s check mem-robust --fault none --set run.duration=300ms --out %s "
             ">/dev/full 2>%s.err",
             getenv("LOCKBENCH_PROGRAM"), out, out);
    assert_int_not_equal(system(command), 0);
    snprintf(last, sizeof last, "saved in %s\n", out);
    assert_has(cli_text(cli_path("unprinted.err")), last);
    assert_int_equal(access(cli_path("unprinted/summary.md"), R_OK), 0);
}

TEST(an_interrupted_check_saves_what_it_has) {
    char *out = cli_path("interrupted");
    struct cli cli;
    cli_start(&cli, NULL,
              ARGS("check", "mem-robust", "--fault", "none,pause", "--jobs", "1", "--out", out));
    cli_until(&cli, has_run, cli_path("interrupted/cells/mem-robust.pause.1/run.json"),
              "the second cell");
    cli_signal(&cli, SIGINT, 130);
    json_t *check = check_result(out);
    assert_true(json_is_true(cli_get(check, "partial")));
    assert_string_equal(cli_text_at(check, "partial_reason"), "interrupted");
    check_assert(check, "mem-robust", "none", "safe");
    assert_string_equal(cli_text_at(check_cell(check, "mem-robust", "pause"), "why"),
                        "interrupted");
    assert_has(cli.err, "interrupted");
    cli_assert_nothing_left();
}

/* The check is killed in the middle of a fault. Its servers, clients and stopped processes end, and
 * check.json can be read. */
TEST(a_killed_check_leaves_nothing_running) {
    cli_need("redis");
    char *out = cli_path("killed");
    struct cli cli;
    cli_start(&cli, NULL,
              ARGS("check", "redis-setnx", "--fault", "pause,server-restart", "--out", out));
    cli_until(&cli, cli_has_second,
              cli_path("killed/cells/redis-setnx.pause.1/000-redis-setnx-c9-r0.hlog"),
              "the first second of load");
    kill(cli.pid, SIGKILL);
    waitpid(cli.pid, NULL, 0);
    cli_assert_nothing_left();
    json_t *check = check_result(out);
    assert_true(json_is_true(cli_get(check, "partial")));
    assert_string_equal(cli_text_at(check, "partial_reason"), "the check was cut off");
}

TEST_MAIN(cli_setup, cli_teardown)
