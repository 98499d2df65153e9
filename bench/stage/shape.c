/* shape: the memory that the workers of a stage share, in the shape that the stage is asked for. */
#include <stdio.h>

#include "bench/load/layout.h"
#include "bench/stage/harvest.h"
#include "bench/stage/peers.h"
#include "drivers/clean.h"

#define CONNECT_NS (30 * LB_S_NS)       /* for all clients to open their sessions, and ... */
#define CONNECT_EACH_NS (10 * LB_MS_NS) /* ... so much more for each of them */
#define ARM_NS (2 * LB_MS_NS)           /* and a round trip, for each key that is made ready */

/* New keys for each stage, so that the stage can't meet what an earlier one left; never drawn from the seed. */
static void name_keys(struct shared *shared, const struct stage_ask *ask) {
    struct lb_rng rng;
    rng_seed_unique(&rng);
    snprintf(shared->key_prefix, sizeof shared->key_prefix, "%s" LB_MARK "%08x-",
             ask->of.plan->key_prefix, (unsigned)rng_u64(&rng));
    shared->key_salt = rng_u64(&rng) >> 2;
    if (!ask->peers || !ask->peers->key_prefix) return;
    snprintf(shared->key_prefix, sizeof shared->key_prefix, "%s", ask->peers->key_prefix);
    shared->key_salt = ask->peers->key_salt;
}

struct shared *stage_shape(const struct stage_ask *ask, struct lb_err *err) {
    struct shared *shared = shared_new(ask->of.plan, ask->of.lock, &ask->place->server,
                                       ask->of.clients, ask->peers ? &ask->peers->part : NULL, err);
    if (!shared) return NULL;
    shared->seed = ask->seed;
    shared->arrival = stage_arrival(&ask->of);
    shared->readers = (ask->of.lock->lock->caps & LB_CAP_SHARED) ? ask->of.readers : 0;
    shared->one_key &= shared->readers == 0;
    shared->patience_ns = ask->promise.limit_ns;
    shared->connect_deadline_ns = lb_now() + CONNECT_NS + ask->of.clients * CONNECT_EACH_NS;
    if (ask->of.lock->lock->algorithm->arm)
        shared->arm_ns = (ARM_NS + ask->of.distance.rtt_ns) * (int64_t)shared->key_count;
    name_keys(shared, ask);
    return shared;
}
