/* queue: a client's place in a ZooKeeper queue: one ephemeral sequential node below the lock's path, made and
 * found again as Curator does it ("protected" creation). What the queue means is the algorithm's business.
 *
 * Source of the protocol: Curator's LockInternals and CreateBuilder.withProtection.
 */
#ifndef DRIVERS_ZOOKEEPER_QUEUE_H
#define DRIVERS_ZOOKEEPER_QUEUE_H

#include "drivers/zookeeper/calls.h"

#ifdef LB_HAVE_ZOOKEEPER

/* What a client keeps of its place; a lock's grant->data. */
struct zk_place {
    char parent[ZK_PARENT_MAX];   /* the lock's path */
    char name[ZK_NAME_MAX];       /* the node below it; "" = none that we know of */
    char uuid[ZK_UUID_CHARS + 1]; /* in the node's name, to know it again */
    uint64_t czxid;               /* the transaction that made it: grows with each, so a fencing token */
    clientid_t session;           /* the session that owns it; id 0 = nothing was sent */
};

/* Creates a place of a kind ("lock-") at the end of request->key's queue, parents too where they are missing.
 * Over a lost connection it looks whether the node was made before it tries again. LB_OK; LB_BROKEN: surely
 * nothing there; LB_UNKNOWN: settle with zk_place_settle; LB_REFUSED. */
enum lb_outcome zk_place_join(struct lb_session *session, const struct lb_request *request, const char *kind,
                              struct zk_place *place);

/* Who is right before us, into ret_path (ZK_PATH_MAX bytes): "" if nobody is. ZOK, ZNONODE when our own node
 * is not there any more, or any failure of a call. */
int zk_place_ahead(struct zk_session *z, const struct zk_place *place, const char *kind, char *ret_path);

/* Deletes the node, again over lost connections: LB_OK; LB_LOST: it was not there any more, or the server has
 * ended the session; LB_BROKEN: it could not be asked for; LB_UNKNOWN. */
enum lb_outcome zk_place_leave(struct lb_session *session, struct zk_place *place);

/* After LB_UNKNOWN, on a new session: ends the session that may own the node, and so the node. LB_OK = sure.
 */
enum lb_outcome zk_place_settle(struct lb_session *session, const struct zk_place *place);

#endif
#endif
