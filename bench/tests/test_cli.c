/* The program as its users and their scripts see it: what it prints and where, its exit codes, its
 * files.
 * Needs: servers. */
#define _GNU_SOURCE
#include "bench/tests/cli_help.h"
#include "bench/tests/loopback.h"

#include <pty.h>

/* Piped: the table on standard output; on standard error how long it will take, a line a stage, and where it is
 * saved, the page last. */
TEST(a_run_tells_its_stages_when_piped) {
    char *out = cli_path("quiet"), saved[900];
    struct cli cli = cli_ends(0, ARGS("run", "smoke", "--lock", "sim,mem-mutex", "--out", out));
    snprintf(saved, sizeof saved, "saved in %s\n%s/report.html\n", out, out);
    assert_int_equal(strncmp(cli.err, "4 stages, about ", 16), 0);
    assert_has(cli.err, "\nstage 1 of 4  ");
    assert_has(cli.err, "\nstage 4 of 4  ");
    assert_lacks(cli.err, "\r");
    assert_int_equal(cli_lines(cli.err), 1 + 4 + 2);
    assert_string_equal(cli.err + strlen(cli.err) - strlen(saved), saved);
    char *page = cli_text(cli_path("quiet/report.html"));
    assert_has(page, "mem-mutex");
    assert_has(page, "</html>");
    assert_has(cli.out, "mem-mutex");
    assert_lacks(cli.out, "\033");
    cli = cli_ends(0, ARGS("run", "smoke", "--lock", "null", "--json", "--no-page", "--out",
                           cli_path("quiet-json")));
    assert_int_equal(cli_lines(cli.err), 1);
    json_t *json = json_loads(cli.out, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(json);
    json_decref(json);
    cli_assert_nothing_left();
}

/* True if the server answers. A server that lockbench starts has a password, so a PING without it
 * is refused with -NOAUTH. */
static bool redis_answers(int port) {
    char answer[16] = "";
    int fd = loopback_connect(port, 10);
    bool good = fd >= 0 && send(fd, "PING\r\n", 6, MSG_NOSIGNAL) == 6 &&
                recv(fd, answer, sizeof answer - 1, 0) > 0;
    close(fd);
    return good && strncmp(answer, "-NOAUTH", 7) == 0;
}

/* `up` prints a URL that answers; `run --url` uses that server and leaves it running; Ctrl-C ends
 * it all. */
TEST(up_serves_until_interrupted_and_a_run_can_use_it) {
    struct cli up;
    char option[200];
    cli_up(&up, "redis", "redis", option, sizeof option);
    const char *url = strchr(option, '=') + 1;
    int port = atoi(strrchr(url, ':') + 1);
    assert_true(redis_answers(port));

    char public[100], secret[80], command[400], *out = cli_path("by-url");
    cli_ends(0, ARGS("run", "smoke", "--lock", "redis-setnx", "--url", option, "--out", out));
    json_t *result = cli_result(out);
    assert_string_equal(cli_text_at(result, "servers.0.started_by"), "url");
    snprintf(public, sizeof public, "redis://:***@127.0.0.1:%d", port);
    assert_string_equal(cli_text_at(result, "servers.0.url"), public);
    assert_string_equal(cli_text_at(result, "stages.0.topology"), "url");
    assert_has(cli_text_at(result, "command"), " --url redis=env:LOCKBENCH_URL_REDIS");
    assert_int_equal(sscanf(strchr(url + strlen("redis:"), ':'), ":%79[^@]", secret), 1);
    snprintf(command, sizeof command, "grep -rqF '%s' %s", secret, out); /* no file has it */
    assert_int_not_equal(system(command), 0);
    assert_true(redis_answers(port));

    cli_signal(&up, SIGINT, 0);
    assert_false(redis_answers(port));
    cli_assert_nothing_left();
}

/* Reads what a program shows on a terminal until it ends. */
static char *watch_terminal(struct cli *cli, const char *const *args, struct winsize size,
                            const char *term, const char *locale) {
    int master, slave;
    assert_int_equal(openpty(&master, &slave, NULL, NULL, &size), 0);
    cli_start(cli, &(struct cli_how){.terminal = slave, .env = {term, locale}}, args);
    close(slave);
    size_t used = 0, room = 1 << 20;
    char *text = calloc(1, room);
    for (ssize_t got; used < room - 1 && (got = read(master, text + used, room - 1 - used)) > 0;)
        used += (size_t)got; /* EIO: the other end is closed */
    close(master);
    cli_wait(cli);
    return text;
}

TEST(a_plain_terminal_gets_plain_text) {
    struct cli cli;
    char *text =
        watch_terminal(&cli,
                       ARGS("run", "smoke", "--lock", "sim,mem-mutex", "--set",
                            "run.duration=300ms", "--out", cli_path("plain")),
                       (struct winsize){.ws_row = 24, .ws_col = 80}, "TERM=dumb", "LC_ALL=C");
    assert_code(&cli, 0);
    assert_has(text, "sim");
    for (const char *at = text; *at; at++) {
        if ((*at & 0x80) || *at == '\033') fail_msg("a byte %02x in: %s", *at & 0xff, text);
    }
    free(text);
}

TEST(a_terminal_sees_progress) {
    struct cli cli;
    char *out = cli_path("terminal");
    char *text = watch_terminal(
        &cli,
        ARGS("run", "smoke", "--lock", "sim,unsafe-none", "--set", "load.clients=2", "--out", out),
        (struct winsize){.ws_row = 24, .ws_col = 120}, "TERM=xterm", NULL);
    assert_code(&cli, 3);
    assert_has(text, "2 stages, about ");
    assert_has(text, "stage 1 of 2  sim                   2 clients  ");
    assert_has(text, "/s  acquire p50 ");
    free(text);
}

/* Lines that a terminal would break in two; a command that people copy may be one. */
static void assert_fits(const char *text, int columns) {
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        int width = 0;
        size_t length = strcspn(line, "\r\n");
        for (size_t i = 0; i < length; i++) {
            if (line[i] == '\033')
                i += strcspn(line + i, "m"); /* a colour */
            else
                width += ((unsigned char)line[i] & 0xC0) != 0x80;
        }
        bool command = strncmp(line + strspn(line, " "), "lockbench ", 10) == 0;
        if (width > columns && !command) fail_msg("%d columns: %.*s", width, (int)length, line);
        if (line[strcspn(line, "\n")] == '\0') return;
    }
}

/* Helps and reports are as wide as the terminal; a table's columns that are too many stand below. */
TEST(a_terminal_gets_lines_that_fit) {
    const char *const *const all[] = {
        ARGS("--help"),
        ARGS("run", "--help"),
        ARGS("check", "--help"),
        ARGS("report", "report/tests/golden/mixed"),
        ARGS("report", "report/tests/golden/modes"),
        ARGS("report", "--full", "report/tests/golden/mixed"),
    };
    static const int widths[] = {60, 80, 100, 200};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
            struct cli cli;
            char *text =
                watch_terminal(&cli, all[i], (struct winsize){.ws_row = 24, .ws_col = widths[w]},
                               "TERM=xterm", NULL);
            assert_code(&cli, 0);
            assert_fits(text, widths[w] > 100 ? 100 : widths[w]);
            if (strcmp(all[i][0], "report") == 0)
                assert_has(text, strcmp(all[i][1], "--full") == 0 ? "cmds/gr" : "paused");
            free(text);
        }
    }
}

TEST_MAIN(cli_setup, cli_teardown)
