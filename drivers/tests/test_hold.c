/* test_hold: `lockbench hold` at a terminal. All else of it is in stories/hold.story.
 * Needs: servers. */
#define _GNU_SOURCE
#include <pty.h>
#include <sys/ioctl.h>

#include "bench/tests/cli_help.h"
#include "drivers/tests/live_help.h"

#define KEY "orders/7"

/* Reads what the program shows until it has shown the text. */
static void until_shown(int terminal, const char *wanted) {
    char text[4096] = "";
    size_t used = 0;
    while (!strstr(text, wanted)) {
        ssize_t got = read(terminal, text + used, sizeof text - 1 - used);
        if (got <= 0) fail_msg("never shown: %s; but: %s", wanted, text);
        used += (size_t)got;
        text[used] = '\0';
    }
}

static void own_terminal(void *unused) {
    (void)unused;
    setsid();
    ioctl(0, TIOCSCTTY, 0);
}

/* The command reads the terminal, Ctrl-Z does not stop what no shell could go on with, and Ctrl-C reaches it. */
TEST(a_terminal_is_the_commands) {
    struct live_place redis = live_open("redis-setnx", NULL);
    LIVE_NEEDS(&redis);
    int terminal, slave;
    struct cli cli;
    assert_int_equal(openpty(&terminal, &slave, NULL, NULL, NULL), 0);
    cli_start(&cli, &(struct cli_how){.terminal = slave, .prepare = own_terminal},
              ARGS("hold", "redis-setnx", KEY, "--url", redis.place->urls[0], "--", "sh", "-c",
                   "echo rea''dy; while read x; do echo got.$x; done"));
    close(slave);
    until_shown(terminal, "ready");
    assert_int_equal(write(terminal, "one\n", 4), 4);
    until_shown(terminal, "got.one");
    assert_int_equal(write(terminal, "\032", 1), 1);
    cli_nap_ms(100);
    assert_int_equal(write(terminal, "two\n", 4), 4);
    until_shown(terminal, "got.two");
    assert_int_equal(write(terminal, "\003", 1), 1);
    cli_wait(&cli);
    close(terminal);
    assert_code(&cli, 128 + SIGINT);
    cli = cli_run(NULL, ARGS("hold", "redis-setnx", KEY, "--url", redis.place->urls[0], "--wait",
                             "0", "--", "true"));
    assert_code(&cli, 0); /* it is free */
    live_close(&redis);
}

TEST_MAIN(cli_setup, cli_teardown)
