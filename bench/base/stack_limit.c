/* stack_limit: see stack_limit.h. */
#define _GNU_SOURCE
#include "bench/base/stack_limit.h"

#include <pthread.h>
#include <sys/resource.h>

#define KIB 1024
#define LEAST_BYTES (512 * KIB) /* doctor has frames of 110 KiB, and libraries have theirs */
#define USUAL_BYTES (8192 * KIB)

/* The C library took the size of new threads' stacks from the limit when the program began. */
static void enlarge_threads(size_t bytes) {
    pthread_attr_t attr;
    if (pthread_getattr_default_np(&attr) != 0) return;
    if (pthread_attr_setstacksize(&attr, bytes) == 0) pthread_setattr_default_np(&attr);
    pthread_attr_destroy(&attr);
}

int stack_limit_ensure(struct lb_err *err) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= LEAST_BYTES) return 0;
    unsigned long long found_bytes = limit.rlim_cur;
    rlim_t highest = limit.rlim_max;
    limit.rlim_cur = USUAL_BYTES;
    if (highest < USUAL_BYTES) limit.rlim_max = USUAL_BYTES;
    if (setrlimit(RLIMIT_STACK, &limit) != 0) { /* only root may raise the higher one */
        limit = (struct rlimit){.rlim_cur = highest, .rlim_max = highest};
        if (highest < LEAST_BYTES || setrlimit(RLIMIT_STACK, &limit) != 0)
            return err_set(
                err, LB_EXIT_MACHINE,
                "a stack may have %llu KiB here, and lockbench needs %d: raise the hard limit (as root: `ulimit -s %d`), or use a new shell",
                found_bytes / KIB, LEAST_BYTES / KIB, USUAL_BYTES / KIB);
    }
    enlarge_threads(limit.rlim_cur);
    return 0;
}
