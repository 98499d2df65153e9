/* stuck: see stuck.h. */
#include "bench/run/stuck.h"

#include <stdlib.h>

#define LOOK_NS (200 * LB_MS_NS)
#define STALL_NS (2 * LB_S_NS) /* between two looks: the machine slept, and its clients with it */

void stuck_init(struct stuck *stuck, const struct shared *shared) {
    const struct lb_lock *lock = shared->lock->lock;
    *stuck = (struct stuck){.shared = shared};
    bool holds = lock->primitive == LB_MUTEX || lock->primitive == LB_RWLOCK ||
                 lock->primitive == LB_SEMAPHORE;
    if (!holds || (lock->caps & LB_CAP_BASELINE)) return;
    stuck->limit_ns =
        lb_after(LB_S_NS + lock->about.crash_slack_ns,
                 shared->plan->lease_ns < LB_NEVER / 4 ? 3 * shared->plan->lease_ns : LB_NEVER);
    if (stuck->limit_ns >
        shared->plan->warmup_ns + shared->plan->duration_ns + shared->plan->drain_ns)
        return;
    stuck->found = calloc(shared->key_count, sizeof *stuck->found);
}

void stuck_done(struct stuck *stuck) {
    free(stuck->found);
    stuck->found = NULL;
}

/* Since when a key is free; LB_NEVER = a client holds it. */
static int64_t free_since_ns(const struct shared *shared, uint32_t key) {
    int64_t since_ns = 0;
    if (shared->crowds.crowd && crowd_inside(&shared->crowds, &shared->findings, key))
        return LB_NEVER;
    for (uint32_t i = key * shared->slots; i < (key + 1) * shared->slots; i++) {
        const struct cell *cell = &shared->cells[i];
        uint64_t owner = atomic_load(&cell->owner);
        if (owner != 0 && !atomic_load(&shared->findings.holders[owner - 1].gone)) return LB_NEVER;
        int64_t left_ns = atomic_load(&cell->releasing_ns),
                entered_ns = atomic_load(&cell->acquired_ns);
        if (left_ns > since_ns) since_ns = left_ns;
        if (entered_ns > since_ns) since_ns = entered_ns;
    }
    return since_ns;
}

static bool waits_in_vain(const struct stuck *stuck, const struct client_stats *client,
                          int64_t now_ns) {
    const struct shared *shared = stuck->shared;
    int64_t since_ns = atomic_load_explicit(&client->waiting_ns, memory_order_relaxed);
    if (since_ns == 0 || now_ns - since_ns <= stuck->limit_ns || client->dead) return false;
    /* A client that tries again and again is known to wait in vain until its last answer, but not
     * while it rests. */
    int64_t refused_ns = atomic_load_explicit(&client->refused_ns, memory_order_relaxed);
    int64_t known_ns = refused_ns >= since_ns ? refused_ns : now_ns;
    int keys = shared->entry == ENTRY_CELLS ? shared->plan->keys_at_once : 1;
    for (int i = 0; i < keys; i++) {
        int64_t free_ns = free_since_ns(shared, atomic_load(&client->waiting_key[i]));
        if (free_ns > since_ns) since_ns = free_ns;
    }
    if (stuck->disturbed_ns > since_ns) since_ns = stuck->disturbed_ns;
    return since_ns < LB_NEVER && known_ns - since_ns > stuck->limit_ns;
}

void stuck_look(struct stuck *stuck, int64_t now_ns) {
    if (!stuck->found || now_ns - stuck->looked_ns < LOOK_NS) return;
    if (now_ns - stuck->looked_ns > STALL_NS) stuck->disturbed_ns = now_ns;
    stuck->looked_ns = now_ns;
    if (now_ns - stuck->disturbed_ns <= stuck->limit_ns) return;
    for (int i = 0; i < stuck->shared->clients; i++) {
        const struct client_stats *client = &stuck->shared->client[i];
        if (!waits_in_vain(stuck, client, now_ns)) continue;
        bool *found = &stuck->found[atomic_load(&client->waiting_key[0])];
        stuck->count += !*found;
        *found = true;
    }
}
