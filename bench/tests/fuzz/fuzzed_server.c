/* fuzzed_server: see fuzzed_server.h. */
#define _GNU_SOURCE
#include "bench/tests/fuzz/fuzzed_server.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "drivers/sock.h"
#include "drivers/wait.h"

#define BETWEEN 0xff

static struct {
    const uint8_t *at, *end; /* what no wait has brought yet */
    size_t arrived;          /* bytes before `at` that can be received */
    bool ended;              /* the server has closed the connection */
    int64_t now_ns;
} answers;

/* ---- the clock ---- */

int __wrap_clock_gettime(clockid_t clock, struct timespec *time);

int __wrap_clock_gettime(clockid_t clock, struct timespec *time) {
    (void)clock;
    answers.now_ns += LB_US_NS;
    *time =
        (struct timespec){.tv_sec = answers.now_ns / LB_S_NS, .tv_nsec = answers.now_ns % LB_S_NS};
    return 0;
}

static void pass_until(int64_t when_ns) {
    if (when_ns != LB_NEVER && when_ns > answers.now_ns) answers.now_ns = when_ns;
}

/* ---- the answers ---- */

void fuzzed_server_begin(const uint8_t *data, size_t size) {
    answers.at = data;
    answers.end = data + size;
    answers.arrived = 0;
    answers.ended = false;
    answers.now_ns = LB_S_NS;
}

const uint8_t *fuzzed_server_answer(size_t *ret_len) {
    const uint8_t *from = answers.at;
    if (from == answers.end) {
        answers.ended = true;
        return NULL;
    }
    const uint8_t *mark = memchr(from, BETWEEN, (size_t)(answers.end - from));
    *ret_len = (size_t)((mark ? mark : answers.end) - from);
    answers.at = mark ? mark + 1 : answers.end;
    return from;
}

/* What is being received. */
static const uint8_t *receiving;

static int await_answer(int64_t deadline_ns) {
    size_t len = 0;
    if (answers.arrived > 0 || answers.ended) return LB_READABLE;
    receiving = fuzzed_server_answer(&len);
    answers.arrived = len;
    if (len > 0 || answers.ended) return LB_READABLE;
    if (deadline_ns == LB_NEVER) return LB_WOKEN;
    pass_until(deadline_ns);
    return 0;
}

static ssize_t take_bytes(void *data, size_t size) {
    size_t len = size < answers.arrived ? size : answers.arrived;
    if (len == 0 && answers.ended) return 0;
    if (len == 0) {
        errno = EAGAIN;
        return -1;
    }
    memcpy(data, receiving, len);
    receiving += len;
    answers.arrived -= len;
    return (ssize_t)len;
}

/* ---- in the place of the sockets: also of those that hiredis opens ---- */

int connect(int fd, const struct sockaddr *address, socklen_t len) {
    (void)fd, (void)address, (void)len;
    return 0;
}

ssize_t send(int fd, const void *data, size_t len, int flags) {
    (void)fd, (void)data, (void)flags;
    return (ssize_t)len;
}

ssize_t recv(int fd, void *data, size_t size, int flags) {
    (void)fd, (void)flags;
    return take_bytes(data, size);
}

struct sock_tls *sock_tls_open(const struct lb_server *server, const struct lb_tls *tls,
                               struct lb_err *err) {
    (void)server, (void)tls;
    err_set(err, LB_EXIT_USAGE, "no TLS here");
    return NULL;
}

void sock_tls_close(struct sock_tls *tls) {
    (void)tls;
}

int sock_secure(struct sock *sock, const struct sock_tls *tls, const char *host,
                int64_t deadline_ns, struct lb_err *err) {
    (void)sock, (void)tls, (void)host, (void)deadline_ns;
    return err_set(err, LB_EXIT_USAGE, "no TLS here");
}

ssize_t sock_send(struct sock *sock, const void *data, size_t len) {
    (void)data;
    sock->bytes += len;
    return (ssize_t)len;
}

ssize_t sock_recv(struct sock *sock, void *data, size_t size) {
    ssize_t got = take_bytes(data, size);
    if (got > 0) sock->bytes += (uint64_t)got;
    return got;
}

int sock_wait(struct sock *sock, int events, int64_t deadline_ns) {
    return lb_wait_edge(sock->fd, events, deadline_ns);
}

const char *sock_error(const struct sock *sock, int error) {
    (void)sock;
    return strerror(error);
}

const char *sock_advice(const struct sock *sock, const char *scheme) {
    (void)sock, (void)scheme;
    return "";
}

void sock_forget_errors(void) {}

uint64_t sock_take_bytes(struct sock *sock) {
    uint64_t bytes = sock->bytes;
    sock->bytes = 0;
    return bytes;
}

void sock_end(struct sock *sock) {
    *sock = (struct sock){0};
}

void sock_facts(const struct sock *sock, const struct lb_tls *tls, struct lb_facts *facts) {
    (void)sock, (void)tls, (void)facts;
}

/* ---- in the place of the engine: one fiber, which never stops for long ---- */

int lb_wait_edge(int fd, int events, int64_t deadline_ns) {
    (void)fd;
    return events & LB_WRITABLE ? LB_WRITABLE : await_answer(deadline_ns);
}

int lb_wait_fd(int fd, int events, int64_t deadline_ns) {
    return lb_wait_edge(fd, events, deadline_ns);
}

int lb_wait_any(struct lb_poll *polls, int count, int64_t deadline_ns) {
    (void)polls, (void)count;
    pass_until(deadline_ns);
    return 0;
}

void lb_fd_forget(int fd) {
    (void)fd;
}

bool lb_sleep_until(int64_t when_ns) {
    pass_until(when_ns);
    return true;
}

void lb_warm(enum lb_warm_place place, const void *memory, size_t bytes) {
    (void)place, (void)memory, (void)bytes;
}

void lb_yield(void) {}

const _Atomic int64_t *lb_cutoff(void) {
    return NULL;
}

bool lb_stopping(void) {
    return false;
}

struct lb_fiber *lb_self(void) {
    static char self;
    return (struct lb_fiber *)(void *)&self;
}

/* A helper fiber never gets the processor. */
struct lb_fiber *lb_start_fiber(const char *name, void (*run)(void *arg), void *arg) {
    (void)name, (void)run, (void)arg;
    return lb_self();
}

void lb_join(struct lb_fiber *fiber) {
    (void)fiber;
}

void lb_wake(struct lb_fiber *fiber) {
    (void)fiber;
}
