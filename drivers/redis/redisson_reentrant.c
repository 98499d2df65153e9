/* redis-reentrant: Redisson's RLock, the lock that "Redisson" means: a hash, taken and freed by
 * scripts, and a channel on which the end of a hold is told.
 *
 * A message wakes one waiter of each process that waits, so of P processes one gets it and P - 1
 * ask in vain: no order. A waiter that misses its message asks again when the lease that it was
 * told has run out. */
#include "drivers/redis/redisson_rlock.h"

static enum lb_outcome reentrant_acquire(struct lb_session *session,
                                         const struct lb_request *request, struct lb_grant *grant) {
    struct rlock_grant *mine = grant->data;
    char channel[REDISSON_NAME_MAX];
    redisson_holder(session, request, "", mine->holder);
    rlock_channel(request, channel);
    return redisson_await(&(struct redisson_try){.session = session,
                                                 .request = request,
                                                 .grant = grant,
                                                 .ask = rlock_ask,
                                                 .channel = channel});
}

static const struct lb_option reentrant_options[] = {REDISSON_OPTIONS, {0}};

static const struct lb_algorithm algorithm = {
    .options = reentrant_options,
    .options_bytes = sizeof(struct redisson_options),
    .session_bytes = sizeof(struct redisson_session),
    .grant_bytes = sizeof(struct rlock_grant),
    .acquire = reentrant_acquire,
    .release = rlock_release,
    .renew = rlock_renew,
    .settle = rlock_settle,
    .residue = rlock_residue,
};

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
    .algorithm = &algorithm,
};
