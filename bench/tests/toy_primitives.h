/* toy_primitives: toys as those of toy_help.h, of every primitive but the mutex. */
#ifndef BENCH_TESTS_TOY_PRIMITIVES_H
#define BENCH_TESTS_TOY_PRIMITIVES_H

#include "bench/tests/toy_help.h"

/* ---- readers and writers ---- */

static inline bool toy_rw_enter(struct toy_shared *shared, uint32_t key, bool reader) {
    if (reader) {
        atomic_fetch_add(&shared->key[key].readers, 1);
        if (toy.readers_ignore_writers || atomic_load(&shared->key[key].writer) == 0) return true;
        atomic_fetch_sub(&shared->key[key].readers, 1);
        return false;
    }
    int64_t none = 0;
    if (!atomic_compare_exchange_strong(&shared->key[key].writer, &none, 1)) return false;
    if (toy.writers_ignore_readers || atomic_load(&shared->key[key].readers) == 0) return true;
    atomic_store(&shared->key[key].writer, 0);
    return false;
}

static inline enum lb_outcome toy_rw_acquire(struct lb_session *session,
                                             const struct lb_request *request,
                                             struct lb_grant *grant) {
    struct toy_shared *shared = session->server->shared;
    toy_in(session);
    while (!toy_rw_enter(shared, request->key_index % TOY_KEYS, request->shared)) {
        enum lb_outcome outcome = toy_wait(session, request);
        if (outcome != LB_OK) return toy_out(session, outcome);
    }
    grant->lease_end_ns = LB_NEVER;
    return toy_out(session, LB_OK);
}

static inline enum lb_outcome toy_rw_release(struct lb_session *session,
                                             const struct lb_request *request,
                                             struct lb_grant *grant) {
    (void)grant;
    struct toy_shared *shared = session->server->shared;
    uint32_t key = request->key_index % TOY_KEYS;
    if (request->shared) {
        atomic_fetch_sub(&shared->key[key].readers, 1);
    } else {
        atomic_store(&shared->key[key].writer, 0);
    }
    return LB_OK;
}

/* ---- semaphore ---- */

static inline enum lb_outcome toy_sem_acquire(struct lb_session *session,
                                              const struct lb_request *request,
                                              struct lb_grant *grant) {
    struct toy_shared *shared = session->server->shared;
    uint32_t key = request->key_index % TOY_KEYS;
    for (;;) {
        /* as it was armed */
        int64_t bound = atomic_load(&shared->key[key].count) + toy.extra_permits;
        int64_t out = atomic_load(&shared->key[key].out);
        if (out + request->permits <= bound &&
            atomic_compare_exchange_strong(&shared->key[key].out, &out, out + request->permits)) {
            break;
        }
        enum lb_outcome outcome = toy_wait(session, request);
        if (outcome != LB_OK) return outcome;
    }
    grant->lease_end_ns = LB_NEVER;
    return LB_OK;
}

static inline enum lb_outcome toy_sem_release(struct lb_session *session,
                                              const struct lb_request *request,
                                              struct lb_grant *grant) {
    (void)grant;
    struct toy_shared *shared = session->server->shared;
    atomic_fetch_sub(&shared->key[request->key_index % TOY_KEYS].out, request->permits);
    return LB_OK;
}

/* ---- slots ---- */

static inline enum lb_outcome toy_slot_acquire(struct lb_session *session,
                                               const struct lb_request *request,
                                               struct lb_grant *grant) {
    struct toy_shared *shared = session->server->shared;
    uint32_t key = request->key_index % TOY_KEYS;
    for (;;) {
        for (uint32_t slot = 0; slot < request->bound; slot++) {
            uint64_t bit = UINT64_C(1) << slot;
            bool taken = atomic_fetch_or(&shared->key[key].slots, bit) & bit;
            if (taken && !toy.slot_is_shared) continue;
            grant->slot = slot;
            grant->lease_end_ns = LB_NEVER;
            return LB_OK;
        }
        enum lb_outcome outcome = toy_wait(session, request);
        if (outcome != LB_OK) return outcome;
    }
}

static inline enum lb_outcome toy_slot_release(struct lb_session *session,
                                               const struct lb_request *request,
                                               struct lb_grant *grant) {
    struct toy_shared *shared = session->server->shared;
    atomic_fetch_and(&shared->key[request->key_index % TOY_KEYS].slots,
                     ~(UINT64_C(1) << grant->slot));
    return LB_OK;
}

/* ---- optimistic ---- */

static inline enum lb_outcome toy_read(struct lb_session *session, const struct lb_request *request,
                                       struct lb_grant *grant) {
    struct toy_shared *shared = session->server->shared;
    lb_sleep_until(lb_now() + 10 * LB_US_NS);
    grant->token = atomic_load(&shared->key[request->key_index % TOY_KEYS].version);
    grant->lease_end_ns = LB_NEVER;
    return LB_OK;
}

static inline enum lb_outcome toy_write(struct lb_session *session,
                                        const struct lb_request *request, struct lb_grant *grant) {
    struct toy_shared *shared = session->server->shared;
    _Atomic uint64_t *version = &shared->key[request->key_index % TOY_KEYS].version;
    uint64_t read = grant->token;
    if (toy.last_writer_wins) {
        atomic_store(version, read + 1);
    } else if (!atomic_compare_exchange_strong(version, &read, read + 1)) {
        return LB_BUSY;
    }
    grant->token++;
    return LB_OK;
}

/* One statement; or, if the last writer wins, a read and a write. */
static inline enum lb_outcome toy_count(struct lb_session *session,
                                        const struct lb_request *request, struct lb_grant *grant) {
    struct toy_shared *shared = session->server->shared;
    _Atomic uint64_t *version = &shared->key[request->key_index % TOY_KEYS].version;
    uint64_t read = atomic_load(version);
    lb_sleep_until(lb_now() + 10 * LB_US_NS);
    if (toy.last_writer_wins) {
        atomic_store(version, read + 1);
    } else {
        read = atomic_fetch_add(version, 1);
    }
    grant->token = read + 1;
    grant->lease_end_ns = LB_NEVER;
    return LB_OK;
}

static inline enum lb_outcome
toy_nothing(struct lb_session *session, const struct lb_request *request, struct lb_grant *grant) {
    (void)session, (void)request, (void)grant;
    return LB_OK;
}

/* ---- latch ---- */

static inline enum lb_outcome toy_await(struct lb_session *session,
                                        const struct lb_request *request, struct lb_grant *grant) {
    struct toy_shared *shared = session->server->shared;
    uint32_t key = request->key_index % TOY_KEYS;
    bool late = atomic_load(&shared->key[key].count) <= 0;
    while (atomic_load(&shared->key[key].count) > (toy.opens_early ? 1 : 0) ||
           (late && toy.closes_again && request->client == 0)) {
        enum lb_outcome outcome = toy_wait(session, request);
        if (outcome != LB_OK) return outcome;
    }
    grant->lease_end_ns = LB_NEVER;
    return LB_OK;
}

static inline enum lb_outcome toy_count_down(struct lb_session *session,
                                             const struct lb_request *request,
                                             struct lb_grant *grant) {
    (void)grant;
    struct toy_shared *shared = session->server->shared;
    atomic_fetch_sub(&shared->key[request->key_index % TOY_KEYS].count, 1);
    return LB_OK;
}

/* ---- their tables ---- */

static const struct lb_algorithm toy_rwlock_algorithm = {
    TOY_FUNCTIONS,
    .acquire = toy_rw_acquire,
    .release = toy_rw_release,
};

static const struct lb_lock toy_rwlock = {
    TOY_COMMON,
    .name = "toy-rwlock",
    .primitive = LB_RWLOCK,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_SHARED,
    .algorithm = &toy_rwlock_algorithm,
};

static const struct lb_algorithm toy_semaphore_algorithm = {
    TOY_FUNCTIONS,
    .acquire = toy_sem_acquire,
    .release = toy_sem_release,
};

static const struct lb_lock toy_semaphore = {
    TOY_COMMON,
    .name = "toy-semaphore",
    .primitive = LB_SEMAPHORE,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_PERMITS,
    .algorithm = &toy_semaphore_algorithm,
};

static const struct lb_algorithm toy_slots_algorithm = {
    TOY_FUNCTIONS,
    .acquire = toy_slot_acquire,
    .release = toy_slot_release,
};

static const struct lb_lock toy_slots = {
    TOY_COMMON,
    .name = "toy-slots",
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_SLOTS,
    .algorithm = &toy_slots_algorithm,
};

static const struct lb_algorithm toy_optimistic_algorithm = {
    TOY_FUNCTIONS,
    .acquire = toy_read,
    .release = toy_write,
};

static const struct lb_lock toy_optimistic = {
    TOY_COMMON,
    .name = "toy-optimistic",
    .primitive = LB_OPTIMISTIC,
    .caps = LB_CAP_TRY | LB_CAP_WAIT,
    .algorithm = &toy_optimistic_algorithm,
};

static const struct lb_algorithm toy_atomic_algorithm = {
    TOY_FUNCTIONS,
    .acquire = toy_count,
    .release = toy_nothing,
};

static const struct lb_lock toy_atomic = {
    TOY_COMMON,
    .name = "toy-atomic",
    .primitive = LB_OPTIMISTIC,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_ATOMIC,
    .algorithm = &toy_atomic_algorithm,
};

static const struct lb_algorithm toy_latch_algorithm = {
    TOY_FUNCTIONS,
    .acquire = toy_await,
    .release = toy_count_down,
};

static const struct lb_lock toy_latch = {
    TOY_COMMON,
    .name = "toy-latch",
    .primitive = LB_LATCH,
    .caps = LB_CAP_TRY | LB_CAP_WAIT,
    .algorithm = &toy_latch_algorithm,
};

#endif
