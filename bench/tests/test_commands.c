/* test_commands: command lines, with their exit codes and what they say, as commands.txt has them. None starts a server. */
#define _GNU_SOURCE
#include "bench/tests/cli_help.h"

#define AT_ONCE 4
#define SAYS_MAX 6

struct transcript {
    int line;                         /* of the file */
    char *shown, *args[CLI_ARGS_MAX]; /* the command line, and its words */
    char *says[SAYS_MAX];             /* with the sign before them */
    int arg_count, say_count, code;
};

static char *text; /* of the file; the cases point into it */
static struct transcript cases[300];
static int case_count;

/* The next word of a command line; '' may be around words with blanks. NULL: there is none. */
static char *next_word(char **rest) {
    *rest += strspn(*rest, " ");
    if (!**rest) return NULL;
    bool quoted = **rest == '\'';
    char *word = *rest + quoted, *end = word + strcspn(word, quoted ? "'" : " ");
    *rest = *end ? end + 1 : end;
    *end = '\0';
    return word;
}

static void read_line(char *line, int number) {
    struct transcript *one = &cases[case_count ? case_count - 1 : 0];
    if (*line == '$') {
        one = &cases[case_count++];
        assert_true(case_count < (int)(sizeof cases / sizeof *cases));
        *one = (struct transcript){.line = number, .shown = strdup(line + 2), .code = -1};
        char *rest = line + 2;
        while ((one->args[one->arg_count] = next_word(&rest))) one->arg_count++;
    } else if (*line == '=') {
        one->code = atoi(line + 2);
    } else if (*line && strchr("!>-", *line)) {
        assert_true(one->say_count < SAYS_MAX);
        one->says[one->say_count++] = line;
    } else if (*line && *line != '#') {
        fail_msg("commands.txt:%d: %s", number, line);
    }
}

FIXTURE(set_up) {
    char path[PATH_MAX + 40], *rest;
    if (cli_setup(state) != 0) return -1;
    snprintf(path, sizeof path, "%s/bench/tests/commands.txt", cli_root);
    rest = text = cli_read(path);
    int number = 1;
    for (char *line; (line = strsep(&rest, "\n")); number++) read_line(line, number);
    return case_count > 200 ? 0 : -1;
}

/* A command that fails says so in one line, and prints nothing. */
static bool is_as_told(const struct transcript *one, const struct cli *cli) {
    bool good = cli->code == one->code;
    if (one->code)
        good &= !*cli->out && cli_lines(cli->err) == 1 && strncmp(cli->err, "lockbench: ", 11) == 0;
    for (int i = 0; i < one->say_count; i++) {
        const char *words = one->says[i] + 2;
        bool said = strstr(cli->err, words), printed = strstr(cli->out, words);
        good &= *one->says[i] == '!' ? said : *one->says[i] == '>' ? printed : !said && !printed;
    }
    if (good) return true;
    print_message("commands.txt:%d: lockbench %s\n= %d\n%s%s", one->line, one->shown, cli->code,
                  cli->err, cli->out);
    for (int i = 0; i < one->say_count; i++) print_message("wanted: %s\n", one->says[i]);
    return false;
}

TEST(each_command_line_does_what_its_transcript_tells) {
    struct cli running[AT_ONCE];
    int wrong = 0;
    for (int i = 0; i < case_count + AT_ONCE; i++) {
        struct cli *cli = &running[i % AT_ONCE];
        if (i >= AT_ONCE) {
            cli_wait(cli);
            wrong += !is_as_told(&cases[i - AT_ONCE], cli);
        }
        if (i < case_count) cli_start(cli, NULL, (const char *const *)cases[i].args);
    }
    if (wrong) fail_msg("%d of %d are not as told", wrong, case_count);
    assert_int_not_equal(access(cli_path("home/results"), F_OK), 0);
}

TEST_MAIN(set_up, cli_teardown)
