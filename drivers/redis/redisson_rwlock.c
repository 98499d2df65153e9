/* redis-rwlock: Redisson's RReadWriteLock: a hash with the field `mode` and a field for each
 * holder, and for each read hold a key whose only use is its time to live.
 *
 * While one reader holds, further readers are admitted, so readers starve writers. A writer may also read.
 * When such a client releases as a writer, the mode becomes `read` and no message is published: waiting
 * readers wait until the time to live that the server has told them. A reader can't become a writer. */
#include "drivers/redis/redisson.h"

#include <string.h>

REDIS_SCRIPT(read_take);
REDIS_SCRIPT(read_unlock);
REDIS_SCRIPT(read_extend);
REDIS_SCRIPT(write_take);
REDIS_SCRIPT(write_unlock);

/* The message "1" of a writer wakes all waiters; "0" wakes one. */
static int for_all_or_one(const char *message, int waiters) {
    return strcmp(message, "1") == 0 ? waiters : 1;
}

static const struct redisson_recipe recipe = {
    .take = {{&script_write_take, "k lw"}, {&script_read_take, "kr lhw"}},
    .unlock = {{&script_write_unlock, "kcu 1PwLl"}, {&script_read_unlock, "kcrAu 0PhL"}},
    .extend = {{&script_rlock_extend, "k lw"}, {&script_read_extend, "kr lh"}},
    .channel = "redisson_rwlock:",
    .count = for_all_or_one,
    /* "" for the timeout keys: {name}:<holder>:rwlock_timeout:<n>. */
    .keys = (const char *const[]){"", REDISSON_LATCHES, NULL},
};

const struct lb_lock lock_redis_rwlock = {
    .name = "redis-rwlock",
    .summary =
        "Redisson's RReadWriteLock: one hash, a key for each read hold, waiters told by PUBLISH",
    .backend = &backend_redis,
    .primitive = LB_RWLOCK,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_LEASE | LB_CAP_RENEW | LB_CAP_SHARED |
            LB_CAP_REENTRANT | LB_CAP_SHARE,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_CRASH_RELEASE,
    .waits = "a message of its channel, at most until the lease ends",
    .about =
        {REDISSON_ABOUT("RReadWriteLock", 1, 2, LB_CRASH_LEASE),
         .order = "none: readers enter while another one reads, and starve writers",
         .hazards =
             "no queue for writers; a writer that continues as a reader notifies nobody, so "
             "other readers wait until its lease ends; a writer's second hold adds the leases"},
    .algorithm = &rlock_algorithm,
    .recipe = &recipe,
};
