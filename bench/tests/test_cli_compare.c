/* Comparisons by the program itself: whole runs in turns against another option, lock, workload and
 * build; what remains after Ctrl-C; and bad input, each with one line of error and the right exit
 * code. */
#define _GNU_SOURCE
#include "bench/tests/cli_help.h"

/* The clients sleep while they hold: what is looked at here is not how busy they are. */
#define QUICK                                                                                      \
    "--set", "run.duration=100ms", "--set", "run.warmup=10ms", "--set", "load.clients=2", "--set", \
        "load.processes=1", "--hold", "1ms"

static int exists(const char *folder, const char *name) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

/* ---- runs in turns ---- */

/* It sleeps for most of its time, so it runs beside the first tests. */
static char slower_folder[200];
static const char *const slower_args[] = {"run",
                                          "smoke",
                                          "--lock",
                                          "sim",
                                          QUICK,
                                          "--repeat",
                                          "8",
                                          "--set",
                                          "run.duration=400ms",
                                          "--set",
                                          "sim.service=20ms",
                                          "--against-set",
                                          "sim.service=1ms",
                                          "--json",
                                          "--out",
                                          slower_folder,
                                          NULL};
static struct cli slower;

static int start_slower(void **state) {
    if (cli_setup(state) != 0) return -1;
    snprintf(slower_folder, sizeof slower_folder, "%s/slower", cli_folder);
    cli_start(&slower, NULL, slower_args);
    return 0;
}

TEST(sides_take_turns) {
    char *out = cli_path("turns");
    struct cli cli = cli_run(NULL, ARGS("run", "smoke", "--lock", "sim", QUICK, "--repeat", "4",
                                        "--against-set", "sim.service=1ms", "--out", out));
    assert_true(cli.code == 0 || cli.code == 4 || cli.code == 5);
    /* A B B A A B B A, each side in its own order */
    static const char *const order[] = {
        "1 of 8: base run 0", "2 of 8: new run 0", "3 of 8: new run 1", "4 of 8: base run 1",
        "5 of 8: base run 2", "6 of 8: new run 2", "7 of 8: new run 3", "8 of 8: base run 3"};
    const char *at = cli.err;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        at = strstr(at, order[i]);
        if (!at) fail_msg("'%s' is not there, or not in this order: %s", order[i], cli.err);
    }
    assert_true(exists(out, "base/03/run.json") && exists(out, "new/03/run.json"));
    assert_false(exists(out, "new/04"));
    assert_has(cli.out, "differs: plan.options.sim.service");
    if (!strstr(cli.out, "left out"))
        assert_has(cli.out, "(4 and 4 samples)"); /* an idle machine */
    json_t *json = cli_json(cli_path("turns/compare.json"));
    assert_string_equal(cli_text_at(json, "schema"), "lockbench.compare/2");
    assert_true(json_is_false(cli_get(json, "partial")));
    assert_int_equal((int)cli_number_at(json, "exit_code"), cli.code);
    /* Other runs are not mixed with these. */
    for (int more = 0; more < 2; more++) {
        struct cli mixed = cli_ends(1, ARGS("run", "smoke", "--lock", "sim", QUICK, "--out", out,
                                            more ? "--repeat" : NULL, "2"));
        assert_has(mixed.err, "there is a compare.json already; name a new folder");
        assert_int_equal(cli_lines(mixed.err), 1);
        assert_false(exists(out, "00") || exists(out, "run.json"));
    }
    struct cli whole = cli_ends(1, ARGS("report", out));
    assert_has(whole.err, "name its base or its new");
    /* The same again from what is saved, and as the hint says it. */
    const char *base = cli_path("turns/base"), *new = cli_path("turns/new");
    struct cli again = cli_run(NULL, ARGS("compare", base, "--", new));
    assert_int_equal(again.code, cli.code);
    assert_string_equal(again.out, cli.out);
    again = cli_run(NULL, ARGS("compare", base, "--", new, "--md"));
    assert_has(again.out, "| median of runs | base | new |");
}

/* What the comparison judges is in the result, in the exit code, and in the command that shows it again. */
TEST(a_comparison_judges_the_figures_that_are_chosen) {
    const char *base = cli_path("chosen/base"), *new = cli_path("chosen/new");
    struct cli cli = cli_run(NULL, ARGS("run", "smoke", "--lock", "sim", QUICK, "--repeat", "1",
                                        "--against-set", "sim.service=1ms", "--out",
                                        cli_path("chosen"), "--metric", "throughput,acquire_p50"));
    assert_true(cli.code == 0 || cli.code == 4 || cli.code == 5);
    assert_has(cli.out, "judged (--metric): throughput,acquire_p50; ");
    assert_has(cli.err, "--md --metric throughput,acquire_p50");
    struct cli again =
        cli_run(NULL, ARGS("compare", base, new, "--metric", "throughput,acquire_p50"));
    assert_int_equal(again.code, cli.code);
    assert_string_equal(again.out, cli.out);
    cli = cli_ends(1, ARGS("compare", base, new, "--metric", "commands", "--metric", "throughput"));
    assert_has(cli.err, "compare: --metric");
}

TEST(what_got_slower_is_found) {
    cli_wait_granted(&slower, NULL, slower_args);
    struct cli cli = slower;
    json_t *json = json_loads(cli.out, 0, NULL);
    assert_non_null(json);
    /* Where a busy machine disturbed more than a median bears, only the costs are judged; what was measured is shown. */
    bool busy =
        cli_number_at(json, "rows.0.base_limited") + cli_number_at(json, "rows.0.new_limited") > 2;
    const char *verdict = cli_text_at(json, "rows.0.figures.throughput.verdict");
    if (cli.code != 5 || !busy) assert_code(&cli, 4);
    if (strcmp(verdict, "inconclusive") != 0 || !busy) assert_string_equal(verdict, "worse");
    assert_true(cli_number_at(json, "rows.0.figures.throughput.shift") < -0.5);
    json_decref(json);
}

TEST(another_build_is_a_base) {
    char *out = cli_path("build");
    struct cli cli = cli_run(NULL, ARGS("run", "smoke", "--lock", "null", QUICK, "--repeat", "1",
                                        "--against", cli_program, "--out", out));
    assert_code(&cli, 5); /* one of a side is too few */
    assert_lacks(cli.out, "differs: plan");
    assert_true(exists(out, "base/00/run.json"));
    /* A program that is no lockbench fails at its first run, and the error names the program. */
    char *fake = cli_path("fake");
    cli_write(fake, "#!/bin/sh\necho 'lockbench: cannot, I am a script' >&2\nexit 2\n");
    chmod(fake, 0755);
    cli = cli_ends(2, ARGS("run", "smoke", "--lock", "null", QUICK, "--repeat", "1", "--against",
                           fake, "--out", cli_path("build-fake")));
    assert_has(cli.err, "base run 0 left no result: cannot, I am a script");
}

TEST(another_lock_and_workload_are_a_base) {
    struct cli cli = cli_ends(5, ARGS("run", "smoke", "--lock", "mem-mutex", QUICK, "--repeat", "1",
                                      "--against-lock", "mem-robust", "--out", cli_path("lock")));
    assert_has(cli.out, "mem-robust -> mem-mutex, 2 clients");
    assert_has(cli.out, "one host");
    assert_has(cli.err, "--lock mem-robust=mem-mutex");
    char *file = cli_path("other.ini");
    cli_write(file, "[load]\nclients = 2\nkeys = 1\narrival = closed\nprocesses = 1\nhold = 0\n"
                    "[run]\nduration = 100ms\nwarmup = 10ms\n");
    cli = cli_ends(5, ARGS("run", "smoke", "--lock", "mem-mutex", QUICK, "--repeat", "1",
                           "--against", file, "--out", cli_path("workload")));
    assert_has(cli.out, "differs: plan.workload.name");
}

/* A promise that the new runs broke is found beside a comparison that can't tell; the base's own
 * promises are not the new runs'. (A busy machine excuses no count, so the promise is about one.) */
TEST(a_broken_promise_is_told_beside_a_comparison) {
    struct cli cli = cli_ends(4, ARGS("run", "smoke", "--lock", "mem-mutex", QUICK, "--repeat", "1",
                                      "--slo", "exclusion.grants<=0", "--against-set",
                                      "run.drain=9s", "--out", cli_path("promise")));
    assert_has(cli.out, "inconclusive");
    char *file = cli_path("promised.ini");
    cli_write(file, "[load]\nclients = 2\nkeys = 1\narrival = closed\nprocesses = 1\nhold = 0\n"
                    "[run]\nduration = 100ms\nwarmup = 10ms\n"
                    "[slo]\npromises = exclusion.grants<=0\n");
    cli = cli_ends(5, ARGS("run", "smoke", "--lock", "mem-mutex", QUICK, "--repeat", "1",
                           "--against", file, "--out", cli_path("promise-of-base")));
}

TEST(runs_alone_can_be_repeated) {
    char *out = cli_path("all alone"), quoted[600];
    struct cli cli = cli_ends(
        0, ARGS("run", "smoke", "--lock", "null,mem-mutex", QUICK, "--repeat", "2", "--out", out));
    assert_true(exists(out, "00/run.json") && exists(out, "01/run.json"));
    assert_has(cli.err, "2 runs saved in");
    snprintf(quoted, sizeof quoted,
             "lockbench report '%s'; against others: lockbench compare '%s' -- ", out, out);
    assert_has(cli.err, quoted);
    /* Old runs are not taken for new ones. */
    cli = cli_ends(1, ARGS("run", "smoke", "--lock", "null", QUICK, "--repeat", "2", "--out", out));
    assert_has(cli.err, "there is a 00/run.json already; name a new folder");
    assert_int_equal(cli_lines(cli.err), 1);
    /* A folder of runs is read alike by all commands that read runs. */
    char *history = cli_path("alone.csv");
    cli = cli_ends(0, ARGS("report", "--full", out));
    assert_has(cli.out, "mem-mutex");
    assert_has(cli.out, "00/run.json");
    assert_has(cli.out, "01/run.json");
    cli = cli_ends(0, ARGS("history", out, "--append", "--file", history));
    assert_has(cli.out, "4 lines added");
    cli = cli_ends(1, ARGS("report", cli_folder));
    assert_has(cli.err, "neither a run nor a folder of runs: no run.json in it");
    /* The folders that --out lies in are made too. */
    cli = cli_ends(0, ARGS("run", "smoke", "--lock", "null", QUICK, "--repeat", "1", "--out",
                           cli_path("parent/of/alone-once")));
    assert_has(cli.err, "\n1 run saved in");
}

/* Sides without a load in common are refused before a server starts, with the difference, and by --dry-run too. */
TEST(what_has_nothing_in_common_is_not_run) {
    char *out = cli_path("early"), *file = cli_path("elsewhere.ini");
    cli_write(file,
              "[load]\nclients = 2\nkeys = 1\narrival = poisson:50/s\nprocesses = 1\nhold = 0\n");
    const struct {
        const char *option, *value, *says;
    } cases[] = {
        {"--against-set", "load.clients=3", "mem-mutex has 3 clients, one key, "},
        {"--against-set", "load.hold=900us", "closed loop, hold 900us, "},
        {"--against", file, "poisson:50/s arrivals, "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int dry = 0; dry < 2; dry++) {
            struct cli cli = cli_ends(1, ARGS("run", "smoke", "--lock", "mem-mutex", QUICK,
                                              "--repeat", "50", cases[i].option, cases[i].value,
                                              "--out", out, dry ? "--dry-run" : NULL));
            assert_has(cli.err, "no stage in common");
            assert_has(cli.err, cases[i].says);
            assert_int_equal(cli_lines(cli.err), 1);
            assert_int_not_equal(access(out, F_OK), 0);
        }
    }
}

static bool has_two(void *out) {
    return exists(out, "new/00/run.json") && exists(out, "base/00/run.json") &&
           exists(out, "new/01");
}

TEST(ctrl_c_keeps_what_is_there) {
    char *out = cli_path("stopped");
    struct cli cli;
    cli_start(&cli, NULL,
              ARGS("run", "smoke", "--lock", "mem-mutex", QUICK, "--repeat", "50", "--against-set",
                   "load.seed=7", "--out", out));
    cli_until(&cli, has_two, out, "a run of each side");
    kill(cli.pid, SIGINT);
    cli_wait(&cli);
    assert_code(&cli, 130);
    assert_has(cli.out, "Partial: interrupted after");
    assert_has(cli.out, "of 100 runs");
    json_t *json = cli_json(cli_path("stopped/compare.json"));
    assert_true(json_is_true(cli_get(json, "partial")));
    cli_assert_nothing_left();
}

/* ---- bad input ---- */

#define STAGE "{\"lock\":\"a\",\"clients\":4,\"status\":\"complete\",\"throughput_per_s\":9}"
#define RUN(stages) "{\"schema\":\"lockbench.run/2\",\"stages\":[" stages "]}"

static char *run_file(const char *name, const char *text) {
    char *path = cli_path("%s.json", name);
    cli_write(path, text);
    return path;
}

/* `compare BASE NEW`: one line that says it, and this exit code. */
static void assert_refused(const char *base, const char *new, const char *says) {
    struct cli cli = cli_ends(1, ARGS("compare", base, new));
    assert_has(cli.err, says);
    assert_int_equal(cli_lines(cli.err), 1);
    assert_string_equal(cli.out, "");
}

TEST(input_that_is_none) {
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "is not sound JSON: the file ends too early"},
        {"{\"schema\":\"lockbench.run/1\",\"stages\":[" STAGE "]}", "(schema lockbench.run/1)"},
        {RUN("{\"lock\":\"b\",\"clients\":4}"), "no stage in common"},
        {RUN("{\"lock\":\"a\",\"clients\":5}"), "no stage in common"},
    };
    char *good = run_file("good", RUN(STAGE));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *bad = run_file("bad", cases[i].text);
        assert_refused(good, bad, cases[i].says);
        assert_refused(bad, good, cases[i].says);
    }
    assert_refused(good, cli_path("nowhere.json"), "cannot be read as a result (No such file");
    char *folder = cli_path("no-runs");
    mkdir(folder, 0755);
    assert_refused(good, folder, "neither a run nor a folder of runs: no run.json in it");
    assert_refused(good, good, "is on both sides");
    char *twice = cli_path("./good.json"); /* the same by another name */
    assert_refused(good, twice, "is on both sides");
    struct cli cli = cli_ends(1, ARGS("compare", good, twice, "--", run_file("new", RUN(STAGE))));
    assert_has(cli.err, "is named twice on one side");
}

TEST(one_repeat_and_parts_of_runs_are_inconclusive) {
    char *good = run_file("one", RUN(STAGE));
    struct cli cli = cli_ends(5, ARGS("compare", good, run_file("two", RUN(STAGE))));
    assert_has(cli.out, "inconclusive: too few samples");
    char *part = run_file(
        "part", "{\"schema\":\"lockbench.run/2\",\"partial\":true,\"stages\":["
                "{\"lock\":\"a\",\"clients\":4,\"status\":\"partial\",\"throughput_per_s\":9}]}");
    cli = cli_ends(5, ARGS("compare", good, part));
    assert_has(cli.out, "1 of the runs is partial");
}

/* The page is beside the new run, or where --out says, and its path is the last line; a named place that
 * can't be written is an error, any other one a line, and the table is printed all the same. */
TEST(a_page_is_written_and_its_path_printed) {
    char *base = run_file("page-base", RUN(STAGE)), *new = run_file("page-new", RUN(STAGE)),
         said[300];
    unlink(cli_path("compare.html")); /* of other tests */
    struct cli cli = cli_run(NULL, ARGS("compare", base, new, "--no-page"));
    assert_string_equal(cli.err, "");
    cli = cli_run(NULL, ARGS("compare", base, new, "--md"));
    assert_string_equal(cli.err, "");
    assert_int_not_equal(access(cli_path("compare.html"), F_OK), 0);
    cli = cli_run(NULL, ARGS("compare", base, new));
    snprintf(said, sizeof said, "%s\n", cli_path("compare.html"));
    assert_string_equal(cli.err, said);
    assert_has(cli.out, "median of stages");
    assert_int_equal(access(cli_path("compare.html"), R_OK), 0);
    cli = cli_run(NULL, ARGS("compare", base, new, "--out", cli_path("other.html")));
    assert_has(cli.err, cli_path("other.html"));
    assert_has(cli_text(cli_path("other.html")), "</html>");
    cli = cli_ends(LB_EXIT_MACHINE,
                   ARGS("compare", base, new, "--out", cli_path("nowhere/page.html")));
    assert_has(cli.err, "the page could not be written");
    assert_has(cli.out, "median of stages");
    unlink(cli_path("compare.html"));
    mkdir(cli_path("compare.html"), 0700);
    cli = cli_ends(LB_EXIT_INCONCLUSIVE, ARGS("compare", base, new));
    assert_has(cli.err, "the page could not be written");
    rmdir(cli_path("compare.html"));
}

TEST(too_many_stages_are_refused) {
    char *good = run_file("small", RUN(STAGE)), *path = cli_path("many.json");
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs("{\"schema\":\"lockbench.run/2\",\"stages\":[", file);
    for (int i = 0; i < 20001; i++) fputs(i ? ",{\"lock\":\"a\",\"clients\":4}" : STAGE, file);
    fputs("]}", file);
    assert_int_equal(fclose(file), 0);
    struct cli cli = cli_ends(1, ARGS("compare", good, path));
    assert_has(cli.err, "has 20001 stages; at most 20000 can be read");
    unlink(path);
}

TEST_MAIN(start_slower, cli_teardown)
