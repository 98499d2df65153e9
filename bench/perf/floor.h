/* floor: a bare epoll loop that sends a server the commands of one of lockbench's locks. It shows the greatest rate
 * that this machine reaches with one thread and one connection for each client. It measures no latency, and checks only
 * that each answer begins as expected. floor_redis.c and floor_pg.c open the connections.
 *
 * The order in which connections send stays the order of their first commands. If that is the order in which they
 * were made, the kernel's and the server's memory is read from front to back, which the processor predicts: with
 * 19,700 connections a command of Redis then costs 6.5 us of processor time, and 8.9 us in a random order; Redis does
 * 86,000 commands a second, and 64,000 in a random order. The clients of a service do not send in the order of the
 * server's memory, nor do lockbench's clients. */
#ifndef BENCH_PERF_FLOOR_H
#define BENCH_PERF_FLOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/base/err.h"

#define FLOOR_COMMAND_MAX 256 /* bytes */

/* A client: takes and frees a key of its own, over and over. */
struct floor_client {
    int fd;     /* connected and logged in */
    bool takes; /* the next answer belongs to `take`; false: to `free` */
    size_t take_len, free_len;
    char take[FLOOR_COMMAND_MAX], free[FLOOR_COMMAND_MAX];
};

struct floor_ask {
    struct floor_client *clients;
    int count;
    const char *taken, *freed; /* the beginnings of the answers to `take` and `free` */
    size_t answer_len;         /* of both beginnings */
    bool in_order;             /* the clients send in the order of the array */
    int64_t warmup_ns, duration_ns;
};

struct floor_figures {
    double rate_per_s; /* commands a second */
    double cpu_ns;     /* the thread's processor time for each command */
};

/* 0, or -1 with err. The caller closes the connections. */
int floor_run(const struct floor_ask *ask, struct floor_figures *ret_figures, struct lb_err *err);

/* A server, and how its clients are measured. */
struct floor_server {
    int port;             /* on 127.0.0.1 */
    const char *user;     /* PostgreSQL's */
    const char *database; /* PostgreSQL's */
    const char *password;
    const char *release_sha1; /* Redis's: of the script that frees a lock, already loaded */
    int connections;
    bool in_order;
    int64_t warmup_ns, duration_ns;
};

/* SET NX PX and the script of redis-setnx. 0, or -1 with err. */
int floor_redis(const struct floor_server *server, struct floor_figures *ret_figures,
                struct lb_err *err);

/* The two prepared statements of pg-advisory. 0, or -1 with err. */
int floor_pg(const struct floor_server *server, struct floor_figures *ret_figures,
             struct lb_err *err);

#endif
