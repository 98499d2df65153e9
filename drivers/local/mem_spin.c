/* mem_spin: the spinning locks of shared memory: test-and-test-and-set, ticket, MCS.
 *
 * mem-spin: a test-and-test-and-set spin lock: it reads the word until the lock seems free, and
 * only then writes. The word names the holder, for people who examine a stuck lock. The grant
 * proves that a release frees only its own lock. */
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "drivers/local/memory.h"
#include "drivers/wait.h"

/* about 2 to 5 us, several times as long as a hand-over between two processors */
#define SPIN_PAUSES 128

/* How the spinning locks wait: the processor's pause instruction, and after some of these the
 * processor is given to another thread, which may be the holder. */
struct spin {
    uint32_t looks;
};

static inline void spin_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Pauses between two looks at the lock. False when the deadline has passed or the run was cut
 * off. */
static inline bool spin_again(struct spin *spin, int64_t deadline_ns) {
    if (++spin->looks % SPIN_PAUSES != 0) {
        spin_pause();
        return true;
    }
    sched_yield();
    return lb_now() < deadline_ns && !lb_stopping();
}

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

static const struct lb_algorithm mem_spin_algorithm = {
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
    .algorithm = &mem_spin_algorithm,
};

/* mem_ticket: a ticket lock: a client draws a number and spins until the number is served. First
 * come, first served.
 *
 * In the textbook a waiter can't give up: its number would be served and no client would answer.
 * Here it leaves a note (`left`, ticket + 1, in a ring), and a client that serves a number with a
 * note goes on to the next number. Note and serving cross as in Dekker's algorithm: the waiter
 * writes its note and then looks whether it is being served; the other client serves and then looks
 * for a note. If both see each other, the compare-and-exchange that takes the note away decides who
 * answers for the ticket. A ring of notes bounds the queue: beyond TICKET_RING waiters the next one
 * waits, without a number and so without an order, until there is room. */

static struct mem_ticket_slot *ticket_slot_of(const struct lb_session *session,
                                              const struct lb_request *request) {
    return &memory_of(session)->ticket[memory_slot(request)];
}

/* Takes back the note of a ticket; true for exactly one of the clients that try. */
static bool take_note(struct mem_ticket_slot *slot, uint64_t ticket) {
    uint64_t note = ticket + 1;
    return atomic_compare_exchange_strong(&slot->left[ticket % TICKET_RING], &note, 0);
}

/* Draws a number unless the ring is full; with `only_now`, draws only a number that is served at
 * once. */
static bool draw(struct mem_ticket_slot *slot, bool only_now, uint64_t *ret_ticket) {
    uint64_t room = only_now ? 1 : TICKET_RING;
    for (;;) {
        /* loaded first, so that it is never ahead of next */
        uint64_t serving = atomic_load(&slot->serving);
        uint64_t ticket = atomic_load(&slot->next);
        if (ticket - serving >= room) return false;
        if (!atomic_compare_exchange_strong(&slot->next, &ticket, ticket + 1)) continue;
        *ret_ticket = ticket;
        return true;
    }
}

static enum lb_outcome ticket_acquire(struct lb_session *session, const struct lb_request *request,
                                      struct lb_grant *grant) {
    struct mem_ticket_slot *slot = ticket_slot_of(session, request);
    struct spin spin = {0};
    uint64_t ticket;
    if (!draw(slot, true, &ticket)) {
        if (request->deadline_ns <= lb_now()) return LB_BUSY;
        while (!draw(slot, false, &ticket)) {
            if (!spin_again(&spin, request->deadline_ns)) return LB_TIMEOUT;
        }
    }
    while (atomic_load_explicit(&slot->serving, memory_order_acquire) != ticket) {
        if (spin_again(&spin, request->deadline_ns)) continue;
        atomic_store(&slot->left[ticket % TICKET_RING], ticket + 1);
        if (atomic_load(&slot->serving) != ticket || !take_note(slot, ticket)) return LB_TIMEOUT;
        break; /* served at the last moment */
    }
    return memory_granted(grant, ticket + 1);
}

static enum lb_outcome ticket_release(struct lb_session *session, const struct lb_request *request,
                                      struct lb_grant *grant) {
    struct mem_ticket_slot *slot = ticket_slot_of(session, request);
    uint64_t ticket = memory_taken_back(grant);
    if (ticket == 0) return LB_LOST;
    /* The next ticket is this one plus one. */
    do atomic_store(&slot->serving, ticket);
    while (take_note(slot, ticket++));
    return LB_OK;
}

static const struct lb_algorithm mem_ticket_algorithm = {
    .grant_bytes = sizeof(struct memory_grant),
    .acquire = ticket_acquire,
    .release = ticket_release,
};

const struct lb_lock lock_mem_ticket = {
    .name = "mem-ticket",
    .summary = "ticket lock; a waiter that gives up marks its number as abandoned",
    .backend = &backend_memory,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_FAIR | LB_CAP_BLOCKS_THREAD | LB_CAP_SPINS,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE,
    .waits = "spin on the number served, yielding",
    .about = {.order = "first come, first served, up to 256 waiters",
              .hazards = MEMORY_QUEUE_HAZARDS,
              .guarantee = LB_ON_ONE_HOST,
              .crash = LB_CRASH_NEVER},
    .algorithm = &mem_ticket_algorithm,
};

/* mem_mcs: the queue lock of Mellor-Crummey and Scott (1991): waiters form a linked list, each
 * spins on a node of its own, and the holder's release writes to the next one's node only. Nodes
 * lie in the shared mapping and are named by their index, since processes may map it elsewhere.
 *
 * Giving up follows the time-published locks of He, Scherer and Scott (2005): a waiter that gives
 * up marks its node as left and goes; a release that comes to such a node goes on to the next node,
 * and frees this one. So a node belongs to its attempt and not to its client: a client has
 * MCS_NODES_OF nodes. If all of them are in a queue, the client waits outside until one was
 * passed. */

/* after the cut-off, a waiter has this time to finish its two steps of queuing */
#define GRACE_NS (2 * LB_S_NS)

enum node_state { NODE_WAITS, NODE_GRANTED, NODE_LEFT };

/* The index of a free node + 1; 0 if all nodes of this client are queued. */
static uint32_t take_node(struct memory_shared *shared, uint32_t client) {
    for (uint32_t i = 0; i < MCS_NODES_OF; i++) {
        uint32_t index = (client * MCS_NODES_OF + i) % MCS_NODES;
        struct mem_mcs_node *node = &shared->node[index];
        if (atomic_load_explicit(&node->in_use, memory_order_relaxed)) continue;
        if (atomic_exchange_explicit(&node->in_use, 1, memory_order_acquire)) continue;
        atomic_store_explicit(&node->state, NODE_WAITS, memory_order_relaxed);
        atomic_store_explicit(&node->next, 0, memory_order_relaxed);
        return index + 1;
    }
    return 0;
}

static void free_mcs_node(struct memory_shared *shared, uint32_t number) {
    atomic_store_explicit(&shared->node[number - 1].in_use, 0, memory_order_release);
}

/* Waits in the queue. False when this client has given up; the next release removes its node. */
static bool await(struct mem_mcs_node *node, struct spin *spin, int64_t deadline_ns) {
    while (atomic_load_explicit(&node->state, memory_order_acquire) != NODE_GRANTED) {
        if (spin_again(spin, deadline_ns)) continue;
        uint32_t waits = NODE_WAITS;
        return !atomic_compare_exchange_strong_explicit(&node->state, &waits, NODE_LEFT,
                                                        memory_order_acq_rel, memory_order_acquire);
    }
    return true;
}

static enum lb_outcome mcs_acquire(struct lb_session *session, const struct lb_request *request,
                                   struct lb_grant *grant) {
    struct memory_shared *shared = memory_of(session);
    _Atomic uint32_t *tail = &shared->mcs[memory_slot(request)].tail;
    struct spin spin = {0};
    uint32_t free_tail = 0, mine;
    bool once = request->deadline_ns <= lb_now();
    while (!(mine = take_node(shared, request->client))) {
        if (once) return LB_BUSY;
        if (!spin_again(&spin, request->deadline_ns)) return LB_TIMEOUT;
    }
    if (once) {
        if (atomic_compare_exchange_strong_explicit(tail, &free_tail, mine, memory_order_acq_rel,
                                                    memory_order_relaxed))
            return memory_granted(grant, mine);
        free_mcs_node(shared, mine);
        return LB_BUSY;
    }
    uint32_t before = atomic_exchange_explicit(tail, mine, memory_order_acq_rel);
    if (before != 0) {
        atomic_store_explicit(&shared->node[before - 1].next, mine, memory_order_release);
        if (!await(&shared->node[mine - 1], &spin, request->deadline_ns)) return LB_TIMEOUT;
    }
    return memory_granted(grant, mine);
}

/* The node after this one, + 1; 0 if there is none and the lock is free now. -1: a waiter is on its
 * way and never arrives. */
static int64_t after(struct memory_shared *shared, _Atomic uint32_t *tail, uint32_t number) {
    _Atomic uint32_t *next = &shared->node[number - 1].next;
    struct spin spin = {0};
    int64_t patience_ns = LB_NEVER;
    uint32_t last = number, found;
    while (!(found = atomic_load_explicit(next, memory_order_acquire))) {
        if (last == number && atomic_compare_exchange_strong_explicit(
                                  tail, &last, 0, memory_order_acq_rel, memory_order_relaxed))
            return 0;
        /* The waiter has its place but has not yet linked its node. That takes two instructions,
         * unless the waiter lost the processor. */
        if (spin_again(&spin, LB_NEVER)) continue;
        if (patience_ns == LB_NEVER) patience_ns = lb_now() + GRACE_NS;
        if (lb_now() >= patience_ns) return -1;
    }
    return found;
}

static enum lb_outcome mcs_release(struct lb_session *session, const struct lb_request *request,
                                   struct lb_grant *grant) {
    struct memory_shared *shared = memory_of(session);
    _Atomic uint32_t *tail = &shared->mcs[memory_slot(request)].tail;
    uint32_t number = (uint32_t)memory_taken_back(grant);
    if (number == 0) return LB_LOST;
    for (;;) {
        int64_t next = after(shared, tail, number);
        if (next < 0)
            return lb_fail(session, LB_BROKEN, "a waiter died between two steps of queuing");
        free_mcs_node(shared, number);
        if (next == 0) return LB_OK;
        number = (uint32_t)next;
        uint32_t waits = NODE_WAITS;
        if (atomic_compare_exchange_strong_explicit(&shared->node[number - 1].state, &waits,
                                                    NODE_GRANTED, memory_order_acq_rel,
                                                    memory_order_acquire))
            return LB_OK;
        /* That waiter has given up, so this release passes its place on. */
    }
}

static const struct lb_algorithm mem_mcs_algorithm = {
    .grant_bytes = sizeof(struct memory_grant),
    .acquire = mcs_acquire,
    .release = mcs_release,
};

const struct lb_lock lock_mem_mcs = {
    .name = "mem-mcs",
    .summary = "MCS queue lock (1991); a waiter that gives up leaves a node that is skipped",
    .backend = &backend_memory,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_FAIR | LB_CAP_BLOCKS_THREAD | LB_CAP_SPINS,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_PAUSE,
    .waits = "spin on a cache line of its own, yielding",
    .about = {.order = "first come, first served",
              .hazards = MEMORY_QUEUE_HAZARDS,
              .guarantee = LB_ON_ONE_HOST,
              .crash = LB_CRASH_NEVER},
    .algorithm = &mem_mcs_algorithm,
};
