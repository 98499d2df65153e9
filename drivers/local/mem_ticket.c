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
#include "drivers/local/memory.h"
#include "drivers/local/spin.h"

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

static const struct lb_algorithm algorithm = {
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
    .expected = memory_queue_expected,
    .algorithm = &algorithm,
};
