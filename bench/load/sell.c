/* sell: a flash sale: each holder sells one piece of what the lock guards, until its client has
 * found everything sold out. Each client learns that for itself, as in life: by coming in and
 * finding nothing. */
#include "bench/load/guard.h"

static uint64_t all_slots(const struct shared *shared) {
    return shared->slots >= 64 ? UINT64_MAX : (UINT64_C(1) << shared->slots) - 1;
}

bool sell_is_over(const struct client *client, uint32_t key) {
    return client->sold_out[key] == all_slots(client->worker->shared);
}

bool sell_any_left(const struct client *client) {
    const struct shared *shared = client->worker->shared;
    if (shared->plan->keys.pick == KEYS_OWN) return !sell_is_over(client, client->index);
    return client->keys_left > 0;
}

static uint32_t slot_of(const struct client *client) {
    const struct shared *shared = client->worker->shared;
    return client->guard == GUARD_SLOT ? client->grant.slot % shared->slots : 0;
}

static struct stock *stock_of(const struct client *client) {
    const struct shared *shared = client->worker->shared;
    return &shared->stock[client->key_index * shared->slots + slot_of(client)];
}

void sell_look(struct client *client) {
    client->left = stock_read(stock_of(client));
    if (client->left > 0) return;
    client->sold_out[client->key_index] |= UINT64_C(1) << slot_of(client);
    client->keys_left -= sell_is_over(client, client->key_index);
}

void sell_one(struct client *client) {
    struct shared *shared = client->worker->shared;
    if (client->left == 0) return;
    stock_sell(stock_of(client), client->left);
    if (atomic_fetch_add(&shared->sold, 1) + 1 == shared->goods)
        atomic_store(&shared->sold_out_ns, lb_now());
}
