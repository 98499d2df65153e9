/* memory: the mapping with the memory backend's locks, and the code that they share. Each lock has
 * a file of its own, mem_<algorithm>.c. */
#ifndef DRIVERS_LOCAL_MEMORY_H
#define DRIVERS_LOCAL_MEMORY_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

#include "drivers/local/local.h"

struct mem_mutex_slot {
    _Alignas(64) pthread_mutex_t mutex;
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
    struct mem_rwlock_slot rwlock[2][LOCAL_SLOTS]; /* preferring readers, and preferring writers */
    struct mem_semaphore_slot semaphore[LOCAL_SLOTS];
};

/* The grant's data of every memory lock: a value that the release needs. The locks do not know their
 * holders, so the value also shows that the client holds the lock. 0 = the client holds nothing. */
struct memory_grant {
    uint64_t held;
};

static inline struct memory_shared *memory_of(const struct lb_session *session) {
    return session->server->shared;
}

static inline uint32_t memory_slot(const struct lb_request *request) {
    return request->key_index % LOCAL_SLOTS;
}

/* A futex wait is divided into slices, so that the cut-off is noticed. Sets the end of the next
 * slice. False when the time is up. */
bool memory_slice(int64_t deadline_ns, struct timespec *ret_until);

/* Ends an acquire: stores the value in the grant, and sets no lease. */
enum lb_outcome memory_granted(struct lb_grant *grant, uint64_t held);

/* Begins a release: returns the stored value, and clears it; 0 if the client held nothing. */
uint64_t memory_taken_back(struct lb_grant *grant);

#define MEMORY_QUEUE_HAZARDS                                                                       \
    "with more waiters than processors each handoff waits until the next waiter in the queue is "  \
    "scheduled; a holder or waiter that dies stops the queue for ever"

#endif
