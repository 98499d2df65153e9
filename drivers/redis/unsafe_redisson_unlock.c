/* unsafe-redisson-unlock-old: Redisson's RLock with an older unlock (Redisson 3.8.2 has it; 3.11.4 has today's).
 * If the key does not exist, the script answers that it has freed the lock. So after a lease has ended and another
 * client has held and released the lock, the first holder's unlock still reports success. A control: the checks
 * must catch it. */
#include "drivers/redis/redisson_rlock.h"
#include "drivers/redis/unsafe.h"

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
        redisson_run(session, NULL, &script_unsafe_rlock_unlock_old, 2, words, 5, &reply);
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
    .expected = unsafe_unlock_old_expected,
    .algorithm = &rlock_algorithm,
    .recipe = &recipe,
};
