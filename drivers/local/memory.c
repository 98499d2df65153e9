/* memory: locks in memory shared by this machine's processes: the floor that every remote lock stands on.
 *
 * mem-mutex is a pthread mutex, process-shared. Its waits block the thread, so the engine gives each client
 * one. A dead holder's is never freed (not robust). unsafe-none grants to everybody: the checker must catch
 * it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "drivers/local/local.h"
#include "drivers/wait.h"

/* GCC 12's ThreadSanitizer does not know pthread_mutex_clocklock: it must be told what that took. */
#if defined(__SANITIZE_THREAD__) && __GNUC__ < 14
#include <sanitizer/tsan_interface.h>
#define TELL_LOCKED(mutex) (__tsan_mutex_pre_lock((mutex), 0), __tsan_mutex_post_lock((mutex), 0, 0))
#else
#define TELL_LOCKED(mutex) ((void)0)
#endif

struct memory_shared {
    struct {
        _Alignas(64) pthread_mutex_t mutex;
    } slot[LOCAL_SLOTS];
};

static int memory_open(struct lb_server *server, struct lb_err *err) {
    struct memory_shared *shared = server->shared;
    pthread_mutexattr_t attributes;
    int failed = pthread_mutexattr_init(&attributes);
    if (!failed) failed = pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    for (int i = 0; i < LOCAL_SLOTS && !failed; i++)
        failed = pthread_mutex_init(&shared->slot[i].mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return failed ? err_set(err, LB_EXIT_MACHINE, "pthread mutex: %s", strerror(failed)) : 0;
}

static int memory_describe(struct lb_session *session, struct lb_facts *facts, struct lb_err *err) {
    (void)session;
    (void)err;
    lb_fact(facts, "version", "glibc %d.%d", __GLIBC__, __GLIBC_MINOR__);
    return 0;
}

static pthread_mutex_t *mutex_of(struct lb_session *session, const struct lb_request *request) {
    struct memory_shared *shared = session->server->shared;
    return &shared->slot[request->key_index % LOCAL_SLOTS].mutex;
}

static enum lb_outcome mutex_acquire(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
    pthread_mutex_t *mutex = mutex_of(session, request);
    grant->token = 0;
    grant->lease_end_ns = LB_NEVER;
    int failed = pthread_mutex_trylock(mutex);
    if (failed == EBUSY && request->deadline_ns <= lb_now()) return LB_BUSY;
    while (failed == EBUSY || failed == ETIMEDOUT) {
        int64_t now_ns = lb_now();
        if (now_ns >= request->deadline_ns || lb_stopping()) return LB_TIMEOUT;
        int64_t slice_ns = now_ns + 100 * LB_MS_NS;
        if (slice_ns > request->deadline_ns) slice_ns = request->deadline_ns;
        struct timespec until = {.tv_sec = slice_ns / LB_S_NS, .tv_nsec = slice_ns % LB_S_NS};
        failed = pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &until);
        if (!failed) TELL_LOCKED(mutex);
    }
    return failed ? lb_fail(session, LB_BROKEN, "pthread mutex: %s", strerror(failed)) : LB_OK;
}

static enum lb_outcome mutex_release(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
    (void)grant;
    int failed = pthread_mutex_unlock(mutex_of(session, request));
    return failed ? lb_fail(session, LB_BROKEN, "pthread mutex: %s", strerror(failed)) : LB_OK;
}

static enum lb_outcome none_acquire(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    (void)session;
    (void)request;
    grant->token = 0;
    grant->lease_end_ns = LB_NEVER;
    return LB_OK;
}

static enum lb_outcome none_release(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    (void)session;
    (void)request;
    (void)grant;
    return LB_OK;
}

const struct lb_backend backend_memory = {
    .name = "memory",
    .summary = "this machine's memory, no server",
    .shared_bytes = sizeof(struct memory_shared),
    .open = memory_open,
    .describe = memory_describe,
};

const struct lb_lock lock_mem_mutex = {
    .name = "mem-mutex",
    .summary = "pthread mutex, process-shared, not robust",
    .backend = &backend_memory,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_BLOCKS_THREAD,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE,
    .waits = "kernel (futex)",
    .acquire = mutex_acquire,
    .release = mutex_release,
};

const struct lb_lock lock_unsafe_none = {
    .name = "unsafe-none",
    .summary = "grants to everybody at once: the control that the checker must catch",
    .backend = &backend_memory,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_CONTROL,
    .waits = "never",
    .acquire = none_acquire,
    .release = none_release,
};
