/* loopback: sockets of tests on 127.0.0.1. Also for helpers without cmocka: what can't be had ends the program. */
#ifndef BENCH_TESTS_LOOPBACK_H
#define BENCH_TESTS_LOOPBACK_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static inline struct sockaddr_in loopback_at(int port) {
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* A socket that has a free port, at which nobody listens. No other program gets the port until the socket is closed. */
static inline int loopback_bind(int *ret_port) {
    struct sockaddr_in address = loopback_at(0);
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, len) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &len) != 0)
        abort();
    *ret_port = ntohs(address.sin_port);
    return fd;
}

/* A socket that listens on a free port. */
static inline int loopback_listen(int *ret_port) {
    int fd = loopback_bind(ret_port);
    if (listen(fd, 1024) != 0) abort();
    return fd;
}

/* A connection, whose reads end after so many seconds (0 = never); -1 if there is none. */
static inline int loopback_connect(int port, int limit_s) {
    struct sockaddr_in address = loopback_at(port);
    struct timeval limit = {.tv_sec = limit_s};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    close(fd);
    return -1;
}

#endif
