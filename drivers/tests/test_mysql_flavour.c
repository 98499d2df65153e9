/* test_mysql_flavour: MySQL in MariaDB's place: which of the locks it runs, that they exclude there too, with its
 * accounts' caching_sha2_password, encrypted and not; and a lock that it can't run is refused with the reason. Debian
 * 12 has no MySQL: in CI it is unpacked for this test.
 * Needs: servers, a minute. */
#define _GNU_SOURCE
#define CLI_LIMIT_S 400
#include "bench/tests/check_help.h"
#include "bench/tests/unpack_help.h"
#include "drivers/tests/live_help.h"

#define LOCKS "mysql-getlock,mysql-lease,mysql-table,mysql-flag,mysql-optimistic"

static char program[500]; /* servers.program=... */

static void need_mysql(void) {
    cli_need("mariadb");
    snprintf(program, sizeof program, "servers.program=%s", unpack_need("mysql"));
}

/* Runs these locks under contention. The run, which the caller decrefs. */
static json_t *run_locks(const char *locks, const char *tls) {
    char *out = cli_path("run-%s", tls + strlen("servers.tls="));
    struct cli cli =
        cli_run(NULL, ARGS("run", "check/none", "--lock", locks, "--set", program, "--set", tls,
                           "--set", "run.duration=500ms", "--no-page", "--out", out));
    assert_code(&cli, 0);
    return cli_result(out);
}

TEST(its_locks_exclude_with_and_without_tls) {
    static const char *const tls[] = {"servers.tls=no", "servers.tls=yes"};
    need_mysql();
    for (int i = 0; i < 2; i++) {
        json_t *run = run_locks(i == 0 ? LOCKS : "mysql-getlock", tls[i]), *stage;
        size_t at;
        assert_has(cli_text_at(run, "servers.0.topology"), "+mysql-");
        json_array_foreach(cli_get(run, "stages"), at, stage) {
            assert_string_equal(cli_text_at(stage, "exclusion.verdict"), "clean");
            assert_true(cli_number_at(stage, "grants") > 0);
        }
        assert_int_equal(json_array_size(cli_get(run, "stages")), i == 0 ? 5 : 1);
        json_decref(run);
    }
}

/* Several user locks of one session: since MySQL 5.7 the second does not free the first. */
static void hold_two_locks(void *arg) {
    static const char *const keys[] = {"first", "second"};
    struct live_client holder, other;
    live_come(&holder, arg, keys[0]);
    live_come(&other, arg, keys[0]);
    for (int i = 0; i < 2; i++) {
        holder.request.key = keys[i];
        holder.request.key_len = strlen(keys[i]);
        CHECK(live_acquire(&holder, 10 * LB_S_NS) == LB_OK, "%s", holder.session.err.text);
    }
    for (int i = 0; i < 2; i++) {
        other.request.key = keys[i];
        other.request.key_len = strlen(keys[i]);
        CHECK(live_acquire(&other, 0) == LB_BUSY, "%s is not held", keys[i]);
    }
    CHECK(live_release(&holder) == LB_OK, "%s", holder.session.err.text);
    CHECK(live_acquire(&other, 0) == LB_OK, "the second one is free");
    other.request.key = keys[0];
    other.request.key_len = strlen(keys[0]);
    CHECK(live_acquire(&other, 0) == LB_BUSY, "the first one is held as before");
    live_client_done(&other);
    live_client_done(&holder);
}

TEST(one_session_holds_several_user_locks) {
    need_mysql();
    struct live_place live = live_open("mysql-getlock", (const char *const[]){program, NULL});
    LIVE_NEEDS(&live);
    assert_has(lb_facts_value(&live.place->facts, "version"), "mysql");
    live_run(hold_two_locks, &live);
    live_close(&live);
}

/* It has neither sequences nor SET STATEMENT. */
TEST(the_rows_that_want_a_sequence_are_refused) {
    need_mysql();
    struct cli cli = cli_run(NULL, ARGS("run", "smoke", "--lock", "mysql-row", "--set", program));
    assert_code(&cli, 1);
    assert_has(cli.err, "MySQL has none");
}

static int end(void **state) {
    return unpack_remove(state) | cli_teardown(state);
}

TEST_MAIN(cli_setup, end)
