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

struct state {
    uint64_t token, entry;
};

/* If the state is *seen, it becomes `next`; else *seen becomes the state. Returns whether the state
 * changed. */
WIDE static bool swap_state(struct guarded *key, struct state *seen, struct state next) {
    wide old = (wide)seen->entry << 64 | seen->token;
    wide new = (wide)next.entry << 64 | next.token;
    wide was = __sync_val_compare_and_swap((wide *)(void *)&key->token, old, new);
    *seen = (struct state){(uint64_t)was, (uint64_t)(was >> 64)};
    return was == old;
}

struct visit store_enter(struct guarded *key, uint64_t token, bool fenced) {
    struct visit visit = {.token = fenced ? token : 0, .fenced = fenced};
    struct state seen = {0, 0}, next;
    do {
        visit.refused = visit.token && visit.token < seen.token;
        next = seen;
        if (!visit.refused) next.entry++;
        if (!visit.refused && visit.token) next.token = visit.token;
    } while (!swap_state(key, &seen, next));
    visit.entry = next.entry;
    return visit;
}

bool store_leave(struct guarded *key, struct store_counts *counts, const struct visit *visit) {
    struct state then = {0, 0};
    swap_state(key, &then, then); /* reads it */
    bool rejected = visit->refused || (visit->token && visit->token < then.token);
    bool overtaken = then.entry != visit->entry;
    if (visit->refused && !overtaken) {
        atomic_fetch_add_explicit(&counts->refused, 1, memory_order_relaxed);
        return true;
    }
    if (!overtaken && !rejected) return false;
    atomic_fetch_add_explicit(&counts->stale, 1, memory_order_relaxed);
    if (rejected) {
        atomic_fetch_add_explicit(&counts->stale_rejected, 1, memory_order_relaxed);
    } else if (visit->fenced) {
        atomic_fetch_add_explicit(&counts->stale_accepted, 1, memory_order_relaxed);
    }
    return false;
}

struct store_sum store_judge(const struct store_counts *counts, uint64_t rightful) {
    uint64_t refused = atomic_load(&counts->refused);
    uint64_t late = refused > rightful ? refused - rightful : 0;
    return (struct store_sum){.stale = atomic_load(&counts->stale) + late,
                              .rejected = atomic_load(&counts->stale_rejected) + late,
                              .accepted = atomic_load(&counts->stale_accepted),
                              .refused = refused - late};
}
