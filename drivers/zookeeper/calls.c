/* calls: see calls.h. */
#include "drivers/zookeeper/calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/clean.h"
#include "drivers/wait.h"

#define ZK_SLOTS_MAX 65536 /* requests of one session */

static int fold_code(int rc) {
    switch (rc) {
    case ZCONNECTIONLOSS:
    case ZOPERATIONTIMEOUT: /* the library has given up the connection */
    case ZCLOSING:
    case ZRUNTIMEINCONSISTENCY:
    case ZSESSIONMOVED:
        return ZK_CUT;
    case ZSESSIONEXPIRED:
        return ZK_ENDED;
    default:
        return rc;
    }
}

static struct zk_slot *begin_call(struct zk_session *z) {
    if (!zk_session_connected(z) || lb_stopping()) return NULL;
    struct zk_slot *slot = z->free;
    if (slot) {
        z->free = slot->next;
    } else {
        /* There are as many slots as there were ever requests on their way at once: a slot is
         * allocated once, then used again. */
        /* every slot waits for an answer, so the server has stopped answering */
        if (z->slots == ZK_SLOTS_MAX) return NULL;
        slot = malloc(sizeof *slot);
        if (!slot) return NULL;
        z->slots++;
    }
    *slot =
        (struct zk_slot){.session = z, .next = z->sent, .sent_ns = lb_now(), .fiber = lb_self()};
    z->sent_ns = slot->sent_ns;
    z->sent = slot;
    return slot;
}

static void put_back(struct zk_slot *slot) {
    struct zk_session *z = slot->session;
    struct zk_slot **at = &z->sent;
    while (*at != slot) at = &(*at)->next;
    *at = slot->next;
    slot->next = z->free;
    z->free = slot;
}

/* Waits for the answer to a request that the library took (rc ZOK) or did not. The library writes
 * it at once; requests are small, so that they fit into the socket's buffer (or go out when the
 * pump turns again). */
static int finish_call(struct zk_slot *slot, int rc) {
    struct zk_session *z = slot->session;
    if (rc != ZOK) {
        put_back(slot);
        return rc == ZINVALIDSTATE ? ZK_ENDED : rc;
    }
    z->owner->commands++;
    zk_session_sent(z);
    const struct zk_options *options = z->owner->server->options;
    int64_t deadline_ns = lb_after(lb_now(), options->command_timeout_ns);
    while (!slot->done) {
        if (!z->running || lb_stopping() || lb_now() >= deadline_ns) {
            slot->abandoned = true; /* the slot stays in use until the answer comes */
            return ZK_LATE;
        }
        lb_sleep_until(deadline_ns);
    }
    rc = slot->rc;
    put_back(slot);
    return fold_code(rc);
}

/* Whether the code is an answer of the server. The library also ends requests by codes of its own. */
static bool is_answer(int rc) {
    return rc == ZOK || (rc < ZAPIERROR && rc != ZAUTHFAILED && fold_code(rc) == rc);
}

static void finish_slot(struct zk_slot *slot, int rc) {
    if (is_answer(rc)) zk_session_heard(slot->session, slot->sent_ns);
    if (slot->abandoned) {
        put_back(slot);
        return;
    }
    slot->rc = rc;
    slot->done = true;
    lb_wake(slot->fiber);
}

/* The library's completions. Their `data` is const for the library; it is our own slot. */
static struct zk_slot *zk_slot_of(const void *data) {
    return (struct zk_slot *)(uintptr_t)data;
}

static void on_create(int rc, const char *path, const struct Stat *stat, const void *data) {
    struct zk_slot *slot = zk_slot_of(data);
    /* not the path that was created */
    if (rc == ZOK && (!path || path[0] != '/')) rc = ZMARSHALLINGERROR;
    if (rc == ZOK && !slot->abandoned) {
        if (slot->path) snprintf(slot->path, ZK_PATH_MAX, "%s", path);
        if (slot->stat) *slot->stat = *stat;
    }
    finish_slot(slot, rc);
}

static void on_void(int rc, const void *data) {
    finish_slot(zk_slot_of(data), rc);
}

static void on_stat(int rc, const struct Stat *stat, const void *data) {
    struct zk_slot *slot = zk_slot_of(data);
    if (rc == ZOK && !slot->abandoned && slot->stat) *slot->stat = *stat;
    finish_slot(slot, rc);
}

static void on_data(int rc, const char *value, int len, const struct Stat *stat, const void *data) {
    struct zk_slot *slot = zk_slot_of(data);
    if (rc == ZOK && !slot->abandoned) {
        if (slot->data)
            snprintf(slot->data, ZK_DATA_MAX, "%.*s", len > 0 ? len : 0, value ? value : "");
        if (slot->stat) *slot->stat = *stat;
    }
    finish_slot(slot, rc);
}

static void on_path(int rc, const char *path, const void *data) {
    (void)path;
    finish_slot(zk_slot_of(data), rc);
}

static void on_children(int rc, const struct String_vector *names, const void *data) {
    struct zk_slot *slot = zk_slot_of(data);
    /* In the library a name of negative length is NULL; no ZooKeeper sends one. */
    for (int i = 0; rc == ZOK && i < names->count; i++) {
        if (!names->data[i]) rc = ZMARSHALLINGERROR;
    }
    if (rc == ZOK && !slot->abandoned) slot->visit(slot->arg, names->data, names->count);
    finish_slot(slot, rc);
}

/* The library calls this for every watch of a session. It wakes all fibers that wait for the path.
 * The watch of a fiber that has given up may wake another one in vain, which then looks again. */
static void on_watch(zhandle_t *handle, int type, int state, const char *path, void *context) {
    (void)handle;
    (void)state;
    struct zk_session *z = context;
    /* The library keeps watches over a reconnection by itself, so changes of the session's state
     * are no event here. */
    if (type == ZOO_SESSION_EVENT) return;
    for (struct zk_idler *at = z->idlers; at; at = at->next) {
        if (!at->path || strcmp(at->path, path) != 0) continue;
        at->fired = true;
        if (at->fiber) lb_wake(at->fiber);
    }
}

int zk_create(struct zk_session *z, const char *path, const char *data, int mode, char *ret_path,
              struct Stat *ret_stat) {
    struct zk_slot *slot = begin_call(z);
    if (!slot) return ZK_DOWN;
    slot->path = ret_path;
    slot->stat = ret_stat;
    const struct zk_server *server = z->owner->server->state;
    const struct ACL_vector *acl =
        server->credentials[0] ? &ZOO_CREATOR_ALL_ACL : &ZOO_OPEN_ACL_UNSAFE;
    return finish_call(slot, zoo_acreate2(z->handle, path, data, data ? (int)strlen(data) : 0, acl,
                                          mode, on_create, slot));
}

int zk_delete(struct zk_session *z, const char *path) {
    struct zk_slot *slot = begin_call(z);
    if (!slot) return ZK_DOWN;
    return finish_call(slot, zoo_adelete(z->handle, path, -1, on_void, slot));
}

int zk_exists(struct zk_session *z, const char *path, struct Stat *ret_stat) {
    struct zk_slot *slot = begin_call(z);
    if (!slot) return ZK_DOWN;
    slot->stat = ret_stat;
    return finish_call(slot, zoo_aexists(z->handle, path, 0, on_stat, slot));
}

int zk_read(struct zk_session *z, const char *path, char *ret_data, struct Stat *ret_stat) {
    struct zk_slot *slot = begin_call(z);
    if (!slot) return ZK_DOWN;
    slot->data = ret_data;
    slot->stat = ret_stat;
    return finish_call(slot, zoo_aget(z->handle, path, 0, on_data, slot));
}

int zk_children(struct zk_session *z, const char *path,
                void (*visit)(void *arg, char *const *names, int count), void *arg) {
    struct zk_slot *slot = begin_call(z);
    if (!slot) return ZK_DOWN;
    slot->visit = visit;
    slot->arg = arg;
    return finish_call(slot, zoo_aget_children(z->handle, path, 0, on_children, slot));
}

int zk_sync(struct zk_session *z, const char *path) {
    struct zk_slot *slot = begin_call(z);
    if (!slot) return ZK_DOWN;
    return finish_call(slot, zoo_async(z->handle, path, on_path, slot));
}

/* The idler is in the list before the request is sent, because its watch may fire before the
 * answer arrives. */
static struct zk_slot *begin_watch(struct zk_session *z, const char *path, struct zk_watch *watch) {
    struct zk_slot *slot = begin_call(z);
    if (!slot) return NULL;
    watch->idler = (struct zk_idler){.path = path};
    zk_session_enlist(z, &watch->idler);
    return slot;
}

static int finish_watch(struct zk_slot *slot, struct zk_watch *watch, int rc) {
    struct zk_session *z = slot->session;
    rc = finish_call(slot, rc);
    if (rc != ZOK) zk_watch_drop(z, watch);
    return rc;
}

int zk_watch_data(struct zk_session *z, const char *path, struct zk_watch *watch) {
    struct zk_slot *slot = begin_watch(z, path, watch);
    if (!slot) return ZK_DOWN;
    return finish_watch(slot, watch, zoo_awget(z->handle, path, on_watch, z, on_data, slot));
}

int zk_watch_children(struct zk_session *z, const char *path,
                      void (*visit)(void *arg, char *const *names, int count), void *arg,
                      struct zk_watch *watch) {
    struct zk_slot *slot = begin_watch(z, path, watch);
    if (!slot) return ZK_DOWN;
    slot->visit = visit;
    slot->arg = arg;
    return finish_watch(slot, watch,
                        zoo_awget_children(z->handle, path, on_watch, z, on_children, slot));
}

static int64_t earlier_ns(int64_t a, int64_t b) {
    return a < b ? a : b;
}

void zk_watch_drop(struct zk_session *z, struct zk_watch *watch) {
    zk_session_delist(z, &watch->idler);
}

int zk_watch_wait(struct zk_session *z, struct zk_watch *watch, int64_t deadline_ns) {
    int rc = ZOK;
    while (rc == ZOK && !watch->idler.fired) {
        if (z->expired) {
            rc = ZK_ENDED;
        } else if (
            !z->running ||
            /* While connected, only the caller's deadline counts; a lost connection wakes us to
             * look again. */
            !zk_session_idle(z, &watch->idler, earlier_ns(deadline_ns, zk_session_end_ns(z)))) {
            rc = z->expired ? ZK_ENDED : watch->idler.fired ? ZOK : ZK_LATE;
        }
    }
    if (rc == ZOK) z->owner->wakeups++;
    zk_watch_drop(z, watch);
    return rc;
}

int zk_connected(struct zk_session *z, int64_t deadline_ns) {
    if (zk_session_connected(z)) return ZOK;
    const struct zk_options *options = z->owner->server->options;
    deadline_ns = earlier_ns(deadline_ns, lb_after(lb_now(), options->command_timeout_ns));
    while (!zk_session_connected(z)) {
        if (z->expired) return ZK_ENDED;
        if (!z->running ||
            !zk_session_idle(z, NULL, earlier_ns(deadline_ns, zk_session_end_ns(z)))) {
            return z->expired ? ZK_ENDED : zk_session_connected(z) ? ZOK : ZK_DOWN;
        }
    }
    return ZOK;
}

static void keep_names(void *arg, char *const *names, int count) {
    struct zk_names *kept = arg;
    kept->name = calloc((size_t)count + 1, sizeof *kept->name);
    kept->failed = !kept->name;
    for (int i = 0; !kept->failed && i < count; i++) {
        kept->name[i] = strdup(names[i]);
        if (!kept->name[i]) kept->failed = true;
        kept->count = i + 1;
    }
}

int zk_names_of(struct zk_session *z, const char *path, struct zk_names *ret_names) {
    *ret_names = (struct zk_names){0};
    int rc = zk_children(z, path, keep_names, ret_names);
    return ret_names->failed ? ZSYSTEMERROR : rc;
}

void zk_names_done(struct zk_names *names) {
    for (int i = 0; i < names->count; i++) free(names->name[i]);
    free(names->name);
}

/* The data of a node on the way to a key. The root and the nodes above it say that lockbench
 * made them; the container of a key has the address of its creator, as Curator writes it. */
static const char *parent_data(const struct zk_session *z, const char *path) {
    const struct zk_server *server = z->owner->server->state;
    return strlen(path) <= strlen(server->prefix) ? LB_MADE_BY : z->address;
}

int zk_make_parents(struct zk_session *z, const char *path) {
    char part[ZK_PATH_MAX];
    size_t len = strlen(path), cut = len;
    /* Tries to create the whole path first. While a parent is missing it goes up a node, then
     * down again: one request where only the last node is missing, and no right is needed for
     * nodes that exist. The server removes empty containers at any time, so the number of tries
     * is bounded. */
    for (int tries = 0; tries < 64; tries++) {
        memcpy(part, path, cut);
        part[cut] = '\0';
        int rc = zk_create(z, part, parent_data(z, part), ZOO_CONTAINER, NULL, NULL);
        if (rc == ZOK || rc == ZNODEEXISTS) {
            if (cut == len) return ZOK;
            const char *next = memchr(path + cut + 1, '/', len - cut - 1);
            cut = next ? (size_t)(next - path) : len;
        } else if (rc == ZNONODE) {
            while (cut > 0 && path[--cut] != '/') {
            }
            if (cut == 0) return ZNONODE;
        } else {
            return rc;
        }
    }
    return ZNONODE;
}

enum lb_outcome zk_fail(struct lb_session *session, int rc, const char *doing, const char *path) {
    switch (rc) {
    case ZK_DOWN:
        return lb_fail(session, LB_BROKEN, "zookeeper: %s %s: not connected", doing, path);
    case ZK_CUT:
        return lb_fail(session, LB_UNKNOWN,
                       "zookeeper: %s %s: the connection broke before the answer", doing, path);
    case ZK_LATE:
        return lb_fail(session, LB_UNKNOWN, "zookeeper: %s %s: no answer in time", doing, path);
    case ZK_ENDED:
        return lb_fail(session, LB_BROKEN, "zookeeper: %s %s: the session has expired", doing,
                       path);
    case ZNOAUTH:
        return lb_fail(
            session, LB_REFUSED,
            "zookeeper refuses to %s %s: not permitted: check the user and password of the "
            "URL; as the owner of the nodes above: addauth digest USER:PASSWORD (the URL's), "
            "setAcl -R /NODE auth::cdrwa",
            doing, path);
    case ZAUTHFAILED:
    case ZINVALIDACL:
    case ZBADARGUMENTS:
    case ZNOTREADONLY:
    case ZNOCHILDRENFOREPHEMERALS:
    case ZEPHEMERALONLOCALSESSION:
        return lb_fail(session, LB_REFUSED, "zookeeper refuses to %s %s: %s", doing, path,
                       zerror(rc));
    default:
        return lb_fail(session, LB_BROKEN, "zookeeper: %s %s: %s", doing, path, zerror(rc));
    }
}
