/* redisson_rlock: the hash of RLock, and the locks on it: redis-reentrant, -fenced. See
 * redisson.h. */
#include "drivers/redis/redis.h"
#include "drivers/redis/redisson.h"

REDIS_SCRIPT(rlock_take);
REDIS_SCRIPT(rlock_unlock);
REDIS_SCRIPT(rlock_extend);

void rlock_channel(const struct lb_request *request, char out[REDISSON_NAME_MAX]) {
    redisson_name(request, "redisson_lock__channel:", "", out);
}

/* The longest wait for a lock whose time to live is pttl ms: LB_NEVER if pttl is below 0. */
static int64_t rlock_left_ns(long long pttl) {
    return pttl < 0 ? LB_NEVER : lb_of_ms(pttl);
}

enum lb_outcome rlock_try(struct redisson_try *one, const struct redis_script *script, int keys,
                          const struct redis_word *words, int count, int64_t *ret_left_ns) {
    const struct redis_reply *reply = NULL;
    bool synced = true;
    int64_t sent_ns = lb_now();
    enum lb_outcome outcome =
        redisson_run_synced(one->session, script, keys, words, count, &reply, &synced);
    if (outcome != LB_OK) return outcome;
    if (reply->value.type == REDIS_NIL)
        return redisson_taken(one, synced, 0, sent_ns + one->request->lease_ns);
    if (reply->value.type != REDIS_INTEGER) return redis_refuse(one->session, reply);
    *ret_left_ns = rlock_left_ns(reply->value.integer);
    return LB_BUSY;
}

static enum lb_outcome rlock_unlock(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant, bool *ret_held) {
    const struct rlock_grant *mine = grant->data;
    char channel[REDISSON_NAME_MAX], latch[REDISSON_NAME_MAX], lease[24];
    if (!mine->holder[0]) return LB_LOST;
    rlock_channel(request, channel);
    redisson_latch(session, request, latch);
    redis_lease_ms(request->lease_ns, lease);
    const struct redis_word words[] = {{request->key, request->key_len},
                                       {channel, 0},
                                       {latch, 0},
                                       {"0", 1},
                                       {lease, 0},
                                       {mine->holder, 0},
                                       {REDISSON_LATCH_MS, 0},
                                       {redisson_publish(session), 0}};
    return redisson_unlock(session, request, &script_rlock_unlock, 3, words, 8, ret_held);
}

enum lb_outcome rlock_ask(struct redisson_try *one, int64_t *ret_left_ns) {
    const struct lb_request *request = one->request;
    const struct rlock_grant *mine = one->grant->data;
    char lease[24];
    redis_lease_ms(request->lease_ns, lease);
    const struct redis_word words[] = {
        {request->key, request->key_len}, {lease, 0}, {mine->holder, 0}};
    return rlock_try(one, &script_rlock_take, 1, words, 3, ret_left_ns);
}

enum lb_outcome rlock_extend(struct lb_session *session, const struct lb_request *request,
                             const char *holder) {
    char lease[24];
    if (!holder[0]) return LB_LOST;
    redis_lease_ms(request->lease_ns, lease);
    const struct redis_word words[] = {{request->key, request->key_len}, {lease, 0}, {holder, 0}};
    const struct redis_reply *reply = NULL;
    enum lb_outcome outcome = redis_run(session, &script_rlock_extend, 1, words, 3, &reply);
    if (outcome != LB_OK) return outcome;
    if (reply->value.type != REDIS_INTEGER) return redis_refuse(session, reply);
    return reply->value.integer == 1 ? LB_OK : LB_LOST;
}

enum lb_outcome rlock_renew(struct lb_session *session, const struct lb_request *request,
                            struct lb_grant *grant) {
    const struct rlock_grant *mine = grant->data;
    int64_t sent_ns = lb_now();
    enum lb_outcome outcome = rlock_extend(session, request, mine->holder);
    if (outcome == LB_OK) grant->lease_end_ns = sent_ns + request->lease_ns;
    return outcome;
}

const char *const rlock_keys[] = {"", "redisson_unlock_latch:{", NULL};
const char *const rlock_channels[] = {"redisson_lock__channel:{", NULL};

static enum lb_outcome rlock_acquire(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
    const struct redisson_recipe *recipe = session->lock->recipe;
    struct rlock_grant *mine = grant->data;
    char channel[REDISSON_NAME_MAX];
    redisson_holder(session, request, "", mine->holder);
    rlock_channel(request, channel);
    return redisson_await(&(struct redisson_try){.session = session,
                                                 .request = request,
                                                 .grant = grant,
                                                 .ask = recipe->ask,
                                                 .channel = channel});
}

const struct lb_algorithm rlock_algorithm = {
    REDISSON_MEMBERS,         .grant_bytes = sizeof(struct rlock_grant),
    .acquire = rlock_acquire, .release = redisson_release,
    .renew = rlock_renew,     .settle = redisson_settle,
};

/* redis-reentrant: Redisson's RLock, the lock that people mean by "Redisson": a hash, which scripts take and
 * free, and a channel on which each release is published.
 *
 * A message wakes one waiter in each process that has waiters; one of these gets the lock, the others fail.
 * So there is no order. A waiter that misses its message asks again at the end of the lease that the server
 * has told it. */

static const struct redisson_recipe redis_reentrant_recipe = {
    .ask = rlock_ask, .unlock = rlock_unlock, .keys = rlock_keys, .channels = rlock_channels};

const struct lb_lock lock_redis_reentrant = {
    .name = "redis-reentrant",
    .summary = "Redisson's RLock: a hash by Lua scripts, waiters told by PUBLISH, re-entrant",
    .backend = &backend_redis,
    .primitive = LB_MUTEX,
    .caps =
        LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_LEASE | LB_CAP_RENEW | LB_CAP_REENTRANT | LB_CAP_SHARE,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_CRASH_RELEASE,
    .waits = "a message of its channel, at most until the lease ends",
    .about = {REDISSON_ABOUT("RLock", 1, 2),
              .order = "none: a message wakes one waiter of each process",
              .hazards =
                  "a lost message costs the rest of the lease; a pause longer than the lease, or a "
                  "failover, gives two holders",
              .crash = LB_CRASH_LEASE},
    .algorithm = &rlock_algorithm,
    .recipe = &redis_reentrant_recipe,
};

/* redis-fenced: Redisson's RFencedLock: RLock, and a counter beside it that each acquire raises in
 * the same script: a fencing token, for a guarded resource that refuses smaller ones.
 *
 * Re-entry raises it too, so the resource must let a token pass that is equal to or greater than
 * the last. */

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
    bool synced = true;
    int64_t sent_ns = lb_now();
    enum lb_outcome outcome =
        redisson_run_synced(one->session, &script_fenced_take, 2, words, 4, &reply, &synced);
    if (outcome != LB_OK) return outcome;
    if (reply->value.type != REDIS_ARRAY || reply->count != 2 ||
        reply->element[0].type != REDIS_INTEGER || reply->element[1].type != REDIS_INTEGER) {
        return redis_refuse(one->session, reply);
    }
    if (reply->element[1].integer < 0) {
        *ret_left_ns = rlock_left_ns(reply->element[0].integer);
        return LB_BUSY;
    }
    return redisson_taken(one, synced, (uint64_t)reply->element[1].integer,
                          sent_ns + request->lease_ns);
}

static const struct redisson_recipe redis_fenced_recipe = {.ask = fenced_ask,
                                                           .unlock = rlock_unlock,
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
        {REDISSON_ABOUT("RFencedLock", 1, 2),
         .order = "none: a message wakes one waiter of each process",
         .token = "INCR of a key beside it, in the acquire's script; re-entry raises it too",
         .hazards =
             "as redis-reentrant; the token helps only where the guarded resource checks it, and "
             "a failover or an eviction may reset the counter",
         .crash = LB_CRASH_LEASE},
    .algorithm = &rlock_algorithm,
    .recipe = &redis_fenced_recipe,
};
