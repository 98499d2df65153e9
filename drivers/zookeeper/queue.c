/* queue: see queue.h. */
#include "drivers/zookeeper/mutex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/wait.h"

#define CUTS_MAX 16 /* the most connections that may break before an answer, in one attempt */

const struct zk_queue zk_queue_lock = {.base = "lock-", .ahead = zk_ahead_lock};

struct search {
    const struct zk_queue *queue; /* of find_ahead */
    const struct zk_place *place;
    char *name; /* ZK_NAME_MAX bytes; "" if none */
    int found;
};

static void find_ours(void *arg, char *const *names, int count) {
    struct search *search = arg;
    search->found = zk_protected(names, count, search->place->uuid);
    if (search->found >= 0) snprintf(search->name, ZK_NAME_MAX, "%s", names[search->found]);
}

static void find_ahead(void *arg, char *const *names, int count) {
    struct search *search = arg;
    search->found = search->queue->ahead(names, count, search->place->name);
    if (search->found >= 0) snprintf(search->name, ZK_NAME_MAX, "%s", names[search->found]);
}

static void path_below(const struct zk_place *place, const char *name, char *path) {
    snprintf(path, ZK_PATH_MAX, "%s/%s", place->parent, name);
}

/* Finds out after a lost answer whether the node was created: ZOK with the place filled,
 * ZNONODE, or a failure. The server that we are connected to now may lag behind the one that
 * created the node, so it catches up with the leader first. Otherwise a second node would be
 * created, and would wait for the first one (as Curator's may: CURATOR-264). */
static int find_again(struct zk_session *z, struct zk_place *place) {
    char name[ZK_NAME_MAX] = "", path[ZK_PATH_MAX];
    struct search search = {.place = place, .name = name, .found = ZK_ABSENT};
    int rc = zk_sync(z, place->parent);
    if (rc == ZOK) rc = zk_children(z, place->parent, find_ours, &search);
    if (rc != ZOK) return rc;
    if (search.found == ZK_ABSENT) return ZNONODE;
    /* Taken before the next wait: another client of the session may be looking too. */
    memcpy(place->name, name, sizeof place->name);
    struct Stat stat;
    path_below(place, name, path);
    rc = zk_exists(z, path, &stat);
    if (rc == ZOK) place->czxid = (uint64_t)stat.czxid;
    if (rc != ZOK) place->name[0] = '\0';
    return rc;
}

static int create_node(struct zk_session *z, const struct zk_queue *queue, struct zk_place *place,
                       const char *sequence) {
    char path[ZK_PATH_MAX], made[ZK_PATH_MAX], base[ZK_NAME_MAX];
    struct Stat stat;
    int mode = sequence ? ZOO_EPHEMERAL : ZOO_EPHEMERAL_SEQUENTIAL;
    snprintf(base, sizeof base, "_c_%s-%s%s", place->uuid, queue->base, sequence ? sequence : "");
    path_below(place, base, path);
    int rc = zk_create(z, path, z->address, mode, made, &stat);
    if (rc != ZOK) return rc;
    snprintf(place->name, sizeof place->name, "%s", strrchr(made, '/') + 1);
    place->czxid = (uint64_t)stat.czxid;
    return ZOK;
}

enum lb_outcome zk_place_at(struct lb_session *session, struct zk_place *place, const char *key,
                            size_t key_len, const char *below) {
    const struct zk_server *server = session->server->state;
    place->name[0] = '\0';
    place->session.client_id = 0;
    size_t more = below ? strlen(below) + 1 : 0;
    if (zk_path_of(server->prefix, key, key_len, place->parent, sizeof place->parent - more) != 0) {
        return lb_fail(session, LB_REFUSED,
                       "zookeeper: the key '%.64s' can't be a path: it is empty or too long", key);
    }
    if (below) {
        size_t len = strlen(place->parent);
        snprintf(place->parent + len, sizeof place->parent - len, "/%s", below);
    }
    return LB_OK;
}

enum lb_outcome zk_place_join(struct lb_session *session, const struct zk_queue *queue,
                              struct zk_place *place, const char *sequence, int64_t deadline_ns) {
    struct zk_session *z = zk_session_of(session);
    place->name[0] = '\0';
    place->session.client_id = 0;
    lb_random_uuid(&session->rng, place->uuid);
    bool sent = false;
    int cuts = 0;
    for (;;) {
        /* A deadline in the past still means one try. */
        int rc = zk_connected(z, sent ? LB_NEVER : deadline_ns);
        if (rc == ZOK && sent) {
            rc = find_again(z, place);
            if (rc == ZOK) return LB_OK;
            if (rc == ZNONODE) sent = false;
        }
        if (rc == ZOK || rc == ZNONODE) {
            place->session = *zoo_client_id(z->handle);
            rc = create_node(z, queue, place, sequence);
            if (rc == ZOK) return LB_OK;
            if (rc == ZNONODE) {
                rc = zk_make_parents(z, place->parent);
                if (rc == ZOK) continue;
                if (rc == ZK_CUT || rc == ZK_LATE) rc = ZK_DOWN;
                return zk_fail(session, rc, "create", place->parent);
            }
            if (rc == ZK_CUT) sent = true;
        }
        /* A server that accepts a session and then ends each connection is not asked again. */
        if (rc == ZK_CUT && ++cuts < CUTS_MAX) continue;
        /* The end of the session removes the node; after any other failure a creation that was sent
         * has an unknown outcome. */
        return zk_fail(session, sent && rc != ZK_ENDED ? ZK_CUT : rc, "create a node in",
                       place->parent);
    }
}

/* Writes the path of the node that we wait for into ret_path (ZK_PATH_MAX bytes): "" if we are
 * first. ZOK, ZNONODE when our own node does not exist any more, or the failure of a call. */
static int who_is_ahead(struct zk_session *z, const struct zk_queue *queue,
                        const struct zk_place *place, char *ret_path) {
    char name[ZK_NAME_MAX] = "";
    struct search search = {.queue = queue, .place = place, .name = name, .found = ZK_ABSENT};
    int rc = zk_children(z, place->parent, find_ahead, &search);
    if (rc != ZOK) return rc;
    if (search.found == ZK_ABSENT) return ZNONODE;
    ret_path[0] = '\0';
    if (search.found != ZK_FIRST) path_below(place, name, ret_path);
    return ZOK;
}

enum lb_outcome zk_granted(struct lb_session *session) {
    if (!zk_session_over(zk_session_of(session))) return LB_OK;
    return lb_fail(session, LB_BROKEN,
                   "zookeeper: the answer came when the session was over by our clock");
}

enum lb_outcome zk_place_take(struct lb_session *session, const struct zk_queue *queue,
                              struct zk_place *place, int64_t deadline_ns) {
    struct zk_session *z = zk_session_of(session);
    bool once = deadline_ns <= lb_now();
    enum lb_outcome outcome = zk_place_join(session, queue, place, NULL, deadline_ns);
    if (outcome != LB_OK) return outcome;
    for (;;) {
        char ahead[ZK_PATH_MAX];
        struct zk_watch waiting;
        int rc = who_is_ahead(z, queue, place, ahead);
        if (rc == ZOK && ahead[0] == '\0') {
            outcome = zk_granted(session);
            /* if the server thinks otherwise */
            if (outcome != LB_OK) zk_place_leave(session, place);
            return outcome;
        }
        if (rc == ZOK && once) return zk_place_give_up(session, place, LB_BUSY);
        if (rc == ZOK) {
            rc = zk_watch_data(z, ahead, &waiting);
            if (rc == ZNONODE) continue; /* gone meanwhile: look again which node is first */
            if (rc == ZOK) rc = zk_watch_wait(z, &waiting, deadline_ns);
        } else if (rc == ZNONODE) {
            return lb_fail(session, LB_BROKEN, "zookeeper: our node %s/%s was removed",
                           place->parent, place->name);
        }
        /* These only read, so they are asked again after a lost connection. */
        if (rc == ZK_CUT || rc == ZK_DOWN) rc = zk_connected(z, deadline_ns);
        if (rc == ZOK) continue;
        if (rc == ZK_ENDED) return zk_fail(session, rc, "wait in", place->parent);
        if (lb_now() >= deadline_ns)
            return zk_place_give_up(session, place, once ? LB_BUSY : LB_TIMEOUT);
        /* The server does not answer, or the cut-off came: our node may stay in the queue. */
        outcome = lb_fail(session, LB_UNKNOWN, "zookeeper: no connection while waiting in %s",
                          place->parent);
        zk_place_leave(session, place);
        return outcome;
    }
}

static enum lb_outcome leave_zk_queue(struct lb_session *session, const struct zk_place *place) {
    struct zk_session *z = zk_session_of(session);
    char path[ZK_PATH_MAX];
    path_below(place, place->name, path);
    bool sent = false;
    for (;;) {
        int rc = zk_connected(z, LB_NEVER);
        if (rc == ZOK) rc = zk_delete(z, path);
        /* No client deletes the node of another one whose session lives, so after a lost answer it
         * was our own request that deleted it. */
        if (rc == ZOK || (rc == ZNONODE && sent)) return LB_OK;
        if (rc == ZNONODE)
            return lb_fail(session, LB_LOST, "zookeeper: %s was gone before its release", path);
        if (rc == ZK_ENDED)
            return lb_fail(session, LB_LOST, "zookeeper: the session expired, and %s with it",
                           path);
        if (rc == ZK_CUT) {
            sent = true;
            continue;
        }
        /* The request was sent too late: by our clock another client may hold the lock by now. */
        if (!sent && lb_now() >= zk_session_end_ns(z))
            return lb_fail(
                session, LB_LOST,
                "zookeeper: no server was heard for as long as a session lasts, and %s may be gone",
                path);
        return zk_fail(session, sent ? ZK_CUT : rc, "delete", path);
    }
}

bool zk_place_held(const struct lb_session *session, const struct zk_place *place) {
    const struct zk_session *z = zk_session_of(session);
    return place->name[0] && !z->expired &&
           place->session.client_id == zoo_client_id(z->handle)->client_id;
}

enum lb_outcome zk_place_leave(struct lb_session *session, struct zk_place *place) {
    const struct zk_session *z = zk_session_of(session);
    if (!place->name[0])
        return lb_fail(session, LB_LOST, "zookeeper: release of a lock that was not held");
    enum lb_outcome outcome =
        place->session.client_id == zoo_client_id(z->handle)->client_id
            ? leave_zk_queue(session, place)
            : lb_fail(session, LB_LOST, "zookeeper: the session that held %s is over", place->name);
    if (outcome != LB_OK && outcome != LB_LOST) return outcome;
    place->name[0] = '\0';
    return outcome;
}

enum lb_outcome zk_place_give_up(struct lb_session *session, struct zk_place *place,
                                 enum lb_outcome outcome) {
    enum lb_outcome left = zk_place_leave(session, place);
    if (left != LB_OK && left != LB_LOST) return LB_UNKNOWN;
    session->err.code = 0;
    return outcome;
}

/* Takes a session up again and ends it. No request of that session leaves a node afterwards, not
 * even one that is still on its way. An expired session has ended by itself. LB_OK = the session
 * is over. */
static enum lb_outcome zk_end_session(struct lb_session *session, const clientid_t *previous) {
    struct zk_session *old = calloc(1, sizeof *old);
    if (!old) return lb_fail(session, LB_BROKEN, "out of memory");
    /* its socket, counts and end do not belong to the new session */
    struct lb_session shadow = *session;
    shadow.on_lost = NULL;
    uint64_t commands = shadow.commands;
    bool gone = false;
    int64_t deadline_ns = lb_now() + zk_session_of(session)->timeout_ms * LB_MS_NS;
    int opened = zk_session_open(old, &shadow, previous, deadline_ns, &gone, &session->err);
    bool ended = zk_session_close(old) || gone;
    session->commands += shadow.commands - commands; /* others may have called on it meanwhile */
    free(old);
    if (opened != 0) return LB_BROKEN;
    return ended
               ? LB_OK
               : lb_fail(session, LB_UNKNOWN, "zookeeper: the old session's end was not confirmed");
}

enum lb_outcome zk_place_settle(struct lb_session *session, struct zk_place *place) {
    struct zk_session *z = zk_session_of(session);
    if (place->session.client_id == 0) return LB_OK;
    if (place->session.client_id != zoo_client_id(z->handle)->client_id) {
        enum lb_outcome outcome = zk_end_session(session, &place->session);
        if (outcome != LB_OK) return outcome;
        place->name[0] = '\0';
        place->session.client_id = 0;
        return LB_OK;
    }
    /* Requests over an earlier connection were either carried out or lost, because the servers take
     * the requests of a session from one connection at a time. */
    int rc = zk_connected(z, LB_NEVER);
    if (rc == ZOK && !place->name[0]) rc = find_again(z, place);
    if (rc == ZNONODE || rc == ZK_ENDED) return LB_OK;
    if (rc != ZOK) return zk_fail(session, rc, "look for our node in", place->parent);
    enum lb_outcome outcome = zk_place_leave(session, place);
    return outcome == LB_LOST ? LB_OK : outcome;
}
