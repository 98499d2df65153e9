/* Tests of awake: one process a processor, of the class that gives way, gone at the end, however it comes. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/base/clock.h"
#include "bench/run/awake.h"
#include "bench/servers/proc.h"

#define PATIENCE_NS (20 * LB_S_NS)

static void nap(void) {
    usleep(2000);
}

static int processors(void) {
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    return CPU_COUNT(&set);
}

/* Of the processes below one, those that run in the idle class; all: how many there are at all. */
static int idle_below(pid_t root, int *ret_all) {
    int count = 0, idle = 0;
    struct proc *tree = proc_tree(&root, 1, &count);
    *ret_all = 0;
    for (int i = 0; tree && i < count; i++) {
        if (tree[i].pid == root || tree[i].state == 'Z') continue;
        (*ret_all)++;
        idle += sched_getscheduler(tree[i].pid) == SCHED_IDLE;
    }
    free(tree);
    return idle;
}

static void assert_awake(pid_t root) {
    int64_t limit_ns = lb_now() + PATIENCE_NS;
    int all = 0;
    while (idle_below(root, &all) < processors() && lb_now() < limit_ns) nap();
    assert_int_equal(idle_below(root, &all), processors());
    assert_int_equal(all, processors());
}

static struct awake *begin_or_skip(void) {
    struct lb_err err = {0};
    struct awake *awake = awake_begin(&err);
    if (awake) return awake;
    print_message("SKIPPED: %s\n", err.text);
    skip();
    return NULL;
}

static void assert_gone(const pid_t *pids, int count) {
    int64_t limit_ns = lb_now() + PATIENCE_NS;
    for (int i = 0; i < count; i++) {
        while (proc_runs(pids[i]) && lb_now() < limit_ns) nap();
        assert_false(proc_runs(pids[i]));
    }
}

/* The processes below one, into pids. Returns how many. */
static int below(pid_t root, pid_t pids[CPU_SETSIZE]) {
    int count = 0, found = 0;
    struct proc *tree = proc_tree(&root, 1, &count);
    assert_non_null(tree);
    for (int i = 0; i < count && found < CPU_SETSIZE; i++) {
        if (tree[i].pid != root) pids[found++] = tree[i].pid;
    }
    free(tree);
    return found;
}

static void each_processor_has_one_until_the_end(void **state) {
    (void)state;
    pid_t pids[CPU_SETSIZE];
    struct awake *awake = begin_or_skip();
    assert_awake(getpid());
    int found = below(getpid(), pids);
    assert_int_equal(found, processors());
    awake_end(awake);
    assert_gone(pids, found);
    awake_end(NULL);
}

static void they_die_with_whom_they_serve(void **state) {
    (void)state;
    awake_end(begin_or_skip());
    pid_t pids[CPU_SETSIZE], parent = fork();
    if (parent == 0) {
        struct lb_err err = {0};
        awake_begin(&err);
        for (;;) pause();
    }
    assert_awake(parent);
    int found = below(parent, pids);
    assert_int_equal(found, processors());
    kill(parent, SIGKILL);
    waitpid(parent, NULL, 0);
    assert_gone(pids, found);
}

static void a_quota_is_told_from_none(void **state) {
    (void)state;
    assert_true(awake_is_quota("200000 100000\n"));
    assert_true(awake_is_quota("50000\n"));
    assert_false(awake_is_quota("max 100000\n"));
    assert_false(awake_is_quota("-1\n"));
    assert_false(awake_is_quota(""));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_processor_has_one_until_the_end),
        cmocka_unit_test(they_die_with_whom_they_serve),
        cmocka_unit_test(a_quota_is_told_from_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
