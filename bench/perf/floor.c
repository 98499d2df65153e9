/* floor: see floor.h. */
#define _GNU_SOURCE
#include "bench/perf/floor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "bench/base/clock.h"
#include "bench/base/rng.h"
#include "bench/load/traffic.h"

#define EVENTS 512 /* of one epoll_wait */

struct loop {
    const struct floor_ask *ask;
    int epoll_fd;
    uint64_t commands;
};

static int send_next(struct floor_client *client, struct lb_err *err) {
    const char *command = client->takes ? client->take : client->free;
    size_t len = client->takes ? client->take_len : client->free_len;
    if (write(client->fd, command, len) == (ssize_t)len) return 0;
    return err_set(err, LB_EXIT_MACHINE, "bare loop: a command was not sent: %s", strerror(errno));
}

/* Reads the answer of a client, which comes whole since it is small, and sends its next command. */
static int step(struct loop *loop, struct floor_client *client, struct lb_err *err) {
    const char *wanted = client->takes ? loop->ask->taken : loop->ask->freed;
    char text[512];
    ssize_t got = read(client->fd, text, sizeof text);
    if (got < (ssize_t)loop->ask->answer_len || memcmp(text, wanted, loop->ask->answer_len) != 0)
        return err_set(err, LB_EXIT_MACHINE, "bare loop: the server answered '%.*s'",
                       got > 0 ? (int)got : 0, text);
    loop->commands++;
    client->takes = !client->takes;
    return send_next(client, err);
}

/* Sends the first command of each client. Each further command follows an answer, so the order stays. */
static int begin(const struct floor_ask *ask, struct lb_err *err) {
    int *order = malloc((size_t)ask->count * sizeof *order);
    if (!order) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    struct lb_rng rng;
    rng_seed(&rng, 1, 0);
    for (int i = 0; i < ask->count; i++) {
        int place = ask->in_order ? i : (int)rng_below(&rng, (uint64_t)i + 1);
        if (place != i) order[i] = order[place];
        order[place] = i;
    }
    int failed = 0;
    for (int i = 0; i < ask->count && !failed; i++) {
        struct floor_client *client = &ask->clients[order[i]];
        client->takes = true;
        failed = send_next(client, err);
    }
    free(order);
    return failed;
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

static int measure(struct loop *loop, struct floor_figures *ret_figures, struct lb_err *err) {
    if (begin(loop->ask, err) != 0) return -1;
    if (run_until(loop, lb_now() + loop->ask->warmup_ns, err) != 0) return -1;
    uint64_t commands = loop->commands;
    int64_t begin_ns = lb_now(), begin_cpu_ns = thread_cpu_ns();
    if (run_until(loop, begin_ns + loop->ask->duration_ns, err) != 0) return -1;
    double cpu_ns = (double)(thread_cpu_ns() - begin_cpu_ns);
    double took_ns = (double)(lb_now() - begin_ns), done = (double)(loop->commands - commands);
    if (done <= 0) return err_set(err, LB_EXIT_MACHINE, "bare loop: no command was answered");
    *ret_figures =
        (struct floor_figures){.rate_per_s = done * 1e9 / took_ns, .cpu_ns = cpu_ns / done};
    return 0;
}

int floor_run(const struct floor_ask *ask, struct floor_figures *ret_figures, struct lb_err *err) {
    struct loop loop = {.ask = ask, .epoll_fd = epoll_create1(EPOLL_CLOEXEC)};
    int failed = loop.epoll_fd < 0;
    for (int i = 0; i < ask->count && !failed; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &ask->clients[i]};
        failed = epoll_ctl(loop.epoll_fd, EPOLL_CTL_ADD, ask->clients[i].fd, &event);
    }
    if (failed)
        failed = err_set(err, LB_EXIT_MACHINE, "bare loop: epoll: %s", strerror(errno));
    else
        failed = measure(&loop, ret_figures, err);
    if (loop.epoll_fd >= 0) close(loop.epoll_fd);
    return failed;
}
