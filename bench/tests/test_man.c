/* The man pages, as bench/man writes them: one for each program and each command, with every option. And the examples
 * in the help name options that there are.
 * Needs help2man. */
#define _GNU_SOURCE
#include <ctype.h>

#include "bench/tests/cli_help.h"

/* Calls check with each command's name. */
static void each_command(void (*check)(const char *name)) {
    struct cli cli = cli_run(NULL, ARGS("--help"));
    int count = 0;
    char *rest = cli.out;
    for (char *line; (line = strsep(&rest, "\n"));) {
        if (strncmp(line, "  ", 2) != 0 || !isalpha((unsigned char)line[2])) continue;
        line[2 + strcspn(line + 2, " ")] = '\0';
        check(line + 2);
        count++;
    }
    assert_int_equal(count, 12);
}

/* The text of a page without roff's escapes of hyphens. */
static char *read_page(const char *name) {
    char *text = cli_read(cli_path("man/%s.1", name)), *to = text;
    for (const char *from = text; *from; from++)
        if (!(from[0] == '\\' && from[1] == '-')) *to++ = *from;
    *to = '\0';
    return text;
}

static void assert_page(const char *command) {
    char name[60], title[80];
    snprintf(name, sizeof name, "lockbench-%s", command);
    snprintf(title, sizeof title, "\n.SH NAME\n%s - ", name);
    char *page = read_page(name);
    assert_has(page, title);
    struct cli help = cli_run(NULL, ARGS(command, "--help"));
    int options = 0;
    for (const char *at = help.out; (at = strstr(at, "\n  --")); at++, options++) {
        char option[70];
        snprintf(option, sizeof option, "\\fB%.*s\\fR", (int)strcspn(at + 3, " \n"), at + 3);
        assert_has(page, option);
    }
    assert_true(options >= 1);
    free(page);
}

TEST(each_command_has_a_page_with_each_option) {
    char script[PATH_MAX];
    need_program("help2man", "help2man");
    snprintf(script, sizeof script, "mkdir %s && $ROOT/bench/man %s $PROGRAM", cli_path("man"),
             cli_path("man"));
    struct cli cli = cli_shell("sh", script);
    assert_code(&cli, 0);
    assert_string_equal(cli.err, "");
    each_command(assert_page);
    char *page = read_page("lockbench");
    assert_has(page, ".SH ENVIRONMENT\n");
    assert_has(page, "interrupted; what was measured is saved");
    free(page);
    page = read_page("lockbench-hosts");
    assert_int_equal(*page != '\0', *cli_hosts_program() != '\0');
    free(page);
}

/* Fails if the help is more than a screen, or if an example names an option that the command does not have. */
static void assert_examples(const char *command) {
    struct cli help = cli_run(NULL, ARGS(command, "--help"));
    assert_in_range(cli_lines(help.out), 10, 40);
    for (const char *line = help.out; *line; line = strchr(line, '\n') + 1)
        if (strcspn(line, "\n") > 100) fail_msg("%.*s", (int)strcspn(line, "\n"), line);
    char *examples = strstr(help.out, "\nexamples:\n"), begin[60];
    assert_non_null(examples);
    *examples = '\0';
    snprintf(begin, sizeof begin, "lockbench %s", command);
    assert_has(examples + 1, begin);
    for (const char *at = examples + 1; (at = strstr(at, " --")); at++) {
        char option[70];
        snprintf(option, sizeof option, "\n  %.*s", (int)strcspn(at + 1, " =\n"), at + 1);
        if (strcmp(option, "\n  --") != 0) assert_has(help.out, option);
    }
}

TEST(help_is_a_screen_and_its_examples_name_options_that_there_are) {
    each_command(assert_examples);
}

TEST_MAIN(cli_setup, cli_teardown)
