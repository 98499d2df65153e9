/* zk-reentrant: zk-lock with Curator's re-entry: a holder that acquires again only counts, in the
 * client; the server sees the first acquire and the last release. So it costs nothing, and another
 * thread of the same client is not the holder. The token stays that of the first acquire. */
#include "drivers/zookeeper/mutex.h"

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

static const struct lb_algorithm algorithm = {
    .grant_bytes = sizeof(struct zk_place),
    .acquire = zk_reentrant_acquire,
    .release = zk_reentrant_release,
    .settle = zk_mutex_settle,
    .residue = zk_residue,
    .names = zk_names,
};

const struct lb_lock lock_zk_reentrant = {
    .name = "zk-reentrant",
    .summary =
        "zk-lock that its holder may take again, counted in the client (Curator's InterProcessMutex)",
    .backend = &backend_zookeeper,
    .primitive = LB_MUTEX,
    .caps = ZK_CAPS | LB_CAP_FENCE | LB_CAP_FAIR | LB_CAP_REENTRANT,
    .claims = ZK_CLAIMS,
    .waits = "watch predecessor",
    .keeps = ZK_KEEPS_CONTAINERS,
    .about = {.compatible =
                  "Curator's InterProcessMutex; kazoo's Lock only with Curator's node name",
              .order = ZK_ORDER,
              .token = ZK_TOKEN,
              .hazards = ZK_HAZARDS,
              .acquire_requests = 2,
              .release_requests = 1,
              ZK_ABOUT},
    .store = &zk_store.store,
    .algorithm = &algorithm,
};
