/* plan_help: what the tests of plans share: a workload file with a text of theirs, loaded. */
#ifndef BENCH_TESTS_PLAN_HELP_H
#define BENCH_TESTS_PLAN_HELP_H

#include <limits.h>

#include "bench/base/home.h"
#include "bench/tests/unit.h"
#include "bench/workload/plan.h"

static char folder[PATH_MAX];
static char path[] = "/tmp/lockbench-test-XXXXXX.ini";

#define SETS_MAX 6

static struct plan *plans[1000]; /* that were loaded: no test has to free one */
static size_t plan_count;

/* Loads a file with this text and these --set's; NULL text = the shipped smoke. */
static struct plan *load(const char *text, const char *locks, const char *const sets[],
                         struct lb_err *err) {
    struct plan_ask wanted = {
        .workload = text ? path : "smoke", .folder = folder, .locks = locks, .sets = sets};
    while (sets && wanted.set_count < SETS_MAX && sets[wanted.set_count]) wanted.set_count++;
    if (text) {
        FILE *out = fopen(path, "w");
        fputs(text, out);
        fclose(out);
    }
    struct plan *plan = plan_load(&wanted, err);
    assert_true(plan_count < sizeof plans / sizeof *plans);
    return plans[plan_count++] = plan;
}

/* The same of what must not be refused. */
static inline struct plan *taken(const char *text, const char *locks, const char *const sets[]) {
    struct lb_err err = {0};
    struct plan *plan = load(text, locks, sets, &err);
    if (!plan) fail_msg("%s: %s", text ? text : "smoke", err.text);
    return plan;
}

/* A shipped workload. */
static inline struct plan *shipped(const char *name, const char *locks) {
    struct plan_ask wanted = {.workload = name, .folder = folder, .locks = locks};
    struct lb_err err = {0};
    struct plan *plan = plan_load(&wanted, &err);
    if (!plan) fail_msg("%s: %s", name, err.text);
    return plans[plan_count++] = plan;
}

#define SETS(...) ((const char *const[SETS_MAX + 1]){__VA_ARGS__})

/* What --dry-run writes. The caller frees it. */
static inline char *printed(const struct plan *plan) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    plan_print(plan, out);
    fclose(out);
    return text;
}

FIXTURE(find_folder) {
    struct lb_err err = {0};
    int fd = mkstemps(path, 4);
    if (fd < 0) return -1;
    close(fd);
    return home_path("workloads", folder, sizeof folder, &err);
}

FIXTURE(remove_path) {
    return unlink(path);
}

#endif
