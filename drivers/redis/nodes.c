/* nodes: the servers that a session knows, and its connection to each. See redis_impl.h. This file
 * opens and closes connections; call.c sends commands over them. */
#include "drivers/redis/redis_impl.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/wait.h"

int64_t redis_answer_deadline(const struct lb_session *session) {
    const struct redis_options *options = session->server->options;
    return lb_after(lb_now(), options->command_timeout_ns);
}

struct redis_node *redis_node_add(struct redis_state *state, const char *host, int port) {
    for (int i = 0; i < state->node_count; i++) {
        struct redis_node *node = &state->node[i];
        if (node->port == port && strcmp(node->host, host) == 0) return node;
    }
    if (state->node_count == REDIS_NODES_MAX || strlen(host) >= sizeof state->node[0].host)
        return NULL;
    struct redis_node *node = &state->node[state->node_count++];
    *node = (struct redis_node){.port = port};
    strcpy(node->host, host);
    return node;
}

void redis_node_drop(struct lb_session *session, struct redis_node *node) {
    if (!node->conn) return;
    if (node->conn->counted) session->traffic_fd = -1;
    conn_close(node->conn);
    free(node->conn);
    node->conn = NULL;
}

int redis_node_connect(struct lb_session *session, struct redis_node *node, int64_t deadline_ns,
                       struct lb_err *err) {
    redis_node_drop(session, node);
    node->conn = calloc(1, sizeof *node->conn);
    if (!node->conn) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    /* The core itself counts the bytes of one connection: the session's first one, or the connection that
     * has replaced it. */
    node->conn->counted = session->traffic_fd < 0;
    if (conn_open(node->conn, session, node->host, node->port, false, deadline_ns, err) != 0) {
        node->conn->dead = true;
        return -1;
    }
    if (node->conn->counted) session->traffic_fd = node->conn->context->fd;
    lb_warm(LB_WARM_CONNECTION, node->conn, offsetof(struct redis_conn, reply[0].element));
    return 0;
}

int redis_node_reach(struct lb_session *session, struct redis_node *node, int64_t deadline_ns,
                     struct lb_err *err) {
    struct redis_state *state = redis_state_of(session);
    if (state->mode != REDIS_GROUPS) return redis_node_connect(session, node, deadline_ns, err);
    return redis_primary_connect(session, (int)(node - state->node), deadline_ns, err);
}

enum lb_outcome redis_node_of(struct lb_session *session, const char *key, size_t len,
                              struct redis_node **ret_node) {
    struct redis_state *state = redis_state_of(session);
    int index = 0;
    if (state->mode == REDIS_CLUSTER) {
        if (!state->cluster) return lb_fail(session, LB_BROKEN, "redis: not connected");
        unsigned slot = redis_slot(key, len);
        index = state->cluster->node[slot];
        if (index == REDIS_NOBODY)
            return lb_fail(session, LB_BROKEN, "redis: nobody serves slot %u", slot);
    }
    *ret_node = &state->node[index];
    return LB_OK;
}

int redis_node_count(const struct lb_session *session) {
    const struct redis_state *state = session->state;
    int count = 0;
    for (int i = 0; i < state->node_count; i++) count += state->node[i].primary;
    return count;
}

struct redis_node *redis_node_at(struct lb_session *session, int index) {
    struct redis_state *state = redis_state_of(session);
    for (int i = 0; i < state->node_count; i++) {
        if (state->node[i].primary && index-- == 0) return &state->node[i];
    }
    return NULL;
}

int redis_node_up_count(const struct lb_session *session) {
    const struct redis_state *state = session->state;
    int count = 0;
    for (int i = 0; i < state->node_count; i++) {
        const struct redis_node *node = &state->node[i];
        count += node->primary && node->conn && !node->conn->dead;
    }
    return count;
}

bool redis_is_cluster(const struct lb_session *session) {
    return redis_server_of(session)->mode == REDIS_CLUSTER;
}

bool redis_are_independent(const struct lb_session *session) {
    enum redis_mode mode = redis_server_of(session)->mode;
    return mode == REDIS_INDEPENDENTS || mode == REDIS_GROUPS;
}

bool redis_may_have_replicas(const struct lb_session *session) {
    enum redis_mode mode = redis_server_of(session)->mode;
    return mode != REDIS_SINGLE && mode != REDIS_INDEPENDENTS;
}

void redis_at_end(struct lb_session *session, void (*end)(struct lb_session *session)) {
    redis_state_of(session)->end = end;
}
