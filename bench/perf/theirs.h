/* theirs: runs another program, and takes its output and its processor time. */
#ifndef BENCH_PERF_THEIRS_H
#define BENCH_PERF_THEIRS_H

#include <stddef.h>
#include <stdint.h>

#include "bench/base/err.h"

struct theirs {
    char text[65536]; /* its stdout and stderr, as much as fits */
    int code;         /* exit code; -1 = killed */
    int64_t cpu_ns;   /* user and system time of it and its children */
};

/* Runs argv (NULL-terminated) by PATH and waits. 0 whatever its code, -1 with err if it can't be
 * started. */
int theirs_run(struct theirs *theirs, const char *const *argv, struct lb_err *err);

#endif
