/* test_cli: `lockbench report`, `compare`, `history` and `plan` as people call them, on stored results, which make_run.mjs
 * and make_check.mjs made; `default` is a short `lockbench run`, without series. The command lines are in commands.txt:
 *
 *     % words   words of a shell in the test's folder, which must succeed; $G has the stored results
 *     $ words   arguments of lockbench, as a shell reads them; $D is the test's folder
 *     = CODE    its exit code; without the line 0. With 2 it says why in one line, and with 1 prints nothing else
 *     ! words   standard error has them
 *     > words   standard output has them
 *     @ FILE    standard output is this file of golden/: after a wanted change UPDATE_GOLDEN=1 stores it; then read the
 *               diff. A .table is one screen
 *
 * Needs the program: LOCKBENCH_PROGRAM, which the test runner sets. Without it the test is
 * skipped. */
#include "report/tests/report_help.h"

#define GOLDEN "report/tests/golden/"

/* The command of the line that was read last. */
static struct {
    int line, code, wanted;
    char *out, *err;
} now;

static int wrong, commands;

static void complain(const char *line) {
    print_error("commands.txt:%d: exit code %d, lacks: %s\n%s%.2000s\n", now.line, now.code, line,
                now.err, now.out);
    wrong++;
}

static void end_command(void) {
    if (!now.line) return;
    bool is_one_line = strchr(now.err, '\n') == now.err + strlen(now.err) - 1;
    if (now.code != now.wanted) complain("the exit code");
    if (now.code == LB_EXIT_USAGE && *now.out) complain("nothing on standard output");
    if ((now.code == LB_EXIT_USAGE || now.code == LB_EXIT_MACHINE) && !is_one_line)
        complain("one line on standard error");
    free(now.out);
    free(now.err);
    memset(&now, 0, sizeof now);
}

/* Runs these words of a shell in the test's folder. */
static void in_folder(const char *words, int number) {
    const char *const argv[] = {"sh",   "-c",  "G=$PWD/" GOLDEN "; cd \"$0\" && eval \"$1\"",
                                folder, words, NULL};
    if (run_command(argv, NULL)) fail_msg("commands.txt:%d: %s", number, words);
}

static void same_as_golden(const char *name) {
    char path[256];
    snprintf(path, sizeof path, GOLDEN "%s", name);
    same_as_stored(path, now.out);
    if (!strstr(name, ".table")) return;
    assert_lines_fit(now.out);
    if (count_of(now.out, "\n") > 40) complain("an end after 40 lines");
}

static void follow(const char *line, int number) {
    const char *words = *line ? line + 2 : line;
    if (*line == '%' || *line == '$' || !*line) end_command();
    if (*line == '%') in_folder(words, number);
    if (*line == '$') {
        now.code = run_lockbench("", words);
        now.line = number;
        now.out = content_of("out");
        now.err = content_of("err");
    }
    if (*line == '=') now.wanted = atoi(words);
    if (*line == '!' && !strstr(now.err, words)) complain(line);
    if (*line == '>' && !strstr(now.out, words)) complain(line);
    if (*line == '@') same_as_golden(words);
    if (*line && !strchr("%$=!>@#", *line)) fail_msg("commands.txt:%d: %s", number, line);
    commands += *line == '$';
}

TEST(each_command_line_does_what_its_transcript_tells) {
    char *text = read_whole("report/tests/commands.txt"), *rest = text;
    int number = 1;
    assert_non_null(text);
    for (char *line; (line = strsep(&rest, "\n")); number++) follow(line, number);
    end_command();
    free(text);
    if (wrong) fail_msg("%d are not as told", wrong);
    assert_true(commands > 70);
}

/* Programs get check.json itself. */
TEST(the_json_of_a_check_is_its_file) {
    assert_int_equal(run_lockbench("report", "$G/check/faults --json"), 0);
    char *text = content_of("out");
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    json_t *file = json_load_file(GOLDEN "check/faults/check.json", 0, NULL);
    assert_true(json_equal(root, file));
    json_decref(root);
    json_decref(file);
    free(text);
}

/* The stored search is what lockbench may write. */
TEST(the_stored_search_keeps_to_the_tables) {
    const char *const argv[] = {"node", "report/tests/validate.mjs", "capacity.json",
                                GOLDEN "decide/capacity.json", NULL};
    need_program("node", "nodejs");
    assert_int_equal(run_command(argv, NULL), 0);
}

TEST_MAIN(make_folder, remove_folder)
