/* redisson_sc: the common parts of Redisson's two semaphores and its latch: a counter, and a channel on which
 * changes of the counter are published. */
#ifndef DRIVERS_REDIS_REDISSON_SC_H
#define DRIVERS_REDIS_REDISSON_SC_H

#include "drivers/redis/redisson.h"

void sc_channel(const struct lb_request *request, char out[REDISSON_NAME_MAX]);

/* A pubsub_count_fn: the message is a number of permits, and as many waiters wake. */
int sc_count(const char *message, int waiters);

/* As Redisson's trySetPermits(bound): sets the counter unless it exists. */
int sc_arm(struct lb_session *session, const struct lb_request *request, struct lb_err *err);
/* The same for many keys, in pipelines. */
lb_arm_range_fn sc_arm_range;

/* Runs a script, or with script NULL a command, that sets up or removes a key. 0, or -1 with
 * err. */
int sc_set(struct lb_session *session, const struct redis_script *script, int keys,
           const struct redis_word *words, int count, struct lb_err *err);

#endif
