/* zk-recipe: the lock of ZooKeeper's own C recipe (zkr_lock, which Debian does not ship), by its
 * node names: "x-<session>-<sequence>" below the lock's path, watched with exists.
 *
 * It leaves out three defects of the original. zkr_lock_lock returned success whatever happened;
 * here a failure is reported. It gave its place up and queued anew when the node before it
 * disappeared between its list and its watch; here a place is kept. It took any node of its session
 * for its own, so that two locks of one handle held together; here each attempt has a node of its
 * own, which the clients of a session tell apart. 2 + 1 round trips; the original needs 4 + 1,
 * since it first asks for the parent and for its own node. The nodes on the server are the same. */
#include "drivers/zookeeper/mutex.h"

static const struct zk_queue queue = {.base = NULL, .ahead = zk_ahead_recipe};

static enum lb_outcome zk_recipe_acquire(struct lb_session *session,
                                         const struct lb_request *request, struct lb_grant *grant) {
    struct zk_place *place = grant->data;
    enum lb_outcome outcome = zk_place_at(session, place, request->key, request->key_len, NULL);
    if (outcome != LB_OK) return outcome;
    outcome = zk_place_take(session, &queue, place, request->deadline_ns);
    if (outcome != LB_OK) return outcome;
    grant->token = place->czxid;
    grant->lease_end_ns = LB_NEVER;
    return LB_OK;
}

static enum lb_outcome zk_recipe_settle(struct lb_session *session,
                                        const struct lb_request *request, struct lb_grant *grant) {
    (void)request;
    return zk_place_settle(session, &queue, grant->data);
}

static const struct lb_algorithm algorithm = {
    .grant_bytes = sizeof(struct zk_place),
    .session_bytes = sizeof(struct zk_place *),
    .acquire = zk_recipe_acquire,
    .release = zk_mutex_release,
    .settle = zk_recipe_settle,
    .residue = zk_residue,
    .names = zk_names,
};

const struct lb_lock lock_zk_recipe = {
    .name = "zk-recipe",
    .summary =
        "ephemeral sequential nodes by the names of ZooKeeper's C recipe (zkr_lock), without its defects",
    .backend = &backend_zookeeper,
    .primitive = LB_MUTEX,
    .caps = ZK_CAPS | LB_CAP_FENCE | LB_CAP_FAIR,
    .claims = ZK_CLAIMS,
    .waits = "watch predecessor",
    .keeps = "a persistent node for each key, as the C recipe does: nobody removes it",
    .about = {.compatible = "zkr_lock of ZooKeeper's C recipes, and their Java WriteLock",
              .order = ZK_ORDER,
              .token = ZK_TOKEN,
              .hazards = ZK_HAZARDS
              "; real zkr_locks on one handle share a node, and so the lock; a real WriteLock "
              "may sleep for ever when the node before it disappears while it looks",
              .acquire_requests = 2,
              .release_requests = 1,
              ZK_ABOUT},
    .algorithm = &algorithm,
};
