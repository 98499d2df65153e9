/* stage_shape: see stage_shape.h. */
#include "bench/run/stage_shape.h"

#include <stdio.h>

#include "bench/load/layout.h"
#include "bench/run/stage_hosts.h"
#include "drivers/clean.h"

#define CONNECT_NS (30 * LB_S_NS)       /* for all clients to open their sessions, and ... */
#define CONNECT_EACH_NS (10 * LB_MS_NS) /* ... so much more for each of them */
#define ARM_NS (2 * LB_MS_NS)           /* for each key that must be made ready on the server */

int64_t stage_connect_limit_ns(const struct stage_ask *ask) {
    return CONNECT_NS + ask->clients * CONNECT_EACH_NS;
}

/* New keys for each stage, so that the stage can't meet what an earlier one left; never drawn from the seed. The
 * coordinator of several hosts tells the keys to the others. */
static void name_keys(struct shared *shared, const struct stage_ask *ask) {
    struct lb_rng rng;
    rng_seed_unique(&rng);
    snprintf(shared->key_prefix, sizeof shared->key_prefix, "%s" LB_MARK "%08x-",
             ask->plan->key_prefix, (unsigned)rng_u64(&rng));
    shared->key_salt = rng_u64(&rng) >> 2;
    if (!ask->far.key_prefix) return;
    snprintf(shared->key_prefix, sizeof shared->key_prefix, "%s", ask->far.key_prefix);
    shared->key_salt = ask->far.key_salt;
}

struct shared *stage_shape(const struct stage_ask *ask, struct lb_err *err) {
    const struct load_host host = stage_hosts_load_host(ask);
    struct shared *shared = shared_new(ask->plan, ask->lock, ask->server, ask->clients, &host, err);
    if (!shared) return NULL;
    shared->seed = ask->seed;
    shared->arrival = ask->plan->arrival;
    if (ask->rate_per_s > 0 && shared->arrival.kind != ARRIVAL_CLOSED)
        shared->arrival.rate_per_s = ask->rate_per_s;
    shared->readers = (ask->lock->lock->caps & LB_CAP_SHARED) ? ask->readers : 0;
    shared->one_key &= shared->readers == 0;
    shared->patience_ns = ask->promise.limit_ns;
    shared->connect_deadline_ns = lb_now() + stage_connect_limit_ns(ask);
    if (ask->lock->lock->algorithm->arm) shared->arm_ns = ARM_NS * (int64_t)shared->key_count;
    name_keys(shared, ask);
    return shared;
}
