/* choose: see choose.h. */
#include "bench/load/choose.h"

#define DRAWS                                                                                      \
    64 /* the most draws for a key that is not chosen yet; then the next such key is taken */

static void watch_for(struct client *client, int place, uint32_t key) {
    atomic_store_explicit(&client->stats->waiting_key[place], key, memory_order_relaxed);
}

static void use_key(struct client *client, uint32_t index) {
    const struct shared *shared = client->worker->shared;
    client->key_index = index;
    client->request.key_len = shared_key_name(shared, index, client->key);
    client->request.key_index = index;
    client->request.key_number = shared_key_number(shared, index);
    /* The wait for another key is a new wait. */
    atomic_store_explicit(&client->stats->waiting_ns, 0, memory_order_relaxed);
    watch_for(client, 0, index);
}

static bool has_key(const uint32_t *keys, int count, uint32_t key) {
    for (int i = 0; i < count; i++) {
        if (keys[i] == key) return true;
    }
    return false;
}

static void reverse(uint32_t *keys, int count) {
    for (int i = 0; i < count / 2; i++) {
        uint32_t kept = keys[i];
        keys[i] = keys[count - 1 - i];
        keys[count - 1 - i] = kept;
    }
}

/* Chooses different keys and sorts them, so that clients that take the same keys take them in the same order. With
 * load.key_order=opposite every second client takes them in reverse, so that clients wait for each other. */
static void choose_several(struct client *client) {
    const struct shared *shared = client->worker->shared;
    struct client_keys *keys = client->keys;
    uint32_t chosen[LB_KEYS_MAX] = {0};
    int wanted = shared->plan->keys_at_once;
    for (int count = 0; count < wanted; count++) {
        uint32_t index = keys_pick(&shared->keys, client->index, &client->rng);
        for (int i = 0; i < DRAWS && has_key(chosen, count, index); i++) {
            index = keys_pick(&shared->keys, client->index, &client->rng);
        }
        while (has_key(chosen, count, index)) index = (index + 1) % shared->key_count;
        int at = count;
        for (; at > 0 && chosen[at - 1] > index; at--) chosen[at] = chosen[at - 1];
        chosen[at] = index;
    }
    if (shared->plan->key_order == KEY_ORDER_OPPOSITE && client->index % 2 == 1)
        reverse(chosen, wanted);
    use_key(client, chosen[0]);
    for (int i = 0; i < wanted; i++) {
        keys->key[i] = (struct lb_key){.name = keys->name[i],
                                       .len = shared_key_name(shared, chosen[i], keys->name[i]),
                                       .number = shared_key_number(shared, chosen[i]),
                                       .index = chosen[i]};
        watch_for(client, i, chosen[i]);
    }
    client->request.keys = keys->key;
    client->request.key_count = wanted;
}

void client_choose(struct client *client) {
    const struct shared *shared = client->worker->shared;
    if (shared->readers > 0) {
        client->request.shared = (int)rng_below(&client->rng, 100) < shared->readers;
    }
    if (client->keys) {
        choose_several(client);
        return;
    }
    uint32_t index = keys_pick(&shared->keys, client->index, &client->rng);
    if (index != client->key_index) use_key(client, index);
}
