/* toy_primitives: toys as those of toy_help.h, of every primitive but the mutex. */
#ifndef BENCH_TESTS_TOY_PRIMITIVES_H
#define BENCH_TESTS_TOY_PRIMITIVES_H

#include "bench/tests/toy_help.h"

/* The caller leaves with the outcome unless it is LB_OK. */
#define TOY_WAIT(session, request)                                                                 \
    do {                                                                                           \
        enum lb_outcome outcome = toy_wait(session, request);                                      \
        if (outcome != LB_OK) return outcome;                                                      \
    } while (0)

static inline struct toy_key *toy_at_key(struct lb_session *session,
                                         const struct lb_request *request) {
    struct toy_shared *shared = session->server->shared;
    return &shared->key[request->key_index % TOY_KEYS];
}

static inline enum lb_outcome toy_granted(struct lb_grant *grant) {
    grant->lease_end_ns = LB_NEVER;
    return LB_OK;
}

/* ---- readers and writers ---- */

static inline bool toy_rw_enter(struct toy_key *at, bool reader) {
    if (reader) {
        atomic_fetch_add(&at->readers, 1);
        if (toy.readers_ignore_writers || atomic_load(&at->writer) == 0) return true;
        atomic_fetch_sub(&at->readers, 1);
        return false;
    }
    int64_t none = 0;
    if (!atomic_compare_exchange_strong(&at->writer, &none, 1)) return false;
    if (toy.writers_ignore_readers || atomic_load(&at->readers) == 0) return true;
    atomic_store(&at->writer, 0);
    return false;
}

TOY_CALL(toy_rw_acquire) {
    toy_in(session);
    while (!toy_rw_enter(toy_at_key(session, request), request->shared)) {
        enum lb_outcome outcome = toy_wait(session, request);
        if (outcome != LB_OK) return toy_out(session, outcome);
    }
    return toy_out(session, toy_granted(grant));
}

TOY_CALL(toy_rw_release) {
    struct toy_key *at = toy_at_key(session, request);
    if (request->shared)
        atomic_fetch_sub(&at->readers, 1);
    else
        atomic_store(&at->writer, 0);
    return LB_OK;
}

/* ---- semaphore ---- */

TOY_CALL(toy_sem_acquire) {
    struct toy_key *at = toy_at_key(session, request);
    for (;;) {
        int64_t bound = atomic_load(&at->count) + toy.extra_permits; /* as it was armed */
        int64_t out = atomic_load(&at->out);
        if (out + request->permits <= bound &&
            atomic_compare_exchange_strong(&at->out, &out, out + request->permits))
            return toy_granted(grant);
        TOY_WAIT(session, request);
    }
}

TOY_CALL(toy_sem_release) {
    atomic_fetch_sub(&toy_at_key(session, request)->out, request->permits);
    return LB_OK;
}

/* ---- optimistic ---- */

TOY_CALL(toy_read) {
    lb_sleep_until(lb_now() + 10 * LB_US_NS);
    grant->token = atomic_load(&toy_at_key(session, request)->version);
    return toy_granted(grant);
}

TOY_CALL(toy_write) {
    _Atomic uint64_t *version = &toy_at_key(session, request)->version;
    uint64_t read = grant->token;
    if (toy.last_writer_wins)
        atomic_store(version, read + 1);
    else if (!atomic_compare_exchange_strong(version, &read, read + 1))
        return LB_BUSY;
    grant->token++;
    return LB_OK;
}

/* One statement; or, if the last writer wins, a read and a write. */
TOY_CALL(toy_count) {
    _Atomic uint64_t *version = &toy_at_key(session, request)->version;
    uint64_t read = atomic_load(version);
    lb_sleep_until(lb_now() + 10 * LB_US_NS);
    if (toy.last_writer_wins)
        atomic_store(version, read + 1);
    else
        read = atomic_fetch_add(version, 1);
    grant->token = read + 1;
    return toy_granted(grant);
}

TOY_CALL(toy_nothing) {
    return LB_OK;
}

/* ---- their tables ---- */

TOY_LOCK(toy_rwlock, LB_RWLOCK, LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_SHARED, toy_rw_acquire,
         toy_rw_release);
TOY_LOCK(toy_semaphore, LB_SEMAPHORE, LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_PERMITS, toy_sem_acquire,
         toy_sem_release);
TOY_LOCK(toy_optimistic, LB_OPTIMISTIC, LB_CAP_TRY | LB_CAP_WAIT, toy_read, toy_write);
TOY_LOCK(toy_atomic, LB_OPTIMISTIC, LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_ATOMIC, toy_count,
         toy_nothing);

#endif
