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

/* Loads a file with this text and these --set's; NULL text = the shipped smoke. */
static struct plan *load(const char *text, const char *locks, const char *const sets[],
                         struct lb_err *err) {
    struct plan_wish wish = {
        .workload = text ? path : "smoke", .folder = folder, .locks = locks, .sets = sets};
    while (sets && wish.set_count < SETS_MAX && sets[wish.set_count]) wish.set_count++;
    if (text) {
        FILE *out = fopen(path, "w");
        fputs(text, out);
        fclose(out);
    }
    return plan_load(&wish, err);
}

#define SETS(...) ((const char *const[SETS_MAX + 1]){__VA_ARGS__})

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
