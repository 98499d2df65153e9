/* sentinel: finds the primary. At each connect it asks the sentinels in the order of the URL, as Redis' guide
 * for clients of sentinels says, and takes the first address whose server calls itself a primary. Without
 * sentinels it asks the servers of the URL, in the URL's order, and takes the first one that calls itself a
 * primary. It subscribes to no events: a session that loses its primary ends, and the next session asks again.
 * See redis_impl.h. */
#include "drivers/redis/redis_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/wait.h"

#define ASK_NS                                                                                     \
    (1 * LB_S_NS) /* one sentinel may take at most this time; one server at least this time */
#define AGAIN_NS                                                                                   \
    (50 * LB_MS_NS) /* the pause between two rounds; and the least time for one sentinel */

/* Opens a connection to one sentinel. */
static int open_sentinel(struct redis_conn *conn, struct lb_session *session, int index,
                         int64_t deadline_ns, struct lb_err *err) {
    const struct url *url = &redis_server_of(session)->url;
    return conn_open(conn, session, url->host[index], url->port[index], true, deadline_ns, err);
}

/* Moves a node to an address, and ends its connection. 0, or -1: the address is too long. */
static int place_node(struct lb_session *session, int group, const char *host, int port) {
    struct redis_state *state = redis_state_of(session);
    struct redis_node *node = &state->node[group];
    if (strlen(host) >= sizeof node->host) return -1;
    redis_node_drop(session, node);
    strcpy(node->host, host);
    node->port = port;
    node->primary = true;
    if (state->node_count <= group) state->node_count = group + 1;
    return 0;
}

/* Takes the address that one sentinel gives. 0, or -1 with err. */
static int ask_primary(struct redis_conn *conn, struct lb_session *session, int group, int index,
                       int64_t deadline_ns, struct lb_err *err) {
    const struct redis_server *server = redis_server_of(session);
    const char *name = server->group[group];
    const struct redis_word words[] = {{"SENTINEL", 8}, {"get-master-addr-by-name", 0}, {name, 0}};
    const struct redis_reply *reply = &conn->reply[0];
    if (open_sentinel(conn, session, index, deadline_ns, err) != 0) return -1;
    if (conn_ask(conn, words, 3, deadline_ns, err) != 0) return -1;
    if (reply->value.type == REDIS_NIL)
        return err_set(err, LB_EXIT_USAGE, "redis: the sentinels watch no '%s'", name);
    if (reply->value.type != REDIS_ARRAY || reply->count != 2 || atoi(reply->element[1].text) == 0)
        return err_set(err, LB_EXIT_MACHINE, "redis: sentinel at %s:%d: %s",
                       server->url.host[index], server->url.port[index],
                       reply->value.type == REDIS_ERROR ? reply->value.text
                                                        : "no address of a primary");
    if (place_node(session, group, reply->element[0].text, atoi(reply->element[1].text)) != 0)
        return err_set(err, LB_EXIT_MACHINE, "redis: a sentinel's address is too long");
    return 0;
}

/* Takes a server of the URL for the primary. 0, or -1 with err. */
static int suppose_primary(struct lb_session *session, int index, struct lb_err *err) {
    const struct url *url = &redis_server_of(session)->url;
    if (place_node(session, 0, url->host[index], url->port[index]) == 0) return 0;
    return err_set(err, LB_EXIT_USAGE, "redis: an address in the URL is too long");
}

/* Asks a server for its role. Uses HELLO if the account may not use ROLE, which is in Redis' category @dangerous. 0, or
 * -1 with err. */
static int ask_role(struct redis_node *node, int64_t deadline_ns, const char **ret_role,
                    struct lb_err *err) {
    const struct redis_word role[] = {{"ROLE", 4}}, hello[] = {{"HELLO", 5}};
    const struct redis_reply *reply = &node->conn->reply[0];
    char refusal[200];
    if (conn_ask(node->conn, role, 1, deadline_ns, err) != 0) return -1;
    if (reply->value.type != REDIS_ERROR) {
        *ret_role = reply->count > 0 ? reply->element[0].text : "";
        return 0;
    }
    snprintf(refusal, sizeof refusal, "%s", reply->value.text);
    if (conn_ask(node->conn, hello, 1, deadline_ns, err) != 0) return -1;
    *ret_role = redis_after(reply, "role");
    if (**ret_role) return 0;
    return err_set(err, LB_EXIT_MACHINE, "redis at %s:%d: ROLE: %s", node->host, node->port,
                   refusal);
}

/* Connects the node, and checks that it is a primary: the sentinels may not know of a failover yet. 0, or -1
 * with err. */
static int connect_primary(struct lb_session *session, struct redis_node *node, int64_t deadline_ns,
                           struct lb_err *err) {
    const char *role = NULL;
    if (redis_node_connect(session, node, deadline_ns, err) == 0 &&
        ask_role(node, deadline_ns, &role, err) == 0) {
        if (strcmp(role, "master") == 0) return 0;
        err_set(err, LB_EXIT_MACHINE, "redis at %s:%d is no primary", node->host, node->port);
    }
    redis_node_drop(session, node);
    return -1;
}

int redis_primary_connect(struct lb_session *session, int group, int64_t deadline_ns,
                          struct lb_err *err) {
    const struct url *url = &redis_server_of(session)->url;
    bool sentinels = redis_server_of(session)->group_count > 0;
    for (int i = 0;; i++) {
        struct redis_conn *conn = calloc(1, sizeof *conn);
        struct lb_err why = {0};
        if (!conn) return err_set(err, LB_EXIT_MACHINE, "out of memory");
        /* A sentinel that does not answer is skipped early. A server gets more time: it may be far
         * away, and there is only one primary. */
        int64_t share_ns = (deadline_ns - lb_now()) / url->host_count;
        if (sentinels ? share_ns > ASK_NS : share_ns < ASK_NS) share_ns = ASK_NS;
        if (share_ns < AGAIN_NS) share_ns = AGAIN_NS;
        int64_t until_ns = lb_now() + share_ns;
        if (until_ns > deadline_ns) until_ns = deadline_ns;
        int failed = sentinels
                         ? ask_primary(conn, session, group, i % url->host_count, until_ns, &why)
                         : suppose_primary(session, i % url->host_count, &why);
        conn_close(conn);
        free(conn);
        if (!failed)
            failed =
                connect_primary(session, &redis_state_of(session)->node[group], until_ns, &why);
        if (!failed) return 0;
        bool round = i % url->host_count == url->host_count - 1;
        session->err.code = 0; /* why has the reason */
        if (why.code == LB_EXIT_USAGE || lb_now() >= deadline_ns || lb_stopping())
            return err_set(err, why.code, "%s", why.text);
        if (round)
            lb_sleep_until(lb_now() + AGAIN_NS < deadline_ns ? lb_now() + AGAIN_NS : deadline_ns);
    }
}

/* A sentinel's view of a group: the primary that it must name, and its own figures. */
struct view {
    const char *name;
    const struct redis_node *primary;
    int replicas; /* the number of replicas that the sentinel knows; -1: not told */
    char quorum[16], down_after[24];
};

/* Reads one sentinel's view of a group, and checks that the sentinel knows all other sentinels. 0, or -1 with
 * err. */
static int look(struct redis_conn *conn, struct lb_session *session, int index, struct view *view,
                struct lb_err *err) {
    const struct redis_server *server = redis_server_of(session);
    const struct redis_word words[] = {{"SENTINEL", 8}, {"MASTER", 6}, {view->name, 0}};
    const struct redis_reply *reply = &conn->reply[0];
    int64_t deadline_ns = lb_now() + ASK_NS;
    if (open_sentinel(conn, session, index, deadline_ns, err) != 0) return -1;
    if (conn_ask(conn, words, 3, deadline_ns, err) != 0) return -1;
    view->replicas = -1;
    if (reply->value.type == REDIS_ERROR && strncmp(reply->value.text, "NOPERM", 6) == 0)
        return 0; /* the account may not ask; the locks only need the primary's address */
    if (atoi(redis_after(reply, "port")) != view->primary->port ||
        strcmp(redis_after(reply, "ip"), view->primary->host) != 0)
        return err_set(err, LB_EXIT_MACHINE, "redis: the sentinels do not agree on the primary");
    if (atoi(redis_after(reply, "num-other-sentinels")) < server->url.host_count - 1)
        return err_set(err, LB_EXIT_MACHINE, "redis: the sentinels do not know each other yet");
    view->replicas = atoi(redis_after(reply, "num-slaves"));
    snprintf(view->quorum, sizeof view->quorum, "%s", redis_after(reply, "quorum"));
    snprintf(view->down_after, sizeof view->down_after, "%s",
             redis_after(reply, "down-after-milliseconds"));
    return 0;
}

/* Checks all sentinels' views of one group. 0 with the number of replicas that are connected to the group's primary
 * (-1: not told), or -1 with err. */
static int describe_group(struct lb_session *session, int group, struct view *view,
                          int *ret_connected, struct lb_err *err) {
    const struct redis_server *server = redis_server_of(session);
    struct redis_node *primary = &redis_state_of(session)->node[group];
    view->name = server->group[group];
    view->primary = primary;
    if (redis_replicas_told(session, primary, ret_connected, err) != 0) return -1;
    for (int i = 0; i < server->url.host_count; i++) {
        struct redis_conn *conn = calloc(1, sizeof *conn);
        if (!conn) return err_set(err, LB_EXIT_MACHINE, "out of memory");
        int failed = look(conn, session, i, view, err);
        conn_close(conn);
        free(conn);
        if (failed) return -1;
        if (*ret_connected < 0 || view->replicas < 0) continue; /* a figure is missing: no check */
        if (view->replicas > *ret_connected || (view->replicas == 0 && *ret_connected > 0))
            return err_set(err, LB_EXIT_MACHINE,
                           "redis: %d of %d replicas of %s are connected to their primary",
                           *ret_connected, view->replicas, view->name);
    }
    return 0;
}

int redis_sentinel_describe(struct lb_session *session, struct lb_facts *facts,
                            struct lb_err *err) {
    const struct redis_server *server = redis_server_of(session);
    struct view view = {0};
    int replicas = 0;
    for (int i = 0; i < server->group_count; i++) {
        int connected = 0;
        if (describe_group(session, i, &view, &connected, err) != 0) return -1;
        replicas = connected < 0 || replicas < 0 ? -1 : replicas + connected;
    }
    if (view.quorum[0]) lb_fact(facts, "sentinel quorum", "%s", view.quorum);
    if (view.down_after[0]) lb_fact(facts, "sentinel down-after", "%s ms", view.down_after);
    lb_fact(facts, "sentinels", "%d", server->url.host_count);
    redis_replicas_fact(facts, replicas);
    return 0;
}
