/* mem_mutex: pthread mutexes in shared memory, with futex waits. mem-mutex is the plain mutex: the
 * lock of a dead holder is never freed. mem-robust is the robust mutex: each thread keeps a list of
 * the mutexes that it holds. When the thread dies, the kernel marks these, and the next client to
 * take one gets EOWNERDEAD and repairs it. */
#define _GNU_SOURCE

#include <errno.h>
#include <string.h>

#include "drivers/local/memory.h"
#include "drivers/wait.h"

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

static const struct lb_algorithm mem_mutex_algorithm = {
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
    .algorithm = &mem_mutex_algorithm,
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
    .algorithm = &mem_mutex_algorithm,
    .recipe = &(const bool){true},
};

/* mem_rwlock: a pthread read-write lock in shared memory, with futex waits, preferring readers
 * (glibc's default: writers may starve) or writers. The lock of a dead holder is never freed, and
 * the holder is not recorded anywhere. */

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

static const struct lb_algorithm mem_rwlock_algorithm = {
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
    .algorithm = &mem_rwlock_algorithm,
};

/* mem_semaphore: a POSIX semaphore in shared memory, with futex waits. Arming gives it its permits.
 * Permits have no owners, so the permit of a dead holder is lost. Several permits at once are
 * refused: with sem_wait(3), two clients that want all permits could get half of them each. */

/* GCC 12's ThreadSanitizer does not know sem_clockwait: this code reports to it what was taken. */
#if defined(__SANITIZE_THREAD__) && __GNUC__ < 14
#include <sanitizer/tsan_interface.h>
#define TELL_TAKEN(semaphore) __tsan_acquire(semaphore)
#else
#define TELL_TAKEN(semaphore) ((void)0)
#endif

static struct mem_semaphore_slot *semaphore_slot_of(const struct lb_session *session,
                                                    const struct lb_request *request) {
    return &memory_of(session)->semaphore[memory_slot(request)];
}

static int semaphore_arm(struct lb_session *session, const struct lb_request *request,
                         struct lb_err *err) {
    struct mem_semaphore_slot *slot = semaphore_slot_of(session, request);
    if (request->key_index >= LOCAL_SLOTS)
        return err_set(err, LB_EXIT_USAGE, "memory: at most %d semaphores at once", LOCAL_SLOTS);
    if (slot->armed) return 0;
    if (sem_init(&slot->semaphore, 1, request->bound) != 0)
        return err_set(err, LB_EXIT_MACHINE, "sem_init: %s", strerror(errno));
    slot->armed = true;
    return 0;
}

static int semaphore_disarm(struct lb_session *session, const struct lb_request *request,
                            struct lb_err *err) {
    (void)err;
    struct mem_semaphore_slot *slot = semaphore_slot_of(session, request);
    if (slot->armed) sem_destroy(&slot->semaphore);
    slot->armed = false;
    return 0;
}

static enum lb_outcome semaphore_acquire(struct lb_session *session,
                                         const struct lb_request *request, struct lb_grant *grant) {
    struct mem_semaphore_slot *slot = semaphore_slot_of(session, request);
    if (!slot->armed) return lb_fail(session, LB_REFUSED, "memory: the semaphore is not armed");
    int failed = sem_trywait(&slot->semaphore) == 0 ? 0 : errno;
    if (failed == EAGAIN && request->deadline_ns <= lb_now()) return LB_BUSY;
    while (failed == EAGAIN || failed == ETIMEDOUT || failed == EINTR) {
        struct timespec until;
        if (!memory_slice(request->deadline_ns, &until)) return LB_TIMEOUT;
        failed = sem_clockwait(&slot->semaphore, CLOCK_MONOTONIC, &until) == 0 ? 0 : errno;
        if (!failed) TELL_TAKEN(&slot->semaphore);
    }
    return failed ? lb_fail(session, LB_BROKEN, "semaphore: %s", strerror(failed))
                  : memory_granted(grant, 1);
}

static enum lb_outcome semaphore_release(struct lb_session *session,
                                         const struct lb_request *request, struct lb_grant *grant) {
    /* sem_post(3) by a client without a permit would add a permit. */
    if (!memory_taken_back(grant)) return LB_LOST;
    if (sem_post(&semaphore_slot_of(session, request)->semaphore) == 0) return LB_OK;
    return lb_fail(session, LB_BROKEN, "semaphore: %s", strerror(errno));
}

static const struct lb_algorithm mem_semaphore_algorithm = {
    .grant_bytes = sizeof(struct memory_grant),
    .arm = semaphore_arm,
    .disarm = semaphore_disarm,
    .acquire = semaphore_acquire,
    .release = semaphore_release,
};

const struct lb_lock lock_mem_semaphore = {
    .name = "mem-semaphore",
    .summary = "POSIX semaphore, process-shared",
    .backend = &backend_memory,
    .primitive = LB_SEMAPHORE,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_BLOCKS_THREAD,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE,
    .waits = "kernel (futex)",
    .about = {.compatible = "any program that maps the same POSIX semaphore",
              .order = "none",
              .hazards =
                  "it has no owner: any process may post, and the permit of a holder that dies is "
                  "lost for ever",
              .guarantee = LB_ON_ONE_HOST,
              .crash = LB_CRASH_NEVER},
    .algorithm = &mem_semaphore_algorithm,
};
