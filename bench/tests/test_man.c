/* The man pages: one for the program and one for each command, with every option, and clean for the
 * readers of man pages. */
#define _GNU_SOURCE
#include "bench/tests/cli_help.h"

static int make_pages(void **state) {
    if (cli_setup(state)) return -1;
    mkdir(cli_path("man"), 0755);
    struct cli cli = cli_run(NULL, ARGS("--man", cli_path("man")));
    int code = cli.code;
    cli_free(&cli);
    if (code != 0 || !*cli_hosts_program()) return code;
    cli =
        cli_run(&(struct cli_how){.program = cli_hosts_program()}, ARGS("--man", cli_path("man")));
    code = cli.code;
    cli_free(&cli);
    return code;
}

/* Calls check with each command's name. */
static void each_command(void (*check)(const char *name)) {
    struct cli cli = cli_run(NULL, ARGS("--complete", ""));
    int count = 0;
    char *rest = cli.out;
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        line[strcspn(line, "\t")] = '\0';
        if (*line == '-' || strcmp(line, "help") == 0) continue;
        check(line);
        count++;
    }
    assert_true(count >= 11);
    cli_free(&cli);
}

/* The text of a page without roff's escapes of hyphens. */
static char *read_page(const char *name) {
    char *text = cli_read(cli_path("man/%s.1", name)), *to = text;
    assert_string_not_equal(text, "");
    for (const char *from = text; *from; from++)
        if (!(from[0] == '\\' && from[1] == '-')) *to++ = *from;
    *to = '\0';
    return text;
}

static void assert_page(const char *command) {
    char name[60];
    snprintf(name, sizeof name, "lockbench-%s", command);
    char *page = read_page(name), *overview = read_page("lockbench");
    assert_has(overview, name);
    assert_has(page, ".SH EXAMPLES\n");
    assert_has(page, ".SH EXIT STATUS\n");
    struct cli help = cli_run(NULL, ARGS(command, "--help"));
    int options = 0;
    for (const char *at = help.out; (at = strstr(at, "\n  --")); at++, options++) {
        char option[70];
        snprintf(option, sizeof option, "\\fB%.*s\\fR", (int)strcspn(at + 3, " \n"), at + 3);
        assert_has(page, option);
    }
    assert_true(options >= 1);
    cli_free(&help);
    free(overview);
    free(page);
}

TEST(each_command_has_a_page_with_each_option) {
    each_command(assert_page);
}

TEST(the_program_for_several_hosts_has_a_page) {
    if (!*cli_hosts_program()) skip();
    char *page = read_page("lockbench-hosts");
    assert_has(page, ".SH EXAMPLES\n");
    assert_has(page, "lockbench-hosts launch mpirun --enable-recovery");
    assert_has(page, ".SH EXIT STATUS\n");
    assert_has(page, ".BR lockbench-run (1),\n");
    free(page);
}

/* Fails if an example names an option that the command does not have. */
static void assert_examples(const char *command) {
    struct cli help = cli_run(NULL, ARGS(command, "--help"));
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
    cli_free(&help);
}

TEST(examples_name_options_that_there_are) {
    each_command(assert_examples);
}

static void assert_silent(const char *script) {
    struct cli cli = cli_shell("sh", script);
    if (*cli.out || *cli.err) fail_msg("%s%s", cli.out, cli.err);
    assert_code(&cli, 0);
    cli_free(&cli);
}

TEST(mandoc_has_nothing_to_say) {
    char script[300];
    need_program("mandoc", "mandoc");
    snprintf(script, sizeof script, "mandoc -Tlint -W warning %s/*.1", cli_path("man"));
    assert_silent(script);
}

TEST(groff_has_nothing_to_say) {
    char script[300];
    need_program("groff", "groff-base");
    snprintf(script, sizeof script,
             "for page in %s/*.1; do groff -man -ww -Kutf8 -Tutf8 -z $page; done", cli_path("man"));
    assert_silent(script);
}

TEST(a_folder_that_is_not_there_is_an_error) {
    struct cli cli = cli_run(NULL, ARGS("--man", cli_path("nowhere")));
    assert_code(&cli, 2);
    assert_has(cli.err, "nowhere/lockbench.1: No such file");
    cli_free(&cli);
}

TEST_MAIN(make_pages, cli_teardown)
