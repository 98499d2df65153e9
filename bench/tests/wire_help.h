/* wire_help: a wire with a server behind it, both of the test's own process, for the tests of
 * bench/servers/wire. */
#ifndef BENCH_TESTS_WIRE_HELP_H
#define BENCH_TESTS_WIRE_HELP_H

#include <errno.h>

#include "bench/base/clock.h"
#include "bench/servers/wire.h"
#include "bench/tests/loopback.h"
#include "bench/tests/unit.h"

#define PATIENCE_MS 20000 /* for what must happen */
#define SILENCE_MS 100    /* of nothing, where nothing may happen */

/* Of the test that runs. */
static struct {
    int listen_fd;
    struct wire *wire;
} rig __attribute__((unused));

/* A connection: the client's socket, and the server's that it leads to; open until the program ends, if a test does not
 * close them. */
struct pair {
    int client, server;
};

static inline void help_limit(int fd, int ms) {
    struct timeval time = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
}

static inline int help_listen(int *ret_port) {
    int fd = loopback_listen(ret_port);
    help_limit(fd, PATIENCE_MS); /* for accept */
    return fd;
}

/* A connected socket, or -errno. */
static inline int wire_connect(int port) {
    struct sockaddr_in address = loopback_at(port);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    help_limit(fd, PATIENCE_MS);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    int error = errno;
    close(fd);
    return -error;
}

static inline void rig_up(void) {
    struct lb_err err = {0};
    int port = 0;
    rig.listen_fd = help_listen(&port);
    rig.wire = wire_start(1, &err);
    if (!rig.wire || wire_aim(rig.wire, 0, port, &err)) fail_msg("%s", err.text);
}

static inline void rig_down(void) {
    wire_stop(rig.wire);
    close(rig.listen_fd);
}

/* A test with a rig of its own. */
FIXTURE(set_up_rig) {
    rig_up();
    return 0;
}

FIXTURE(tear_down_rig) {
    rig_down();
    return 0;
}

#define WIRED(name) TEST_WITH(name, set_up_rig, tear_down_rig)

static inline struct pair pair_up(void) {
    struct pair pair = {.client = wire_connect(wire_port(rig.wire, 0))};
    assert_true(pair.client >= 0);
    do { /* with a time limit, a stop of this process ends the call */
        pair.server = accept(rig.listen_fd, NULL, NULL);
    } while (pair.server < 0 && errno == EINTR);
    assert_true(pair.server >= 0);
    help_limit(pair.server, PATIENCE_MS);
    return pair;
}

/* Reads until `len` bytes or the end; the count, or -errno if there was nothing before it. */
static inline ssize_t help_read(int fd, void *data, size_t len) {
    size_t used = 0;
    while (used < len) {
        ssize_t got = recv(fd, (char *)data + used, len - used, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return used ? (ssize_t)used : -errno;
        if (got == 0) break;
        used += (size_t)got;
    }
    return (ssize_t)used;
}

/* Sends a text, which must arrive at `to`. */
static inline void help_pass(int from, int to, const char *text) {
    char data[512] = "";
    size_t len = strlen(text);
    assert_int_equal(send(from, text, len, MSG_NOSIGNAL), (ssize_t)len);
    assert_int_equal(help_read(to, data, len), (ssize_t)len);
    assert_string_equal(data, text);
}

static inline void help_send(int fd, const char *text) {
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

/* What comes next is this text; after it, for now, nothing. */
static inline void help_comes(int fd, const char *text) {
    char data[512] = "";
    assert_int_equal(help_read(fd, data, strlen(text)), (ssize_t)strlen(text));
    assert_string_equal(data, text);
}

/* Nothing comes, not even an end. The counters are the better proof; this is the far end's word. */
static inline void help_silent(int fd) {
    char byte;
    help_limit(fd, SILENCE_MS);
    assert_int_equal(help_read(fd, &byte, 1), -EAGAIN);
    help_limit(fd, PATIENCE_MS);
}

static inline int help_set(struct wire_fault fault) {
    struct lb_err err = {0};
    if (!fault.ends) fault.ends = WIRE_ALL_ENDS;
    int number = wire_set(rig.wire, &fault, &err);
    if (number < 0) fail_msg("%s", err.text);
    return number;
}

static inline void help_lift(int fault) {
    struct lb_err err = {0};
    if (wire_lift(rig.wire, fault, &err) != 0) fail_msg("%s", err.text);
}

static inline struct wire_sign help_sign(int fault) {
    struct wire_sign sign;
    wire_sign(rig.wire, fault, &sign);
    return sign;
}

static inline struct wire_count help_count(enum wire_way way) {
    struct wire_count count;
    wire_count(rig.wire, 0, way, &count);
    return count;
}

/* Waits until a condition holds. */
#define HELP_UNTIL(condition)                                                                      \
    do {                                                                                           \
        int64_t until_ns = lb_now() + PATIENCE_MS * LB_MS_NS;                                      \
        bool is_met;                                                                               \
        while (!(is_met = (condition)) && lb_now() < until_ns) usleep(500);                        \
        if (!is_met) fail_msg("never: %s", #condition);                                            \
    } while (0)

#endif
