/* test_check_deployed: locks as people deploy and call them, as deployed.txt has them; and a server that only speaks the
 * protocol is caught.
 * Needs: servers, the machine to itself, 3 minutes. */
#define _GNU_SOURCE
#define CLI_LIMIT_S 900
#include "bench/tests/liar.h"
#include "bench/tests/transcripts.h"

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
    struct cli cli = cli_ends(3, ARGS("check", "redis-setnx", "--url", lying, "--fault",
                                      "conformance,none", "--out", cli_path("lying")));
    assert_has(cli.err, "FAILED    ");
    json_t *check = cli_json(cli_path("lying/check.json"));
    const json_t *none = transcript_item(check, "redis-setnx:none");
    assert_string_equal(
        cli_text_at(transcript_item(check, "redis-setnx:conformance"), "verdict"), "violated");
    assert_string_equal(cli_text_at(none, "verdict"), "violated");
    assert_has(cli_text_at(none, "why"), "double holder");
    liar_stop(&liar);
    cli_down(&up);
}

int main(void) {
    add_transcripts("bench/tests/deployed.txt");
    return run_all_tests(cli_setup, cli_teardown);
}
