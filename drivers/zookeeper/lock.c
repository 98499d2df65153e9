/* zk-lock: Curator's InterProcessMutex on the server, node for node: an ephemeral sequential node per
 * contender below the lock's path, the first one holds, each other one watches the node right before it.
 * First come, first served; a release wakes one waiter. 2 + 1 round trips uncontended, at least 4 and an
 * event contended. The token is the transaction that made the node (czxid), not the sequence number:
 * Curator's parents are containers, which the server removes when they are empty, and then the sequence
 * starts anew. It is not re-entrant: Curator's re-entry is a counter in the client, see zk-reentrant.
 */
#include "drivers/zookeeper/queue.h"

#ifdef LB_HAVE_ZOOKEEPER
#include "drivers/wait.h"

#define KIND "lock-"

/* Gives the place up; how it went is only told if it is in doubt. */
static enum lb_outcome give_up(struct lb_session *session, struct zk_place *place, enum lb_outcome outcome) {
    enum lb_outcome left = zk_place_leave(session, place);
    if (left == LB_OK || left == LB_LOST) {
        session->err.code = 0;
        return outcome;
    }
    return LB_UNKNOWN;
}

static enum lb_outcome zk_lock_acquire(struct lb_session *session, const struct lb_request *request,
                                       struct lb_grant *grant) {
    struct zk_session *z = zk_session_of(session);
    struct zk_place *place = grant->data;
    bool once = request->deadline_ns <= lb_now();
    enum lb_outcome outcome = zk_place_join(session, request, KIND, place);
    if (outcome != LB_OK) return outcome;
    for (;;) {
        char ahead[ZK_PATH_MAX];
        int rc = zk_place_ahead(z, place, KIND, ahead);
        if (rc == ZOK && ahead[0] == '\0') {
            grant->token = place->czxid;
            grant->lease_end_ns = LB_NEVER; /* as long as the session, which the pump keeps alive */
            return LB_OK;
        }
        if (rc == ZOK && once) return give_up(session, place, LB_BUSY);
        if (rc == ZOK) {
            rc = zk_watch(z, ahead);
            if (rc == ZNONODE) continue; /* gone meanwhile: look again who is first */
        } else if (rc == ZNONODE) {
            return lb_fail(session, LB_BROKEN, "zookeeper: our place %s/%s vanished", place->parent,
                           place->name);
        }
        if (rc == ZOK) rc = zk_watch_wait(z, request->deadline_ns);
        /* These two only read, so they are asked again after a lost connection. */
        if (rc == ZK_CUT || rc == ZK_DOWN) rc = zk_connected(z, request->deadline_ns);
        if (rc == ZOK) continue;
        if (rc == ZK_ENDED) return zk_fail(session, rc, "wait in", place->parent);
        if (lb_now() >= request->deadline_ns) return give_up(session, place, once ? LB_BUSY : LB_TIMEOUT);
        /* The server does not answer, or the cut-off came: our node may stay in the queue. */
        outcome = lb_fail(session, LB_UNKNOWN, "zookeeper: lost touch while waiting in %s", place->parent);
        zk_place_leave(session, place);
        return outcome;
    }
}

static enum lb_outcome zk_lock_release(struct lb_session *session, const struct lb_request *request,
                                       struct lb_grant *grant) {
    (void)request;
    enum lb_outcome outcome = zk_place_leave(session, grant->data);
    /* Not asked in time: by our clock somebody else may hold it by now. */
    if (outcome == LB_BROKEN && lb_now() >= zk_session_end_ns(zk_session_of(session))) return LB_LOST;
    return outcome;
}

static enum lb_outcome zk_lock_settle(struct lb_session *session, const struct lb_request *request,
                                      struct lb_grant *grant) {
    (void)request;
    return zk_place_settle(session, grant->data);
}
#endif

const struct lb_lock lock_zk_lock = {
    .name = "zk-lock",
    .summary =
        "ephemeral sequential nodes, each waiter watches the one before it (Curator's InterProcessMutex)",
    .backend = &backend_zookeeper,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_FENCE | LB_CAP_FAIR | LB_CAP_SESSION,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_SAFE_FAILOVER | LB_CLAIM_CRASH_RELEASE,
    .waits = "watch predecessor",
    LB_IF_ZOOKEEPER(.grant_bytes = sizeof(struct zk_place), .acquire = zk_lock_acquire,
                    .release = zk_lock_release, .settle = zk_lock_settle, )};
