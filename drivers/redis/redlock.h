/* redlock: a lock on a majority of several independent servers, by the text of redis.io ("Distributed Locks
 * with Redis"): the common parts of redis-redlock and of the control that ignores the validity. */
#ifndef DRIVERS_REDIS_REDLOCK_H
#define DRIVERS_REDIS_REDLOCK_H

#include "drivers/redis/string.h"

struct redlock_options {
    struct string_options string; /* first: see string_acquire */
    int64_t node_timeout_ns;
};

/* Refuses a URL with fewer than three servers or with servers that are not independent, and a session with fewer
 * servers than a majority. */
lb_connect_fn redlock_prepare;

extern const struct lb_option redlock_option_table[];

extern const char *const redlock_topologies[];

#endif
