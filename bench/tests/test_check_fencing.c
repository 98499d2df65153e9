/* Fencing, on real servers and real processes: a holder that is paused for longer than its lease or
 * session writes when it goes on; the store that checks tokens rejects that write each time, and
 * the store that does not check them accepts it. Over five seeds; with the store in memory, and in
 * the lock's own server.
 * Needs: servers. */
#define _GNU_SOURCE
#include "bench/tests/check_help.h"
#include "bench/tests/store_help.h"

#define SEEDS 5
#define SEEDS_TEXT "1..5"

static void must_run_here(const char *lock) {
    struct cli cli = cli_run(NULL, ARGS("check", lock, "--fault", "pause", "--dry-run"));
    bool here = cli.code == 0 && strstr(cli.out, "1 cell");
    char why[300];
    const char *said = *cli.err ? cli.err : cli.out;
    snprintf(why, sizeof why, "%.*s", (int)strcspn(said, "\n"), said);
    cli_free(&cli);
    if (!here) skip_for("%s can't run here: %s", lock, why);
}

static void pause_holders(const char *lock, const char *set, bool must_be_stale) {
    must_run_here(lock);
    char *out = cli_path("%s-%s", lock, set);
    struct cli cli = cli_run(NULL, ARGS("check", lock, "--fault", "pause", "--seeds", SEEDS_TEXT,
                                        "--jobs", "10", "--set", set, "--out", out));
    assert_code(&cli, 0);
    cli_free(&cli);
    json_t *check = check_result(out);
    check_assert(check, lock, "pause", "expired");
    uint64_t stale = store_assert_cells(out, lock, "pause", SEEDS);
    assert_int_equal(stale,
                     (uint64_t)cli_number_at(check_cell(check, lock, "pause"), "stale_attempted"));
    print_message("%s, %s: %llu stale writes in %d runs, and as many rejected\n", lock, set,
                  (unsigned long long)stale, SEEDS);
    /* A pause of which the holder is not told ends with a stale write. Some pauses do not: if the
     * machine stands still at that moment, the holder may write before the next one. */
    if (must_be_stale) assert_true(stale > 0);
    json_decref(check);
}

TEST(redis_fenced) {
    pause_holders("redis-fenced", "check.store=memory", true);
    pause_holders("redis-fenced", "check.store=backend", true);
}

TEST(etcd_mutex) {
    pause_holders("etcd-mutex", "check.store=memory", false);
}

TEST(zk_lock) {
    pause_holders("zk-lock", "check.store=memory", false);
}

TEST_MAIN(cli_setup, cli_teardown)
