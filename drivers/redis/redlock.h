/* redlock: a lock on a majority of several independent servers, by the text of redis.io ("Distributed Locks
 * with Redis"): the common parts of redis-redlock and of the control that ignores the validity. */
#ifndef DRIVERS_REDIS_REDLOCK_H
#define DRIVERS_REDIS_REDLOCK_H

#include "drivers/redis/string.h"

/* In the order of the option's choices. */
enum redlock_ask { REDLOCK_PARALLEL, REDLOCK_SEQUENCE };

struct redlock_options {
    struct string_options string; /* first: see string_acquire */
    int64_t node_timeout_ns;
    double drift;
    int64_t drift_more_ns;
    int64_t ask; /* enum redlock_ask */
};

/* Sends SET NX PX to all servers, at once or in turn; a majority must grant. LB_OK with *ret_sent_ns, a moment
 * before the first command was sent, and *ret_elapsed_ns, the time from then until the last answer. Otherwise all
 * servers, also those that failed, have been sent a release: LB_BUSY, and nothing is held; LB_BROKEN: no majority
 * could be reached for the SET, and nothing is held; LB_UNKNOWN: no majority could be reached for the release
 * either. */
enum lb_outcome redlock_try(struct lb_session *session, const struct lb_request *request,
                            struct lb_grant *grant, int64_t *ret_sent_ns, int64_t *ret_elapsed_ns);

/* Refuses a URL with fewer than three servers or with servers that are not independent, and a session with fewer
 * servers than a majority. */
lb_connect_fn redlock_prepare;
lb_release_fn redlock_release;
lb_settle_fn redlock_settle;

extern const struct lb_option redlock_option_table[];
/* The members that the algorithms of these locks share; each lock sets renew itself. */
#define REDLOCK_MEMBERS                                                                            \
    STRING_KEY, STRING_OPTIONS(redlock_option_table, struct redlock_options),                      \
        .grant_bytes = sizeof(struct string_grant), .prepare = redlock_prepare,                    \
        .acquire = string_acquire, .release = redlock_release, .settle = redlock_settle

extern const char *const redlock_topologies[];

#endif
