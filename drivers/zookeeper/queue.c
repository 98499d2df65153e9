/* queue: see queue.h. */
#include "drivers/zookeeper/queue.h"

#ifdef LB_HAVE_ZOOKEEPER
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/wait.h"

struct search {
    const struct zk_place *place;
    const char *kind;
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
    search->found = zk_predecessor(names, count, search->place->name, search->kind);
    if (search->found >= 0) snprintf(search->name, ZK_NAME_MAX, "%s", names[search->found]);
}

static void path_below(const struct zk_place *place, const char *name, char *path) {
    snprintf(path, ZK_PATH_MAX, "%s/%s", place->parent, name);
}

/* After a creation whose answer was lost: did it happen? ZOK with the place filled, ZNONODE, or a failure. */
static int find_again(struct zk_session *z, struct zk_place *place) {
    char name[ZK_NAME_MAX] = "", path[ZK_PATH_MAX];
    struct search search = {.place = place, .name = name, .found = ZK_ABSENT};
    int rc = zk_children(z, place->parent, find_ours, &search);
    if (rc != ZOK) return rc;
    if (search.found == ZK_ABSENT) return ZNONODE;
    struct Stat stat;
    path_below(place, name, path);
    rc = zk_exists(z, path, &stat);
    if (rc != ZOK) return rc;
    memcpy(place->name, name, sizeof place->name);
    place->czxid = (uint64_t)stat.czxid;
    return ZOK;
}

static int create(struct zk_session *z, const char *kind, struct zk_place *place) {
    char path[ZK_PATH_MAX], made[ZK_PATH_MAX];
    struct Stat stat;
    snprintf(path, sizeof path, "%s/_c_%s-%s", place->parent, place->uuid, kind);
    int rc = zk_create(z, path, ZOO_EPHEMERAL_SEQUENTIAL, made, &stat);
    if (rc != ZOK) return rc;
    snprintf(place->name, sizeof place->name, "%s", strrchr(made, '/') + 1);
    place->czxid = (uint64_t)stat.czxid;
    return ZOK;
}

enum lb_outcome zk_place_join(struct lb_session *session, const struct lb_request *request, const char *kind,
                              struct zk_place *place) {
    struct zk_session *z = zk_session_of(session);
    const struct zk_server *server = session->server->state;
    place->name[0] = '\0';
    place->session.client_id = 0;
    if (zk_path_of(server->prefix, request->key, request->key_len, place->parent, sizeof place->parent) !=
        0) {
        return lb_fail(session, LB_REFUSED,
                       "zookeeper: the key '%.64s' makes no path: it is empty or too long", request->key);
    }
    zk_uuid(&session->rng, place->uuid);
    bool sent = false;
    for (;;) {
        /* A deadline in the past still means one try. */
        int rc = zk_connected(z, sent ? LB_NEVER : request->deadline_ns);
        if (rc == ZOK && sent) {
            rc = find_again(z, place);
            if (rc == ZOK) return LB_OK;
            if (rc == ZNONODE) sent = false;
        }
        if (rc == ZOK || rc == ZNONODE) {
            place->session = *zoo_client_id(z->handle);
            rc = create(z, kind, place);
            if (rc == ZOK) return LB_OK;
            if (rc == ZNONODE) {
                rc = zk_make_parents(z, place->parent);
                if (rc == ZOK) continue;
                return zk_fail(session, rc == ZK_CUT || rc == ZK_LATE ? ZK_DOWN : rc, "create",
                               place->parent);
            }
            if (rc == ZK_CUT) sent = true;
        }
        if (rc == ZK_CUT) continue;
        /* The session's end takes the node along; anything else leaves a sent creation in doubt. */
        return zk_fail(session, sent && rc != ZK_ENDED ? ZK_CUT : rc, "create a node in", place->parent);
    }
}

int zk_place_ahead(struct zk_session *z, const struct zk_place *place, const char *kind, char *ret_path) {
    char name[ZK_NAME_MAX] = "";
    struct search search = {.place = place, .kind = kind, .name = name, .found = ZK_ABSENT};
    int rc = zk_children(z, place->parent, find_ahead, &search);
    if (rc != ZOK) return rc;
    if (search.found == ZK_ABSENT) return ZNONODE;
    ret_path[0] = '\0';
    if (search.found != ZK_FIRST) path_below(place, name, ret_path);
    return ZOK;
}

enum lb_outcome zk_place_leave(struct lb_session *session, struct zk_place *place) {
    struct zk_session *z = zk_session_of(session);
    char path[ZK_PATH_MAX];
    path_below(place, place->name, path);
    bool sent = false;
    for (;;) {
        int rc = zk_connected(z, LB_NEVER);
        if (rc == ZOK) rc = zk_delete(z, path);
        /* Nobody deletes another's node while its session lives, so after a lost answer it was we who did. */
        if (rc == ZOK || (rc == ZNONODE && sent)) return LB_OK;
        if (rc == ZNONODE)
            return lb_fail(session, LB_LOST, "zookeeper: %s was gone before its release", path);
        if (rc == ZK_ENDED)
            return lb_fail(session, LB_LOST, "zookeeper: the session expired, and %s with it", path);
        if (rc == ZK_CUT) {
            sent = true;
            continue;
        }
        return zk_fail(session, sent ? ZK_CUT : rc, "delete", path);
    }
}

enum lb_outcome zk_place_settle(struct lb_session *session, const struct zk_place *place) {
    if (place->session.client_id == 0) return LB_OK;
    if (place->session.client_id == zoo_client_id(zk_session_of(session)->handle)->client_id) {
        return lb_fail(session, LB_UNKNOWN, "zookeeper: the session in doubt is still in use");
    }
    /* Takes the old session up again only to end it: then whatever it sent, and even what is still on its
     * way, leaves no node. A session that has expired meanwhile has done so by itself. */
    struct zk_session *old = calloc(1, sizeof *old);
    if (!old) return lb_fail(session, LB_BROKEN, "out of memory");
    struct lb_session shadow = *session; /* its socket and counts are not the new session's */
    bool gone = false;
    int64_t deadline_ns = lb_now() + zk_session_of(session)->timeout_ms * LB_MS_NS;
    int opened = zk_session_open(old, &shadow, &place->session, deadline_ns, &gone, &session->err);
    bool ended = zk_session_close(old) || gone;
    session->commands += shadow.commands - session->commands;
    free(old);
    if (opened != 0) return LB_BROKEN;
    return ended ? LB_OK : lb_fail(session, LB_UNKNOWN, "zookeeper: the old session's end was not confirmed");
}
#endif
