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

/* tries: SECOND_TRIES, or NULL. As many as there are may run at once: they do nothing. */
static void forget_callers_choice(void *tries) {
    static const char *const names[] = {"T", "QUICK", "QUICK_JOBS", "SECOND_TRIES", "TEST_TIMEOUT"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unsetenv(names[i]);
    setenv("SERVER_JOBS", "20", 1);
    if (tries) setenv("SECOND_TRIES", tries, 1);
}

static struct cli run_runner(const char *tries, const char *const *programs) {
    static char runner[PATH_MAX + 20];
    const char *args[CLI_ARGS_MAX] = {runner, "build"};
    snprintf(runner, sizeof runner, "%s/bench/tests/run", cli_root);
    for (int i = 0; programs[i]; i++) args[i + 2] = programs[i];
    const struct cli_how how = {.program = "/bin/sh",
                                .cwd = folder,
                                .prepare = forget_callers_choice,
                                .arg = (void *)(uintptr_t)tries};
    return cli_run(&how, args);
}

#define FAILED "echo '[  FAILED  ] 1 test(s), listed below:'; exit 1"

struct failing {
    const char *needs, *first;
};

/* All of them in one run, each of which fails at its first start. */
static struct cli run_failing(const char *tries, const struct failing *programs, int count) {
    const char *names[CLI_ARGS_MAX] = {NULL};
    for (int i = 0; i < count; i++) {
        names[i] = cli_path("t/test_%d", i) + strlen(cli_folder) + 1;
        put_program(names[i] + strlen("t/"), programs[i].needs, programs[i].first);
    }
    struct cli run = run_runner(tries, names);
    for (int i = 0; i < count; i++) {
        char says[80];
        snprintf(says, sizeof says, "FAIL %s (exit code", names[i]);
        assert_has(run.out, says);
    }
    return run;
}

TEST(what_is_run_once_more) {
    static const struct failing programs[] = {
        {" Needs: servers", FAILED},
        {" Needs: a browser", FAILED},
        {" Needs: servers", "exit 123"},
        /* output with the word error is no crash: a line of cmocka's, and a program's own words */
        {" Needs: servers", "echo '[  ERROR   ] --- 1 != 2'; echo 'ERROR: it is off';" FAILED},
        {" Needs: servers", "echo 'error: runtime error: none';" FAILED},
    };
    struct cli run = run_failing("5", programs, 5);
    assert_code(&run, 0);
    assert_has(run.out, "5 second tries");
    assert_has(run.out, "5 passed, 0 failed");
    run = run_failing(NULL, programs, 5); /* it forgives four */
    assert_code(&run, 1);
    assert_has(run.out, "too many second tries");
}

TEST(what_is_never_forgiven) {
    static const struct failing programs[] = {
        {"", FAILED},
        {" Needs: servers", "kill -SEGV $$"},
        {" Needs: servers", "kill -ABRT $$"},
        {" Needs: servers", "exit 124"}, /* of timeout: it hung */
        {" Needs: the machine to itself", "kill -KILL $$"},
        {" Needs: servers",
         "echo '[  ERROR   ] --- Test failed with exception: Segmentation fault(11)';" FAILED},
        {" Needs: servers", "echo '==7==ERROR: AddressSanitizer: heap-use-after-free';" FAILED},
        {" Needs: servers", "echo '==7==ERROR: LeakSanitizer: detected memory leaks';" FAILED},
        {" Needs: servers", "echo 'a/b.c:12:3: runtime error: signed integer overflow';" FAILED},
        {" Needs: servers", "echo 'WARNING: ThreadSanitizer: data race (pid=7)';" FAILED},
        {" Needs: servers", "echo 'SUMMARY: UndefinedBehaviorSanitizer: a.c:1';" FAILED},
    };
    struct cli run = run_failing(NULL, programs, 11);
    assert_code(&run, 1);
    assert_lacks(run.out, "second tries");
    assert_has(run.out, "0 passed, 11 failed");
}

/* The parts of the conformance suite: a program that can't list them is a failure, not an empty list. */
TEST(a_suite_without_parts) {
    put_program("test_conform", "", "");
    static const char *const lists[] = {"exit 1", "exit 0", "echo some; echo other; exit 3"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        put_program("test_conform", "", lists[i]);
        struct cli run = run_runner(NULL, ARGS("t/test_conform"));
        assert_code(&run, 1);
        assert_has(run.out, "t/test_conform can't list its parts");
    }
    put_program("test_conform", "", "echo some; echo other servers; exit 0");
    struct cli run = run_runner(NULL, ARGS("t/test_conform"));
    assert_code(&run, 0);
    assert_has(run.out, "ok   t/test_conform some: 1 passed");
    assert_has(run.out, "ok   t/test_conform other: 1 passed");
}

TEST_MAIN(make_folders, cli_teardown)
