/* session: what a session is on each kind of topology: which nodes it knows, which it connects to
 * at once, and what the servers say of themselves. See redis.h. */
#include "drivers/redis/redis_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/wait.h"

#define REDIS_PORT 6379
#define SENTINEL_PORT 26379
#define WHOLE_NS (3 * LB_S_NS) /* for servers that were just started to become a cluster */
#define HUNG_NS (1 * LB_S_NS)  /* for one of several independent servers to let a session in */

static const struct {
    const char *scheme, *name;
    int port;
} modes[] = {
    [REDIS_SINGLE] = {"redis", "single", REDIS_PORT},
    [REDIS_REPLICAS] = {"redis+replicas", "primary and replicas", REDIS_PORT},
    [REDIS_SENTINEL] = {"redis+sentinel", "sentinel", SENTINEL_PORT},
    [REDIS_CLUSTER] = {"redis+cluster", "cluster", REDIS_PORT},
    [REDIS_INDEPENDENTS] = {"redis+independents", "independents", REDIS_PORT},
};

int64_t redis_answer_deadline(const struct lb_session *session) {
    const struct redis_options *options = session->server->options;
    return lb_after(lb_now(), options->command_timeout_ns);
}

static int redis_open(struct lb_server *server, struct lb_err *err) {
    struct redis_server *state = server->state;
    size_t len = strcspn(server->urls[0], ":");
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (strlen(modes[i].scheme) == len && strncmp(server->urls[0], modes[i].scheme, len) == 0)
            state->mode = (enum redis_mode)i;
    }
    if (url_parse(&state->url, server->urls[0], modes[state->mode].port, err) != 0) return -1;
    const char *database = state->url.path;
    if (state->mode == REDIS_SENTINEL) { /* /mymaster, or /mymaster/3 */
        size_t name = strcspn(database, "/");
        if (name == 0 || name >= sizeof state->master)
            return err_set(err, LB_EXIT_USAGE,
                           "a redis+sentinel:// URL ends with the primary's name: /mymaster");
        memcpy(state->master, database, name);
        database += database[name] ? name + 1 : name;
    }
    if (snprintf(state->database, sizeof state->database, "%s", database) >=
        (int)sizeof state->database)
        return err_set(err, LB_EXIT_USAGE, "redis: no database '%s'", database);
    if (state->mode == REDIS_CLUSTER && state->database[0])
        return err_set(err, LB_EXIT_USAGE,
                       "redis: a cluster has one database, so its URL names none");
    return 0;
}

/* --- nodes --- */

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
    /* The core counts the bytes of one connection: the session's first, or its successor. */
    node->conn->counted = session->traffic_fd < 0;
    if (conn_open(node->conn, session, node->host, node->port, false, deadline_ns, err) != 0) {
        node->conn->dead = true;
        return -1;
    }
    if (node->conn->counted) session->traffic_fd = node->conn->context->fd;
    return 0;
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
    return redis_server_of(session)->mode == REDIS_INDEPENDENTS;
}

void redis_at_end(struct lb_session *session, void (*end)(struct lb_session *session)) {
    redis_state_of(session)->end = end;
}

/* --- connecting --- */

static int connect_cluster(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    struct redis_state *state = redis_state_of(session);
    const struct url *url = &redis_server_of(session)->url;
    state->cluster = malloc(sizeof *state->cluster);
    if (!state->cluster) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    memset(state->cluster->node, REDIS_NOBODY, sizeof state->cluster->node);
    /* Any node that answers knows all others. */
    for (int i = 0; i < url->host_count; i++) {
        struct redis_node *node = redis_node_add(state, url->host[i], url->port[i]);
        struct lb_err why = {0};
        if (redis_node_connect(session, node, deadline_ns, &why) == 0 &&
            redis_cluster_learn(session, node, &why) == 0) {
            return 0;
        }
        redis_node_drop(session, node); /* it may be back when a key needs it */
        err_set(err, why.code, "%s", why.text);
        if (why.code == LB_EXIT_USAGE) return -1;
    }
    return -1;
}

static int connect_independents(struct lb_session *session, int64_t deadline_ns,
                                struct lb_err *err) {
    struct redis_state *state = redis_state_of(session);
    const struct url *url = &redis_server_of(session)->url;
    int up = 0;
    struct lb_err why = {0};
    for (int i = 0; i < url->host_count; i++) {
        struct redis_node *node = redis_node_add(state, url->host[i], url->port[i]);
        node->primary = true;
        why.code = 0;
        int64_t share_ns = (deadline_ns - lb_now()) / (url->host_count - i);
        if (share_ns > HUNG_NS) share_ns = HUNG_NS;
        if (redis_node_connect(session, node, lb_now() + share_ns, &why) == 0)
            up++;
        else if (why.code == LB_EXIT_USAGE)
            return err_set(err, why.code, "%s", why.text);
        else
            err_set(err, why.code, "%s", why.text);
    }
    if (up == 0) return -1;
    *err = (struct lb_err){0};
    return 0;
}

static int redis_connect(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    struct redis_state *state = redis_state_of(session);
    const struct redis_server *server = redis_server_of(session);
    int failed;
    session->traffic_fd = -1;
    state->mode = server->mode;
    if (state->mode == REDIS_CLUSTER) {
        failed = connect_cluster(session, deadline_ns, err);
    } else if (state->mode == REDIS_INDEPENDENTS) {
        failed = connect_independents(session, deadline_ns, err);
    } else if (state->mode == REDIS_SENTINEL || state->mode == REDIS_REPLICAS) {
        failed = redis_primary_connect(session, deadline_ns, err);
    } else {
        struct redis_node *node = redis_node_add(state, server->url.host[0], server->url.port[0]);
        node->primary = true;
        failed = redis_node_connect(session, node, deadline_ns, err);
    }
    if (!failed && session->lock->algorithm->prepare)
        failed = session->lock->algorithm->prepare(session, deadline_ns, err);
    return failed;
}

static void redis_disconnect(struct lb_session *session) {
    struct redis_state *state = redis_state_of(session);
    if (state->end) state->end(session);
    state->end = NULL;
    for (int i = 0; i < state->node_count; i++) redis_node_drop(session, &state->node[i]);
    state->node_count = 0;
    session->traffic_fd = -1;
    free(state->cluster);
    state->cluster = NULL;
}

/* --- describing --- */

/* The rest of an INFO's line that begins with name; NULL if there is none. */
static const char *info_line(const char *info, const char *name) {
    const char *at = strstr(info, name);
    return at ? at + strlen(name) : NULL;
}

static void info_fact(struct lb_facts *facts, const char *info, const char *line_name,
                      const char *fact_name) {
    const char *at = info_line(info, line_name);
    if (at) lb_fact(facts, fact_name, "%.*s", (int)strcspn(at, "\r\n"), at);
}

enum lb_outcome redis_replicas(struct lb_session *session, struct redis_node *node,
                               int *ret_count) {
    const struct redis_word words[] = {{"INFO", 4}, {"replication", 11}};
    const struct redis_command command = {.words = words, .count = 2};
    const struct redis_reply *reply = NULL;
    enum lb_outcome outcome = redis_pipe(session, node, &command, 1, &reply);
    if (outcome != LB_OK) return outcome;
    const char *count = reply->value.type == REDIS_STRING
                            ? info_line(reply->value.text, "connected_slaves:")
                            : NULL;
    if (!count) return redis_refuse(session, reply);
    *ret_count = atoi(count);
    return LB_OK;
}

static int describe_replicas(struct lb_session *session, struct lb_facts *facts,
                             struct lb_err *err) {
    struct redis_state *state = redis_state_of(session);
    int connected = 0, wanted = redis_server_of(session)->url.host_count - 1;
    if (redis_replicas(session, &state->node[0], &connected) != LB_OK)
        return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
    if (connected < wanted)
        return err_set(err, LB_EXIT_MACHINE,
                       "redis: %d of %d replicas are connected to their primary", connected,
                       wanted);
    lb_fact(facts, "replicas", "%d", connected);
    return 0;
}

/* Every node must find the cluster whole: one that does not yet refuses commands. */
static int describe_cluster(struct lb_session *session, struct lb_facts *facts,
                            struct lb_err *err) {
    struct redis_state *state = redis_state_of(session);
    if (redis_cluster_learn(session, &state->node[0], err) != 0) return -1;
    for (int i = 0; i < state->node_count; i++) {
        const struct redis_reply *reply = NULL;
        const struct redis_word words[] = {{"CLUSTER", 7}, {"INFO", 4}};
        if (redis_ask(session, &state->node[i], words, 2, &reply, err) != 0) return -1;
        if (!strstr(reply->value.text, "cluster_state:ok"))
            return err_set(err, LB_EXIT_MACHINE, "redis at %s:%d: the cluster is not whole",
                           state->node[i].host, state->node[i].port);
        info_fact(facts, reply->value.text, "cluster_size:", "primaries");
        info_fact(facts, reply->value.text, "cluster_known_nodes:", "nodes");
    }
    return 0;
}

static int describe_topology(struct lb_session *session, struct lb_facts *facts,
                             struct lb_err *err) {
    struct redis_state *state = redis_state_of(session);
    lb_fact(facts, "topology", "%s", modes[state->mode].name);
    switch (state->mode) {
    case REDIS_REPLICAS:
        return describe_replicas(session, facts, err);
    case REDIS_SENTINEL:
        return redis_sentinel_describe(session, facts, err);
    case REDIS_CLUSTER:
        return describe_cluster(session, facts, err);
    case REDIS_INDEPENDENTS:
        lb_fact(facts, "nodes", "%d", state->node_count);
        lb_fact(facts, "majority", "%d", state->node_count / 2 + 1);
        return 0;
    case REDIS_SINGLE:
        break;
    }
    return 0;
}

static int redis_describe(struct lb_session *session, struct lb_facts *facts, struct lb_err *err) {
    static const char *const settings[] = {"save", "appendonly", "appendfsync", "maxmemory-policy",
                                           "maxclients"};
    struct redis_node *node = &redis_state_of(session)->node[0];
    const struct redis_reply *reply = NULL;
    int64_t until_ns = lb_now() + WHOLE_NS;
    for (;;) {
        struct lb_err why = {0};
        session->err.code = 0;
        if (describe_topology(session, facts, &why) == 0) break;
        if (why.code == LB_EXIT_USAGE || lb_now() >= until_ns || lb_stopping())
            return err_set(err, why.code, "%s", why.text);
        lb_sleep_until(lb_now() + WHOLE_NS / 100);
    }
    if (redis_ask(session, node, (const struct redis_word[]){{"INFO", 4}, {"server", 6}}, 2, &reply,
                  err) != 0)
        return -1;
    info_fact(facts, reply->value.text, "redis_version:", "version");
    info_fact(facts, reply->value.text, "redis_mode:", "mode");
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const struct redis_word words[3] = {{"CONFIG", 6}, {"GET", 3}, {settings[i], 0}};
        struct lb_err forbidden = {0}; /* by a managed server: then the fact is missing */
        if (redis_ask(session, node, words, 3, &reply, &forbidden) != 0) continue;
        if (reply->value.type == REDIS_ARRAY && reply->count == 2)
            lb_fact(facts, settings[i], "%s",
                    reply->element[1].len ? reply->element[1].text : "(empty)");
    }
    return 0;
}

static enum lb_outcome redis_ping(struct lb_session *session, int64_t deadline_ns) {
    const struct redis_word words[] = {{"PING", 4}};
    const struct redis_command command = {.words = words, .count = 1};
    const struct redis_reply *reply = NULL;
    if (redis_state_of(session)->mode == REDIS_INDEPENDENTS) {
        /* As a lock over all of them has it: the slowest counts. */
        struct redis_answer answers[REDIS_NODES_MAX];
        int count = redis_all(session, &command, deadline_ns - lb_now(), answers);
        for (int i = 0; i < count; i++) {
            if (answers[i].outcome != LB_OK) return LB_UNKNOWN;
        }
        return LB_OK;
    }
    /* command_timeout bounds every round trip */
    enum lb_outcome outcome = redis_pipe(session, NULL, &command, 1, &reply);
    if (outcome != LB_OK) return outcome;
    return reply->value.type == REDIS_ERROR ? redis_refuse(session, reply) : LB_OK;
}

static const struct lb_option redis_options[] = {
    {"command_timeout", LB_OPT_DURATION, offsetof(struct redis_options, command_timeout_ns), "5s",
     1e6, 600e9, NULL, "longest wait for one answer; then the outcome is unknown"},
    {0},
};

const struct lb_connector redis_connector = {
    .options = redis_options,
    .options_bytes = sizeof(struct redis_options),
    .server_bytes = sizeof(struct redis_server),
    .session_bytes = sizeof(struct redis_state),
    .open = redis_open,
    .connect = redis_connect,
    .disconnect = redis_disconnect,
    .describe = redis_describe,
    .ping = redis_ping,
};
