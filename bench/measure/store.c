/* store: see store.h. */
#include "bench/measure/store.h"

#include <stddef.h>

/* Sixteen bytes at once: processors of 64 bits can, some must be told so. */
typedef unsigned __int128 wide;
#ifdef __x86_64__
#define WIDE __attribute__((noinline, target("cx16")))
#else
#define WIDE __attribute__((noinline))
#endif

struct pair {
    uint64_t token, value;
};

/* If both are as *seen they become as next, else *seen becomes what they are. */
WIDE static bool swap(struct guarded *key, struct pair *seen, struct pair next) {
    wide old = (wide)seen->value << 64 | seen->token, new = (wide)next.value << 64 | next.token;
    wide was = __sync_val_compare_and_swap((wide *)(void *)&key->fenced, old, new);
    *seen = (struct pair){(uint64_t)was, (uint64_t)(was >> 64)};
    return was == old;
}

static struct pair load(struct guarded *key) {
    struct pair seen = {0, 0};
    swap(key, &seen, seen);
    return seen;
}

/* Puts the token there, and the value if there is one; *ret_before: what was there. Without a token there is
 * nothing to compare, and the one that is there stays. */
static bool put(struct guarded *key, uint64_t token, const uint64_t *value, struct pair *ret_before) {
    struct pair seen = load(key), next;
    do {
        if (token && token < seen.token) return false;
        next = (struct pair){token ? token : seen.token, value ? *value : seen.value};
    } while (!swap(key, &seen, next));
    *ret_before = seen;
    return true;
}

bool fenced_install(struct guarded *key, uint64_t token, uint64_t *ret_value) {
    struct pair before;
    if (!put(key, token, NULL, &before)) return false;
    *ret_value = before.value;
    return true;
}

bool fenced_write(struct guarded *key, uint64_t token, uint64_t value) {
    struct pair before;
    return put(key, token, &value, &before);
}

uint64_t fenced_read(struct guarded *key) {
    return load(key).value;
}

void store_enter(struct guarded *key, struct visit *visit) {
    visit->entry = atomic_fetch_add_explicit(&key->entries, 1, memory_order_relaxed) + 1;
    visit->unfenced = atomic_load_explicit(&key->unfenced, memory_order_relaxed);
}

bool store_write(struct guarded *key, const struct visit *visit) {
    bool overtaken = atomic_load_explicit(&key->entries, memory_order_relaxed) != visit->entry;
    atomic_store_explicit(&key->unfenced, visit->unfenced + 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&key->writes, 1, memory_order_relaxed);
    return overtaken;
}

void store_count(struct guarded *key, struct store_counts *counts, const struct visit *visit,
                 bool overtaken) {
    if (visit->fence == FENCE_ACCEPTED) {
        atomic_fetch_add_explicit(&key->fenced_writes, 1, memory_order_relaxed);
    }
    /* Who came in so late that a newer holder had come and gone is stale too, though nobody came after it. */
    if (!overtaken && visit->fence != FENCE_REJECTED) return;
    atomic_fetch_add_explicit(&counts->stale, 1, memory_order_relaxed);
    if (visit->fence == FENCE_REJECTED) {
        atomic_fetch_add_explicit(&counts->stale_rejected, 1, memory_order_relaxed);
    } else if (visit->fence == FENCE_ACCEPTED) {
        atomic_fetch_add_explicit(&counts->stale_accepted, 1, memory_order_relaxed);
    }
}

void store_visit(struct guarded *key, uint64_t token, bool fenced, struct visit *ret_visit) {
    struct visit visit = {.token = token};
    if (fenced) visit.fence = fenced_install(key, token, &visit.fenced) ? FENCE_ACCEPTED : FENCE_REJECTED;
    store_enter(key, &visit);
    *ret_visit = visit;
}

void store_leave(struct guarded *key, struct store_counts *counts, struct visit *visit) {
    bool overtaken = store_write(key, visit);
    if (visit->fence == FENCE_ACCEPTED && !fenced_write(key, visit->token, visit->fenced + 1)) {
        visit->fence = FENCE_REJECTED;
    }
    store_count(key, counts, visit, overtaken);
}

struct store_sum store_judge(struct guarded *keys, uint32_t count, const struct store_counts *counts,
                             const uint64_t *fenced_values) {
    uint64_t stale = atomic_load(&counts->stale);
    struct store_sum sum = {.stale_attempted = stale,
                            .stale_accepted_unfenced = stale,
                            .stale_rejected_fenced = atomic_load(&counts->stale_rejected),
                            .stale_accepted_fenced = atomic_load(&counts->stale_accepted)};
    for (uint32_t i = 0; i < count; i++) {
        uint64_t writes = atomic_load(&keys[i].writes), taken = atomic_load(&keys[i].fenced_writes);
        uint64_t unfenced = atomic_load(&keys[i].unfenced);
        uint64_t fenced = fenced_values ? fenced_values[i] : fenced_read(&keys[i]);
        sum.writes += writes;
        /* A write that was not counted may have been done: of a killed client, or one whose answer was lost.
         */
        if (writes > unfenced) sum.lost_updates_unfenced += writes - unfenced;
        if (taken > fenced) sum.lost_updates_fenced += taken - fenced;
    }
    return sum;
}
