/* test_scheduled: the workloads scheduled, once and lease-ladder on a real server: a dead instance keeps the job from
 * running until its lease is over, and a lease that is too short lets it run twice. test_ticks has no server.
 * Needs: servers. */
#define _GNU_SOURCE
#include "bench/tests/cli_help.h"

#define SHORT "--set", "run.duration=6s", "--set", "fault.first=1500ms"

/* The figures of ticks of the only stage, which must add up. */
static double ticks_of(const json_t *run, const char *figure) {
    char path[60];
    double ticks = cli_number_at(run, "stages.0.ticks.count");
    assert_true(ticks > 0);
    assert_true(ticks == cli_number_at(run, "stages.0.ticks.none") +
                             cli_number_at(run, "stages.0.ticks.once") +
                             cli_number_at(run, "stages.0.ticks.more"));
    snprintf(path, sizeof path, "stages.0.ticks.%s", figure);
    return cli_number_at(run, path);
}

/* The instance dies in a run of 200 ms, so that of the four ticks in its lease of 2 s at least two find the lock taken. */
TEST(a_dead_instance_blocks_the_job_until_its_lease_ends) {
    cli_need("redis");
    char *out = cli_path("dead");
    struct cli cli =
        cli_ends(0, ARGS("run", "scheduled", "--lock", "redis-setnx", SHORT, "--out", out));
    json_t *run = cli_result(out);
    assert_true(ticks_of(run, "none") >= 2);
    assert_true(ticks_of(run, "once") > 0);
    assert_has(cli.out, "kept for 200 ms at least");
    assert_has(cli.out, "one run");
}

/* The lock ends under the job. */
TEST(a_lease_shorter_than_the_job_runs_it_twice) {
    cli_need("redis");
    char *out = cli_path("brief");
    cli_ends(3, ARGS("run", "scheduled", "--lock", "redis-setnx", SHORT, "--set",
                     "acquire.lease=50ms", "--out", out));
    json_t *run = cli_result(out);
    assert_true(ticks_of(run, "more") > 0);
    assert_true(cli_number_at(run, "stages.0.exclusion.expired_holders") > 0);
}

TEST(of_many_that_start_together_one_works) {
    cli_need("redis");
    char *out = cli_path("once");
    cli_ends(
        0, ARGS("run", "once", "--lock", "redis-setnx", "--set", "run.duration=4s", "--out", out));
    json_t *run = cli_result(out);
    assert_true(ticks_of(run, "once") > 0);
    /* All of them ask, each at least once. */
    assert_true(cli_number_at(run, "stages.0.cost.commands_per_grant") >= 32);
}

/* The workload lease-ladder: a longer lease keeps the key of a killed holder away for longer, and a shorter one lets a
 * second holder in beside one that is paused. */
TEST(a_short_lease_expires_and_a_long_one_blocks) {
    cli_need("redis");
    char *out = cli_path("ladder");
    struct cli cli = cli_run(NULL, ARGS("run", "lease-ladder", "--lock", "redis-setnx", "--set",
                                        "acquire.lease=500ms,5s", "--out", out));
    assert_code(&cli, 3); /* a lease was outlived, which is one half of the answer */
    json_t *run = cli_result(out);
    assert_int_equal(json_array_size(cli_get(run, "stages")), 2);
    const json_t *brief = cli_get(run, "stages.0"), *lasting = cli_get(run, "stages.1");
    assert_true(cli_number_at(brief, "lease_ns") == 5e8);
    assert_true(cli_number_at(lasting, "lease_ns") == 5e9);
    assert_true(cli_number_at(brief, "exclusion.expired_holders") > 0);
    assert_true(cli_number_at(lasting, "exclusion.expired_holders") == 0);
    /* A killed holder had its lease for at most its hold of 100 ms, on a machine that runs. */
    assert_true(cli_number_at(brief, "recovery.crash.count") > 0);
    assert_true(cli_number_at(lasting, "recovery.crash.count") > 0);
    assert_true(cli_number_at(lasting, "recovery.crash.max_ns") > 2e9);
    assert_has(cli.out, "expired");
}

TEST_MAIN(cli_setup, cli_teardown)
