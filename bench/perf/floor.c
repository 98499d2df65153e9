/* floor: see floor.h. */
#define _GNU_SOURCE
#include "bench/perf/floor.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/base/clock.h"
#include "bench/base/rng.h"
#include "bench/load/traffic.h"

#define EVENTS 512 /* of one epoll_wait */
#define COMMAND_MAX 256
#define TOKEN "0123456789abcdef0123456789abcdef01234567"

struct connection {
    int fd;
    bool takes; /* the answer that comes next is that to SET */
    int take_len, free_len;
    char take[COMMAND_MAX], free[COMMAND_MAX];
};

struct loop {
    int epoll_fd;
    struct connection *connections;
    int count;
    uint64_t id, commands;
};

static int send_all(struct connection *connection, const char *text, int len, struct lb_err *err) {
    if (write(connection->fd, text, (size_t)len) == len) return 0;
    return err_set(err, LB_EXIT_MACHINE, "bare loop: a command was not sent: %s", strerror(errno));
}

/* Reads the answer, which comes whole since it is a few bytes, and compares its beginning. 0, or -1 with err. */
static int expect(struct connection *connection, const char *wanted, struct lb_err *err) {
    char text[128];
    ssize_t got = read(connection->fd, text, sizeof text - 1);
    if (got > 0 && strncmp(text, wanted, strlen(wanted)) == 0) return 0;
    text[got > 0 ? got : 0] = '\0';
    return err_set(err, LB_EXIT_MACHINE, "bare loop: Redis answered '%.60s' instead of %s", text,
                   wanted);
}

/* The keys of a run are its own, since the last ones stay until their time to live ends. */
static void write_commands(struct connection *connection, const struct floor_ask *ask,
                           uint64_t loop_id, int index) {
    char key[64];
    int len =
        snprintf(key, sizeof key, "lockbench-floor-%llx-%d", (unsigned long long)loop_id, index);
    connection->take_len = snprintf(connection->take, COMMAND_MAX,
                                    "*6\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$40\r\n" TOKEN
                                    "\r\n$2\r\nNX\r\n$2\r\nPX\r\n$5\r\n10000\r\n",
                                    len, key);
    connection->free_len =
        snprintf(connection->free, COMMAND_MAX,
                 "*5\r\n$7\r\nEVALSHA\r\n$40\r\n%s\r\n$1\r\n1\r\n$%d\r\n%s\r\n$40\r\n" TOKEN "\r\n",
                 ask->release_sha1, len, key);
}

static int connect_one(struct loop *loop, const struct floor_ask *ask, int index,
                       struct lb_err *err) {
    struct connection *connection = &loop->connections[index];
    const struct sockaddr_in at = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)ask->port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char login[COMMAND_MAX];
    int on = 1;
    connection->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection->fd < 0 || connect(connection->fd, (const struct sockaddr *)&at, sizeof at) != 0)
        return err_set(err, LB_EXIT_MACHINE, "bare loop: connection %d: %s", index,
                       strerror(errno));
    setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    int len = snprintf(login, sizeof login, "AUTH %s\r\n", ask->password);
    if (send_all(connection, login, len, err) != 0 || expect(connection, "+OK", err) != 0)
        return -1;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, connection->fd, &event) != 0)
        return err_set(err, LB_EXIT_MACHINE, "bare loop: epoll_ctl: %s", strerror(errno));
    write_commands(connection, ask, loop->id, index);
    connection->takes = true;
    return 0;
}

/* Sends the first command of each connection. Each further command follows an answer, so the order stays. */
static int begin(struct loop *loop, bool in_order, struct lb_err *err) {
    int *order = malloc((size_t)loop->count * sizeof *order);
    if (!order) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    struct lb_rng rng;
    rng_seed(&rng, 1, 0);
    for (int i = 0; i < loop->count; i++) {
        int place = in_order ? i : (int)rng_below(&rng, (uint64_t)i + 1);
        if (place != i) order[i] = order[place];
        order[place] = i;
    }
    int failed = 0;
    for (int i = 0; i < loop->count && !failed; i++) {
        struct connection *connection = &loop->connections[order[i]];
        failed = send_all(connection, connection->take, connection->take_len, err);
    }
    free(order);
    return failed;
}

/* Reads the answer of a connection, and sends its next command. */
static int step(struct loop *loop, struct connection *connection, struct lb_err *err) {
    bool took = connection->takes;
    if (expect(connection, took ? "+OK" : ":1", err) != 0) return -1;
    loop->commands++;
    connection->takes = !took;
    return took ? send_all(connection, connection->free, connection->free_len, err)
                : send_all(connection, connection->take, connection->take_len, err);
}

static int run_until(struct loop *loop, int64_t end_ns, struct lb_err *err) {
    struct epoll_event events[EVENTS];
    while (lb_now() < end_ns) {
        int count = epoll_wait(loop->epoll_fd, events, EVENTS, 100);
        for (int i = 0; i < count; i++) {
            if (step(loop, events[i].data.ptr, err) != 0) return -1;
        }
    }
    return 0;
}

static int measure(struct loop *loop, const struct floor_ask *ask,
                   struct floor_figures *ret_figures, struct lb_err *err) {
    if (begin(loop, ask->in_order, err) != 0) return -1;
    if (run_until(loop, lb_now() + ask->warmup_ns, err) != 0) return -1;
    uint64_t commands = loop->commands;
    int64_t begin_ns = lb_now(), begin_cpu_ns = thread_cpu_ns();
    if (run_until(loop, begin_ns + ask->duration_ns, err) != 0) return -1;
    double cpu_ns = (double)(thread_cpu_ns() - begin_cpu_ns);
    double took_ns = (double)(lb_now() - begin_ns), done = (double)(loop->commands - commands);
    if (done <= 0) return err_set(err, LB_EXIT_MACHINE, "bare loop: no command was answered");
    *ret_figures =
        (struct floor_figures){.rate_per_s = done * 1e9 / took_ns, .cpu_ns = cpu_ns / done};
    return 0;
}

int floor_run(const struct floor_ask *ask, struct floor_figures *ret_figures, struct lb_err *err) {
    struct loop loop = {.epoll_fd = epoll_create1(EPOLL_CLOEXEC),
                        .count = ask->connections,
                        .id = (uint64_t)lb_now()};
    int failed = -1;
    loop.connections = calloc((size_t)loop.count, sizeof *loop.connections);
    if (loop.epoll_fd < 0 || !loop.connections) {
        err_set(err, LB_EXIT_MACHINE, "bare loop: out of memory or of descriptors");
        goto out;
    }
    for (int i = 0; i < loop.count; i++) loop.connections[i].fd = -1;
    for (int i = 0; i < loop.count; i++) {
        if (connect_one(&loop, ask, i, err) != 0) goto out;
    }
    failed = measure(&loop, ask, ret_figures, err);
out:
    for (int i = 0; loop.connections && i < loop.count; i++) {
        if (loop.connections[i].fd >= 0) close(loop.connections[i].fd);
    }
    if (loop.epoll_fd >= 0) close(loop.epoll_fd);
    free(loop.connections);
    return failed;
}
