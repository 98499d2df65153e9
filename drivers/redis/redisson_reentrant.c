/* redis-reentrant: Redisson's RLock, the lock that people mean by "Redisson": a hash, which scripts take and
 * free, and a channel on which each release is published.
 *
 * A message wakes one waiter in each process that has waiters; one of these gets the lock, the others fail.
 * So there is no order. A waiter that misses its message asks again at the end of the lease that the server
 * has told it. */
#include "drivers/redis/redisson_rlock.h"

static const struct redisson_recipe recipe = {
    .ask = rlock_ask, .unlock = rlock_unlock_once, .keys = rlock_keys, .channels = rlock_channels};

const struct lb_lock lock_redis_reentrant = {
    .name = "redis-reentrant",
    .summary = "Redisson's RLock: a hash by Lua scripts, waiters told by PUBLISH, re-entrant",
    .backend = &backend_redis,
    .primitive = LB_MUTEX,
    .caps =
        LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_LEASE | LB_CAP_RENEW | LB_CAP_REENTRANT | LB_CAP_SHARE,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_CRASH_RELEASE,
    .waits = "a message of its channel, at most until the lease ends",
    .about = {.compatible = REDISSON_COMPATIBLE("RLock"),
              .order = "none: a message wakes one waiter of each process",
              .hazards =
                  "a lost message costs the rest of the lease; a pause longer than the lease, or a "
                  "failover, gives two holders",
              .acquire_requests = 1,
              .release_requests = 2,
              .guarantee = LB_ON_ONE_NODE,
              .crash = LB_CRASH_LEASE},
    .expected = redis_pubsub_expected,
    .algorithm = &rlock_algorithm,
    .recipe = &recipe,
};
