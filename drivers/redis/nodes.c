/* nodes: the servers that a session knows, and its connection to each. See redis_impl.h. This file
 * opens and closes connections; call.c sends commands over them. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/crc16.h"
#include "drivers/redis/redis_impl.h"
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
    if (node->conn->counted) session->traffic_fd = node->conn->sock.fd;
    lb_warm(LB_WARM_CONNECTION, node->conn, offsetof(struct redis_conn, reply[0].element));
    return 0;
}

int redis_node_reach(struct lb_session *session, struct redis_node *node, int64_t deadline_ns,
                     struct lb_err *err) {
    struct redis_state *state = redis_state_of(session);
    bool asks = state->mode == REDIS_SENTINEL || state->mode == REDIS_REPLICAS;
    if (!asks) return redis_node_connect(session, node, deadline_ns, err);
    return redis_primary_connect(session, deadline_ns, err);
}

/* Whether a cluster puts the key and the names that redis_tagged makes of it into one slot. */
static bool has_one_tag(const char *key, size_t len) {
    const char *open = memchr(key, '{', len);
    if (!open) return !memchr(key, '}', len);
    const char *close = memchr(open, '}', len - (size_t)(open - key));
    return close && close > open + 1;
}

enum lb_outcome redis_node_of(struct lb_session *session, const char *key, size_t len,
                              struct redis_node **ret_node) {
    struct redis_state *state = redis_state_of(session);
    int index = 0;
    if (state->mode == REDIS_CLUSTER) {
        if (!state->cluster) return lb_fail(session, LB_BROKEN, "redis: not connected");
        if (state->cluster->helpers && !has_one_tag(key, len))
            return lb_fail(
                session, LB_REFUSED,
                "redis: a cluster would spread the keys that %s makes of this name over several "
                "slots: in a name for it, braces are a pair with something between them",
                session->lock->name);
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
    return redis_server_of(session)->mode == REDIS_INDEPENDENTS;
}

bool redis_may_have_replicas(const struct lb_session *session) {
    enum redis_mode mode = redis_server_of(session)->mode;
    return mode != REDIS_SINGLE && mode != REDIS_INDEPENDENTS;
}

void redis_at_end(struct lb_session *session, void (*end)(struct lb_session *session)) {
    redis_state_of(session)->end = end;
}

/* cluster: which node of a Redis Cluster serves which slot. See redis_impl.h.
 *
 * The map comes from the text of CLUSTER NODES, which Redisson reads too; MOVED corrects the map. Nodes
 * are only added to a session, never removed, so that pointers to them stay valid. */

unsigned redis_slot(const char *key, size_t len) {
    const char *open = memchr(key, '{', len);
    if (open) {
        const char *close = memchr(open + 1, '}', len - (size_t)(open + 1 - key));
        if (close && close > open + 1) {
            key = open + 1;
            len = (size_t)(close - key);
        }
    }
    return crc16(key, len) % REDIS_SLOTS;
}

/* Splits "host:port@busport,hostname" in place at the last colon, since an IPv6 address contains
 * colons. An empty host means the host of the node that was asked. 0, or -1. */
static int parse_address(char *text, const char *asked_host, const char **ret_host, int *ret_port) {
    text[strcspn(text, "@,")] = '\0';
    char *colon = strrchr(text, ':');
    if (!colon) return -1;
    *colon = '\0';
    *ret_host = *text ? text : asked_host;
    *ret_port = atoi(colon + 1);
    return *ret_port > 0 && *ret_port < 65536 ? 0 : -1;
}

/* Reads the slots "0-5460" or "7". Ignores "[93-<-id]" and "[93->-id]": these slots are being moved, and
 * their old node still serves them. */
static int parse_slots(struct redis_cluster *cluster, const char *range, int node) {
    char *end;
    if (*range == '[') return 0;
    long first = strtol(range, &end, 10), last = first;
    if (*end == '-') last = strtol(end + 1, &end, 10);
    if (*end || first < 0 || last < first || last >= REDIS_SLOTS) return -1;
    for (long slot = first; slot <= last; slot++) cluster->node[slot] = (uint8_t)node;
    return 0;
}

/* Reads a line: id address flags primary ping pong epoch link slot... `primaries`: read only the lines of primaries, or
 * only the others. 0, or -1. */
static int parse_line(struct redis_state *state, char *line, const char *asked_host,
                      bool primaries) {
    char *field[8], *rest = line;
    for (int i = 0; i < 8; i++) {
        field[i] = strsep(&rest, " ");
        if (!field[i]) return -1;
    }
    if (strstr(field[2], "noaddr") || strstr(field[2], "handshake")) return 0;
    if (!strstr(field[2], "master") == primaries) return 0;
    const char *host;
    int port;
    if (parse_address(field[1], asked_host, &host, &port) != 0) return -1;
    if (primaries && !rest) return 0; /* this node serves no slot */
    struct redis_node *node = redis_node_add(state, host, port);
    if (!node) return primaries ? -1 : 0;
    if (!primaries) return 0;
    node->primary = true;
    for (char *range; (range = strsep(&rest, " "));) {
        if (parse_slots(state->cluster, range, (int)(node - state->node)) != 0) return -1;
    }
    return 0;
}

int redis_cluster_parse(struct redis_state *state, const char *text, const char *asked_host,
                        struct lb_err *err) {
    for (int i = 0; i < state->node_count; i++) state->node[i].primary = false;
    memset(state->cluster->node, REDIS_NOBODY, sizeof state->cluster->node);
    /* Primaries come first, so that the table has room for each of them. */
    for (int primaries = 1; primaries >= 0; primaries--) {
        for (const char *at = text; *at;) {
            char line[1024];
            size_t len = strcspn(at, "\r\n");
            if (len >= sizeof line)
                return err_set(err, LB_EXIT_MACHINE, "redis: CLUSTER NODES: a line too long");
            memcpy(line, at, len);
            line[len] = '\0';
            at += len;
            at += strspn(at, "\r\n");
            if (parse_line(state, line, asked_host, primaries) != 0)
                return err_set(err, LB_EXIT_MACHINE,
                               "redis: CLUSTER NODES: more than %d nodes, or malformed: %s",
                               REDIS_NODES_MAX, line);
        }
    }
    return 0;
}

struct redis_node *redis_cluster_pointed(struct redis_state *state, const struct redis_node *asked,
                                         const char *error, unsigned *ret_slot) {
    char address[200];
    unsigned slot;
    const char *host;
    int port;
    if (sscanf(error, "%*s %u %199s", &slot, address) != 2 || slot >= REDIS_SLOTS) return NULL;
    if (parse_address(address, asked->host, &host, &port) != 0) return NULL;
    *ret_slot = slot;
    return redis_node_add(state, host, port);
}

/* sentinel: finds the primary. At each connect it asks the sentinels in the order of the URL, as Redis' guide
 * for clients of sentinels says, and takes the first address whose server calls itself a primary. Without
 * sentinels it asks the servers of the URL, in the URL's order, and takes the first one that calls itself a
 * primary. It subscribes to no events: a session that loses its primary ends, and the next session asks again.
 * See redis_impl.h. */

#define ASK_NS (1 * LB_S_NS)     /* one sentinel may take at most this time; a server at least */
#define AGAIN_NS (50 * LB_MS_NS) /* between two rounds; and the least time for one sentinel */

/* Opens a connection to one sentinel. */
static int open_sentinel(struct redis_conn *conn, struct lb_session *session, int index,
                         int64_t deadline_ns, struct lb_err *err) {
    const struct url *url = &redis_server_of(session)->url;
    return conn_open(conn, session, url->host[index], url->port[index], true, deadline_ns, err);
}

/* Moves the node to an address, and ends its connection. 0, or -1: the address is too long. */
static int place_node(struct lb_session *session, const char *host, int port) {
    struct redis_state *state = redis_state_of(session);
    struct redis_node *node = &state->node[0];
    if (strlen(host) >= sizeof node->host) return -1;
    redis_node_drop(session, node);
    strcpy(node->host, host);
    node->port = port;
    node->primary = true;
    state->node_count = 1;
    return 0;
}

/* Takes the address that one sentinel gives. 0, or -1 with err. */
static int ask_primary(struct redis_conn *conn, struct lb_session *session, int index,
                       int64_t deadline_ns, struct lb_err *err) {
    const struct redis_server *server = redis_server_of(session);
    const char *name = server->primary;
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
    if (place_node(session, reply->element[0].text, atoi(reply->element[1].text)) != 0)
        return err_set(err, LB_EXIT_MACHINE, "redis: a sentinel's address is too long");
    return 0;
}

/* Takes a server of the URL for the primary. 0, or -1 with err. */
static int suppose_primary(struct lb_session *session, int index, struct lb_err *err) {
    const struct url *url = &redis_server_of(session)->url;
    if (place_node(session, url->host[index], url->port[index]) == 0) return 0;
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

int redis_primary_connect(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    const struct url *url = &redis_server_of(session)->url;
    bool sentinels = redis_server_of(session)->mode == REDIS_SENTINEL;
    struct lb_err said = {0};
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
        int failed = sentinels ? ask_primary(conn, session, i % url->host_count, until_ns, &why)
                               : suppose_primary(session, i % url->host_count, &why);
        conn_close(conn);
        free(conn);
        if (!failed)
            failed = connect_primary(session, &redis_state_of(session)->node[0], until_ns, &why);
        if (!failed) return 0;
        bool round = i % url->host_count == url->host_count - 1;
        session->err.code = 0;                             /* why has the reason */
        if (!said.code || lb_now() < until_ns) said = why; /* the last try may have had no time */
        if (why.code == LB_EXIT_USAGE || lb_now() >= deadline_ns || lb_stopping())
            return err_set(err, said.code, "%s", said.text);
        if (round)
            lb_sleep_until(lb_now() + AGAIN_NS < deadline_ns ? lb_now() + AGAIN_NS : deadline_ns);
    }
}

/* Checks that one sentinel names the same primary and knows all other sentinels. *ret_replicas: how many replicas it
 * knows; -1: not told. 0, or -1 with err. */
static int look(struct redis_conn *conn, struct lb_session *session, int index, int *ret_replicas,
                struct lb_err *err) {
    const struct redis_server *server = redis_server_of(session);
    const struct redis_node *primary = &redis_state_of(session)->node[0];
    const struct redis_word words[] = {{"SENTINEL", 8}, {"MASTER", 6}, {server->primary, 0}};
    const struct redis_reply *reply = &conn->reply[0];
    int64_t deadline_ns = lb_now() + ASK_NS;
    if (open_sentinel(conn, session, index, deadline_ns, err) != 0) return -1;
    if (conn_ask(conn, words, 3, deadline_ns, err) != 0) return -1;
    *ret_replicas = -1;
    if (reply->value.type == REDIS_ERROR && strncmp(reply->value.text, "NOPERM", 6) == 0)
        return 0; /* the account may not ask; the locks only need the primary's address */
    if (atoi(redis_after(reply, "port")) != primary->port ||
        strcmp(redis_after(reply, "ip"), primary->host) != 0)
        return err_set(err, LB_EXIT_MACHINE, "redis: the sentinels do not agree on the primary");
    if (atoi(redis_after(reply, "num-other-sentinels")) < server->url.host_count - 1)
        return err_set(err, LB_EXIT_MACHINE, "redis: the sentinels do not know each other yet");
    *ret_replicas = atoi(redis_after(reply, "num-slaves"));
    return 0;
}

int redis_sentinel_describe(struct lb_session *session, struct lb_err *err) {
    const struct redis_server *server = redis_server_of(session);
    int connected = 0, known = 0;
    if (redis_replicas_told(session, &redis_state_of(session)->node[0], &connected, err) != 0)
        return -1;
    for (int i = 0; i < server->url.host_count; i++) {
        struct redis_conn *conn = calloc(1, sizeof *conn);
        if (!conn) return err_set(err, LB_EXIT_MACHINE, "out of memory");
        int failed = look(conn, session, i, &known, err);
        conn_close(conn);
        free(conn);
        if (failed) return -1;
        if (connected < 0 || known < 0) continue; /* a figure is missing: no check */
        if (known > connected || (known == 0 && connected > 0))
            return err_set(err, LB_EXIT_MACHINE,
                           "redis: %d of %d replicas of %s are connected to their primary",
                           connected, known, server->primary);
    }
    return 0;
}
