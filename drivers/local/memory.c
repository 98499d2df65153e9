/* memory: locks in memory shared by this machine's processes: a lower bound for every remote lock.
 * The backend; its locks are in mem_*.c. All block their thread, by the kernel, so
 * the engine gives each client one. */
#define _GNU_SOURCE
#include "drivers/local/memory.h"

#include <string.h>

#include "drivers/wait.h"

static int make_mutexes(struct mem_mutex_slot *slots, int robustness) {
    pthread_mutexattr_t attributes;
    int failed = pthread_mutexattr_init(&attributes);
    if (!failed) failed = pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    if (!failed) failed = pthread_mutexattr_setrobust(&attributes, robustness);
    for (int i = 0; i < LOCAL_SLOTS && !failed; i++)
        failed = pthread_mutex_init(&slots[i].mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return failed;
}

static int make_rwlocks(struct mem_rwlock_slot *slots, int preference) {
    pthread_rwlockattr_t attributes;
    int failed = pthread_rwlockattr_init(&attributes);
    if (!failed) failed = pthread_rwlockattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    if (!failed) failed = pthread_rwlockattr_setkind_np(&attributes, preference);
    for (int i = 0; i < LOCAL_SLOTS && !failed; i++)
        failed = pthread_rwlock_init(&slots[i].rwlock, &attributes);
    pthread_rwlockattr_destroy(&attributes);
    return failed;
}

static int memory_open(struct lb_server *server, struct lb_err *err) {
    struct memory_shared *shared = server->shared;
    int failed = make_mutexes(shared->mutex, PTHREAD_MUTEX_STALLED);
    if (!failed) failed = make_mutexes(shared->robust, PTHREAD_MUTEX_ROBUST);
    if (!failed) failed = make_rwlocks(shared->rwlock[0], PTHREAD_RWLOCK_PREFER_READER_NP);
    if (!failed)
        failed = make_rwlocks(shared->rwlock[1], PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    return failed ? err_set(err, LB_EXIT_MACHINE, "pthread locks: %s", strerror(failed)) : 0;
}

static int memory_describe(struct lb_session *session, struct lb_facts *facts, struct lb_err *err) {
    (void)session;
    (void)err;
    lb_fact(facts, "version", "glibc %d.%d", __GLIBC__, __GLIBC_MINOR__);
    return 0;
}

bool memory_slice(int64_t deadline_ns, struct timespec *ret_until) {
    int64_t now_ns = lb_now();
    if (now_ns >= deadline_ns || lb_stopping()) return false;
    int64_t slice_ns = now_ns + 100 * LB_MS_NS;
    if (slice_ns > deadline_ns) slice_ns = deadline_ns;
    *ret_until = (struct timespec){.tv_sec = slice_ns / LB_S_NS, .tv_nsec = slice_ns % LB_S_NS};
    return true;
}

enum lb_outcome memory_granted(struct lb_grant *grant, uint64_t held) {
    struct memory_grant *mine = grant->data;
    mine->held = held;
    grant->token = 0;
    grant->lease_end_ns = LB_NEVER;
    return LB_OK;
}

uint64_t memory_taken_back(struct lb_grant *grant) {
    struct memory_grant *mine = grant->data;
    uint64_t held = mine->held;
    mine->held = 0;
    return held;
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
