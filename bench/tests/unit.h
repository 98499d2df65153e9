/* unit: a test program: cmocka with the headers that it wants before it, those that nearly every
 * test uses, and tests that need no list.
 *
 *     FIXTURE(setup) { return start(); }
 *     TEST(what_is_promised) { assert_true(...); }
 *     TEST_MAIN(setup, NULL)
 *
 * Tests run in the order in which they stand in the file. setup and teardown, of all tests together, may be
 * NULL. A test's argument is `state`, as cmocka's. */
#ifndef BENCH_TESTS_UNIT_H
#define BENCH_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/base/process.h"

static struct CMUnitTest unit_tests[200] __attribute__((unused));
static size_t unit_test_count __attribute__((unused));

/* A setup or teardown, which returns 0 if it succeeded. */
#define FIXTURE(name) static inline int name(void **state __attribute__((unused)))

/* A test with a setup and a teardown of its own; each may be NULL. Constructors of a file run in the
 * order in which they stand there. */
#define TEST_WITH(name, setup, teardown)                                                           \
    static void name(void **state);                                                                \
    __attribute__((constructor)) static void register_##name(void) {                               \
        unit_tests[unit_test_count++] = (struct CMUnitTest){#name, name, setup, teardown, NULL};   \
    }                                                                                              \
    static void name(void **state __attribute__((unused)))

#define TEST(name) TEST_WITH(name, NULL, NULL)

/* What main returns, for a program that has more to do there than TEST_MAIN. */
#define run_all_tests(setup, teardown)                                                             \
    _cmocka_run_group_tests("tests", unit_tests, unit_test_count, setup, teardown)

/* Skips the test, since something is missing here; in CI the test fails. */
__attribute__((format(printf, 1, 2))) static inline void skip_for(const char *format, ...) {
    char why[1000];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    if (in_ci()) fail_msg("%s; CI tests everything", why);
    print_message("[ SKIPPED ] %s\n", why);
    skip();
}

/* Skips the test unless something is there, and says what to install; in CI the test fails. */
static inline void need(bool there, const char *what, const char *install) {
    if (!there) skip_for("%s is missing: install %s", what, install);
}

/* The same for a program of a package. */
static inline void need_program(const char *name, const char *package) {
    char command[100];
    snprintf(command, sizeof command, "command -v %s >/dev/null", name);
    need(system(command) == 0, name, package);
}

#define TEST_MAIN(setup, teardown)                                                                 \
    int main(void) {                                                                               \
        return run_all_tests(setup, teardown);                                                     \
    }

#endif
