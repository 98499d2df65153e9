/* unsafe-redisson-unlock-old: Redisson's RLock with an older unlock (Redisson 3.8.2 has it; 3.11.4 has today's).
 * If the key does not exist, the script answers that it has freed the lock. So after a lease has ended and another
 * client has held and released the lock, the first holder's unlock still reports success. A control: the checks
 * must catch it. */
#include "drivers/redis/redisson.h"
#include "drivers/redis/string.h"

REDIS_SCRIPT(unsafe_rlock_unlock_old);

static const struct redisson_recipe recipe = {
    .take = {RLOCK_TAKE},
    .unlock = {{&script_unsafe_rlock_unlock_old, "kc 0lh"}},
    RLOCK_EXTEND,
    RLOCK_CHANNEL,
    .keys = rlock_keys,
};

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
        string_if_mine(session, request, grant, &script_unsafe_reentrant_take, lease_ms, NULL);
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
