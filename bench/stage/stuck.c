/* stuck: see stuck.h. */
#include "bench/stage/stuck.h"

#include <stdlib.h>

#include "bench/base/verdict.h"
#include "bench/load/observe.h"

#define LOOK_NS (200 * LB_MS_NS)
#define SLOW_FACTOR 4 /* a key must be idle for so many times as long as the slowest release took */

struct stuck_key {
    int64_t looked_ns, free_ns; /* the last look; since when it was free; LB_NEVER = in use */
    int64_t found_ns;           /* the free_ns with which it was found idle; 0 = it was not */
    int64_t idle_ns;            /* of that finding */
    int64_t counted_ns;         /* the look that counted the clients */
    int clients;                /* that waited for it all that time */
    /* the last look at which a client was in a release call of it; 0 = none */
    int64_t in_release_ns;
};

/* For how long the remains of a disturbance may keep clients from a key. */
static int64_t explained_ns(const struct shared *shared) {
    int64_t lease_ns = shared->lease_ns;
    return lb_after(LB_S_NS + shared->lock->lock->about.crash_slack_ns,
                    lease_ns < LB_NEVER / 4 ? 3 * lease_ns : LB_NEVER);
}

int64_t stuck_patience_ns(const struct shared *shared) {
    int64_t most_ns = VERDICT_STUCK_PATIENCE_NS + shared->lock->lock->about.crash_slack_ns;
    int64_t lease_ns = explained_ns(shared);
    return most_ns < lease_ns ? most_ns : lease_ns;
}

void stuck_init(struct stuck *stuck, const struct shared *shared) {
    const struct lb_lock *lock = shared->lock->lock;
    *stuck = (struct stuck){.shared = shared};
    bool holds = lock->primitive == LB_MUTEX || lock->primitive == LB_RWLOCK ||
                 lock->primitive == LB_SEMAPHORE;
    /* A key that is free on this host may be held on another one. */
    if (!holds || shared->split || (lock->caps & LB_CAP_BASELINE)) return;
    stuck->explained_ns = explained_ns(shared);
    stuck->patience_ns = stuck_patience_ns(shared);
    stuck->keys = calloc(shared->key_count, sizeof *stuck->keys);
}

void stuck_done(struct stuck *stuck) {
    free(stuck->keys);
    stuck->keys = NULL;
}

/* Since when nobody is inside; LB_NEVER = a client is. */
static int64_t left_since_ns(const struct shared *shared, uint32_t key) {
    const struct cell *cell = &shared->cells[key];
    if (shared->crowds.crowd && crowd_inside(&shared->crowds, key)) return LB_NEVER;
    uint64_t owner = atomic_load(&cell->owner);
    if (owner != 0 && !atomic_load(&shared->client[owner - 1].doomed)) return LB_NEVER;
    int64_t left_ns = atomic_load(&cell->releasing_ns),
            entered_ns = atomic_load(&cell->acquired_ns);
    return left_ns > entered_ns ? left_ns : entered_ns;
}

/* Notes that a client is in a release call of the key, and for how long that call has lasted: at least since a
 * client last left the key. A release that a fault may have delayed says nothing of the server. */
static void note_release(struct stuck *stuck, uint32_t key, int64_t now_ns) {
    struct stuck_key *at = &stuck->keys[key];
    if (at->in_release_ns == now_ns) return;
    at->in_release_ns = now_ns;
    int64_t left_ns = left_since_ns(stuck->shared, key);
    if (left_ns <= stuck->disturbed_ns || left_ns == LB_NEVER) return;
    if (now_ns - left_ns > stuck->slowest_ns) stuck->slowest_ns = now_ns - left_ns;
}

static void note_releases(struct stuck *stuck, int64_t now_ns) {
    const struct shared *shared = stuck->shared;
    for (int i = 0; i < shared->clients; i++) {
        const struct client_stats *client = &shared->client[i];
        if (atomic_load(&client->releasing) && !client->dead)
            note_release(stuck, atomic_load(&client->waiting_key), now_ns);
    }
}

/* For how long a key must be idle on this server. */
static int64_t patience_ns(const struct stuck *stuck) {
    int64_t slow_ns = SLOW_FACTOR * stuck->slowest_ns;
    return slow_ns > stuck->patience_ns ? slow_ns : stuck->patience_ns;
}

/* Since when the key is known to be free; LB_NEVER = it is in use. A release call that has not returned keeps it in
 * use. left_since_ns is called at most once a look, because it may look at many cells. */
static int64_t free_since_ns(const struct stuck *stuck, uint32_t key, int64_t now_ns) {
    struct stuck_key *at = &stuck->keys[key];
    if (at->looked_ns != now_ns) {
        at->looked_ns = now_ns;
        at->free_ns = at->in_release_ns == now_ns ? LB_NEVER : left_since_ns(stuck->shared, key);
    }
    return at->free_ns > at->in_release_ns ? at->free_ns : at->in_release_ns;
}

/* For how long the client has certainly waited for a key that is free; 0 or less = it has not. */
static int64_t idle_wait_ns(const struct stuck *stuck, const struct client_stats *client,
                            int64_t now_ns) {
    int64_t since_ns = atomic_load_explicit(&client->waiting_ns, memory_order_relaxed);
    if (since_ns == 0 || now_ns - since_ns <= patience_ns(stuck) || client->dead) return 0;
    /* A client that tries again and again is known to wait in vain until its last answer, but not
     * while it rests. */
    int64_t refused_ns = atomic_load_explicit(&client->refused_ns, memory_order_relaxed);
    int64_t known_ns = refused_ns >= since_ns ? refused_ns : now_ns;
    int64_t free_ns = free_since_ns(stuck, atomic_load(&client->waiting_key), now_ns);
    if (free_ns > since_ns) since_ns = free_ns;
    if (stuck->stalled_ns > since_ns) since_ns = stuck->stalled_ns;
    return since_ns < LB_NEVER ? known_ns - since_ns : 0;
}

static void add_idle_key(struct stage_idle_keys *idle, const struct stuck *stuck,
                         const struct stuck_key *key) {
    idle->count++;
    if (key->idle_ns <= idle->idle_ns) return;
    idle->idle_ns = key->idle_ns;
    idle->key = (uint32_t)(key - stuck->keys);
    idle->clients = key->clients;
}

static void note_idle(struct stuck *stuck, struct stuck_key *key, int64_t idle_ns, int64_t now_ns) {
    if (key->found_ns != key->free_ns) { /* it was granted since the last finding */
        if (key->found_ns) add_idle_key(&stuck->passing, stuck, key);
        key->found_ns = key->free_ns;
        key->idle_ns = 0;
    }
    if (key->counted_ns != now_ns) key->clients = 0;
    key->counted_ns = now_ns;
    key->clients++;
    if (idle_ns > key->idle_ns) key->idle_ns = idle_ns;
}

bool stuck_is_explained(const struct stuck *stuck, int64_t now_ns) {
    return stuck->disturbed_ns && now_ns - stuck->disturbed_ns <= stuck->explained_ns;
}

void stuck_look(struct stuck *stuck, int64_t now_ns) {
    if (now_ns - stuck->looked_ns < LOOK_NS) return;
    if (stuck->looked_ns && now_ns - stuck->looked_ns > STUCK_STALL_NS) {
        stuck->stalled_from_ns = stuck->looked_ns;
        stuck->stalled_ns = now_ns;
    }
    stuck->looked_ns = now_ns;
    if (!stuck->keys) return;
    int64_t unsure_ns = atomic_load(&stuck->shared->unsure_ns);
    if (unsure_ns > stuck->disturbed_ns) stuck->disturbed_ns = unsure_ns;
    note_releases(stuck, now_ns);
    if (stuck_is_explained(stuck, now_ns)) return;
    for (int i = 0; i < stuck->shared->clients; i++) {
        const struct client_stats *client = &stuck->shared->client[i];
        int64_t idle_ns = idle_wait_ns(stuck, client, now_ns);
        if (idle_ns <= patience_ns(stuck)) continue;
        note_idle(stuck, &stuck->keys[atomic_load(&client->waiting_key)], idle_ns, now_ns);
    }
}

void stuck_conclude(struct stuck *stuck, struct stage_idle_keys *ret_stuck,
                    struct stage_idle_keys *ret_passing) {
    *ret_stuck = (struct stage_idle_keys){0};
    *ret_passing = stuck->passing;
    for (uint32_t i = 0; stuck->keys && i < stuck->shared->key_count; i++) {
        const struct stuck_key *key = &stuck->keys[i];
        if (!key->found_ns || key->idle_ns <= patience_ns(stuck)) continue;
        bool granted = left_since_ns(stuck->shared, i) != key->found_ns;
        add_idle_key(granted ? ret_passing : ret_stuck, stuck, key);
    }
}
