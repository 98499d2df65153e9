/* pubsub: lets the fibers of a session wait for messages of a channel, as the threads of one JVM do
 * in Redisson. A session has one subscription for a channel; its waiters share and count it. A
 * message wakes as many waiters as the lock's count function says; a message that arrives while no
 * waiter sleeps is kept for the next one.
 *
 * This module has no fiber of its own: one of the waiters reads the connection and passes the task
 * on when it leaves. The module neither publishes nor interprets a message. */
#ifndef DRIVERS_REDIS_PUBSUB_H
#define DRIVERS_REDIS_PUBSUB_H

#include "drivers/gate.h"
#include "drivers/redis/redis.h"

struct pubsub_wait;

/* The subscriptions on one node. */
struct pubsub_line {
    struct redis_node *node;
    struct redis_feed *feed; /* NULL until the first wait */
    bool gone;               /* the connection is lost, for the rest of the session */
    struct gate opening;
    /* all waiters that are subscribed through this line, in the order of their arrival */
    struct pubsub_wait *first, *last;
    struct lb_fiber *reader; /* the waiter that reads the feed, or NULL */
    /* (UN)SUBSCRIBE commands, one channel each, and their answers, which come in order */
    uint64_t sent, answered;
};

/* Part of a lock's session_bytes; zeroed memory needs no further setup. */
struct pubsub {
    struct pubsub_line line[REDIS_NODES_MAX];
};

/* Returns how many of `waiters` (at least 1) a message wakes. */
typedef int pubsub_count_fn(const char *message, int waiters);

/* One waiter; lies on the waiter's stack from pubsub_join to pubsub_leave. */
struct pubsub_wait {
    struct pubsub_wait *next;
    struct pubsub_line *line;
    struct lb_session *session;
    const char *channel; /* borrowed */
    pubsub_count_fn *count;
    struct lb_fiber *fiber;
    uint64_t number; /* of the SUBSCRIBE that the waiter relies on */
    int permits;     /* messages that wake this waiter and that it has not used yet */
    bool asleep, lost;
    enum lb_outcome refused; /* why the SUBSCRIBE was refused; LB_OK = it was not refused */
};

/* Subscribes to the channel unless the session is already subscribed, and waits for the
 * confirmation. LB_OK; LB_TIMEOUT: no confirmation by deadline_ns, or the cut-off came; LB_BROKEN,
 * LB_REFUSED with session->err. The caller must call pubsub_leave only after LB_OK. */
enum lb_outcome pubsub_join(struct lb_session *session, struct pubsub *pubsub,
                            struct redis_node *node, const char *channel, pubsub_count_fn *count,
                            int64_t deadline_ns, struct pubsub_wait *wait);

/* Waits for a message that wakes this waiter. LB_OK; LB_TIMEOUT: no message by deadline_ns, or the
 * cut-off came; LB_BROKEN: the connection is lost, and messages may be lost with it. */
enum lb_outcome pubsub_wait(struct pubsub_wait *wait, int64_t deadline_ns);

/* Unsubscribes if this is the channel's last waiter. Does not wait for the answer. */
void pubsub_leave(struct pubsub_wait *wait);

/* Closes all connections. To be called when the session ends and has no waiter any more. */
void pubsub_end(struct pubsub *pubsub);

#endif
