/* too_many: what to do where no further process or thread could be started. */
#ifndef BENCH_BASE_TOO_MANY_H
#define BENCH_BASE_TOO_MANY_H

#include <errno.h>

/* To be put behind the error's own text; "" where it has another cause. */
static inline const char *too_many_remedy(int error) {
    return error == EAGAIN ? "; raise the limit of processes (ulimit -u, or the cgroup's pids.max)"
                           : "";
}

#endif
