/* test_virtual_clock: the clock of the other tests: it jumps to the next timer, whoever waits for it, and wakes each at its
 * moment. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>

#include "bench/base/clock.h"
#include "bench/engine/loop.h"
#include "bench/tests/unit.h"
#include "bench/tests/virtual_clock.h"

static _Atomic int order[4], ordered;

struct sleeper {
    int name;
    int64_t for_ns, late_ns;
};

static void *sleeps(void *arg) {
    struct sleeper *sleeper = arg;
    int64_t due_ns = lb_now() + sleeper->for_ns;
    lb_nap(sleeper->for_ns);
    sleeper->late_ns = lb_now() - due_ns;
    order[ordered++] = sleeper->name;
    return NULL;
}

TEST(threads_wake_in_the_order_of_their_timers) {
    struct sleeper sleepers[] = {{1, 3600 * LB_S_NS, 0}, {2, 1800 * LB_S_NS, 0}, {3, LB_MS_NS, 0}};
    pthread_t threads[3];
    int64_t begin_ns = lb_now();
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, sleeps, &sleepers[i]);
    for (int i = 2; i >= 0; i--) {
        pthread_join(threads[i], NULL);
        assert_int_equal(order[2 - i], i + 1);
        assert_takes(sleepers[i].late_ns, 0);
    }
    assert_takes(lb_now() - begin_ns, 3600 * LB_S_NS);
}

/* A byte that has come is read before the clock jumps. */
static void *reads(void *arg) {
    const int *pair = arg;
    char byte;
    lb_nap(LB_S_NS);
    assert_int_equal(write(pair[1], "x", 1), 1);
    lb_nap(3600 * LB_S_NS);
    assert_int_equal(read(pair[0], &byte, 1), -1); /* it was taken meanwhile */
    return NULL;
}
static void takes(void *arg) {
    const int *pair = arg;
    char byte;
    int64_t due_ns = lb_now() + LB_S_NS;
    assert_int_equal(lb_wait_fd(pair[0], LB_READABLE, lb_now() + 7200 * LB_S_NS), LB_READABLE);
    assert_takes(lb_now() - due_ns, 0);
    assert_int_equal(read(pair[0], &byte, 1), 1);
}
TEST(what_has_come_is_before_what_is_due) {
    int pair[2];
    pthread_t thread;
    struct lb_err err = {0};
    assert_int_equal(pipe2(pair, O_NONBLOCK), 0);
    pthread_create(&thread, NULL, reads, pair);
    assert_int_equal(loop_once("takes", takes, pair, &err), 0);
    pthread_join(thread, NULL);
}

TEST_MAIN(NULL, NULL)
