/* reacquire: see reacquire.h. */
#include "bench/measure/reacquire.h"

#include <math.h>

/* The part of the sum that one key's turns add: its whole windows, and the holders in these that
 * the clients could not count. */
struct sum {
    uint64_t windows, most, most_holders;
    int64_t holders;
};

static const struct reacquire *client_at(const void *turns, int client, uint32_t keys) {
    return (const void *)((const char *)turns + (size_t)client * reacquire_bytes(keys));
}

static void add_key(struct sum *sum, const void *turns, int clients, uint32_t keys, uint32_t key) {
    uint64_t begin = UINT64_MAX, end = 0, holders = 0;
    for (int i = 0; i < clients; i++) {
        const struct reacquire_key *mine = &client_at(turns, i, keys)->key[key];
        if (mine->last == 0) continue;
        if (mine->first - 1 < begin) begin = mine->first - 1;
        if (mine->last > end) end = mine->last;
        holders++;
    }
    if (holders == 0) return;
    if (end - begin > sum->most) {
        sum->most = end - begin;
        sum->most_holders = holders;
    }
    /* The whole windows are low .. high - 1. */
    uint64_t low = (begin + REACQUIRE_WINDOW - 1) / REACQUIRE_WINDOW, high = end / REACQUIRE_WINDOW;
    if (high > low) sum->windows += high - low;
    for (int i = 0; i < clients; i++) {
        const struct reacquire_key *mine = &client_at(turns, i, keys)->key[key];
        if (mine->last == 0) continue;
        uint64_t first = (mine->first - 1) / REACQUIRE_WINDOW,
                 last = (mine->last - 1) / REACQUIRE_WINDOW;
        /* the client counted the cut window too */
        if (first < low && first != last) sum->holders--;
        if (last >= low && last < high) sum->holders++;
    }
}

struct reacquire_sum reacquire_sum(const void *turns, int clients, uint32_t keys,
                                   const struct hist *between) {
    struct sum sum = {0};
    struct reacquire_sum result = {.lwss = NAN, .mttr = NAN};
    for (uint32_t key = 0; key < keys; key++) add_key(&sum, turns, clients, keys, key);
    if (sum.most == 0) return result;
    for (int i = 0; i < clients; i++) sum.holders += (int64_t)client_at(turns, i, keys)->windows;
    if (sum.windows > 0) {
        result.window = REACQUIRE_WINDOW;
        result.lwss = (double)sum.holders / (double)sum.windows;
    } else {
        result.window = sum.most;
        result.lwss = (double)sum.most_holders;
    }
    if (between->count > 0) result.mttr = (double)hist_quantile(between, 0.5);
    return result;
}
