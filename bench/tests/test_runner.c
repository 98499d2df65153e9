/* test_runner: bench/tests/run, which runs the test programs: what it runs once more, and what it never forgives. Its
 * programs are scripts that fail at their first start. */
#define _GNU_SOURCE
#include "bench/tests/cli_help.h"

static char folder[PATH_MAX]; /* where it runs: .c files in t/, programs in build/t/ */

static int make_folders(void **state) {
    if (cli_setup(state)) return -1;
    snprintf(folder, sizeof folder, "%s", cli_home); /* compose/ is there */
    return mkdir(cli_path("home/t"), 0755) || mkdir(cli_path("home/build"), 0755) ||
           mkdir(cli_path("home/build/t"), 0755);
}

/* A test program that ends so at its first start, and passes from then on. */
static void put_program(const char *name, const char *needs, const char *first) {
    char text[1000];
    snprintf(text, sizeof text, "/* A program.\n *%s. */\n", needs);
    cli_write(cli_path("home/t/%s.c", name), text);
    snprintf(text, sizeof text,
             "#!/bin/sh\n[ -e \"$0.started\" ] || {\n: >\"$0.started\"\n%s\n}\n"
             "echo '[  PASSED  ] 1 test(s).'\n",
             first);
    const char *path = cli_path("home/build/t/%s", name);
    unlink(cli_path("home/build/t/%s.started", name));
    cli_write(path, text);
    assert_int_equal(chmod(path, 0755), 0);
}

static void forget_callers_choice(void *arg) {
    (void)arg;
    static const char *const names[] = {"T",           "QUICK",        "QUICK_JOBS",
                                        "SERVER_JOBS", "SECOND_TRIES", "TEST_TIMEOUT"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unsetenv(names[i]);
}

static struct cli run_runner(const char *program) {
    static char runner[PATH_MAX + 20];
    snprintf(runner, sizeof runner, "%s/bench/tests/run", cli_root);
    const struct cli_how how = {
        .program = "/bin/sh", .cwd = folder, .prepare = forget_callers_choice};
    return cli_run(&how, ARGS(runner, "build", program));
}

#define FAILED "echo '[  FAILED  ] 1 test(s), listed below:'; exit 1"

TEST(what_is_run_once_more) {
    static const struct {
        const char *needs, *first;
        bool again;
    } cases[] = {
        {" Needs: servers", FAILED, true},
        {" Needs: a browser", FAILED, true},
        {" Needs: servers", "exit 123", true},
        /* output with the word error is no crash: a line of cmocka's, and a program's own words */
        {" Needs: servers", "echo '[  ERROR   ] --- 1 != 2'; echo 'ERROR: it is off';" FAILED,
         true},
        {" Needs: servers", "echo 'error: runtime error: none';" FAILED, true},
        {"", FAILED, false},
        {" Needs: servers", "kill -SEGV $$", false},
        {" Needs: servers", "kill -ABRT $$", false},
        {" Needs: servers", "exit 124", false}, /* of timeout: it hung */
        {" Needs: the machine to itself", "kill -KILL $$", false},
        {" Needs: servers",
         "echo '[  ERROR   ] --- Test failed with exception: Segmentation fault(11)';" FAILED,
         false},
        {" Needs: servers", "echo '==7==ERROR: AddressSanitizer: heap-use-after-free';" FAILED,
         false},
        {" Needs: servers", "echo '==7==ERROR: LeakSanitizer: detected memory leaks';" FAILED,
         false},
        {" Needs: servers", "echo 'a/b.c:12:3: runtime error: signed integer overflow';" FAILED,
         false},
        {" Needs: servers", "echo 'WARNING: ThreadSanitizer: data race (pid=7)';" FAILED, false},
        {" Needs: servers", "echo 'SUMMARY: UndefinedBehaviorSanitizer: a.c:1';" FAILED, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_program("test_a", cases[i].needs, cases[i].first);
        struct cli run = run_runner("t/test_a");
        if (run.code != !cases[i].again) fail_msg("%s: %d\n%s", cases[i].first, run.code, run.out);
        assert_has(run.out, "FAIL t/test_a");
        if (cases[i].again) {
            assert_has(run.out, "1 second tries");
            assert_has(run.out, "1 passed, 0 failed");
        } else {
            assert_null(strstr(run.out, "second tries"));
            assert_has(run.out, "0 passed, 1 failed");
        }
        cli_free(&run);
    }
}

/* The parts of the conformance suite: a program that can't list them is a failure, not an empty list. */
TEST(a_suite_without_parts) {
    put_program("test_conform", "", "");
    static const char *const lists[] = {"exit 1", "exit 0", "echo some; echo other; exit 3"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        put_program("test_conform", "", lists[i]);
        struct cli run = run_runner("t/test_conform");
        assert_code(&run, 1);
        assert_has(run.out, "t/test_conform can't list its parts");
        cli_free(&run);
    }
    put_program("test_conform", "", "echo some; echo other servers; exit 0");
    struct cli run = run_runner("t/test_conform");
    assert_code(&run, 0);
    assert_has(run.out, "ok   t/test_conform some: 1 passed");
    assert_has(run.out, "ok   t/test_conform other: 1 passed");
    cli_free(&run);
}

TEST_MAIN(make_folders, cli_teardown)
