/* test_cli: `lockbench report` as people call it: exit codes, one line for what is wrong, files
 * written whole.
 *
 * Needs the program: LOCKBENCH_PROGRAM, which the test runner sets. Without it the test is
 * skipped. */

#include <dirent.h>

#include "report/tests/report_help.h"

#define GOLDEN "report/tests/golden"

TEST(test_what_is_wrong_gets_one_line) {
    static const struct mistake mistakes[] = {
        {"/nonexistent", LB_EXIT_USAGE, "name the folder of a lockbench run, or its run.json"},
        {"--format md $G/mixed", LB_EXIT_USAGE, "--full, --md, --csv, --json or --html"},
        {"--htlm $G/mixed", LB_EXIT_USAGE, "--html"},
        {"--html $G/mixed $G/clean", LB_EXIT_USAGE, "--out FILE"},
        {"$G/mixed report/README.md", LB_EXIT_USAGE, "is not sound JSON"},
        {"report", LB_EXIT_USAGE, "report: neither a run nor a folder of runs"},
        {"$G/mixed --out /nonexistent/x", LB_EXIT_MACHINE, "/nonexistent/x"},
        {"$G/mixed --html --out /dev/full", LB_EXIT_MACHINE, "/dev/full"},
        {"$G/mixed --out", LB_EXIT_USAGE, "--out"},
        {"$G/decide $G/decide", LB_EXIT_USAGE, "decide/run.json: the same run is named twice"},
        {"$G/mixed $G/clean $G/../golden/mixed/run.json", LB_EXIT_USAGE, "is named twice"},
        {"$G/check/kept $G/mixed", LB_EXIT_USAGE, "is a check's result, which is shown alone"},
        {"$G/check/kept $G/check/faults", LB_EXIT_USAGE,
         "is a check's result, which is shown alone"},
        {"$G/check/kept --html --out /dev/full", LB_EXIT_MACHINE, "/dev/full"},
        {"$G/check/kept --csv", LB_EXIT_USAGE, "--csv is for runs"},
        {"$G/decide/capacity.json --csv", LB_EXIT_USAGE, "--csv is for runs"},
    };
    assert_one_line("report", mistakes, sizeof mistakes / sizeof *mistakes);
}

static char *json_of(const char *run) {
    struct lb_err err = {0};
    struct report *report = report_load(&run, 1, &err);
    assert_non_null(report);
    char *text = render(report, REPORT_JSON, false);
    report_free(report);
    return text;
}

TEST(test_formats_and_places) {
    static const struct {
        const char *words, *file;
        const char *golden; /* NULL: the JSON of the run mixed, which test_golden looks at */
    } cases[] = {
        {"$G/mixed", "out", "mixed.table"},
        {"$G/mixed --md", "out", "mixed.md"},
        {"--csv $G/mixed/run.json", "out", "mixed.csv"},
        {"$G/mixed/ --json --out $D/x.json", "x.json", NULL},
        {"$G/mixed $G/clean --out -", "out", "both.table"},
        {"$G/check/kept", "out", "check/kept.table"},
        {"$G/check/kept/ --md", "out", "check/kept.md"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[256];
        assert_int_equal(run_lockbench("report", cases[i].words), 0);
        snprintf(path, sizeof path, GOLDEN "/%s", cases[i].golden);
        char *text = content_of(cases[i].file), *err = content_of("err");
        char *expected = cases[i].golden ? read_whole(path) : json_of(GOLDEN "/mixed/");
        assert_non_null(expected);
        assert_string_equal(text, expected);
        assert_string_equal(err, "");
        free(text);
        free(expected);
        free(err);
    }
}

/* Runs these words of a shell in the test's folder. */
static void in_folder(const char *words) {
    char line[512];
    snprintf(line, sizeof line, "cd %s && { %s; }", folder, words);
    const char *const argv[] = {"sh", "-c", line, NULL};
    assert_int_equal(run_command(argv, NULL), 0);
}

/* Copies the pipe "fifo" into "piped"; gives up if nobody writes. */
static pid_t start_reader(void) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid != 0) return pid;
    in_folder("timeout 20 cat fifo >piped");
    _exit(0);
}

/* A link, a pipe and the program's own output stay what they are, for each command with --out; a link
 * to nothing is one to the page then. */
TEST(test_out_replaces_files_only) {
    static const struct {
        const char *command, *words, *page;
    } cases[] = {
        {"report", "$G/clean --html --out $D/link", "file"},
        {"report", "$G/clean --html --out $D/nowhere", "made"},
        {"report", "$G/clean --html --out $D/fifo", "piped"},
        {"report", "$G/clean --html --out $D/out", "out"},
        {"compare", "$G/clean -- $G/mixed --out $D/link", "file"},
        {"compare", "$G/clean -- $G/mixed --out $D/nowhere", "made"},
        {"compare", "$G/clean -- $G/mixed --out $D/fifo", "piped"},
        {"compare", "$G/clean -- $G/mixed --out $D/out", "out"},
        {"history", "--file $D/lines.csv --out $D/link", "file"},
        {"history", "--file $D/lines.csv --out $D/nowhere", "made"},
        {"history", "--file $D/lines.csv --out $D/fifo", "piped"},
    };
    assert_int_equal(run_lockbench("history", "--append $G/clean --file $D/lines.csv"), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        in_folder("rm -f link fifo file nowhere made piped; : >file; ln -s file link; "
                  "ln -s made nowhere; mkfifo fifo");
        pid_t reader = strstr(cases[i].words, "fifo") ? start_reader() : 0;
        int code = run_lockbench(cases[i].command, cases[i].words);
        if (reader) waitpid(reader, NULL, 0);
        char *page = content_of(cases[i].page);
        if (!strstr(page, "</html>"))
            fail_msg("%s %s: exit code %d, no page in %s", cases[i].command, cases[i].words, code,
                     cases[i].page);
        free(page);
        in_folder("test -h link && test -h nowhere && test -p fifo");
    }
}

/* --out may not name what it is made from, by whatever path. */
TEST(test_out_spares_what_was_read) {
    static const struct mistake reports[] = {
        {"$D/own --out $D/own/run.json", LB_EXIT_USAGE, "would replace"},
        {"$D/own --html --out $D/linked", LB_EXIT_USAGE, "would replace"},
        {"$G/mixed $D/own/run.json --md --out $D/own/../own/run.json", LB_EXIT_USAGE, "replace"},
        {"$D/kept --out $D/kept/check.json", LB_EXIT_USAGE, "would replace"},
    };
    static const struct mistake compares[] = {
        {"$D/own -- $G/mixed --out $D/own/run.json", LB_EXIT_USAGE, "would replace"},
        {"$G/mixed -- $D/own --out $D/linked", LB_EXIT_USAGE, "would replace"},
    };
    static const struct mistake histories[] = {
        {"--file $D/spared.csv --out $D/spared.csv", LB_EXIT_USAGE, "would replace"},
        {"--file $D/spared.csv --out $D/hard", LB_EXIT_USAGE, "would replace"},
    };
    assert_int_equal(run_lockbench("history", "--append $G/clean --file $D/spared.csv"), 0);
    in_folder("cp -r \"$OLDPWD/" GOLDEN "/clean\" own && cp -r \"$OLDPWD/" GOLDEN
              "/check/kept\" . && ln -s own/run.json linked && ln spared.csv hard");
    assert_one_line("report", reports, sizeof reports / sizeof *reports);
    assert_one_line("compare", compares, sizeof compares / sizeof *compares);
    assert_one_line("history", histories, sizeof histories / sizeof *histories);
    assert_int_equal(run_lockbench("report", "$D/own --html --out $D/own/page.html"), 0);
    in_folder("rm -r own kept linked hard spared.csv");
}

/* Names of folders in any letters, cut anywhere, and ones that are no UTF-8: the page and the JSON are
 * made, and can be read. */
TEST(test_names_in_any_letters) {
    static const char *const words[][2] = {
        {"compare", "$D/ax* -- $G/mixed --out $D/page.html"},
        {"compare", "$D/by* -- $G/mixed --out $D/page.html"},
        {"compare", "$G/mixed -- $D/by* $D/ax* --out $D/page.html"},
        {"compare", "$D/cz* -- $G/mixed --out $D/page.html"},
        {"report", "$D/ax* --html --out $D/page.html"},
        {"report", "$D/cz* --html --out $D/page.html"},
        {"report", "$D/cz* --json --out $D/page.html"},
    };
    in_folder("for name in ax byy; do cp -r \"$OLDPWD/" GOLDEN
              "/clean\" $name$(printf '\303\244%.0s' $(seq 100)); done; cp -r \"$OLDPWD/" GOLDEN
              "/clean\" \"$(printf 'cz\377\303')\"");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        int code = run_lockbench(words[i][0], words[i][1]);
        char *err = content_of("err"), *page = content_of("page.html");
        json_t *text = json_string(page);
        if (code == LB_EXIT_MACHINE || strstr(err, "lockbench: ") || !text || !*page)
            fail_msg("%s %s: exit code %d: %s", words[i][0], words[i][1], code, err);
        json_decref(text);
        free(page);
        free(err);
        in_folder("rm page.html");
    }
    in_folder("rm -r ax* by* cz*");
}

/* What was found is graver than a page that can't be written, which is told nevertheless. */
TEST(test_a_finding_is_graver_than_a_page) {
    static const char violated[] =
        "sed -i 's/,,clean,/,,violated,/' found.csv && grep -q ',violated,' found.csv";
    assert_int_equal(run_lockbench("history", "--append $G/clean --file $D/found.csv"), 0);
    assert_int_equal(run_lockbench("history", "--file $D/found.csv --gate 4 --out /nonexistent/x"),
                     LB_EXIT_MACHINE);
    in_folder(violated);
    assert_int_equal(run_lockbench("history", "--file $D/found.csv --gate 4 --out /nonexistent/x"),
                     LB_EXIT_VIOLATED);
    char *err = content_of("err");
    has(err, "lockbench: the page could not be written: /nonexistent/x");
    free(err);
    assert_int_equal(run_lockbench("compare", "$G/clean -- $G/mixed --out /nonexistent/x"),
                     LB_EXIT_VIOLATED);
    err = content_of("err");
    has(err, "lockbench: the page could not be written: /nonexistent/x");
    free(err);
}

/* The page lands beside its run, and nothing else is left there. */
TEST(test_a_page_beside_its_run) {
    static const char clean[] = GOLDEN "/clean";
    const char *const copy[] = {"cp", "-r", clean, folder, NULL};
    char path[256];
    int entries = 0;
    assert_int_equal(run_command(copy, NULL), 0);
    assert_int_equal(run_lockbench("report", "--html $D/clean"), 0);
    assert_int_equal(run_lockbench("report", "--html $D/clean"), 0);
    char *page = content_of("clean/report.html");
    assert_non_null(strstr(page, "</html>"));
    free(page);
    snprintf(path, sizeof path, "%s/clean", folder);
    DIR *dir = opendir(path);
    assert_non_null(dir);
    while (readdir(dir)) entries++;
    closedir(dir);
    assert_int_equal(entries, 4); /* ., .., run.json, report.html */
}

/* A check's page lands beside it; one that was cut off in the middle is an error of one line. */
TEST(test_a_check) {
    static const char kept[] = GOLDEN "/check/kept";
    const char *const copy[] = {"cp", "-r", kept, folder, NULL};
    assert_int_equal(run_command(copy, NULL), 0);
    assert_int_equal(run_lockbench("report", "--html $D/kept"), 0);
    char *page = content_of("kept/report.html");
    assert_non_null(strstr(page, "</html>"));
    assert_non_null(strstr(page, "table class=\"matrix\""));
    free(page);
    const char *const cut[] = {"sh", "-c", "head -c 900 \"$0/kept/check.json\" >\"$0/cut.json\"",
                               folder, NULL};
    assert_int_equal(run_command(cut, NULL), 0);
    assert_int_equal(run_lockbench("report", "$D/cut.json"), LB_EXIT_USAGE);
    char *err = content_of("err");
    assert_non_null(strstr(err, "cut.json:"));
    assert_non_null(strstr(err, "the file ends too early"));
    assert_ptr_equal(strchr(err, '\n'), err + strlen(err) - 1);
    free(err);
}

/* By its folder or its file, in every format; beside other runs it is the run of its probes. */
TEST(test_a_saved_search_for_capacity) {
    static const struct {
        const char *words, *says;
    } cases[] = {
        {"$G/decide", "360 .. 425"},
        {"$G/decide/capacity.json", "360 .. 425"},
        {"$G/decide --md", "| 390/s | 360 .. 425 |"},
        {"$G/decide --json", "\"schema\": \"lockbench.capacity/2\""},
        {"$G/decide --html --out -", "redis-setnx carries 390/s"},
        {"$G/decide/run.json", "Ran: decide"},
        {"$G/decide $G/clean", "Run A: decide"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int code = run_lockbench("report", cases[i].words);
        char *err = content_of("err"), *out = content_of("out");
        if (code != 0 || !strstr(out, cases[i].says))
            fail_msg("report %s: exit code %d, \"%s\": %s", cases[i].words, code, err, out);
        free(out);
        free(err);
    }
}

/* The stored search is what lockbench may write. */
TEST(test_the_stored_search_keeps_to_the_schema) {
    const char *const argv[] = {"node", "report/tests/validate.mjs",
                                ".build/schema/capacity.schema.json",
                                GOLDEN "/decide/capacity.json", NULL};
    need_validator();
    assert_int_equal(run_command(argv, NULL), 0);
}

TEST_MAIN(make_folder, remove_folder)
