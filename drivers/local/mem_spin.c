/* mem_spin: a test-and-test-and-set spin lock: it reads the word until the lock seems free, and
 * only then writes. The word names the holder, for people who examine a stuck lock. The grant
 * proves that a release frees only its own lock. */
#include "drivers/local/memory.h"
#include "drivers/local/spin.h"

static enum lb_outcome spin_acquire(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    _Atomic uint32_t *owner = &memory_of(session)->spin[memory_slot(request)].owner;
    uint32_t me = request->client + 1;
    struct spin spin = {0};
    for (;;) {
        uint32_t seen = atomic_load_explicit(owner, memory_order_relaxed);
        if (seen == 0 && atomic_compare_exchange_strong_explicit(
                             owner, &seen, me, memory_order_acquire, memory_order_relaxed))
            return memory_granted(grant, me);
        if (spin.looks == 0 && request->deadline_ns <= lb_now()) return LB_BUSY;
        if (!spin_again(&spin, request->deadline_ns)) return LB_TIMEOUT;
    }
}

static enum lb_outcome spin_release(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    if (!memory_taken_back(grant)) return LB_LOST;
    atomic_store_explicit(&memory_of(session)->spin[memory_slot(request)].owner, 0,
                          memory_order_release);
    return LB_OK;
}

static const struct lb_algorithm algorithm = {
    .grant_bytes = sizeof(struct memory_grant),
    .acquire = spin_acquire,
    .release = spin_release,
};

const struct lb_lock lock_mem_spin = {
    .name = "mem-spin",
    .summary = "test-and-test-and-set spin lock",
    .backend = &backend_memory,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_BLOCKS_THREAD | LB_CAP_SPINS,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE,
    .waits = "spin on one word, yielding",
    .about =
        {.order = "none",
         .hazards =
             "waiters use their processors fully; each release makes all of them fetch the cache "
             "line again; a holder that dies keeps it for ever",
         .guarantee = LB_ON_ONE_HOST,
         .crash = LB_CRASH_NEVER},
    .algorithm = &algorithm,
};
