/* clock_shim: a library that is loaded into a server (LD_PRELOAD), so that its wall clock can be
 * changed without root and without touching the machine's clock.
 *
 * The offset of the wall clock stands in a shared file (shim.h). The monotonic clocks stay correct. A timed wait for a
 * wall-clock time is translated with the offset at its start; a later change does not wake it, although a change of the
 * real clock would. The library asks the kernel directly and allocates nothing, because it is called before other
 * libraries are ready. So each reading of the clock costs a system call. It has no effect on
 * programs that do not use the C library (Go). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

#include "bench/servers/shim.h"

#define S_NS INT64_C(1000000000)
/* The year 2001: an absolute time after it is of the wall clock, not of a clock that starts at
 * boot. */
#define WALL_S 1000000000

static const struct shim_shared *shared;

__attribute__((constructor)) static void map_offset(void) {
    shared = shim_map();
}

static int64_t by_ns(void) {
    return shared ? __atomic_load_n(&shared->clock_ns, __ATOMIC_RELAXED) : 0;
}

static struct timespec moved(struct timespec time, int64_t ns) {
    int64_t sum_ns = time.tv_nsec + ns % S_NS;
    time.tv_sec += ns / S_NS + (sum_ns >= S_NS) - (sum_ns < 0);
    time.tv_nsec = sum_ns - S_NS * (sum_ns >= S_NS) + S_NS * (sum_ns < 0);
    return time;
}

int clock_gettime(clockid_t clock, struct timespec *ret) {
    long failed = syscall(SYS_clock_gettime, clock, ret);
    if (failed) return -1;
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI)
        *ret = moved(*ret, by_ns());
    return 0;
}

int gettimeofday(struct timeval *restrict ret, void *restrict zone) {
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    *ret = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *ret) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (ret) *ret = now.tv_sec;
    return now.tv_sec;
}

int timespec_get(struct timespec *ret, int base) {
    return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, ret) == 0 ? base : 0;
}

typedef int timed_wait_fn(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);

int pthread_cond_timedwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict until) {
    static timed_wait_fn *real;
    timed_wait_fn *wait = __atomic_load_n(&real, __ATOMIC_RELAXED);
    if (!wait) {
        /* Looked up by version: x86 also has an older one with other conventions. */
        wait = (timed_wait_fn *)dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
        if (!wait) wait = (timed_wait_fn *)dlsym(RTLD_NEXT, "pthread_cond_timedwait");
        __atomic_store_n(&real, wait, __ATOMIC_RELAXED);
    }
    struct timespec true_until = until->tv_sec > WALL_S ? moved(*until, -by_ns()) : *until;
    return wait(cond, mutex, &true_until);
}
