/* test_check_url: `lockbench check --url`: a server that only speaks the protocol is caught, and what can't act on a
 * server of the user is named. The locks of real servers pass in drivers/tests/test_*_tls.
 * Needs: servers, 1 minute. */
#define _GNU_SOURCE
#define CLI_LIMIT_S 600
#include "bench/tests/check_help.h"
#include "bench/tests/liar.h"

/* Scenarios that a second address does not allow are left out, and so are faults of the server itself. */
TEST(what_is_left_out_is_said) {
    struct cli cli = cli_run(NULL, ARGS("check", "redis-setnx", "--full", "--dry-run", "--url",
                                        "redis=redis+cluster://127.0.0.1:1"));
    assert_code(&cli, 0);
    assert_has(cli.out, "wire-cut           left out: no wire can lead to redis+cluster://");
    assert_has(cli.out, "server-restart     left out: the fault needs control of the server");
    assert_has(cli.out, "redis-setnx                          conformance");
    cli_free(&cli);
}

TEST(a_set_nx_that_always_says_ok_is_caught) {
    struct liar liar = {.words = {{"$2\r\nNX\r\n", ""}, {"*6\r\n$3\r\nSET", "*5\r\n$3\r\nSET"}}};
    char option[200], lying[200];
    struct cli up;
    cli_up(&up, "redis", "redis", option, sizeof option);
    char *at = strstr(option, "127.0.0.1:");
    assert_non_null(at);
    at += strlen("127.0.0.1:");
    liar.server = atoi(at);
    liar_start(&liar);
    snprintf(lying, sizeof lying, "%.*s%d%s", (int)(at - option), option, liar.port,
             at + strspn(at, "0123456789"));
    struct cli cli = cli_run(NULL, ARGS("check", "redis-setnx", "--url", lying, "--fault",
                                        "conformance,none", "--out", cli_path("lying")));
    assert_code(&cli, 3);
    assert_has(cli.err, "FAILED    ");
    json_t *check = check_result(cli_path("lying"));
    check_assert(check, "redis-setnx", "conformance", "violated");
    check_assert(check, "redis-setnx", "none", "violated");
    assert_has(cli_text_at(check_cell(check, "redis-setnx", "none"), "why"), "double holder");
    json_decref(check);
    cli_free(&cli);
    liar_stop(&liar);
    cli_down(&up);
}

TEST_MAIN(cli_setup, cli_teardown)
