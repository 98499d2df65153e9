/* queue: a client's place in a ZooKeeper queue: one ephemeral sequential node below the lock's
 * path. Made and, after an answer was lost, found again as the real client does it; waits for its
 * turn by a watch on the node that must go before.
 *
 * Source of the protocol: Curator's LockInternals and CreateBuilder.withProtection, ZooKeeper's
 * zoo_lock.c. What a place is good for is the locks' business. */
#ifndef DRIVERS_ZOOKEEPER_QUEUE_H
#define DRIVERS_ZOOKEEPER_QUEUE_H

#include "drivers/zookeeper/calls.h"

/* What a client knows about its place in the queue; in a lock's grant->data. */
struct zk_place {
    char parent[ZK_PARENT_MAX];   /* the queue's path */
    char name[ZK_NAME_MAX];       /* the node below it; "" = none that we know of */
    char uuid[ZK_UUID_CHARS + 1]; /* in the node's name, to know it again */
    /* the transaction that made it: grows with each, so a fencing token */
    uint64_t czxid;
    clientid_t session; /* the session that owns it; id 0 = nothing was sent */
    /* the C recipe's: among those of the session that have a place, ... */
    struct zk_place *next;
    bool listed; /* ... if it is */
};

/* A kind of queue. */
struct zk_queue {
    const char *base; /* Curator: "_c_<uuid>-<base><sequence>"; NULL = the C recipe's names */
    /* the queue in which clients wait for their turn; NULL = no client waits in it */
    zk_ahead_fn *ahead;
};
extern const struct zk_queue zk_queue_lock; /* Curator's InterProcessMutex */

/* Where a key's queue is: its path, with "/<below>" after it unless NULL. LB_OK, or LB_REFUSED.
 * Forgets what the place was. */
enum lb_outcome zk_place_at(struct lb_session *session, struct zk_place *place, const char *key,
                            size_t key_len, const char *below);

/* Creates a place at the end of the queue, parents too where they are missing; sequence: NULL, or
 * the sequence that the node is given instead of the next (Curator's reader that holds as a
 * writer). Over a lost connection it looks whether the node was made before it tries again. LB_OK;
 * LB_BROKEN: surely nothing there; LB_UNKNOWN: settle with zk_place_settle; LB_REFUSED. */
enum lb_outcome zk_place_join(struct lb_session *session, const struct zk_queue *queue,
                              struct zk_place *place, const char *sequence, int64_t deadline_ns);

/* LB_OK, or LB_BROKEN if the session had ended by our clock when the server's answer was read: we
 * may have been paused since the answer was sent, and another client may have been admitted. */
enum lb_outcome zk_granted(struct lb_session *session);

/* Joins and waits for its turn, as lb_acquire_fn: LB_BUSY or LB_TIMEOUT leave nothing there. */
enum lb_outcome zk_place_take(struct lb_session *session, const struct zk_queue *queue,
                              struct zk_place *place, int64_t deadline_ns);

/* Whether it holds a node of this session, as far as the client knows. Sends no request: for
 * re-entry. */
bool zk_place_held(const struct lb_session *session, const struct zk_place *place);

/* Deletes the node, again over lost connections: LB_OK; LB_LOST: it was not there any more, or its
 * session is over, by the server's word or by our clock, or is not this one; LB_BROKEN: it could
 * not be asked for; LB_UNKNOWN. */
enum lb_outcome zk_place_leave(struct lb_session *session, struct zk_place *place);

/* The same after an attempt that ends with `outcome`: that, or LB_UNKNOWN if the node may still be
 * there. */
enum lb_outcome zk_place_give_up(struct lb_session *session, struct zk_place *place,
                                 enum lb_outcome outcome);

/* After LB_UNKNOWN: makes sure that the node is gone. If its session is over for us, ends it on the
 * server too; in a session that others use it looks for the node. LB_OK = sure. */
enum lb_outcome zk_place_settle(struct lb_session *session, const struct zk_queue *queue,
                                struct zk_place *place);

/* Takes a session up again only to end it: then whatever it sent, and even what is still on its
 * way, leaves no node. One that has expired meanwhile has done so by itself. LB_OK = it is over. */
enum lb_outcome zk_end_session(struct lb_session *session, const clientid_t *previous);

#endif
