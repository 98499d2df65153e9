/* test_commands: command lines, with their exit codes and what they say, as commands.txt has them. None starts a server. */
#define _GNU_SOURCE
#include "bench/tests/transcripts.h"

#define AT_ONCE 4

/* A command that fails says so in one line, and prints nothing. */
static bool is_as_told(const struct transcript *one, const struct cli *cli) {
    bool good = one->code >= 0 && transcript_is_true(one, cli, NULL, "");
    if (one->code)
        good &= !*cli->out && cli_lines(cli->err) == 1 && strncmp(cli->err, "lockbench: ", 11) == 0;
    if (!good) transcript_show(one, cli);
    return good;
}

TEST(each_command_line_does_what_its_transcript_tells) {
    struct cli running[AT_ONCE];
    int wrong = 0;
    read_transcripts("bench/tests/commands.txt");
    assert_true(transcript_count > 190);
    for (int i = 0; i < transcript_count + AT_ONCE; i++) {
        struct cli *cli = &running[i % AT_ONCE];
        if (i >= AT_ONCE) {
            cli_wait(cli);
            wrong += !is_as_told(&transcripts[i - AT_ONCE], cli);
        }
        if (i < transcript_count) cli_start(cli, NULL, (const char *const *)transcripts[i].args);
    }
    if (wrong) fail_msg("%d of %d are not as told", wrong, transcript_count);
    assert_int_not_equal(access(cli_path("home/results"), F_OK), 0);
}

TEST_MAIN(cli_setup, cli_teardown)
