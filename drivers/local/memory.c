/* memory: locks in memory shared by this machine's processes: a lower bound for every remote lock.
 * All block their thread in the kernel (futex), so the engine gives each client a thread of its own.
 *
 * mem-mutex is pthread's plain mutex: the lock of a dead holder is never freed. mem-robust is the
 * robust mutex: each thread keeps a list of the mutexes that it holds. When the thread dies, the
 * kernel marks these, and the next client to take one gets EOWNERDEAD and repairs it. */
#define _GNU_SOURCE

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

#include "drivers/backends.h"
#include "drivers/wait.h"

/* GCC 12's ThreadSanitizer does not know the calls that wait until a time of a clock: this code
 * reports to it what was taken. */
#if defined(__SANITIZE_THREAD__) && __GNUC__ < 14
#include <sanitizer/tsan_interface.h>
#define TELL_LOCKED(lock, how)                                                                     \
    (__tsan_mutex_pre_lock((lock), (how)), __tsan_mutex_post_lock((lock), (how), 0))
#define TELL_TAKEN(semaphore) __tsan_acquire(semaphore)
#define READER __tsan_mutex_read_lock
#else
#define TELL_LOCKED(lock, how) ((void)0)
#define TELL_TAKEN(semaphore) ((void)0)
#define READER 0
#endif

/* The places of a lock. A further key shares the place of another key, so it still excludes. */
#define SLOTS 4096

struct mutex_slot {
    _Alignas(64) pthread_mutex_t mutex;
};

struct rwlock_slot {
    _Alignas(64) pthread_rwlock_t rwlock;
};

struct semaphore_slot {
    _Alignas(64) sem_t semaphore;
    bool armed;
};

struct memory_shared {
    struct mutex_slot mutex[SLOTS], robust[SLOTS];
    struct rwlock_slot rwlock[SLOTS];
    struct semaphore_slot semaphore[SLOTS];
};

static int make_mutexes(struct mutex_slot *slots, int robustness) {
    pthread_mutexattr_t attributes;
    int failed = pthread_mutexattr_init(&attributes);
    if (!failed) failed = pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    if (!failed) failed = pthread_mutexattr_setrobust(&attributes, robustness);
    for (int i = 0; i < SLOTS && !failed; i++)
        failed = pthread_mutex_init(&slots[i].mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return failed;
}

static int make_rwlocks(struct rwlock_slot *slots) {
    pthread_rwlockattr_t attributes;
    int failed = pthread_rwlockattr_init(&attributes);
    if (!failed) failed = pthread_rwlockattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    for (int i = 0; i < SLOTS && !failed; i++)
        failed = pthread_rwlock_init(&slots[i].rwlock, &attributes);
    pthread_rwlockattr_destroy(&attributes);
    return failed;
}

static int memory_open(struct lb_server *server, struct lb_err *err) {
    struct memory_shared *shared = server->shared;
    int failed = make_mutexes(shared->mutex, PTHREAD_MUTEX_STALLED);
    if (!failed) failed = make_mutexes(shared->robust, PTHREAD_MUTEX_ROBUST);
    if (!failed) failed = make_rwlocks(shared->rwlock);
    return failed ? err_set(err, LB_EXIT_MACHINE, "pthread locks: %s", strerror(failed)) : 0;
}

static int memory_describe(struct lb_session *session, struct lb_facts *facts, struct lb_err *err) {
    (void)session;
    (void)err;
    lb_fact(facts, "version", "glibc %d.%d", __GLIBC__, __GLIBC_MINOR__);
    return 0;
}

static const struct lb_connector connector = {
    .shared_bytes = sizeof(struct memory_shared),
    .open = memory_open,
    .describe = memory_describe,
};

const struct lb_backend backend_memory = {
    .name = "memory",
    .summary = "this machine's memory, no server",
    .durability_class = "none",
    .connector = &connector,
};

static struct memory_shared *memory_of(const struct lb_session *session) {
    return session->server->shared;
}

static uint32_t slot_of(const struct lb_request *request) {
    return request->key_index % SLOTS;
}

/* A futex wait is divided into slices, so that the cut-off is noticed. Sets the end of the next
 * slice. False when the time is up. */
static bool next_slice(int64_t deadline_ns, struct timespec *ret_until) {
    int64_t now_ns = lb_now();
    if (now_ns >= deadline_ns || lb_stopping()) return false;
    int64_t slice_ns = now_ns + 100 * LB_MS_NS;
    if (slice_ns > deadline_ns) slice_ns = deadline_ns;
    *ret_until = (struct timespec){.tv_sec = slice_ns / LB_S_NS, .tv_nsec = slice_ns % LB_S_NS};
    return true;
}

enum call { CALL_TRY, CALL_WAIT, CALL_FREE };

/* A lock's recipe: makes a call on the lock of the request. until: the end of CALL_WAIT. 0; EBUSY of
 * CALL_TRY; ETIMEDOUT of CALL_WAIT; or another errno. */
typedef int call_fn(struct memory_shared *shared, const struct lb_request *request, enum call call,
                    const struct timespec *until);

static enum lb_outcome memory_fail(struct lb_session *session, int failed) {
    return lb_fail(session, LB_BROKEN, "%s: %s", session->lock->name, strerror(failed));
}

/* The locks do not know their holders: the grant's data is whether the client holds it. */
static enum lb_outcome memory_acquire(struct lb_session *session, const struct lb_request *request,
                                      struct lb_grant *grant) {
    call_fn *const *recipe = session->lock->recipe;
    int failed = (*recipe)(memory_of(session), request, CALL_TRY, NULL);
    if (failed == EBUSY && request->deadline_ns <= lb_now()) return LB_BUSY;
    while (failed == EBUSY || failed == ETIMEDOUT) {
        struct timespec until;
        if (!next_slice(request->deadline_ns, &until)) return LB_TIMEOUT;
        failed = (*recipe)(memory_of(session), request, CALL_WAIT, &until);
    }
    if (failed) return memory_fail(session, failed);
    *(bool *)grant->data = true;
    return lb_granted(grant, 0, LB_NEVER);
}

/* What is not held is not freed: that would break a read-write lock for all, and give a semaphore one permit more. */
static enum lb_outcome memory_release(struct lb_session *session, const struct lb_request *request,
                                      struct lb_grant *grant) {
    call_fn *const *recipe = session->lock->recipe;
    bool *held = grant->data;
    if (!*held) return LB_LOST;
    *held = false;
    int failed = (*recipe)(memory_of(session), request, CALL_FREE, NULL);
    return failed ? memory_fail(session, failed) : LB_OK;
}

static const struct lb_algorithm memory_algorithm = {
    .grant_bytes = sizeof(bool),
    .acquire = memory_acquire,
    .release = memory_release,
};

static int call_mutex(pthread_mutex_t *mutex, enum call call, const struct timespec *until) {
    if (call == CALL_FREE) return pthread_mutex_unlock(mutex);
    int failed = call == CALL_TRY ? pthread_mutex_trylock(mutex)
                                  : pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, until);
    if (call == CALL_WAIT && (!failed || failed == EOWNERDEAD)) TELL_LOCKED(mutex, 0);
    /* The data that the dead holder guarded may be half written. The mutex is ours, and this call
     * makes it consistent again. */
    return failed == EOWNERDEAD ? pthread_mutex_consistent(mutex) : failed;
}

static int by_mutex(struct memory_shared *shared, const struct lb_request *request, enum call call,
                    const struct timespec *until) {
    return call_mutex(&shared->mutex[slot_of(request)].mutex, call, until);
}

static int by_robust(struct memory_shared *shared, const struct lb_request *request, enum call call,
                     const struct timespec *until) {
    return call_mutex(&shared->robust[slot_of(request)].mutex, call, until);
}

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
              LB_TERMS(0, 0, LB_ON_ONE_HOST, LB_CRASH_NEVER)},
    .algorithm = &memory_algorithm,
    .recipe = &(call_fn *const){by_mutex},
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
         LB_TERMS(0, 0, LB_ON_ONE_HOST, LB_CRASH_AT_ONCE)},
    .algorithm = &memory_algorithm,
    .recipe = &(call_fn *const){by_robust},
};

/* mem_rwlock: a pthread read-write lock in shared memory, with futex waits, preferring readers
 * (glibc's default: writers may starve). The lock of a dead holder is never freed, and
 * the holder is not recorded anywhere. */

static int by_rwlock(struct memory_shared *shared, const struct lb_request *request, enum call call,
                     const struct timespec *until) {
    pthread_rwlock_t *rwlock = &shared->rwlock[slot_of(request)].rwlock;
    if (call == CALL_FREE) return pthread_rwlock_unlock(rwlock);
    if (call == CALL_TRY)
        return request->shared ? pthread_rwlock_tryrdlock(rwlock)
                               : pthread_rwlock_trywrlock(rwlock);
    int failed = request->shared ? pthread_rwlock_clockrdlock(rwlock, CLOCK_MONOTONIC, until)
                                 : pthread_rwlock_clockwrlock(rwlock, CLOCK_MONOTONIC, until);
    if (!failed) TELL_LOCKED(rwlock, request->shared ? READER : 0);
    return failed;
}

const struct lb_lock lock_mem_rwlock = {
    .name = "mem-rwlock",
    .summary = "pthread read-write lock, process-shared, preferring readers",
    .backend = &backend_memory,
    .primitive = LB_RWLOCK,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_SHARED | LB_CAP_BLOCKS_THREAD,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE,
    .waits = "kernel (futex)",
    .about = {.compatible = "any program that maps the same pthread rwlock",
              .order = "none; readers first",
              .hazards = "a stream of readers starves writers, as glibc's default does; a holder "
                         "that dies keeps it for ever",
              LB_TERMS(0, 0, LB_ON_ONE_HOST, LB_CRASH_NEVER)},
    .algorithm = &memory_algorithm,
    .recipe = &(call_fn *const){by_rwlock},
};

/* mem_semaphore: a POSIX semaphore in shared memory, with futex waits. Arming gives it its permits.
 * Permits have no owners, so the permit of a dead holder is lost. Several permits at once are
 * refused: with sem_wait(3), two clients that want all permits could get half of them each. */

static struct semaphore_slot *semaphore_slot_of(const struct lb_session *session,
                                                const struct lb_request *request) {
    return &memory_of(session)->semaphore[slot_of(request)];
}

static int semaphore_arm(struct lb_session *session, const struct lb_request *request,
                         struct lb_err *err) {
    struct semaphore_slot *slot = semaphore_slot_of(session, request);
    if (request->key_index >= SLOTS)
        return err_set(err, LB_EXIT_USAGE, "memory: at most %d semaphores at once", SLOTS);
    if (slot->armed) return 0;
    if (sem_init(&slot->semaphore, 1, request->bound) != 0)
        return err_set(err, LB_EXIT_MACHINE, "sem_init: %s", strerror(errno));
    slot->armed = true;
    return 0;
}

static int semaphore_disarm(struct lb_session *session, const struct lb_request *request,
                            struct lb_err *err) {
    (void)err;
    struct semaphore_slot *slot = semaphore_slot_of(session, request);
    if (slot->armed) sem_destroy(&slot->semaphore);
    slot->armed = false;
    return 0;
}

static int by_semaphore(struct memory_shared *shared, const struct lb_request *request,
                        enum call call, const struct timespec *until) {
    sem_t *semaphore = &shared->semaphore[slot_of(request)].semaphore;
    int failed = call == CALL_FREE  ? sem_post(semaphore)
                 : call == CALL_TRY ? sem_trywait(semaphore)
                                    : sem_clockwait(semaphore, CLOCK_MONOTONIC, until);
    if (failed) return errno == EAGAIN ? EBUSY : errno == EINTR ? ETIMEDOUT : errno;
    if (call == CALL_WAIT) TELL_TAKEN(semaphore);
    return 0;
}

static enum lb_outcome semaphore_acquire(struct lb_session *session,
                                         const struct lb_request *request, struct lb_grant *grant) {
    if (semaphore_slot_of(session, request)->armed) return memory_acquire(session, request, grant);
    return lb_fail(session, LB_REFUSED, "memory: the semaphore is not armed");
}

static const struct lb_algorithm mem_semaphore_algorithm = {
    .grant_bytes = sizeof(bool),
    .arm = semaphore_arm,
    .disarm = semaphore_disarm,
    .acquire = semaphore_acquire,
    .release = memory_release,
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
              LB_TERMS(0, 0, LB_ON_ONE_HOST, LB_CRASH_NEVER)},
    .algorithm = &mem_semaphore_algorithm,
    .recipe = &(call_fn *const){by_semaphore},
};
