/* memory: the mapping that the memory backend's locks live in, and what they share. Each lock has a
 * file of its own, mem_<algorithm>.c. */
#ifndef DRIVERS_LOCAL_MEMORY_H
#define DRIVERS_LOCAL_MEMORY_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

#include "drivers/local/local.h"

/* Waiters of one ticket lock that are queued at once, those that gave up and were not passed yet
 * included. */
#define TICKET_RING 256
/* Queue nodes of all MCS locks together, MCS_NODES_OF each for 2048 clients; further clients
 * share. */
#define MCS_NODES 16384
#define MCS_NODES_OF 8

struct mem_mutex_slot {
    _Alignas(64) pthread_mutex_t mutex;
};

struct mem_spin_slot {
    _Alignas(64) _Atomic uint32_t owner; /* client + 1; 0 = free */
};

struct mem_ticket_slot {
    _Alignas(64) _Atomic uint64_t next;    /* the ticket that the next one draws */
    _Alignas(64) _Atomic uint64_t serving; /* whose turn it is */
    /* ticket + 1 of a waiter that gave up, at ticket % TICKET_RING */
    _Atomic uint64_t left[TICKET_RING];
};

struct mem_mcs_slot {
    _Alignas(64) _Atomic uint32_t tail; /* node + 1; 0 = free */
};

struct mem_mcs_node {
    _Alignas(64) _Atomic uint32_t state;
    _Atomic uint32_t next;   /* node + 1; 0 = none yet */
    _Atomic uint32_t in_use; /* from the draw until it is passed */
};

struct mem_rwlock_slot {
    _Alignas(64) pthread_rwlock_t rwlock;
};

struct mem_semaphore_slot {
    _Alignas(64) sem_t semaphore;
    bool armed;
};

struct memory_shared {
    struct mem_mutex_slot mutex[LOCAL_SLOTS], robust[LOCAL_SLOTS];
    struct mem_spin_slot spin[LOCAL_SLOTS];
    struct mem_ticket_slot ticket[LOCAL_SLOTS];
    struct mem_mcs_slot mcs[LOCAL_SLOTS];
    struct mem_mcs_node node[MCS_NODES];
    struct mem_rwlock_slot rwlock[2][LOCAL_SLOTS]; /* preferring readers, writers */
    struct mem_semaphore_slot semaphore[LOCAL_SLOTS];
};

/* The grant's own data of every memory lock: what its release needs, and proof that it has
 * something to release, which the locks themselves do not know. 0 = nothing is held. */
struct memory_grant {
    uint64_t held;
};

static inline struct memory_shared *memory_of(const struct lb_session *session) {
    return session->server->shared;
}

static inline uint32_t memory_slot(const struct lb_request *request) {
    return request->key_index % LOCAL_SLOTS;
}

/* A futex wait in slices, so that the cut-off is seen: until when the next one lasts. False when
 * the time is up. */
bool memory_slice(int64_t deadline_ns, struct timespec *ret_until);

/* Ends an acquire: what is held, from now on without an end. */
enum lb_outcome memory_granted(struct lb_grant *grant, uint64_t held);

/* Begins a release: what was held, and no longer is; 0 if nothing was. */
uint64_t memory_taken_back(struct lb_grant *grant);

#endif
