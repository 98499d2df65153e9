/* pipe_link: several processes of one test as hosts of a run, joined by sockets in the place of MPI. Header only, since
 * each test is one program. */
#ifndef BENCH_TESTS_PIPE_LINK_H
#define BENCH_TESTS_PIPE_LINK_H

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include "bench/base/clock.h"
#include "bench/tools/hosts/hosts.h"

#define PIPE_RANKS 8

/* One process's end: fds[r] leads to rank r. */
struct pipe_link {
    struct link link;
    int fds[PIPE_RANKS];
};

static inline int pipe_wait(int fd, short events, int64_t deadline_ns) {
    int64_t left_ns = deadline_ns - lb_now();
    struct pollfd at = {.fd = fd, .events = events};
    int left_ms = left_ns <= 0 ? 0 : (int)(left_ns / LB_MS_NS) + 1;
    return poll(&at, 1, left_ms) == 1 ? 0 : -1;
}

static inline int pipe_send(struct link *link, int to, const void *bytes, size_t length,
                            int64_t deadline_ns) {
    struct pipe_link *pipes = link->state;
    uint64_t size = length;
    const char *parts[2] = {(const char *)&size, bytes};
    size_t sizes[2] = {sizeof size, length};
    for (int part = 0; part < 2; part++) {
        for (size_t at = 0; at < sizes[part];) {
            if (pipe_wait(pipes->fds[to], POLLOUT, deadline_ns) != 0) return -1;
            ssize_t sent = send(pipes->fds[to], parts[part] + at, sizes[part] - at,
                                MSG_NOSIGNAL | MSG_DONTWAIT);
            if (sent < 0 && errno != EAGAIN && errno != EINTR) return -1;
            if (sent > 0) at += (size_t)sent;
        }
    }
    return 0;
}

static inline int pipe_read(int fd, void *bytes, size_t length) {
    for (size_t at = 0; at < length;) {
        ssize_t got = read(fd, (char *)bytes + at, length - at);
        if (got == 0 || (got < 0 && errno != EINTR)) return -1;
        if (got > 0) at += (size_t)got;
    }
    return 0;
}

static inline int pipe_receive(struct link *link, int from, void **ret_bytes, size_t *ret_length,
                               int64_t deadline_ns) {
    struct pipe_link *pipes = link->state;
    int fd = pipes->fds[from];
    uint64_t size;
    if (pipe_wait(fd, POLLIN, deadline_ns) != 0) return 0;
    if (pipe_read(fd, &size, sizeof size) != 0) return -1;
    void *bytes = malloc(size + 1);
    if (!bytes || pipe_read(fd, bytes, size) != 0) {
        free(bytes);
        return -1;
    }
    *ret_bytes = bytes;
    *ret_length = size;
    return 1;
}

/* Forks count - 1 processes, which run serve(link) and end with its result; returns with rank 0's end in *ret. The pids
 * of the others go to pids. 0, or -1. */
static inline int pipe_link_fork(struct pipe_link *ret, int count, int (*serve)(struct link *link),
                                 pid_t *pids) {
    *ret = (struct pipe_link){.link = {.count = count, .send = pipe_send, .receive = pipe_receive}};
    ret->link.state = ret;
    for (int rank = 1; rank < count; rank++) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return -1;
        pid_t pid = fork();
        if (pid < 0) return -1;
        if (pid == 0) {
            struct pipe_link own = {
                .link = {.self = rank, .count = count, .send = pipe_send, .receive = pipe_receive}};
            own.link.state = &own;
            own.fds[0] = pair[1];
            close(pair[0]);
            for (int other = 1; other < rank; other++) close(ret->fds[other]);
            _exit(serve(&own.link) == 0 ? 0 : 1);
        }
        close(pair[1]);
        ret->fds[rank] = pair[0];
        pids[rank] = pid;
    }
    return 0;
}

#endif
