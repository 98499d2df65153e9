/* mem_mcs: the queue lock of Mellor-Crummey and Scott (1991): waiters form a linked list, each
 * spins on a node of its own, and the holder's release writes to the next one's node only. Nodes
 * lie in the shared mapping and are named by their index, since processes may map it elsewhere.
 *
 * Giving up follows the time-published locks of He, Scherer and Scott (2005): a waiter that gives
 * up marks its node as left and goes; a release that comes to such a node goes on to the next node,
 * and frees this one. So a node belongs to its attempt and not to its client: a client has
 * MCS_NODES_OF nodes. If all of them are in a queue, the client waits outside until one was
 * passed. */
#include "drivers/local/memory.h"
#include "drivers/local/spin.h"

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

static const struct lb_algorithm algorithm = {
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
    .expected = memory_queue_expected,
    .algorithm = &algorithm,
};
