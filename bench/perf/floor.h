/* floor: a bare epoll loop that sends Redis the commands of redis-setnx: what this machine can do at most with one
 * thread and one connection a client. It measures no latency, checks nothing but that each answer is the expected one,
 * and is no load generator.
 *
 * The order in which connections send stays the order of their first commands. If that is the order in which they
 * were made, the kernel's and the server's memory is read from front to back, which the processor predicts: with
 * 19,700 connections a command then costs 6.5 us of processor time, and 8.9 us in a random order; Redis does 86,000
 * commands a second, and 64,000 in a random order. The clients of a service do not send in the order of the server's
 * memory, and neither do ours. */
#ifndef BENCH_PERF_FLOOR_H
#define BENCH_PERF_FLOOR_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/base/err.h"

struct floor_ask {
    int port; /* on 127.0.0.1 */
    const char *password;
    const char *release_sha1; /* of the script that frees a lock, already loaded */
    int connections;
    bool in_order; /* the connections speak in the order in which they were made */
    int64_t warmup_ns, duration_ns;
};

struct floor_figures {
    double rate_per_s; /* commands */
    double cpu_ns;     /* of the thread, a command */
};

/* Each connection takes and frees a key of its own, over and over. 0, or -1 with err. */
int floor_run(const struct floor_ask *ask, struct floor_figures *ret_figures, struct lb_err *err);

#endif
