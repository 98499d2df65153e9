/* zk-lock: Curator's InterProcessMutex on the server, node for node: an ephemeral sequential node
 * per contender below the lock's path, the first one holds, each other one watches the node right
 * before it. First come, first served; a release wakes one waiter. 2 + 1 round trips uncontended,
 * at least 4 and an event contended. The token is the transaction that made the node (czxid), not
 * the sequence number: Curator's parents are containers, which the server removes when they are
 * empty, and then the sequence starts anew. It is not re-entrant: Curator's re-entry is a counter
 * in the client, see zk-reentrant. */
#include "drivers/key_names.h"
#include "drivers/zookeeper/mutex.h"

static enum lb_outcome zk_mutex_acquire(struct lb_session *session,
                                        const struct lb_request *request, struct lb_grant *grant) {
    struct zk_place *place = grant->data;
    enum lb_outcome outcome = zk_place_at(session, place, request->key, request->key_len, NULL);
    if (outcome != LB_OK) return outcome;
    outcome = zk_place_take(session, &zk_queue_lock, place, request->deadline_ns);
    if (outcome != LB_OK) return outcome;
    /* lasts as long as the session, which the pump keeps alive */
    return lb_granted(grant, place->czxid, LB_NEVER);
}

static enum lb_outcome zk_mutex_release(struct lb_session *session,
                                        const struct lb_request *request, struct lb_grant *grant) {
    (void)request;
    return zk_place_leave(session, grant->data);
}

static enum lb_outcome zk_mutex_settle(struct lb_session *session, const struct lb_request *request,
                                       struct lb_grant *grant) {
    (void)request;
    return zk_place_settle(session, grant->data);
}

void zk_names(const struct lb_session *session, const struct lb_request *request,
              struct lb_names *names) {
    char path[ZK_PARENT_MAX];
    (void)session;
    if (zk_path_of(ZK_ROOT, request->key, request->key_len, path, sizeof path) != 0) return;
    lb_names_add(names, "znode, behind the URL's path", "%s", path);
}

#define ZK_MUTEX_MEMBERS                                                                           \
    .grant_bytes = sizeof(struct zk_place), .settle = zk_mutex_settle, .residue = zk_residue,      \
    .names = zk_names

static const struct lb_algorithm zk_lock_algorithm = {
    ZK_MUTEX_MEMBERS,
    .acquire = zk_mutex_acquire,
    .release = zk_mutex_release,
};

const struct lb_lock lock_zk_lock = {
    .name = "zk-lock",
    .summary =
        "ephemeral sequential nodes, each waiter watches the one before it (Curator's InterProcessMutex)",
    ZK_MUTEX_FACTS,
    .caps = ZK_CAPS | LB_CAP_FENCE | LB_CAP_FAIR,
    .keeps = ZK_KEEPS_CONTAINERS,
    .about = {.compatible =
                  "Curator's InterProcessMutex; kazoo's Lock only with Curator's node name",
              .hazards = ZK_HAZARDS
              "; kazoo's Lock with extra_lock_patterns waits for Curator's clients, but they "
              "do not wait for it",
              ZK_MUTEX_ABOUT},
    .algorithm = &zk_lock_algorithm,
};

/* zk-reentrant: zk-lock with Curator's re-entry: a holder that acquires again only counts, in the
 * client; the server sees the first acquire and the last release. So it costs nothing, and another
 * thread of the same client is not the holder. The token stays that of the first acquire. */

static enum lb_outcome zk_reentrant_acquire(struct lb_session *session,
                                            const struct lb_request *request,
                                            struct lb_grant *grant) {
    if (request->held == 0) return zk_mutex_acquire(session, request, grant);
    /* Curator would continue to count; but a lock that is not held any more can't be taken
     * again. */
    if (zk_place_held(session, grant->data)) return LB_OK;
    return lb_fail(session, LB_LOST, "zookeeper: the session of the first acquire is over");
}

static enum lb_outcome zk_reentrant_release(struct lb_session *session,
                                            const struct lb_request *request,
                                            struct lb_grant *grant) {
    if (request->held > 1 && zk_place_held(session, grant->data)) return LB_OK;
    return zk_mutex_release(session, request, grant);
}

static const struct lb_algorithm zk_reentrant_algorithm = {
    ZK_MUTEX_MEMBERS,
    .acquire = zk_reentrant_acquire,
    .release = zk_reentrant_release,
};

const struct lb_lock lock_zk_reentrant = {
    .name = "zk-reentrant",
    .summary =
        "zk-lock that its holder may take again, counted in the client (Curator's InterProcessMutex)",
    ZK_MUTEX_FACTS,
    .caps = ZK_CAPS | LB_CAP_FENCE | LB_CAP_FAIR | LB_CAP_REENTRANT,
    .keeps = ZK_KEEPS_CONTAINERS,
    .about = {.compatible =
                  "Curator's InterProcessMutex; kazoo's Lock only with Curator's node name",
              .hazards = ZK_HAZARDS,
              ZK_MUTEX_ABOUT},
    .algorithm = &zk_reentrant_algorithm,
};

/* unsafe-zk-ignores-session-loss: zk-lock in a program that does not listen to its session.
 * Disconnection and expiry are events, and a program without a listener gets neither. It continues
 * with a lock that the server has given to the next client, and its release reports no trouble. As
 * in the Curator issue of the two holders (CURATOR-206): acquire() and release() alone do not
 * tell. */

static int stop_listening(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    (void)deadline_ns;
    (void)err;
    zk_session_of(session)->ignores_loss = true;
    return 0;
}

static enum lb_outcome deaf_release(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant) {
    enum lb_outcome outcome = zk_mutex_release(session, request, grant);
    if (outcome != LB_LOST && outcome != LB_BROKEN) return outcome;
    session->err.code = 0;
    return LB_OK;
}

static const struct lb_algorithm unsafe_zk_ignores_session_loss_algorithm = {
    ZK_MUTEX_MEMBERS,
    .prepare = stop_listening,
    .acquire = zk_mutex_acquire,
    .release = deaf_release,
};

const struct lb_lock lock_unsafe_zk_ignores_session_loss = {
    .name = "unsafe-zk-ignores-session-loss",
    .summary = "zk-lock whose holder does not hear that its session has expired",
    .backend = &backend_zookeeper,
    .primitive = LB_MUTEX,
    .caps = (ZK_CAPS & ~(unsigned)LB_CAP_SHARE) | LB_CAP_CONTROL,
    .waits = "watch predecessor",
    .keeps = ZK_KEEPS_CONTAINERS,
    .about =
        {.compatible = "Curator's InterProcessMutex, used without a ConnectionStateListener",
         .order = ZK_ORDER,
         .hazards = "two holders after a pause or a disconnection longer than the session",
         LB_TERMS(2, 1, LB_NO_GUARANTEE, LB_CRASH_SESSION),
         .crash_slack_ns = ZK_CRASH_SLACK_NS,
         .mistake =
             "Curator's acquire and release without a listener (CURATOR-206): the expiry of the "
             "session is not noticed, and the holder continues beside the next one",
         .exposed_by = "pause",
         .exposed_as = LB_EXPOSED_VIOLATED},
    .algorithm = &unsafe_zk_ignores_session_loss_algorithm,
};
