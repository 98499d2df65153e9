/* zk-herd: the simplest lock: the client that creates the ephemeral node holds; the others watch the node, and all
 * of them try again when it disappears.
 *
 * 1 + 1 round trips uncontended, fewer than any queue. But each release wakes every waiter: each tries to create the
 * node and sets a watch, and only one succeeds. This lock is here for comparison with zk-lock. It is no published
 * recipe (the documentation warns of it), so its data is our own: "<address> <uuid>", by which a client recognises
 * its node after a lost answer, even among the clients of one session. */
#include "drivers/zookeeper/mutex.h"

#include <stdio.h>
#include <string.h>

struct zk_herd {
    char path[ZK_PARENT_MAX];
    char data[ZK_DATA_MAX];
    bool held;          /* the client holds the node, or may hold it */
    clientid_t session; /* the session that holds it; id 0 = nothing was sent */
    uint64_t czxid;
};

/* Finds out after a lost answer whether the node exists and is ours: ZOK, ZNODEEXISTS (another
 * client's), ZNONODE, or a failure. The server that we are connected to now may lag behind the
 * one that took the request, so it catches up with the leader first. Otherwise we would wait for
 * our own node, or delete the next holder's. */
static int find_holder(struct zk_session *z, struct zk_herd *mine) {
    char data[ZK_DATA_MAX] = "";
    struct Stat stat;
    int rc = zk_sync(z, mine->path);
    if (rc == ZOK) rc = zk_read(z, mine->path, data, &stat);
    if (rc != ZOK) return rc;
    if (strcmp(data, mine->data) != 0) return ZNODEEXISTS;
    mine->czxid = (uint64_t)stat.czxid;
    return ZOK;
}

static int create_holder(struct zk_session *z, struct zk_herd *mine) {
    struct Stat stat;
    for (;;) {
        int rc = zk_create(z, mine->path, mine->data, ZOO_EPHEMERAL, NULL, &stat);
        if (rc == ZOK) mine->czxid = (uint64_t)stat.czxid;
        if (rc != ZNONODE) return rc;
        const struct zk_server *server = z->owner->server->state;
        rc = zk_make_parents(z, server->prefix, ZOO_CONTAINER);
        if (rc == ZK_CUT || rc == ZK_LATE) return ZK_DOWN; /* nothing of ours was sent */
        if (rc != ZOK) return rc;
    }
}

/* Creates the node. After a lost connection it looks for the node before it creates it again. */
static int create_surely(struct zk_session *z, struct zk_herd *mine, int64_t deadline_ns) {
    bool sent = false;
    for (;;) {
        int rc = zk_connected(z, sent ? LB_NEVER : deadline_ns);
        if (rc == ZOK && sent) {
            rc = find_holder(z, mine);
            if (rc == ZOK || rc == ZNODEEXISTS) return rc;
            if (rc == ZNONODE) {
                sent = false;
                rc = ZOK;
            }
        }
        if (rc == ZOK) {
            mine->session = *zoo_client_id(z->handle);
            rc = create_holder(z, mine);
            if (rc == ZK_CUT) sent = true;
        }
        if (rc != ZK_CUT) return sent && rc == ZK_DOWN ? ZK_CUT : rc;
    }
}

static enum lb_outcome delete_herd_node(struct lb_session *session, struct zk_herd *mine) {
    struct zk_session *z = zk_session_of(session);
    bool sent = false;
    for (;;) {
        int rc = zk_connected(z, LB_NEVER);
        /* All clients use the same name, so after a lost answer the node may belong to another
         * client. It is certainly ours while our session lives and no request is in doubt. */
        if (rc == ZOK && sent) rc = find_holder(z, mine);
        if (rc == ZOK) rc = zk_delete(z, mine->path);
        if (rc == ZOK || (sent && (rc == ZNONODE || rc == ZNODEEXISTS))) return LB_OK;
        if (rc == ZNONODE || rc == ZNODEEXISTS || rc == ZK_ENDED)
            return lb_fail(session, LB_LOST, "zookeeper: %s was gone before its release",
                           mine->path);
        if (rc == ZK_CUT) {
            sent = true;
            continue;
        }
        if (!sent && lb_now() >= zk_session_end_ns(z)) return LB_LOST;
        return zk_fail(session, sent ? ZK_CUT : rc, "delete", mine->path);
    }
}

static enum lb_outcome zk_herd_acquire(struct lb_session *session, const struct lb_request *request,
                                       struct lb_grant *grant) {
    struct zk_session *z = zk_session_of(session);
    const struct zk_server *server = session->server->state;
    struct zk_herd *mine = grant->data;
    char uuid[ZK_UUID_CHARS + 1];
    bool once = request->deadline_ns <= lb_now();
    mine->held = false;
    mine->session.client_id = 0;
    if (zk_path_of(server->prefix, request->key, request->key_len, mine->path, sizeof mine->path) !=
        0)
        return lb_fail(session, LB_REFUSED,
                       "zookeeper: the key '%.64s' can't be a path: it is empty or too long",
                       request->key);
    zk_uuid(&session->rng, uuid);
    snprintf(mine->data, sizeof mine->data, "%s %s", z->address, uuid);
    for (;;) {
        int rc = create_surely(z, mine, request->deadline_ns);
        if (rc == ZOK) {
            enum lb_outcome outcome = zk_granted(session);
            if (outcome != LB_OK) {
                delete_herd_node(session, mine); /* if the server thinks otherwise */
                return outcome;
            }
            mine->held = true;
            grant->token = mine->czxid;
            grant->lease_end_ns = LB_NEVER;
            return LB_OK;
        }
        if (rc != ZNODEEXISTS) return zk_fail(session, rc, "create", mine->path);
        if (once) return LB_BUSY;
        struct zk_watch watch;
        rc = zk_watch_exists(z, mine->path, &watch);
        if (rc == ZNONODE) continue;
        if (rc == ZOK) rc = zk_watch_wait(z, &watch, request->deadline_ns);
        if (rc == ZK_CUT || rc == ZK_DOWN) rc = zk_connected(z, request->deadline_ns);
        if (rc == ZOK) continue;
        if (rc == ZK_ENDED) return zk_fail(session, rc, "wait for", mine->path);
        if (lb_now() >= request->deadline_ns) return LB_TIMEOUT;
        return lb_fail(session, LB_BROKEN, "zookeeper: no connection while waiting for %s",
                       mine->path);
    }
}

static enum lb_outcome zk_herd_release(struct lb_session *session, const struct lb_request *request,
                                       struct lb_grant *grant) {
    (void)request;
    struct zk_herd *mine = grant->data;
    const struct zk_session *z = zk_session_of(session);
    if (!mine->held || mine->session.client_id != zoo_client_id(z->handle)->client_id)
        return lb_fail(session, LB_LOST, "zookeeper: release of a lock that was not held");
    enum lb_outcome outcome = delete_herd_node(session, mine);
    if (outcome == LB_OK || outcome == LB_LOST) mine->held = false;
    return outcome;
}

static enum lb_outcome zk_herd_settle(struct lb_session *session, const struct lb_request *request,
                                      struct lb_grant *grant) {
    (void)request;
    struct zk_session *z = zk_session_of(session);
    struct zk_herd *mine = grant->data;
    enum lb_outcome outcome = LB_OK;
    if (mine->session.client_id == 0) return LB_OK;
    if (mine->session.client_id != zoo_client_id(z->handle)->client_id) {
        outcome = zk_end_session(session, &mine->session);
    } else {
        int rc = zk_connected(z, LB_NEVER);
        if (rc == ZOK) rc = find_holder(z, mine);
        if (rc == ZOK) outcome = delete_herd_node(session, mine);
        if (rc != ZOK && rc != ZNONODE && rc != ZNODEEXISTS && rc != ZK_ENDED)
            outcome = zk_fail(session, rc, "look for", mine->path);
    }
    if (outcome != LB_OK && outcome != LB_LOST) return outcome;
    mine->session.client_id = 0;
    mine->held = false;
    return LB_OK;
}

static const struct lb_algorithm algorithm = {
    .grant_bytes = sizeof(struct zk_herd),
    .acquire = zk_herd_acquire,
    .release = zk_herd_release,
    .settle = zk_herd_settle,
    .residue = zk_residue,
    .names = zk_names,
};

const struct lb_lock lock_zk_herd = {
    .name = "zk-herd",
    .summary =
        "one ephemeral node that all waiters watch: each release wakes all of them (the lock "
        "that does not scale)",
    .backend = &backend_zookeeper,
    .primitive = LB_MUTEX,
    .caps = ZK_CAPS | LB_CAP_FENCE,
    .claims = ZK_CLAIMS,
    .waits = "all waiters watch the node",
    .about = {.compatible = "every client that creates the same ephemeral node",
              .order = "none",
              .token = ZK_TOKEN,
              .hazards = ZK_HAZARDS
              "; each release wakes every waiter: N requests for one grant; waiters may starve",
              .acquire_requests = 1,
              .release_requests = 1,
              ZK_ABOUT},
    .algorithm = &algorithm,
};
