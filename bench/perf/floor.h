/* floor: a bare epoll loop that sends Redis the commands of redis-setnx: what this machine can do at most with one
 * thread and one connection a client. It measures no latency, checks nothing but that each answer is the expected one,
 * and is no load generator. */
#ifndef BENCH_PERF_FLOOR_H
#define BENCH_PERF_FLOOR_H

#include <stdint.h>

#include "bench/base/err.h"

struct floor_ask {
    int port; /* on 127.0.0.1 */
    const char *password;
    const char *release_sha1; /* of the script that frees a lock, already loaded */
    int connections;
    int64_t warmup_ns, duration_ns;
};

struct floor_figures {
    double rate_per_s; /* commands */
    double cpu_ns;     /* of the thread, a command */
};

/* Each connection takes and frees a key of its own, over and over. 0, or -1 with err. */
int floor_run(const struct floor_ask *ask, struct floor_figures *ret_figures, struct lb_err *err);

#endif
