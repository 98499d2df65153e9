/* redis-fenced: Redisson's RFencedLock: RLock, and a counter beside it that each acquire raises in
 * the same script: a fencing token, for a guarded resource that refuses smaller ones.
 *
 * Re-entry raises it too, so the resource must let a token pass that is equal to or greater than
 * the last. */
#include "drivers/redis/redisson_rlock.h"
#include "drivers/redis/store.h"

#define TOKEN_KEY "redisson_lock_token:"

REDIS_SCRIPT(fenced_take);

static enum lb_outcome fenced_ask(struct redisson_try *one, int64_t *ret_left_ns) {
    const struct lb_request *request = one->request;
    const struct rlock_grant *mine = one->grant->data;
    char token[REDISSON_NAME_MAX], lease[24];
    redisson_name(request, TOKEN_KEY, "", token);
    redis_lease_ms(request->lease_ns, lease);
    const struct redis_word words[] = {
        {request->key, request->key_len}, {token, 0}, {lease, 0}, {mine->holder, 0}};
    const struct redis_reply *reply = NULL;
    bool synced = true, held = false;
    int64_t sent_ns = lb_now();
    enum lb_outcome outcome =
        redisson_run_synced(one->session, NULL, &script_fenced_take, 2, words, 4, &reply, &synced);
    if (outcome != LB_OK) return outcome;
    if (reply->value.type != REDIS_ARRAY || reply->count != 2 ||
        reply->element[0].type != REDIS_INTEGER || reply->element[1].type != REDIS_INTEGER) {
        return redis_refuse(one->session, reply);
    }
    if (reply->element[1].integer < 0) {
        *ret_left_ns = rlock_left_ns(reply->element[0].integer);
        return LB_BUSY;
    }
    if (!synced)
        return redisson_not_synced(
            one->session, rlock_unlock_by(one->session, NULL, request, mine->holder, true, &held));
    one->grant->token = (uint64_t)reply->element[1].integer;
    one->grant->lease_end_ns = sent_ns + request->lease_ns;
    return LB_OK;
}

static const struct redisson_recipe recipe = {.ask = fenced_ask,
                                              .unlock = rlock_unlock_once,
                                              .keys = rlock_keys,
                                              .channels = rlock_channels,
                                              .counter = TOKEN_KEY};

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
        {.compatible = REDISSON_COMPATIBLE("RFencedLock"),
         .order = "none: a message wakes one waiter of each process",
         .token = "INCR of a key beside it, in the acquire's script; re-entry raises it too",
         .hazards =
             "as redis-reentrant; the token helps only where the guarded resource checks it, and "
             "a failover or an eviction may reset the counter",
         .acquire_requests = 1,
         .release_requests = 2,
         .guarantee = LB_ON_ONE_NODE,
         .crash = LB_CRASH_LEASE},
    .expected = redis_pubsub_expected,
    .store = &redis_store,
    .algorithm = &rlock_algorithm,
    .recipe = &recipe,
};
