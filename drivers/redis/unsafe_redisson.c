/* unsafe-redisson-unlock-old: Redisson's RLock with an older unlock (Redisson 3.8.2 has it; 3.11.4 has today's).
 * If the key does not exist, the script answers that it has freed the lock. So after a lease has ended and another
 * client has held and released the lock, the first holder's unlock still reports success. A control: the checks
 * must catch it. */
#include "drivers/redis/redisson.h"
#include "drivers/redis/string.h"

REDIS_SCRIPT(unsafe_rlock_unlock_old);

static enum lb_outcome unlock_old(struct lb_session *session, const struct lb_request *request,
                                  struct lb_grant *grant, bool *ret_held) {
    const struct rlock_grant *mine = grant->data;
    char channel[REDISSON_NAME_MAX], lease[24];
    const struct redis_reply *reply = NULL;
    if (!mine->holder[0]) return LB_LOST;
    rlock_channel(request, channel);
    redis_lease_ms(request->lease_ns, lease);
    const struct redis_word words[] = {
        {request->key, request->key_len}, {channel, 0}, {"0", 1}, {lease, 0}, {mine->holder, 0}};
    enum lb_outcome outcome =
        redis_run(session, &script_unsafe_rlock_unlock_old, 2, words, 5, &reply);
    if (outcome != LB_OK) return outcome;
    if (reply->value.type == REDIS_NIL) return LB_LOST;
    if (reply->value.type != REDIS_INTEGER) return redis_refuse(session, reply);
    *ret_held = reply->value.integer == 0;
    return LB_OK;
}

static const struct redisson_recipe recipe = {
    .ask = rlock_ask, .unlock = unlock_old, .keys = rlock_keys, .channels = rlock_channels};

const struct lb_lock lock_unsafe_redisson_unlock_old = {
    UNSAFE_MUTEX("a message of its channel, at most until the lease ends"),
    .name = "unsafe-redisson-unlock-old",
    .summary = "Redisson's RLock with its old unlock, which calls a lost lock released",
    .caps = UNSAFE_CAPS | LB_CAP_RENEW | LB_CAP_REENTRANT,
    .topologies = (const char *const[]){"redis", "redis-replicas", "redis-sentinel", NULL},
    .about =
        {UNSAFE_ABOUT(1, 1), UNSAFE_LEASE,
         .mistake =
             "Redisson until 3.8: the unlock answers that it freed the lock when the key is gone; a holder "
             "that was late learns nothing of the client that held in between, and lets its work stand",
         .exposed_by = "overstay", .exposed_as = LB_EXPOSED_VIOLATED},
    .algorithm = &rlock_algorithm,
    .recipe = &recipe,
};

/* unsafe-redis-lua-reentrant: a string lock whose script lets its owner in again without counting,
 * and whose release deletes: the first unlock of a lock that is held twice frees it. For the checks
 * to catch; never to be used. */

REDIS_SCRIPT(unsafe_reentrant_take);

static enum lb_outcome try_script(struct lb_session *session, const struct lb_request *request,
                                  struct lb_grant *grant) {
    char lease_ms[24];
    redis_lease_ms(request->lease_ns, lease_ms);
    int64_t sent_ns = lb_now();
    enum lb_outcome outcome =
        string_if_mine(session, request, grant, &script_unsafe_reentrant_take, lease_ms);
    if (outcome == LB_LOST) return LB_BUSY;
    if (outcome != LB_OK) return outcome;
    return lb_granted(grant, 0, sent_ns + request->lease_ns);
}

const struct lb_lock lock_unsafe_redis_lua_reentrant = {
    UNSAFE_MUTEX("poll"),
    .name = "unsafe-redis-lua-reentrant",
    .summary = "a script that lets the owner in again without counting; the first unlock frees it",
    .caps = UNSAFE_CAPS | LB_CAP_REENTRANT,
    .about = {UNSAFE_ABOUT(1, 1), UNSAFE_LEASE,
              .mistake =
                  "introductory articles: re-entry without a counter, unlock by DEL: the inner "
                  "unlock frees the lock while the outer holder continues",
              .exposed_by = "reentrant", .exposed_as = LB_EXPOSED_VIOLATED},
    STRING_TRY(try_script),
    .algorithm = &(const struct lb_algorithm){STRING_MEMBERS, .acquire = string_acquire,
                                              .release = string_release},
};
