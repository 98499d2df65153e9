/* store: a guarded value beside a lock: the persistent node KEY-guarded next to the lock's own node, with "token value"
 * in it. It is written by setData with its version. See drivers/store.h.
 *
 * ZooKeeper itself refuses the writes of a session that has ended. */
#include "drivers/zookeeper/mutex.h"

#include <stdio.h>
#include <string.h>

static enum lb_outcome path_of(struct lb_session *session, const struct lb_request *request,
                               char path[ZK_PATH_MAX]) {
    const struct zk_server *server = session->server->state;
    if (zk_path_of(server->prefix, request->key, request->key_len, path, ZK_PARENT_MAX) != 0) {
        return lb_fail(session, LB_REFUSED,
                       "zookeeper: the key '%.64s' can't be a path: it is too long", request->key);
    }
    size_t len = strlen(path);
    snprintf(path + len, ZK_PATH_MAX - len, "-guarded");
    return LB_OK;
}

static enum lb_outcome read_guarded_node(struct lb_session *session,
                                         const struct lb_request *request,
                                         struct store_entry *ret_entry) {
    char path[ZK_PATH_MAX], data[ZK_DATA_MAX];
    struct Stat stat;
    enum lb_outcome outcome = path_of(session, request, path);
    if (outcome != LB_OK) return outcome;
    int rc = zk_read(zk_session_of(session), path, data, &stat);
    if (rc == ZNONODE) return LB_OK;
    if (rc != ZOK) return zk_fail(session, rc, "read", path);
    if (!store_parse(data, strlen(data), ret_entry)) {
        return lb_fail(session, LB_REFUSED, "zookeeper: %.200s holds something else", path);
    }
    ret_entry->version = (uint64_t)stat.version + 1; /* the version of a new node is 0 */
    return LB_OK;
}

static enum lb_outcome write_guarded_node(struct lb_session *session,
                                          const struct lb_request *request,
                                          const struct store_entry *entry) {
    const struct zk_server *server = session->server->state;
    struct zk_session *z = zk_session_of(session);
    char path[ZK_PATH_MAX], text[STORE_TEXT_MAX];
    enum lb_outcome outcome = path_of(session, request, path);
    if (outcome != LB_OK) return outcome;
    store_text(entry, text);
    int rc = ZOK;
    if (entry->version == 0) {
        rc = zk_create(z, path, text, ZOO_PERSISTENT, NULL, NULL);
        if (rc == ZNONODE)
            rc = zk_make_parents(z, server->prefix, ZOO_CONTAINER) == ZOK ? ZBADVERSION : rc;
    } else {
        rc = zk_write(z, path, text, (int)(entry->version - 1));
    }
    if (rc == ZBADVERSION || rc == ZNODEEXISTS || (rc == ZNONODE && entry->version > 0))
        return LB_BUSY;
    return rc == ZOK ? LB_OK : zk_fail(session, rc, "write", path);
}

static int delete_guarded_node(struct lb_session *session, const struct lb_request *request,
                               struct lb_err *err) {
    char path[ZK_PATH_MAX];
    if (path_of(session, request, path) == LB_OK) {
        int rc = zk_delete(zk_session_of(session), path);
        if (rc == ZOK || rc == ZNONODE) return 0;
        zk_fail(session, rc, "delete", path);
    }
    return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
}

const struct store_cas zk_store = {.store = {.install = store_cas_install,
                                             .write = store_cas_write,
                                             .read = store_cas_read,
                                             .drop = delete_guarded_node},
                                   .get = read_guarded_node,
                                   .put = write_guarded_node};
