/* clean: removes the nodes that lockbench left below its root, and the root; see
 * drivers/clean.h. lockbench marks the root, and nodes of the URL's own path that it created,
 * with their data. Ephemeral nodes end with their sessions; one below a node that is removed
 * goes with it. */
#include <stdio.h>
#include <string.h>

#include "drivers/clean.h"
#include "drivers/wait.h"
#include "drivers/zookeeper/mutex.h"
#include "drivers/zookeeper/session.h"

#define DEPTH_MAX 4

/* Removes a node and all below it. ZOK, or a failure. */
static int remove_tree(struct zk_session *z, const char *path, int depth) {
    struct zk_names names = {0};
    int rc = zk_delete(z, path);
    if (rc != ZNOTEMPTY || depth == 0) return rc == ZNONODE ? ZOK : rc;
    rc = zk_names_of(z, path, &names);
    for (int i = 0; i < names.count && rc == ZOK; i++) {
        char below[ZK_PATH_MAX];
        snprintf(below, sizeof below, "%s/%s", path, names.name[i]);
        rc = remove_tree(z, below, depth - 1);
    }
    zk_names_done(&names);
    if (rc == ZOK) rc = zk_delete(z, path);
    return rc == ZNONODE ? ZOK : rc;
}

/* True if a child of the root belongs to a key that is to be removed. own: the named key, as it is
 * in a path. */
static bool is_child_wanted(const struct lb_cleaning *cleaning, const char *name, const char *own) {
    return cleaning->scope == LB_CLEAN_KEY ? strcmp(name, own) == 0
                                           : lb_clean_wants(cleaning, name, strlen(name));
}

static int clean_keys(struct zk_session *z, const char *root, const char *own,
                      const struct lb_cleaning *cleaning) {
    struct zk_names names = {0};
    int rc = zk_names_of(z, root, &names);
    for (int i = 0; i < names.count && rc == ZOK && !lb_stopping(); i++) {
        char path[ZK_PATH_MAX];
        if (!is_child_wanted(cleaning, names.name[i], own)) continue;
        snprintf(path, sizeof path, "%s/%s", root, names.name[i]);
        if (cleaning->scope == LB_CLEAN_STAGE || lb_clean_found(cleaning, "znode", "%s", path))
            rc = remove_tree(z, path, DEPTH_MAX);
    }
    zk_names_done(&names);
    return rc == ZNONODE ? ZOK : rc;
}

/* Removes the root and the nodes above it, from the lowest up, while lockbench made them and
 * they are empty. */
static int clean_roots(struct zk_session *z, const char *root, const struct lb_cleaning *cleaning) {
    char path[ZK_PREFIX_MAX], data[ZK_DATA_MAX];
    struct Stat stat = {0};
    snprintf(path, sizeof path, "%s", root);
    while (*path) {
        int rc = zk_read(z, path, data, &stat);
        bool used = stat.numChildren > 0 && cleaning->scope != LB_CLEAN_SHARED;
        if (rc == ZOK && (used || strcmp(data, LB_MADE_BY) != 0)) return ZOK;
        if (rc == ZOK && !lb_clean_found(cleaning, "znode", "%s", path)) return ZOK;
        if (rc == ZOK) rc = zk_delete(z, path);
        if (rc == ZNOTEMPTY) return ZOK; /* another program uses it again */
        if (rc != ZOK && rc != ZNONODE) return rc;
        *strrchr(path, '/') = '\0';
    }
    return ZOK;
}

int zk_clean(struct lb_session *session, struct lb_cleaning *cleaning, struct lb_err *err) {
    const struct zk_server *server = session->server->state;
    struct zk_session *z = zk_session_of(session);
    bool keys = cleaning->scope != LB_CLEAN_EMPTY && cleaning->scope != LB_CLEAN_SHARED;
    bool shared = !keys || cleaning->scope == LB_CLEAN_LEFT;
    char own[ZK_PARENT_MAX] = "/";
    if (cleaning->scope == LB_CLEAN_KEY &&
        zk_path_of("", cleaning->name, strlen(cleaning->name), own, sizeof own) != 0)
        return err_set(err, LB_EXIT_USAGE,
                       "zookeeper: the key '%.60s' can't be a path: it is empty or too long",
                       cleaning->name);
    int rc = keys ? clean_keys(z, server->prefix, own + 1, cleaning) : ZOK;
    if (rc == ZOK && shared) rc = clean_roots(z, server->prefix, cleaning);
    if (rc == ZOK) return 0;
    zk_fail(session, rc, "clean up below", server->prefix);
    return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
}

/* residue: the ephemeral nodes that the locks left below the client's prefix, in containers of any depth: a
 * semaphore has two. Containers and persistent parents are left by real clients too, and are not residue. Watches
 * end with their sessions. */

#define RESIDUE_DEPTH_MAX 3

/* Counts the nodes below a path whose names begin with the prefix. ZOK, or a failure. */
static int count_below(struct zk_session *z, const char *path, const char *begin, int depth,
                       struct lb_residue *residue) {
    struct zk_names names = {0};
    int rc = zk_names_of(z, path, &names);
    for (int i = 0; rc == ZOK && i < names.count; i++) {
        if (strncmp(names.name[i], begin, strlen(begin)) != 0) continue;
        char below[ZK_PATH_MAX];
        struct Stat stat;
        snprintf(below, sizeof below, "%s/%s", path, names.name[i]);
        rc = zk_exists(z, below, &stat);
        if (rc == ZOK && stat.ephemeralOwner != 0) lb_left(residue, 1, "znode %.140s", below);
        if (rc == ZOK && stat.numChildren > 0 && depth > 0)
            rc = count_below(z, below, "", depth - 1, residue);
        if (rc == ZNONODE) rc = ZOK; /* a container that was just removed */
    }
    zk_names_done(&names);
    return rc == ZNONODE ? ZOK : rc;
}

int zk_residue(struct lb_session *session, const char *prefix, struct lb_residue *residue,
               struct lb_err *err) {
    const struct zk_server *server = session->server->state;
    struct zk_session *z = zk_session_of(session);
    char begin[ZK_PARENT_MAX];
    if (!*prefix || zk_path_of(server->prefix, prefix, strlen(prefix), begin, sizeof begin) != 0) {
        snprintf(begin, sizeof begin, "%s/", server->prefix);
    }
    int rc = zk_sync(z, server->prefix);
    if (rc == ZOK)
        rc = count_below(z, server->prefix, begin + strlen(server->prefix) + 1, RESIDUE_DEPTH_MAX,
                         residue);
    if (rc == ZOK) return 0;
    zk_fail(session, rc, "look below", server->prefix);
    return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
}
