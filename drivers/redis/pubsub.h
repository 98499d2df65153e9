/* pubsub: how the fibers of a session wait for messages of a channel, as the threads of one JVM do
 * in Redisson: one subscription a session and channel, shared and counted; a message lets as many
 * of its waiters go on as its kind says, and one that comes while nobody sleeps is kept for the
 * next that would.
 *
 * No fiber of its own: of those who wait, one reads the connection and hands the work over when it
 * leaves. It neither publishes nor decides what a message means. */
#ifndef DRIVERS_REDIS_PUBSUB_H
#define DRIVERS_REDIS_PUBSUB_H

#include "drivers/gate.h"
#include "drivers/redis/redis.h"

struct pubsub_wait;

/* The subscriptions on one node. */
struct pubsub_line {
    struct redis_node *node;
    struct redis_feed *feed; /* NULL until the first wait */
    bool gone;               /* its connection is lost: for good, in this session */
    struct gate opening;
    struct pubsub_wait *first,
        /* all that are subscribed through it, in the order in which they came */
        *last;
    struct lb_fiber *reader; /* the one that reads the feed, or NULL */
    uint64_t sent, answered; /* (UN)SUBSCRIBEs, one channel each, and answers to them: in order */
};

/* Part of a lock's session_bytes; zeroed memory is ready. */
struct pubsub {
    struct pubsub_line line[REDIS_NODES_MAX];
};

/* How many of `waiters` (at least 1) may go on by a message. */
typedef int pubsub_count_fn(const char *message, int waiters);

/* One waiter, on its own stack, from pubsub_join to pubsub_leave. */
struct pubsub_wait {
    struct pubsub_wait *next;
    struct pubsub_line *line;
    struct lb_session *session;
    const char *channel; /* borrowed */
    pubsub_count_fn *count;
    struct lb_fiber *fiber;
    uint64_t number; /* of the SUBSCRIBE that it relies on */
    int permits;     /* to go on, unused */
    bool asleep, lost;
    enum lb_outcome refused; /* why the SUBSCRIBE was; LB_OK = it was not */
};

/* Subscribes to the channel, unless the session is, and waits for the confirmation. LB_OK;
 * LB_TIMEOUT: not by deadline_ns, or cut off; LB_BROKEN, LB_REFUSED with session->err. Only after
 * LB_OK must it leave. */
enum lb_outcome pubsub_join(struct lb_session *session, struct pubsub *pubsub,
                            struct redis_node *node, const char *channel, pubsub_count_fn *count,
                            int64_t deadline_ns, struct pubsub_wait *wait);

/* Waits for a message that lets it go on. LB_OK; LB_TIMEOUT: none by then, or cut off; LB_BROKEN:
 * the connection is gone, and messages may have gone with it. */
enum lb_outcome pubsub_wait(struct pubsub_wait *wait, int64_t deadline_ns);

/* Unsubscribes if it is the channel's last; does not wait. */
void pubsub_leave(struct pubsub_wait *wait);

/* Closes all connections; when the session ends and nobody waits any more. */
void pubsub_end(struct pubsub *pubsub);

#endif
