/* test_trend_command: `lockbench history` on histories and runs. */
#define _GNU_SOURCE
#include "report/tests/trend_help.h"

TEST(the_command) {
    static const struct mistake mistakes[] = {
        {"$D/none.csv", LB_EXIT_USAGE, "cannot be read as a history"},
        {"report", LB_EXIT_USAGE, "is not a regular file"},
        {"$G/mixed/run.json", LB_EXIT_USAGE, "is no history of lockbench"},
        {"$D/slower.csv --lock nope", LB_EXIT_USAGE, "has no line of lock 'nope'"},
        {"$D/slower.csv --metric acquire_p9", LB_EXIT_USAGE, "acquire_p99"},
        {"$D/slower.csv --metric throughput,acquire_p9", LB_EXIT_USAGE, "no metric 'acquire_p9'"},
        {"$D/slower.csv --metric throughput,", LB_EXIT_USAGE, "no metric ''"},
        {"$D/slower.csv --metric ''", LB_EXIT_USAGE, "the value is missing"},
        {"$D/slower.csv --metric commands --metric throughput", LB_EXIT_USAGE, "history: --metric"},
        {"$D/slower.csv --html --otava $D/otava", LB_EXIT_USAGE, "leave out --html"},
        {"$D/slower.csv --json --otava $D/otava", LB_EXIT_USAGE, "leave out --json"},
        {"$G/mixed --append --out $D/page.html", LB_EXIT_USAGE, "then history --out"},
        {"$G/mixed --append --gate 10", LB_EXIT_USAGE, "then history --gate"},
        {"$G/mixed --append --json", LB_EXIT_USAGE, "then history --json"},
        {"$G/mixed --append --metric throughput", LB_EXIT_USAGE, "then history --metric"},
        {"$G/mixed --append --lock zk-lock", LB_EXIT_USAGE, "then history --lock"},
        {"$G/mixed --append --otava $D/otava", LB_EXIT_USAGE, "then history --otava"},
        {"$G/mixed --append --acks $D/acks", LB_EXIT_USAGE, "then history --acks"},
        {"$D/slower.csv --gate 0", LB_EXIT_USAGE, "history: --gate"},
        {"$D/slower.csv --gate 2", LB_EXIT_USAGE, "history: --gate"},
        {"$D/slower.csv --last ten", LB_EXIT_USAGE, "history: --last"},
        {"$D/slower.csv --min-effect x", LB_EXIT_USAGE, "history: --min-effect"},
        {"$D/slower.csv $D/other.csv", LB_EXIT_USAGE, "shows one file"},
        {"$D/slower.csv --commit a", LB_EXIT_USAGE, "add --append"},
        {"--append", LB_EXIT_USAGE, "history RUN... --append"},
        {"--append --file $D/x.csv /nonexistent", LB_EXIT_USAGE, "/nonexistent"},
        {"--append --file $D/x.csv $D/slower.csv", LB_EXIT_USAGE, "is not sound JSON"},
        {"--append --file $D/run.json $G/mixed", LB_EXIT_USAGE, "run.json:1: has a quoted field"},
        {"--append --file /nonexistent/x $G/mixed", LB_EXIT_MACHINE, "/nonexistent/x"},
        {"--append --file /dev/full $G/mixed", LB_EXIT_USAGE, "/dev/full"},
    };
    char *file = path_of("slower.csv"), *text = slower_text();
    store(file, text);
    free(text);
    char *run = path_of("run.json");
    store(run, "{\"schema\":\"lockbench.run/1\",\"stages\":[]}\n");
    free(run);
    assert_one_line("history", mistakes, sizeof mistakes / sizeof *mistakes);
    assert_int_equal(run_lockbench("history", "$D/slower.csv"), 0);
    assert_int_equal(run_lockbench("history", "$D/slower.csv --gate 15 --json"),
                     LB_EXIT_REGRESSION);
    assert_int_equal(run_lockbench("history", "$D/slower.csv --gate 15 --lock zk-lock --md"),
                     LB_EXIT_INCONCLUSIVE); /* too few runs */
    assert_int_equal(run_lockbench("history", "$D/slower.csv --gate 15 --metric commands"), 0);
    assert_int_equal(
        run_lockbench("history", "$D/slower.csv --gate 15 --metric commands,throughput"),
        LB_EXIT_REGRESSION);
    text = content_of("out");
    has(text, "WORSE: grants/s\n");
    has(text, "commands a grant");
    assert_null(strstr(text, "acquire p50"));
    free(text);
    assert_int_equal(
        run_lockbench("history", "--append $G/mixed $G/clean --file $D/golden.csv --commit abc"),
        0);
    text = content_of("out");
    has(text, "golden.csv: ");
    has(text, "added");
    free(text);
    free(file);
}

/* The command that is printed is one that a shell takes, and the history that is read is not written over. */
TEST(the_command_for_otava) {
    char *otava = path_of("my ot"), *file = path_of("my ot/redis-setnx.c16.1.csv");
    char *text = slower_text(), *wanted;
    assert_int_equal(mkdir(otava, 0777), 0);
    store(file, text);
    assert_int_equal(
        run_lockbench("history", "\"$D/my ot/redis-setnx.c16.1.csv\" --otava \"$D/my ot\""),
        LB_EXIT_USAGE);
    char *said = content_of("err"), *after = read_whole(file);
    has(said,
        "redis-setnx.c16.1.csv: would be written over, and it is the history: name another folder");
    assert_string_equal(after, text);
    free(said);
    free(after);
    assert_int_equal(
        run_lockbench("history", "\"$D/my ot/redis-setnx.c16.1.csv\" --otava \"$D/ot of it\""), 0);
    said = content_of("out");
    char *into = path_of("ot of it");
    assert_true(asprintf(&wanted, "3 series; OTAVA_CONFIG='%s/otava.yaml' otava analyze\n", into) >
                0);
    has(said, wanted);
    free(said);
    free(wanted);
    free(into);
    free(text);
    free(file);
    free(otava);
}

/* The page lies beside its file or where --out says, and the exit code is the gate's as ever. */
TEST(the_commands_page) {
    char *file = path_of("paged.csv"), *text = slower_text();
    store(file, text);
    free(text);
    char *beside = path_of("paged.html");
    assert_int_equal(run_lockbench("history", "$D/paged.csv --no-page"), 0);
    assert_int_equal(run_lockbench("history", "$D/paged.csv --md"), 0);
    assert_int_not_equal(access(beside, F_OK), 0);
    free(beside);
    assert_int_equal(run_lockbench("history", "$D/paged.csv --gate 15"), LB_EXIT_REGRESSION);
    assert_int_equal(run_lockbench("history", "$D/paged.csv --out $D/other.html"), 0);
    static const char *const pages[] = {"paged.html", "other.html"};
    for (int i = 0; i < 2; i++) {
        char *page = content_of(pages[i]), *wrote = content_of("out");
        has(page, "</html>");
        has(wrote, "medians of runs");
        free(wrote);
        free(page);
    }
    free(file);
}

TEST_MAIN(make_folder, remove_folder)
