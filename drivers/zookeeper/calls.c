/* calls: see calls.h. */
#include "drivers/zookeeper/calls.h"

#ifdef LB_HAVE_ZOOKEEPER
#include <stdio.h>
#include <string.h>

#include "drivers/wait.h"

static int fold(int rc) {
    switch (rc) {
    case ZCONNECTIONLOSS:
    case ZOPERATIONTIMEOUT: /* the library gave the connection up */
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

static struct zk_slot *begin(struct zk_session *z) {
    if (!zk_session_connected(z) || lb_stopping()) return NULL;
    for (int i = 0; i < ZK_SLOTS; i++) {
        struct zk_slot *slot = &z->slots[i];
        if (slot->busy) continue;
        *slot = (struct zk_slot){.session = z, .busy = true, .fiber = lb_self()};
        return slot;
    }
    return NULL; /* all are still owed an answer: this server has stopped talking */
}

/* Waits for the answer to a request that the library took (rc ZOK) or did not. The library writes it at once;
 * requests are small and one at a time, so that they always fit into the socket's buffer. */
static int finish(struct zk_slot *slot, int rc) {
    struct zk_session *z = slot->session;
    if (rc != ZOK) {
        slot->busy = false;
        return rc == ZINVALIDSTATE ? ZK_ENDED : rc;
    }
    z->owner->commands++;
    zk_session_sent(z);
    const struct zk_options *options = z->owner->server->options;
    int64_t deadline_ns = lb_after(lb_now(), options->command_timeout_ns);
    while (!slot->done) {
        if (!z->running || lb_stopping() || lb_now() >= deadline_ns) {
            slot->abandoned = true; /* stays busy until its answer comes */
            return ZK_LATE;
        }
        lb_sleep_until(deadline_ns);
    }
    slot->busy = false;
    return fold(slot->rc);
}

static void answered(struct zk_slot *slot, int rc) {
    if (slot->abandoned) {
        slot->busy = false;
        return;
    }
    slot->rc = rc;
    slot->done = true;
    lb_wake(slot->fiber);
}

/* The library's completions. Data is const there, but it is our own slot. */
static struct zk_slot *slot_of(const void *data) {
    return (struct zk_slot *)(uintptr_t)data;
}

static void on_create(int rc, const char *path, const struct Stat *stat, const void *data) {
    struct zk_slot *slot = slot_of(data);
    if (rc == ZOK && !slot->abandoned) {
        if (slot->path) snprintf(slot->path, ZK_PATH_MAX, "%s", path);
        if (slot->stat) *slot->stat = *stat;
    }
    answered(slot, rc);
}

static void on_void(int rc, const void *data) {
    answered(slot_of(data), rc);
}

static void on_stat(int rc, const struct Stat *stat, const void *data) {
    struct zk_slot *slot = slot_of(data);
    if (rc == ZOK && !slot->abandoned && slot->stat) *slot->stat = *stat;
    answered(slot, rc);
}

static void on_data(int rc, const char *value, int len, const struct Stat *stat, const void *data) {
    (void)value;
    (void)len;
    (void)stat;
    answered(slot_of(data), rc);
}

static void on_children(int rc, const struct String_vector *names, const void *data) {
    struct zk_slot *slot = slot_of(data);
    if (rc == ZOK && !slot->abandoned) slot->visit(slot->arg, names->data, names->count);
    answered(slot, rc);
}

static void on_watch(zhandle_t *handle, int type, int state, const char *path, void *context) {
    (void)handle;
    (void)state;
    struct zk_session *z = context;
    /* A watch of an earlier wait that timed out may fire late: its path tells. The library keeps watches over
     * a reconnection by itself, so changes of the session's state are no event here. */
    if (type == ZOO_SESSION_EVENT || strcmp(path, z->watch_path) != 0) return;
    z->watch_fired = true;
    if (z->idler) lb_wake(z->idler);
}

int zk_create(struct zk_session *z, const char *path, int mode, char *ret_path, struct Stat *ret_stat) {
    struct zk_slot *slot = begin(z);
    if (!slot) return ZK_DOWN;
    slot->path = ret_path;
    slot->stat = ret_stat;
    return finish(slot, zoo_acreate2(z->handle, path, z->address, (int)strlen(z->address),
                                     &ZOO_OPEN_ACL_UNSAFE, mode, on_create, slot));
}

int zk_delete(struct zk_session *z, const char *path) {
    struct zk_slot *slot = begin(z);
    if (!slot) return ZK_DOWN;
    return finish(slot, zoo_adelete(z->handle, path, -1, on_void, slot));
}

int zk_exists(struct zk_session *z, const char *path, struct Stat *ret_stat) {
    struct zk_slot *slot = begin(z);
    if (!slot) return ZK_DOWN;
    slot->stat = ret_stat;
    return finish(slot, zoo_aexists(z->handle, path, 0, on_stat, slot));
}

int zk_children(struct zk_session *z, const char *path,
                void (*visit)(void *arg, char *const *names, int count), void *arg) {
    struct zk_slot *slot = begin(z);
    if (!slot) return ZK_DOWN;
    slot->visit = visit;
    slot->arg = arg;
    return finish(slot, zoo_aget_children(z->handle, path, 0, on_children, slot));
}

int zk_watch(struct zk_session *z, const char *path) {
    struct zk_slot *slot = begin(z);
    if (!slot) return ZK_DOWN;
    z->watch_fired = false;
    snprintf(z->watch_path, sizeof z->watch_path, "%s", path);
    return finish(slot, zoo_awget(z->handle, path, on_watch, z, on_data, slot));
}

static int64_t sooner(int64_t a, int64_t b) {
    return a < b ? a : b;
}

int zk_watch_wait(struct zk_session *z, int64_t deadline_ns) {
    while (!z->watch_fired) {
        if (z->expired) return ZK_ENDED;
        /* While connected, only the caller's deadline counts; a lost connection wakes us to look again. */
        if (!z->running || !zk_session_idle(z, sooner(deadline_ns, zk_session_end_ns(z)))) {
            return z->expired ? ZK_ENDED : z->watch_fired ? ZOK : ZK_LATE;
        }
    }
    return ZOK;
}

int zk_connected(struct zk_session *z, int64_t deadline_ns) {
    if (zk_session_connected(z)) return ZOK;
    const struct zk_options *options = z->owner->server->options;
    deadline_ns = sooner(deadline_ns, lb_after(lb_now(), options->command_timeout_ns));
    while (!zk_session_connected(z)) {
        if (z->expired) return ZK_ENDED;
        if (!z->running || !zk_session_idle(z, sooner(deadline_ns, zk_session_end_ns(z)))) {
            return z->expired ? ZK_ENDED : zk_session_connected(z) ? ZOK : ZK_DOWN;
        }
    }
    return ZOK;
}

int zk_make_parents(struct zk_session *z, const char *path) {
    char part[ZK_PATH_MAX];
    size_t len = strlen(path), cut = len;
    /* Tries the whole path first and goes up while the parent is missing, then down again: one request where
     * only the last is missing, and no right is needed above what is there. Containers may vanish meanwhile
     * (the server reaps empty ones), so the tries are bounded. */
    for (int tries = 0; tries < 64; tries++) {
        memcpy(part, path, cut);
        part[cut] = '\0';
        int rc = zk_create(z, part, ZOO_CONTAINER, NULL, NULL);
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
        return lb_fail(session, LB_UNKNOWN, "zookeeper: %s %s: the connection broke before the answer", doing,
                       path);
    case ZK_LATE:
        return lb_fail(session, LB_UNKNOWN, "zookeeper: %s %s: no answer in time", doing, path);
    case ZK_ENDED:
        return lb_fail(session, LB_BROKEN, "zookeeper: %s %s: the session has expired", doing, path);
    case ZNOAUTH:
    case ZAUTHFAILED:
    case ZINVALIDACL:
    case ZBADARGUMENTS:
    case ZNOTREADONLY:
    case ZNOCHILDRENFOREPHEMERALS:
    case ZEPHEMERALONLOCALSESSION:
        return lb_fail(session, LB_REFUSED, "zookeeper refuses to %s %s: %s", doing, path, zerror(rc));
    default:
        return lb_fail(session, LB_BROKEN, "zookeeper: %s %s: %s", doing, path, zerror(rc));
    }
}
#endif
