/* mutex: a client's place in a queue of ZooKeeper, as Curator's locks take it, and what the locks' tables have in
 * common. */
#ifndef DRIVERS_ZOOKEEPER_MUTEX_H
#define DRIVERS_ZOOKEEPER_MUTEX_H

#include "drivers/zookeeper/calls.h"

/* queue: a client's place in a ZooKeeper queue: one ephemeral sequential node below the lock's
 * path. The node is created, and found again after a lost answer, like the real client's. The
 * client waits for its turn by a watch on the node before its own.
 *
 * Source of the protocol: Curator's LockInternals and CreateBuilder.withProtection. The locks decide what a
 * place in the queue means. */

/* The client's knowledge of its place in the queue; in a lock's grant->data. */
struct zk_place {
    char parent[ZK_PARENT_MAX];   /* the queue's path */
    char name[ZK_NAME_MAX];       /* the node below it; "" = the client knows of none */
    char uuid[LB_UUID_CHARS + 1]; /* in the node's name, so that the client recognises it */
    /* the transaction that made it: grows with each, so a fencing token */
    uint64_t czxid;
    clientid_t session; /* the session that owns it; id 0 = nothing was sent */
};

/* A kind of queue. */
struct zk_queue {
    const char *base; /* of its names: "_c_<uuid>-<base><sequence>" */
    /* the queue in which clients wait for their turn; NULL = no client waits in it */
    zk_ahead_fn *ahead;
};
extern const struct zk_queue zk_queue_lock; /* Curator's InterProcessMutex */

/* Sets the path of a key's queue: the key's path, with "/<below>" after it unless NULL. Clears
 * the rest of the place. LB_OK, or LB_REFUSED. */
enum lb_outcome zk_place_at(struct lb_session *session, struct zk_place *place, const char *key,
                            size_t key_len, const char *below);

/* Creates a node at the end of the queue, and its parents where they are missing. sequence:
 * NULL, or the sequence that the node gets instead of the next one (Curator's reader that
 * already holds as a writer). After a lost connection it looks for the node before it tries
 * again. LB_OK; LB_BROKEN: no node was created; LB_UNKNOWN: settle with zk_place_settle;
 * LB_REFUSED. */
enum lb_outcome zk_place_join(struct lb_session *session, const struct zk_queue *queue,
                              struct zk_place *place, const char *sequence, int64_t deadline_ns);

/* LB_OK, or LB_BROKEN if the session had ended by our clock when the server's answer was read: we
 * may have been paused since the answer was sent, and another client may have been admitted. */
enum lb_outcome zk_granted(struct lb_session *session);

/* Joins and waits for its turn, as lb_acquire_fn: LB_BUSY or LB_TIMEOUT leave nothing there. */
enum lb_outcome zk_place_take(struct lb_session *session, const struct zk_queue *queue,
                              struct zk_place *place, int64_t deadline_ns);

/* True if the place has a node of this session, as far as the client knows. Sends no request;
 * re-entry needs it. */
bool zk_place_held(const struct lb_session *session, const struct zk_place *place);

/* Deletes the node, and tries again after a lost connection. LB_OK; LB_LOST: the node does not
 * exist any more, or its session has ended by the server's word or by our clock, or the node
 * belongs to another session; LB_BROKEN: the request could not be sent; LB_UNKNOWN. */
enum lb_outcome zk_place_leave(struct lb_session *session, struct zk_place *place);

/* Deletes the node after an attempt that ends with `outcome`. Returns `outcome`, or LB_UNKNOWN
 * if the node may still exist. */
enum lb_outcome zk_place_give_up(struct lb_session *session, struct zk_place *place,
                                 enum lb_outcome outcome);

/* After LB_UNKNOWN: makes sure that the node does not exist. A session that has ended for us is
 * ended on the server too; in a session that other clients share, it looks for the node. LB_OK =
 * the node is gone. */
enum lb_outcome zk_place_settle(struct lb_session *session, struct zk_place *place);

lb_residue_fn zk_residue;
lb_names_fn zk_names;

#define ZK_CAPS (LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_SESSION | LB_CAP_SHARE)
#define ZK_CLAIMS (LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_FAILOVER | LB_CLAIM_CRASH_RELEASE)
#define ZK_KEEPS_CONTAINERS                                                                        \
    "a container node for each key, as Curator does; the server removes those that stay empty"
#define ZK_ORDER "first come, first served, by the server's sequence numbers"
#define ZK_TOKEN "the transaction that made the node (czxid)"
#define ZK_HAZARDS                                                                                  \
    "a holder that is paused for longer than its session continues beside the next holder; a dead " \
    "holder's lock is freed when its session ends, and a session lasts at least two ticks (4 s)"
/* A session that asks for less than two ticks gets two; its end is rounded up to a tick. */
#define ZK_CRASH_SLACK_NS (5 * LB_S_NS)
/* Facts of all these locks: the servers agree by majority, and a session ends by itself. */
#define ZK_ABOUT(acquires, releases)                                                               \
    LB_TERMS(acquires, releases, LB_ON_MAJORITY, LB_CRASH_SESSION),                                \
        .crash_slack_ns = ZK_CRASH_SLACK_NS
/* The same of those that are one place in one queue. */
#define ZK_MUTEX_FACTS                                                                             \
    .backend = &backend_zookeeper, .primitive = LB_MUTEX, .claims = ZK_CLAIMS,                     \
    .waits = "watch predecessor"
#define ZK_MUTEX_ABOUT .order = ZK_ORDER, .token = ZK_TOKEN, ZK_ABOUT(2, 1)

#endif
