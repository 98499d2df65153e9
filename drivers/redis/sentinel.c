/* sentinel: who is the primary? Asked of the sentinels at each connect, in the URL's order, as
 * Redis' guide for clients of sentinels has it: the first that answers with an address whose server
 * calls itself a primary. Without sentinels the servers of the URL are asked themselves, in its
 * order, and the first that calls itself a primary is. See redis_impl.h. It does not subscribe to
 * events: a session whose primary is gone ends, and asks anew. */
#include "drivers/redis/redis_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/wait.h"

#define ASK_NS (1 * LB_S_NS)     /* for one sentinel to answer; at least, for one server */
#define AGAIN_NS (50 * LB_MS_NS) /* between two rounds of asking, while they elect */

/* A conversation with one sentinel. */
static int open_sentinel(struct redis_conn *conn, struct lb_session *session, int index,
                         int64_t deadline_ns, struct lb_err *err) {
    const struct url *url = &redis_server_of(session)->url;
    return conn_open(conn, session, url->host[index], url->port[index], true, deadline_ns, err);
}

/* The address that one sentinel gives: node 0. 0, or -1 with err. */
static int ask_primary(struct redis_conn *conn, struct lb_session *session, int index,
                       int64_t deadline_ns, struct lb_err *err) {
    struct redis_state *state = redis_state_of(session);
    const struct redis_server *server = redis_server_of(session);
    const struct redis_word words[] = {
        {"SENTINEL", 8}, {"get-master-addr-by-name", 0}, {server->master, 0}};
    const struct redis_reply *reply = &conn->reply[0];
    if (open_sentinel(conn, session, index, deadline_ns, err) != 0) return -1;
    if (conn_ask(conn, words, 3, deadline_ns, err) != 0) return -1;
    if (reply->value.type == REDIS_NIL)
        return err_set(err, LB_EXIT_USAGE, "redis: the sentinels watch no '%s'", server->master);
    if (reply->value.type != REDIS_ARRAY || reply->count != 2 || atoi(reply->element[1].text) == 0)
        return err_set(err, LB_EXIT_MACHINE, "redis: sentinel at %s:%d: %s",
                       server->url.host[index], server->url.port[index],
                       reply->value.type == REDIS_ERROR ? reply->value.text
                                                        : "no address of a primary");
    state->node_count = 0;
    struct redis_node *node =
        redis_node_add(state, reply->element[0].text, atoi(reply->element[1].text));
    if (!node) return err_set(err, LB_EXIT_MACHINE, "redis: a sentinel's address is too long");
    node->primary = true;
    return 0;
}

/* Takes a server of the URL for the primary: node 0. 0, or -1 with err. */
static int suppose_primary(struct lb_session *session, int index, struct lb_err *err) {
    struct redis_state *state = redis_state_of(session);
    const struct url *url = &redis_server_of(session)->url;
    state->node_count = 0;
    struct redis_node *node = redis_node_add(state, url->host[index], url->port[index]);
    if (!node) return err_set(err, LB_EXIT_USAGE, "redis: an address in the URL is too long");
    node->primary = true;
    return 0;
}

/* Connects node 0 and makes sure that it is a primary: sentinels may not know yet. 0, or -1 with
 * err. */
static int connect_primary(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    struct redis_node *node = &redis_state_of(session)->node[0];
    const struct redis_reply *reply = NULL;
    if (redis_node_connect(session, node, deadline_ns, err) == 0 &&
        redis_ask(session, node, (const struct redis_word[]){{"ROLE", 4}}, 1, &reply, err) == 0) {
        if (reply->count > 0 && strcmp(reply->element[0].text, "master") == 0) return 0;
        err_set(err, LB_EXIT_MACHINE, "redis at %s:%d is no primary", node->host, node->port);
    }
    redis_node_drop(session, node);
    return -1;
}

int redis_primary_connect(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    const struct url *url = &redis_server_of(session)->url;
    bool sentinels = redis_server_of(session)->mode == REDIS_SENTINEL;
    for (int i = 0;; i++) {
        struct redis_conn *conn = calloc(1, sizeof *conn);
        struct lb_err why = {0};
        if (!conn) return err_set(err, LB_EXIT_MACHINE, "out of memory");
        /* A sentinel that does not answer is skipped early. A server gets more time: it may be far
         * away, and there is only one primary. */
        int64_t share_ns = sentinels ? 0 : (deadline_ns - lb_now()) / url->host_count;
        int64_t until_ns = lb_now() + (share_ns > ASK_NS ? share_ns : ASK_NS);
        if (until_ns > deadline_ns) until_ns = deadline_ns;
        int failed = sentinels ? ask_primary(conn, session, i % url->host_count, until_ns, &why)
                               : suppose_primary(session, i % url->host_count, &why);
        conn_close(conn);
        free(conn);
        if (!failed) failed = connect_primary(session, until_ns, &why);
        if (!failed) return 0;
        bool round = i % url->host_count == url->host_count - 1;
        if (why.code == LB_EXIT_USAGE || lb_now() >= deadline_ns || lb_stopping())
            return err_set(err, why.code, "%s", why.text);
        session->err.code = 0;
        if (round)
            lb_sleep_until(lb_now() + AGAIN_NS < deadline_ns ? lb_now() + AGAIN_NS : deadline_ns);
    }
}

/* The value after a name in a list of names and values, as far as it was kept; "" if it is not
 * there. */
static const char *after(const struct redis_reply *reply, const char *name) {
    for (int i = 0; i + 1 < reply->count; i += 2) {
        if (strcmp(reply->element[i].text, name) == 0) return reply->element[i + 1].text;
    }
    return "";
}

/* One sentinel's view: how many replicas it knows, and that it knows all its peers. 0, or -1 with
 * err. */
static int view(struct redis_conn *conn, struct lb_session *session, int index, int64_t deadline_ns,
                int *ret_replicas, struct lb_facts *facts, struct lb_err *err) {
    const struct redis_server *server = redis_server_of(session);
    const struct redis_node *primary = &redis_state_of(session)->node[0];
    const struct redis_word words[] = {{"SENTINEL", 8}, {"MASTER", 6}, {server->master, 0}};
    const struct redis_reply *reply = &conn->reply[0];
    if (open_sentinel(conn, session, index, deadline_ns, err) != 0) return -1;
    if (conn_ask(conn, words, 3, deadline_ns, err) != 0) return -1;
    if (atoi(after(reply, "port")) != primary->port ||
        strcmp(after(reply, "ip"), primary->host) != 0)
        return err_set(err, LB_EXIT_MACHINE, "redis: the sentinels do not agree on the primary");
    if (atoi(after(reply, "num-other-sentinels")) < server->url.host_count - 1)
        return err_set(err, LB_EXIT_MACHINE, "redis: the sentinels do not know each other yet");
    *ret_replicas = atoi(after(reply, "num-slaves"));
    lb_fact(facts, "sentinel quorum", "%s", after(reply, "quorum"));
    lb_fact(facts, "sentinel down-after", "%s ms", after(reply, "down-after-milliseconds"));
    return 0;
}

int redis_sentinel_describe(struct lb_session *session, struct lb_facts *facts,
                            struct lb_err *err) {
    const struct url *url = &redis_server_of(session)->url;
    int connected = 0;
    if (redis_replicas(session, &redis_state_of(session)->node[0], &connected) != LB_OK)
        return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
    for (int i = 0; i < url->host_count; i++) {
        struct redis_conn *conn = calloc(1, sizeof *conn);
        if (!conn) return err_set(err, LB_EXIT_MACHINE, "out of memory");
        int known = 0;
        int failed = view(conn, session, i, lb_now() + ASK_NS, &known, facts, err);
        conn_close(conn);
        free(conn);
        if (failed) return -1;
        if (known > connected || (known == 0 && connected > 0))
            return err_set(err, LB_EXIT_MACHINE,
                           "redis: %d of %d replicas are connected to their primary", connected,
                           known);
    }
    lb_fact(facts, "sentinels", "%d", url->host_count);
    lb_fact(facts, "replicas", "%d", connected);
    return 0;
}
