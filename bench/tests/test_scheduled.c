/* test_scheduled: the workloads scheduled and once on a real server: a dead instance keeps the job from running until
 * its lease is over; a lock that is released early lets the job run twice in a tick; without a lock several instances
 * run the job.
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
        cli_run(NULL, ARGS("run", "scheduled", "--lock", "redis-setnx", SHORT, "--out", out));
    assert_code(&cli, 0);
    json_t *run = cli_result(out);
    assert_true(ticks_of(run, "none") >= 2);
    assert_true(ticks_of(run, "once") > 0);
    assert_has(cli.out, "kept for 200 ms at least");
    assert_has(cli.out, "one run");
    json_decref(run);
    cli_free(&cli);
}

TEST(a_lock_that_is_given_back_early_excludes_and_runs_the_job_twice) {
    cli_need("redis");
    char *out = cli_path("early");
    struct cli cli = cli_run(NULL, ARGS("run", "scheduled", "--lock", "redis-setnx", SHORT, "--set",
                                        "acquire.at_least=none", "--set",
                                        "load.think=exponential:60ms", "--out", out));
    assert_code(&cli, 0);
    json_t *run = cli_result(out);
    assert_true(ticks_of(run, "more") > 0);
    assert_has(cli.out, "more");
    json_decref(run);
    cli_free(&cli);
}

/* The lock ends under the job. */
TEST(a_lease_shorter_than_the_job_runs_it_twice) {
    cli_need("redis");
    char *out = cli_path("brief");
    struct cli cli = cli_run(NULL, ARGS("run", "scheduled", "--lock", "redis-setnx", SHORT, "--set",
                                        "acquire.lease=50ms", "--out", out));
    assert_code(&cli, 3);
    json_t *run = cli_result(out);
    assert_true(ticks_of(run, "more") > 0);
    assert_true(cli_number_at(run, "stages.0.exclusion.expired_holders") > 0);
    json_decref(run);
    cli_free(&cli);
}

TEST(of_many_that_start_together_one_works) {
    cli_need("redis");
    char *out = cli_path("once");
    struct cli cli = cli_run(NULL, ARGS("run", "once", "--lock", "redis-setnx", "--set",
                                        "run.duration=4s", "--out", out));
    assert_code(&cli, 0);
    json_t *run = cli_result(out);
    assert_true(ticks_of(run, "once") > 0);
    /* All of them ask, each at least once. */
    assert_true(cli_number_at(run, "stages.0.cost.commands_per_grant") >= 32);
    json_decref(run);
    cli_free(&cli);
}

TEST(of_many_without_a_lock_several_work) {
    char *out = cli_path("none");
    struct cli cli = cli_run(NULL, ARGS("run", "once", "--lock", "unsafe-none", "--set",
                                        "run.duration=2s", "--out", out));
    assert_code(&cli, 3);
    json_t *run = cli_result(out);
    assert_true(ticks_of(run, "more") > 0);
    json_decref(run);
    cli_free(&cli);
}

TEST_MAIN(cli_setup, cli_teardown)
