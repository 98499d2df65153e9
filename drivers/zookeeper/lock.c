/* zk-lock: Curator's InterProcessMutex on the server, node for node: an ephemeral sequential node
 * per contender below the lock's path, the first one holds, each other one watches the node right
 * before it. First come, first served; a release wakes one waiter. 2 + 1 round trips uncontended,
 * at least 4 and an event contended. The token is the transaction that made the node (czxid), not
 * the sequence number: Curator's parents are containers, which the server removes when they are
 * empty, and then the sequence starts anew. It is not re-entrant: Curator's re-entry is a counter
 * in the client, see zk-reentrant. */
#include "drivers/zookeeper/mutex.h"

#include "drivers/key_names.h"

enum lb_outcome zk_mutex_acquire(struct lb_session *session, const struct lb_request *request,
                                 struct lb_grant *grant) {
    struct zk_place *place = grant->data;
    enum lb_outcome outcome = zk_place_at(session, place, request->key, request->key_len, NULL);
    if (outcome != LB_OK) return outcome;
    outcome = zk_place_take(session, &zk_queue_lock, place, request->deadline_ns);
    if (outcome != LB_OK) return outcome;
    grant->token = place->czxid;
    grant->lease_end_ns = LB_NEVER; /* lasts as long as the session, which the pump keeps alive */
    return LB_OK;
}

enum lb_outcome zk_mutex_release(struct lb_session *session, const struct lb_request *request,
                                 struct lb_grant *grant) {
    (void)request;
    return zk_place_leave(session, grant->data);
}

enum lb_outcome zk_mutex_settle(struct lb_session *session, const struct lb_request *request,
                                struct lb_grant *grant) {
    (void)request;
    return zk_place_settle(session, &zk_queue_lock, grant->data);
}

void zk_names(const struct lb_session *session, const struct lb_request *request,
              struct lb_names *names) {
    char path[ZK_PARENT_MAX];
    (void)session;
    if (zk_path_of(ZK_ROOT, request->key, request->key_len, path, sizeof path) != 0) return;
    lb_names_add(names, "znode, behind the URL's path", "%s", path);
}

static const struct lb_algorithm algorithm = {
    .grant_bytes = sizeof(struct zk_place),
    .acquire = zk_mutex_acquire,
    .release = zk_mutex_release,
    .settle = zk_mutex_settle,
    .residue = zk_residue,
    .names = zk_names,
};

const struct lb_lock lock_zk_lock = {
    .name = "zk-lock",
    .summary =
        "ephemeral sequential nodes, each waiter watches the one before it (Curator's InterProcessMutex)",
    .backend = &backend_zookeeper,
    .primitive = LB_MUTEX,
    .caps = ZK_CAPS | LB_CAP_FENCE | LB_CAP_FAIR,
    .claims = ZK_CLAIMS,
    .waits = "watch predecessor",
    .keeps = ZK_KEEPS_CONTAINERS,
    .about = {.compatible =
                  "Curator's InterProcessMutex; kazoo's Lock only with Curator's node name",
              .order = ZK_ORDER,
              .token = ZK_TOKEN,
              .hazards = ZK_HAZARDS
              "; kazoo's Lock with extra_lock_patterns waits for Curator's clients, but they "
              "do not wait for it",
              .acquire_requests = 2,
              .release_requests = 1,
              ZK_ABOUT},
    .store = &zk_store.store,
    .algorithm = &algorithm,
};
