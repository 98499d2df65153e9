/* mem_rwlock: a pthread read-write lock in shared memory, with futex waits, preferring readers
 * (glibc's default: writers may starve) or writers. The lock of a dead holder is never freed, and
 * the holder is not recorded anywhere. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "drivers/local/memory.h"

/* GCC 12's ThreadSanitizer does not know the clock flavours: this code reports to it which lock was
 * taken. */
#if defined(__SANITIZE_THREAD__) && __GNUC__ < 14
#include <sanitizer/tsan_interface.h>
static void tell_locked(pthread_rwlock_t *rwlock, bool shared) {
    unsigned how = shared ? __tsan_mutex_read_lock : 0;
    __tsan_mutex_pre_lock(rwlock, how);
    __tsan_mutex_post_lock(rwlock, how, 0);
}
#else
#define tell_locked(rwlock, shared) ((void)0)
#endif

struct rwlock_options {
    int64_t prefer; /* 0 readers, 1 writers */
};

static pthread_rwlock_t *rwlock_of(const struct lb_session *session,
                                   const struct lb_request *request) {
    const struct rwlock_options *options = session->options;
    return &memory_of(session)->rwlock[options->prefer][memory_slot(request)].rwlock;
}

static enum lb_outcome rwlock_acquire(struct lb_session *session, const struct lb_request *request,
                                      struct lb_grant *grant) {
    pthread_rwlock_t *rwlock = rwlock_of(session, request);
    int failed =
        request->shared ? pthread_rwlock_tryrdlock(rwlock) : pthread_rwlock_trywrlock(rwlock);
    if (failed == EBUSY && request->deadline_ns <= lb_now()) return LB_BUSY;
    while (failed == EBUSY || failed == ETIMEDOUT) {
        struct timespec until;
        if (!memory_slice(request->deadline_ns, &until)) return LB_TIMEOUT;
        failed = request->shared ? pthread_rwlock_clockrdlock(rwlock, CLOCK_MONOTONIC, &until)
                                 : pthread_rwlock_clockwrlock(rwlock, CLOCK_MONOTONIC, &until);
        if (!failed) tell_locked(rwlock, request->shared);
    }
    return failed ? lb_fail(session, LB_BROKEN, "pthread rwlock: %s", strerror(failed))
                  : memory_granted(grant, 1);
}

static enum lb_outcome rwlock_release(struct lb_session *session, const struct lb_request *request,
                                      struct lb_grant *grant) {
    /* Unlocking a lock that is not held would break it for all clients. */
    if (!memory_taken_back(grant)) return LB_LOST;
    int failed = pthread_rwlock_unlock(rwlock_of(session, request));
    return failed ? lb_fail(session, LB_BROKEN, "pthread rwlock: %s", strerror(failed)) : LB_OK;
}

static const struct lb_option rwlock_options[] = {
    {"prefer", LB_OPT_CHOICE, offsetof(struct rwlock_options, prefer), "reader", 0, 0,
     "reader,writer", "who goes first when both wait"},
    {0},
};

static const struct lb_algorithm algorithm = {
    .options = rwlock_options,
    .options_bytes = sizeof(struct rwlock_options),
    .grant_bytes = sizeof(struct memory_grant),
    .acquire = rwlock_acquire,
    .release = rwlock_release,
};

const struct lb_lock lock_mem_rwlock = {
    .name = "mem-rwlock",
    .summary = "pthread read-write lock, process-shared, preferring readers or writers",
    .backend = &backend_memory,
    .primitive = LB_RWLOCK,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_SHARED | LB_CAP_BLOCKS_THREAD,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE,
    .waits = "kernel (futex)",
    .about =
        {.compatible = "any program that maps the same pthread rwlock",
         .order = "none; readers or writers first, as preferred",
         .hazards =
             "with prefer=reader a stream of readers starves writers, as glibc's default does; a holder "
             "that dies keeps it for ever",
         .guarantee = LB_ON_ONE_HOST,
         .crash = LB_CRASH_NEVER},
    .expected = memory_rwlock_expected,
    .algorithm = &algorithm,
};
