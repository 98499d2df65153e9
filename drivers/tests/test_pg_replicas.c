/* test_pg_replicas: PostgreSQL's locks on a primary that dies and whose synchronous standby is promoted: rows that were
 * acknowledged are kept, and what lives in a session is lost.
 * Needs: servers. */
#define _GNU_SOURCE
#define CLI_LIMIT_S 300
#include "bench/tests/check_help.h"

TEST(the_synchronous_standby_keeps_rows_and_no_sessions) {
    struct cli cli = cli_run(NULL, ARGS("check", "pg-advisory,pg-table,pg-lease", "--fault",
                                        "primary-lost", "--out", cli_path("lost")));
    assert_code(&cli, 0);
    cli_free(&cli);
    json_t *check = check_result(cli_path("lost"));
    check_assert(check, "pg-advisory", "primary-lost", "expired");
    check_assert(check, "pg-table", "primary-lost", "safe");
    check_assert(check, "pg-lease", "primary-lost", "safe");
    json_decref(check);
}

TEST_MAIN(cli_setup, cli_teardown)
