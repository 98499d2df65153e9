/* redis-setnx: the string lock of the Redis documentation: SET key token NX PX lease; release by a
 * script that deletes only the owner's. Compatible with redis-py's Lock, bsm/redislock,
 * node-redlock and everything else that takes "SET NX PX" with a random token. One round trip each;
 * waits by polling; the lease frees a dead holder's. No order, no token that grows. It does not
 * renew by itself and does not survive a failover: see its claims. */
#include "drivers/redis/store.h"
#include "drivers/redis/string.h"

static const struct lb_algorithm algorithm = {
    STRING_MEMBERS,
    .acquire = string_acquire,
    .release = string_release,
    .renew = string_renew,
};

const struct lb_lock lock_redis_setnx = {
    .name = "redis-setnx",
    .summary =
        "SET NX PX with a random token, compare-and-delete by Lua (redis.io's single-instance lock)",
    .backend = &backend_redis,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_LEASE | LB_CAP_RENEW | LB_CAP_SHARE,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_CRASH_RELEASE,
    .waits = "poll",
    .about =
        {.compatible =
             "redis-py's Lock, node-redlock with one server, SET NX PX by hand; bsm/redislock by its "
             "protocol (not tested)",
         .incompatible =
             "npm's redis-semaphore and simple-redis-mutex unless the key is named as they name it: "
             "mutex:KEY, @simple-redis-mutex:lock-KEY; python-redis-lock: its waiters sleep on a list "
             "that only its own release feeds, and wake seconds late",
         .order = "none",
         .hazards =
             "a second holder can enter after a pause longer than the lease, a failover that "
             "loses the last write, an eviction, or a jump of the server's clock",
         .acquire_requests = 1,
         .release_requests = 1,
         .guarantee = LB_ON_ONE_NODE,
         .crash = LB_CRASH_LEASE,
         .crash_slack_ns = 100 * LB_MS_NS},
    .store = &redis_store,
    .algorithm = &algorithm,
};
