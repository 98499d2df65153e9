/* residue: the nodes that the locks left below the client's prefix: ephemeral nodes (in containers
 * of any depth: a semaphore has two), and watches on such paths, which the servers list where they
 * are allowed to (wchp; not those on children). Containers and persistent parents are left by real
 * clients too, and are not residue. */
#include "drivers/zookeeper/mutex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/zookeeper/words.h"

#define DEPTH_MAX 3
#define WATCHES_BYTES 65536

struct walk {
    struct zk_session *z;
    struct lb_residue *residue;
};

/* Counts the nodes below a path whose names begin with the prefix. ZOK, or a failure. */
static int count_below(const struct walk *walking, const char *path, const char *begin, int depth) {
    struct zk_names names = {0};
    int rc = zk_names_of(walking->z, path, &names);
    for (int i = 0; rc == ZOK && i < names.count; i++) {
        if (strncmp(names.name[i], begin, strlen(begin)) != 0) continue;
        char below[ZK_PATH_MAX];
        struct Stat stat;
        snprintf(below, sizeof below, "%s/%s", path, names.name[i]);
        rc = zk_exists(walking->z, below, &stat);
        if (rc == ZOK && stat.ephemeralOwner != 0)
            zk_note_left(walking->residue, "znode", below, (int)strlen(below));
        if (rc == ZOK && stat.numChildren > 0 && depth > 0)
            rc = count_below(walking, below, "", depth - 1);
        if (rc == ZNONODE) rc = ZOK; /* a container that was just removed */
    }
    zk_names_done(&names);
    return rc == ZNONODE ? ZOK : rc;
}

int zk_residue(struct lb_session *session, const char *prefix, struct lb_residue *ret_residue,
               struct lb_err *err) {
    const struct zk_server *server = session->server->state;
    const struct zk_options *options = session->server->options;
    struct lb_residue residue = {0};
    struct walk walking = {.z = zk_session_of(session), .residue = &residue};
    char begin[ZK_PARENT_MAX];
    if (!*prefix || zk_path_of(server->prefix, prefix, strlen(prefix), begin, sizeof begin) != 0) {
        snprintf(begin, sizeof begin, "%s/", server->prefix);
    }
    int rc = zk_sync(walking.z, server->prefix);
    if (rc == ZOK)
        rc = count_below(&walking, server->prefix, begin + strlen(server->prefix) + 1, DEPTH_MAX);
    if (rc != ZOK) {
        zk_fail(session, rc, "look below", server->prefix);
        return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
    }
    *ret_residue = residue;
    if (session->only) return 0; /* wchp asks for everybody's watches */
    char *answer = malloc(WATCHES_BYTES);
    if (!answer) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    int64_t deadline_ns = lb_after(lb_now(), options->command_timeout_ns);
    for (int i = 0; i < server->host_count && i < ZK_HOSTS_MAX; i++) {
        if (zk_ask(&server->host[i], server->host_len[i], "wchp", answer, WATCHES_BYTES,
                   deadline_ns) > 0)
            zk_count_watches(answer, begin, &residue);
    }
    free(answer);
    *ret_residue = residue;
    return 0;
}
