/* test_loop: fibers, timers, sockets and the cut-off of bench/engine. */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

#include "bench/engine/loop.h"
#include "bench/tests/unit.h"
#include "bench/tests/virtual_clock.h"

struct trace {
    char text[256];
    int a, b;
    _Atomic int64_t cutoff_ns;
    struct lb_fiber *fiber;
    int ready;
};

static void note(struct trace *trace, const char *word) {
    strcat(trace->text, word);
}

static void run_fibers(struct trace *trace, void (*first)(void *), void (*second)(void *)) {
    struct lb_err err = {0};
    struct loop_config config = {.cutoff_ns = trace->cutoff_ns ? &trace->cutoff_ns : NULL};
    struct loop *loop = loop_new(&config, &err);
    assert_non_null(loop);
    assert_non_null(loop_start_fiber(loop, "first", first, trace));
    if (second) assert_non_null(loop_start_fiber(loop, "second", second, trace));
    loop_run(loop);
    loop_free(loop);
}

static void sleeps_long(void *arg) {
    int64_t when = lb_now() + 20 * LB_MS_NS;
    assert_true(lb_sleep_until(when));
    assert_takes(lb_now() - when, 0);
    note(arg, "long");
}
static void sleeps_short(void *arg) {
    int64_t when = lb_now() + 5 * LB_MS_NS;
    assert_true(lb_sleep_until(when));
    note(arg, "short,");
    assert_true(lb_sleep_until(lb_now() - 1)); /* the past: at once */
}
TEST(test_timers_fire_in_order) {
    struct trace trace = {0};
    run_fibers(&trace, sleeps_long, sleeps_short);
    assert_string_equal(trace.text, "short,long");
}

static void reads(void *arg) {
    struct trace *trace = arg;
    char c;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(lb_wait_fd(trace->a, LB_READABLE, LB_NEVER), LB_READABLE);
        assert_int_equal(read(trace->a, &c, 1), 1);
        note(trace, "r");
    }
    /* Nothing comes: the deadline ends it. */
    assert_int_equal(lb_wait_fd(trace->a, LB_READABLE, lb_now() + 2 * LB_MS_NS), 0);
    /* Two bytes come while nobody waits: the next wait sees them at once, also when only one was
     * read. */
    assert_true(lb_sleep_until(lb_now() + 30 * LB_MS_NS));
    assert_int_equal(lb_wait_fd(trace->a, LB_READABLE, LB_NEVER), LB_READABLE);
    assert_int_equal(read(trace->a, &c, 1), 1);
    assert_int_equal(lb_wait_fd(trace->a, LB_READABLE, LB_NEVER), LB_READABLE);
    assert_int_equal(read(trace->a, &c, 1), 1);
    /* The other end hangs up. */
    int ready = lb_wait_fd(trace->a, LB_READABLE, LB_NEVER);
    assert_true(ready & (LB_READABLE | LB_HANGUP));
    assert_int_equal(read(trace->a, &c, 1), 0);
    lb_fd_forget(trace->a);
    close(trace->a);
    note(trace, "end");
}
static void writes(void *arg) {
    struct trace *trace = arg;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(write(trace->b, "x", 1), 1);
        assert_true(lb_sleep_until(lb_now() + LB_MS_NS));
    }
    assert_true(lb_sleep_until(lb_now() + 15 * LB_MS_NS));
    assert_int_equal(write(trace->b, "xx", 2), 2);
    assert_true(lb_sleep_until(lb_now() + 60 * LB_MS_NS));
    close(trace->b);
}
TEST(test_level_triggered_wait) {
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    struct trace trace = {.a = pair[0], .b = pair[1]};
    run_fibers(&trace, reads, writes);
    assert_string_equal(trace.text, "rrrend");
}

static void edge_reads(void *arg) {
    struct trace *trace = arg;
    char buffer[64];
    assert_int_equal(lb_wait_edge(trace->a, LB_READABLE, LB_NEVER), LB_READABLE);
    assert_int_equal(read(trace->a, buffer, sizeof buffer), 1);
    /* Comes while nobody waits: kept for the next wait. */
    assert_true(lb_sleep_until(lb_now() + 30 * LB_MS_NS));
    assert_int_equal(lb_wait_edge(trace->a, LB_READABLE, LB_NEVER), LB_READABLE);
    assert_int_equal(read(trace->a, buffer, sizeof buffer), 2);
    /* Fill the other direction, then wait to write. */
    memset(buffer, 'y', sizeof buffer);
    while (write(trace->a, buffer, sizeof buffer) > 0) {
    }
    assert_int_equal(errno, EAGAIN);
    note(trace, "full,");
    trace->ready = 1;
    assert_true(lb_wait_edge(trace->a, LB_WRITABLE, LB_NEVER) & LB_WRITABLE);
    note(trace, "room");
    lb_fd_forget(trace->a);
    close(trace->a);
}
static void edge_writes(void *arg) {
    struct trace *trace = arg;
    char buffer[4096];
    assert_int_equal(write(trace->b, "x", 1), 1);
    assert_true(lb_sleep_until(lb_now() + 10 * LB_MS_NS));
    assert_int_equal(write(trace->b, "xx", 2), 2);
    while (!trace->ready) assert_true(lb_sleep_until(lb_now() + LB_MS_NS));
    while (read(trace->b, buffer, sizeof buffer) > 0) {
    }
    assert_true(lb_sleep_until(lb_now() + LB_MS_NS));
    close(trace->b);
}
TEST(test_edge_triggered_wait) {
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    struct trace trace = {.a = pair[0], .b = pair[1]};
    run_fibers(&trace, edge_reads, edge_writes);
    assert_string_equal(trace.text, "full,room");
}

/* A library that closes its socket and opens another of the same number between two waits. */
static void any_waits(void *arg) {
    struct trace *trace = arg;
    for (int round = 0; round < 3; round++) {
        int one[2], two[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, one), 0);
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, two), 0);
        assert_int_equal(write(two[1], "x", 1), 1);
        struct lb_poll polls[2] = {{.fd = one[0], .events = LB_READABLE},
                                   {.fd = two[0], .events = LB_READABLE}};
        assert_int_equal(lb_wait_any(polls, 2, LB_NEVER), 1);
        assert_int_equal(polls[0].ready, 0);
        assert_int_equal(polls[1].ready, LB_READABLE);
        assert_int_equal(lb_wait_any(polls, 1, lb_now() + LB_MS_NS), 0);
        for (int i = 0; i < 2; i++) {
            close(one[i]);
            close(two[i]);
        }
        note(trace, "ok,");
    }
}
TEST(test_wait_any_with_reused_numbers) {
    struct trace trace = {0};
    run_fibers(&trace, any_waits, NULL);
    assert_string_equal(trace.text, "ok,ok,ok,");
}

static void helper(void *arg) {
    struct trace *trace = arg;
    note(trace, "help,");
    trace->ready = lb_wait_fd(trace->a, LB_READABLE, LB_NEVER);
    note(trace, "woken,");
}
static void spawns(void *arg) {
    struct trace *trace = arg;
    struct lb_fiber *fiber = lb_start_fiber("helper", helper, trace);
    assert_non_null(fiber);
    assert_true(lb_sleep_until(lb_now() + LB_MS_NS));
    lb_wake(fiber);
    lb_join(fiber);
    note(trace, "joined");
}
TEST(test_start_wake_join) {
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    struct trace trace = {.a = pair[0]};
    run_fibers(&trace, spawns, NULL);
    assert_string_equal(trace.text, "help,woken,joined");
    assert_int_equal(trace.ready, LB_WOKEN);
    close(pair[0]);
    close(pair[1]);
}

static void sleeps_for_ever(void *arg) {
    assert_false(lb_sleep_until(LB_NEVER));
    assert_in_range(lb_now() - ((struct trace *)arg)->cutoff_ns, 0, 100 * LB_MS_NS);
    assert_true(lb_stopping());
    /* From now on each wait ends at once. */
    assert_false(lb_sleep_until(LB_NEVER));
    note(arg, "cut,");
    /* But not a shielded one. */
    loop_shield(true);
    assert_false(lb_stopping());
    int64_t when = lb_now() + 5 * LB_MS_NS;
    assert_true(lb_sleep_until(when));
    assert_takes(lb_now() - when, 0);
    note(arg, "shielded");
}
TEST(test_cut_off_ends_waits) {
    struct trace trace = {0};
    atomic_store(&trace.cutoff_ns, lb_now() + 10 * LB_MS_NS);
    run_fibers(&trace, sleeps_for_ever, NULL);
    assert_string_equal(trace.text, "cut,shielded");
}

static void bad_fd(void *arg) {
    (void)arg;
    assert_int_equal(lb_wait_fd(-1, LB_READABLE, LB_NEVER), -EBADF);
    assert_int_equal(lb_wait_fd(9999, LB_READABLE, LB_NEVER), -EBADF);
    int fd = open("/dev/null", O_RDONLY);
    /* epoll takes no plain files */
    assert_int_equal(lb_wait_fd(fd, LB_READABLE, LB_NEVER), -EPERM);
    close(fd);
}
TEST(test_bad_descriptors_are_errors) {
    struct trace trace = {0};
    run_fibers(&trace, bad_fd, NULL);
}

static void busy(void *arg) {
    struct trace *trace = arg;
    for (int i = 0; i < 200000 && !trace->ready; i++) loop_breathe(lb_now());
    trace->a = trace->ready;
}
static void timer_beside_busy(void *arg) {
    struct trace *trace = arg;
    lb_sleep_until(lb_now() + LB_MS_NS);
    trace->ready = 1;
}
TEST(test_a_busy_fiber_lets_timers_through) {
    struct trace trace = {0};
    run_fibers(&trace, busy, timer_beside_busy);
    assert_int_equal(trace.a, 1);
}

TEST_MAIN(NULL, NULL)
