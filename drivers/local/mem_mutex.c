/* mem_mutex: pthread mutexes in shared memory, with futex waits. mem-mutex is the plain mutex: the
 * lock of a dead holder is never freed. mem-robust is the robust mutex: each thread keeps a list of
 * the mutexes that it holds. When the thread dies, the kernel marks these, and the next client to
 * take one gets EOWNERDEAD and repairs it. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "drivers/local/memory.h"

/* GCC 12's ThreadSanitizer does not know pthread_mutex_clocklock: this code reports to it which
 * lock was taken. */
#if defined(__SANITIZE_THREAD__) && __GNUC__ < 14
#include <sanitizer/tsan_interface.h>
#define TELL_LOCKED(mutex)                                                                         \
    (__tsan_mutex_pre_lock((mutex), 0), __tsan_mutex_post_lock((mutex), 0, 0))
#else
#define TELL_LOCKED(mutex) ((void)0)
#endif

/* A lock's recipe says whether its mutexes are the robust ones. */
static pthread_mutex_t *mutex_of(const struct lb_session *session,
                                 const struct lb_request *request) {
    struct memory_shared *shared = memory_of(session);
    const bool *robust = session->lock->recipe;
    return &(*robust ? shared->robust : shared->mutex)[memory_slot(request)].mutex;
}

static enum lb_outcome mutex_acquire(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
    pthread_mutex_t *mutex = mutex_of(session, request);
    int failed = pthread_mutex_trylock(mutex);
    if (failed == EBUSY && request->deadline_ns <= lb_now()) return LB_BUSY;
    while (failed == EBUSY || failed == ETIMEDOUT) {
        struct timespec until;
        if (!memory_slice(request->deadline_ns, &until)) return LB_TIMEOUT;
        failed = pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &until);
        if (!failed || failed == EOWNERDEAD) TELL_LOCKED(mutex);
    }
    /* The data that the dead holder guarded may be half written. The mutex is ours, and this call
     * makes it consistent again. */
    if (failed == EOWNERDEAD) failed = pthread_mutex_consistent(mutex);
    return failed ? lb_fail(session, LB_BROKEN, "pthread mutex: %s", strerror(failed))
                  : memory_granted(grant, 1);
}

static enum lb_outcome mutex_release(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
    if (!memory_taken_back(grant)) return LB_LOST;
    int failed = pthread_mutex_unlock(mutex_of(session, request));
    return failed ? lb_fail(session, LB_BROKEN, "pthread mutex: %s", strerror(failed)) : LB_OK;
}

static const struct lb_algorithm algorithm = {
    .grant_bytes = sizeof(struct memory_grant),
    .acquire = mutex_acquire,
    .release = mutex_release,
};

const struct lb_lock lock_mem_mutex = {
    .name = "mem-mutex",
    .summary = "pthread mutex, process-shared, not robust",
    .backend = &backend_memory,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_BLOCKS_THREAD,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE,
    .waits = "kernel (futex)",
    .about = {.compatible = "any program that maps the same pthread mutex",
              .order = "none: a running thread takes it before a woken one",
              .hazards = "a holder that dies keeps it for ever: the mutex does not know its owner",
              .guarantee = LB_ON_ONE_HOST,
              .crash = LB_CRASH_NEVER},
    .algorithm = &algorithm,
    .recipe = &(const bool){false},
};

const struct lb_lock lock_mem_robust = {
    .name = "mem-robust",
    .summary = "pthread mutex, process-shared and robust: the kernel frees a dead holder's",
    .backend = &backend_memory,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_BLOCKS_THREAD,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE | LB_CLAIM_CRASH_RELEASE,
    .waits = "kernel (futex)",
    .about =
        {.compatible = "any program that maps the same robust pthread mutex",
         .order = "none: a running thread takes it before a woken one",
         .hazards =
             "data guarded by a dead holder may be half written: the next holder must check it "
             "(EOWNERDEAD)",
         .guarantee = LB_ON_ONE_HOST,
         .crash = LB_CRASH_AT_ONCE},
    .expected = memory_robust_expected,
    .algorithm = &algorithm,
    .recipe = &(const bool){true},
};
