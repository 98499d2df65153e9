/* unsafe: the common parts of the tables of the controls on Redis, so that each table mainly describes its own
 * mistake. */
#ifndef DRIVERS_REDIS_UNSAFE_H
#define DRIVERS_REDIS_UNSAFE_H

#include "drivers/backends.h"

/* Members of struct lb_lock: a mutex, and how its waiters wait. */
#define UNSAFE_MUTEX(how) .backend = &backend_redis, .primitive = LB_MUTEX, .waits = how
#define UNSAFE_CAPS (LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_LEASE | LB_CAP_SHARE | LB_CAP_CONTROL)

/* Members of its .about: the numbers of requests of an acquire and a release; the lease frees the lock of a dead
 * holder. */
#define UNSAFE_ABOUT(acquires, releases)                                                           \
    .order = "none", .acquire_requests = acquires, .release_requests = releases,                   \
    .guarantee = LB_NO_GUARANTEE
#define UNSAFE_LEASE .crash = LB_CRASH_LEASE, .crash_slack_ns = 100 * LB_MS_NS

#endif
