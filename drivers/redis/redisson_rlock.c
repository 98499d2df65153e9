/* redisson_rlock: the hash of RLock, and the locks on it: redis-reentrant, -fenced. See
 * redisson.h. */
#include "drivers/redis/redis.h"
#include "drivers/redis/redisson.h"

REDIS_SCRIPT(rlock_take);
REDIS_SCRIPT(rlock_unlock);
REDIS_SCRIPT(rlock_extend);

#define UNLOCK                                                                                     \
    { &script_rlock_unlock, "kcu 0lhLP" }
const char *const rlock_keys[] = {REDISSON_LATCHES, NULL};

const struct lb_algorithm rlock_algorithm = {
    REDISSON_MEMBERS,
    .options = redisson_options,
    .acquire = redisson_acquire,
    .release = redisson_release,
    .renew = redisson_renew,
    .settle = redisson_settle,
};

/* redis-reentrant: Redisson's RLock, the lock that people mean by "Redisson": a hash, which scripts take and
 * free, and a channel on which each release is published.
 *
 * A message wakes one waiter in each process that has waiters; one of these gets the lock, the others fail.
 * So there is no order. A waiter that misses its message asks again at the end of the lease that the server
 * has told it. */

static const struct redisson_recipe redis_reentrant_recipe = {
    .take = {RLOCK_TAKE}, .unlock = {UNLOCK}, RLOCK_EXTEND, RLOCK_CHANNEL, .keys = rlock_keys};

const struct lb_lock lock_redis_reentrant = {
    .name = "redis-reentrant",
    .summary = "Redisson's RLock: a hash by Lua scripts, waiters told by PUBLISH, re-entrant",
    .backend = &backend_redis,
    .primitive = LB_MUTEX,
    .caps =
        LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_LEASE | LB_CAP_RENEW | LB_CAP_REENTRANT | LB_CAP_SHARE,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_CRASH_RELEASE,
    .waits = "a message of its channel, at most until the lease ends",
    .about = {REDISSON_ABOUT("RLock", 1, 2, LB_CRASH_LEASE),
              .order = "none: a message wakes one waiter of each process",
              .hazards =
                  "a lost message costs the rest of the lease; a pause longer than the lease, or a "
                  "failover, gives two holders"},
    .algorithm = &rlock_algorithm,
    .recipe = &redis_reentrant_recipe,
};

/* redis-fenced: Redisson's RFencedLock: RLock, and a counter beside it that each acquire raises in
 * the same script: a fencing token, for a guarded resource that refuses smaller ones.
 *
 * Re-entry raises it too, so the resource must let a token pass that is equal to or greater than
 * the last. */

REDIS_SCRIPT(fenced_take);

static enum lb_outcome read_token(struct lb_session *session, const struct redis_reply *reply,
                                  uint64_t *ret_token, int64_t *ret_left_ns) {
    const struct redis_value *pttl = &reply->element[0], *token = &reply->element[1];
    if (reply->value.type != REDIS_ARRAY || reply->count != 2 || pttl->type != REDIS_INTEGER ||
        token->type != REDIS_INTEGER)
        return redis_refuse(session, reply);
    *ret_token = (uint64_t)token->integer;
    if (token->integer >= 0) return LB_OK;
    *ret_left_ns = pttl->integer < 0 ? LB_NEVER : lb_of_ms(pttl->integer);
    return LB_BUSY;
}

static const struct redisson_recipe redis_fenced_recipe = {
    .take = {{&script_fenced_take, "kT lh"}},
    .read = read_token,
    .unlock = {UNLOCK},
    RLOCK_EXTEND,
    RLOCK_CHANNEL,
    .keys = rlock_keys,
    .counter = "redisson_lock_token:",
};

const struct lb_lock lock_redis_fenced = {
    .name = "redis-fenced",
    .summary = "Redisson's RFencedLock: RLock with a fencing token from a counter beside it",
    .backend = &backend_redis,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_LEASE | LB_CAP_RENEW | LB_CAP_FENCE |
            LB_CAP_REENTRANT | LB_CAP_SHARE,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_CRASH_RELEASE,
    .waits = "a message of its channel, at most until the lease ends",
    .keeps = "the counter redisson_lock_token:{key}, without a time to live",
    .about =
        {REDISSON_ABOUT("RFencedLock", 1, 2, LB_CRASH_LEASE),
         .order = "none: a message wakes one waiter of each process",
         .token = "INCR of a key beside it, in the acquire's script; re-entry raises it too",
         .hazards =
             "as redis-reentrant; the token helps only where the guarded resource checks it, and "
             "a failover or an eviction may reset the counter"},
    .algorithm = &rlock_algorithm,
    .recipe = &redis_fenced_recipe,
};
