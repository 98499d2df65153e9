/* test_leases: the workload lease-ladder on a real server: a longer lease keeps the key of a killed holder away for
 * longer, and a shorter one lets a second holder in beside one that is paused.
 * Needs: servers. */
#define _GNU_SOURCE
#include "bench/tests/cli_help.h"

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
    assert_has(cli.out, ", lease 500 ms");
    json_decref(run);
    cli_free(&cli);
}

TEST_MAIN(cli_setup, cli_teardown)
