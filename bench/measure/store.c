/* store: see store.h. */
#include "bench/measure/store.h"

/* An atomic exchange of sixteen bytes: 64-bit processors can do it, but for some the compiler needs
 * an option. */
typedef unsigned __int128 wide;
#ifdef __x86_64__
#define WIDE __attribute__((noinline, target("cx16")))
#else
#define WIDE __attribute__((noinline))
#endif

#define ENTRY_BITS 24
#define ENTRY_MASK ((UINT32_C(1) << ENTRY_BITS) - 1)

struct state {
    uint64_t token, value_and_entry;
};

static uint64_t state_value(struct state state) {
    return state.value_and_entry >> ENTRY_BITS;
}

static uint32_t entry_of(struct state state) {
    return (uint32_t)state.value_and_entry & ENTRY_MASK;
}

static struct state state_of(uint64_t token, uint64_t value, uint32_t entry) {
    return (struct state){token, value << ENTRY_BITS | (entry & ENTRY_MASK)};
}

/* If the state is *seen, it becomes `next`; else *seen becomes the state. Returns whether the state
 * changed. */
WIDE static bool swap_state(struct guarded *key, struct state *seen, struct state next) {
    wide old = (wide)seen->value_and_entry << 64 | seen->token;
    wide new = (wide)next.value_and_entry << 64 | next.token;
    wide was = __sync_val_compare_and_swap((wide *)(void *)&key->token, old, new);
    *seen = (struct state){(uint64_t)was, (uint64_t)(was >> 64)};
    return was == old;
}

static struct state load_state(struct guarded *key) {
    struct state seen = {0, 0};
    swap_state(key, &seen, seen);
    return seen;
}

/* Installs the token, unless the state has a greater one: then returns false and does nothing.
 * Token 0 = none: nothing is compared, and the installed token stays. *ret_then: the state after it. */
static bool install_token(struct guarded *key, uint64_t token, struct state *ret_then) {
    struct state seen = load_state(key), next;
    do {
        if (token && token < seen.token) {
            *ret_then = seen;
            return false;
        }
        next = state_of(token ? token : seen.token, state_value(seen), entry_of(seen) + 1);
    } while (!swap_state(key, &seen, next));
    *ret_then = next;
    return true;
}

/* Writes the value, unless the state has a greater token: then returns false and writes nothing. */
static bool write_value(struct guarded *key, uint64_t token, uint64_t value,
                        struct state *ret_then) {
    struct state seen = load_state(key), next;
    do {
        if (token && token < seen.token) return false;
        next = state_of(token ? token : seen.token, value, entry_of(seen));
    } while (!swap_state(key, &seen, next));
    *ret_then = next;
    return true;
}

uint64_t fenced_read(struct guarded *key) {
    return state_value(load_state(key));
}

void store_enter(struct guarded *key, uint64_t token, bool fenced, struct visit *ret_visit) {
    struct visit visit = {.token = fenced ? token : 0};
    struct state then;
    bool taken = install_token(key, visit.token, &then);
    if (fenced) visit.fence = taken ? FENCE_ACCEPTED : FENCE_REJECTED;
    visit.refused = visit.fence == FENCE_REJECTED;
    visit.fenced = state_value(then);
    visit.entry = entry_of(then);
    visit.unfenced = atomic_load_explicit(&key->unfenced, memory_order_relaxed);
    *ret_visit = visit;
}

bool store_leave(struct guarded *key, struct store_counts *counts, struct visit *visit) {
    struct state then = load_state(key);
    if (visit->fence == FENCE_ACCEPTED &&
        !write_value(key, visit->token, visit->fenced + 1, &then)) {
        visit->fence = FENCE_REJECTED;
    }
    visit->overtaken = entry_of(then) != visit->entry;
    atomic_store_explicit(&key->unfenced, visit->unfenced + 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&key->writes, 1, memory_order_relaxed);
    if (visit->fence == FENCE_ACCEPTED) {
        atomic_fetch_add_explicit(&key->fenced_writes, 1, memory_order_relaxed);
    }
    if (visit->refused && !visit->overtaken) {
        atomic_fetch_add_explicit(&counts->refused, 1, memory_order_relaxed);
        return true;
    }
    /* A write is stale, too, if its writer entered so late that a newer holder had come and gone
     * already, although no client entered after it. */
    if (!visit->overtaken && visit->fence != FENCE_REJECTED) return false;
    atomic_fetch_add_explicit(&counts->stale, 1, memory_order_relaxed);
    if (visit->fence == FENCE_REJECTED) {
        atomic_fetch_add_explicit(&counts->stale_rejected, 1, memory_order_relaxed);
    } else if (visit->fence == FENCE_ACCEPTED) {
        atomic_fetch_add_explicit(&counts->stale_accepted, 1, memory_order_relaxed);
    }
    return false;
}

struct store_sum store_judge(struct guarded *keys, uint32_t count,
                             const struct store_counts *counts, uint64_t rightful) {
    uint64_t refused = atomic_load(&counts->refused);
    uint64_t late = refused > rightful ? refused - rightful : 0;
    uint64_t stale = atomic_load(&counts->stale) + late;
    struct store_sum sum = {.stale_attempted = stale,
                            .stale_accepted_unfenced = stale,
                            .stale_rejected_fenced = atomic_load(&counts->stale_rejected) + late,
                            .stale_accepted_fenced = atomic_load(&counts->stale_accepted),
                            .refused_fenced = refused - late};
    for (uint32_t i = 0; i < count; i++) {
        uint64_t writes = atomic_load(&keys[i].writes), taken = atomic_load(&keys[i].fenced_writes);
        uint64_t unfenced = atomic_load(&keys[i].unfenced), fenced = fenced_read(&keys[i]);
        sum.writes += writes;
        /* A write that was not counted may have been done, by a client that was killed. */
        if (writes > unfenced) sum.lost_updates_unfenced += writes - unfenced;
        if (taken > fenced) sum.lost_updates_fenced += taken - fenced;
    }
    return sum;
}
