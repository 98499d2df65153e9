/* connector: the redis backend's connector: it reads URLs and opens sessions. The kind of topology decides
 * to which nodes a session connects. See redis.h. */
#include "drivers/facts.h"
#include "drivers/redis/redis_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/key_names.h"

#define REDIS_PORT 6379
#define SENTINEL_PORT 26379
#define HUNG_NS (1 * LB_S_NS) /* limit of connecting to one of several independent servers */

static const struct {
    const char *kind; /* the rest of the scheme after redis or rediss */
    int port;
} modes[] = {
    [REDIS_SINGLE] = {"", REDIS_PORT},
    [REDIS_REPLICAS] = {"+replicas", REDIS_PORT},
    [REDIS_SENTINEL] = {"+sentinel", SENTINEL_PORT},
    [REDIS_CLUSTER] = {"+cluster", REDIS_PORT},
    [REDIS_INDEPENDENTS] = {"+independents", REDIS_PORT},
};

/* The mode of a URL's scheme, and whether it asks for TLS: "rediss+cluster". */
static enum redis_mode mode_of(const char *url, bool *ret_tls) {
    enum redis_mode mode = REDIS_SINGLE;
    *ret_tls = strncmp(url, "rediss", 6) == 0;
    const char *kind = url + (*ret_tls ? 6 : 5);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        size_t len = strlen(modes[i].kind);
        if (strncmp(kind, modes[i].kind, len) == 0 && kind[len] == ':') mode = (enum redis_mode)i;
    }
    return mode;
}

/* Reads "user:password" or ":password" from a file, so that no password is on a command line. */
static int read_login(struct redis_server *state, const char *path, struct lb_err *err) {
    char line[URL_USER_MAX + URL_PASSWORD_MAX + 2] = "";
    FILE *file = fopen(path, "r");
    if (!file)
        return err_set(err, LB_EXIT_USAGE, "redis.sentinel_login: %s: %s", path, strerror(errno));
    const char *read = fgets(line, sizeof line, file);
    fclose(file);
    bool cut = strlen(line) + 1 == sizeof line;
    line[strcspn(line, "\r\n")] = '\0';
    char *colon = strchr(line, ':');
    if (!read || cut || !colon || !colon[1] ||
        (size_t)(colon - line) >= sizeof state->sentinels.user ||
        strlen(colon + 1) >= sizeof state->sentinels.password)
        return err_set(
            err, LB_EXIT_USAGE,
            "redis.sentinel_login: %s: its first line must be user:password or :password", path);
    *colon = '\0';
    strcpy(state->sentinels.user, line);
    strcpy(state->sentinels.password, colon + 1);
    return 0;
}

/* Reads the files that the options name: the sentinels' account, the certificates. */
static int read_security(struct lb_server *server, bool tls, struct lb_err *err) {
    struct redis_server *state = server->state;
    const struct redis_options *options = server->options;
    if (state->url.user[0] && !state->url.password[0])
        return err_set(err, LB_EXIT_USAGE,
                       "redis: the URL has a user without a password: write user:password@, or "
                       ":password@ for the default user");
    if (options->sentinel_login && state->mode != REDIS_SENTINEL)
        return err_set(err, LB_EXIT_USAGE,
                       "redis.sentinel_login is set, but the URL is not redis+sentinel://");
    if (options->sentinel_login && read_login(state, options->sentinel_login, err) != 0) return -1;
    if (lb_tls_check(&options->tls, tls, "redis", "rediss://", err) != 0) return -1;
    if (tls) state->tls = sock_tls_open(server, &options->tls, err);
    return tls && !state->tls ? -1 : 0;
}

/* Reads "mymaster" or "mymaster/3": the primary's name for the sentinels. *path moves on to the database. */
static int read_primary(struct redis_server *state, const char **path, struct lb_err *err) {
    size_t len = strcspn(*path, "/");
    if (len == 0 || len >= sizeof state->primary || memchr(*path, ',', len))
        return err_set(err, LB_EXIT_USAGE,
                       "a redis+sentinel:// URL ends with the primary's name: /mymaster");
    snprintf(state->primary, sizeof state->primary, "%.*s", (int)len, *path);
    *path += len + ((*path)[len] == '/');
    return 0;
}

static int redis_open(struct lb_server *server, struct lb_err *err) {
    struct redis_server *state = server->state;
    bool tls;
    state->mode = mode_of(server->urls[0], &tls);
    if (url_parse(&state->url, server->urls[0], modes[state->mode].port, err) != 0) return -1;
    const char *database = state->url.path;
    if (state->mode == REDIS_SENTINEL && read_primary(state, &database, err) != 0) return -1;
    if (snprintf(state->database, sizeof state->database, "%s", database) >=
        (int)sizeof state->database)
        return err_set(err, LB_EXIT_USAGE, "redis: the URL's path is no database: a number");
    if (state->mode == REDIS_CLUSTER && state->database[0])
        return err_set(err, LB_EXIT_USAGE,
                       "redis: a cluster has one database, so its URL names none");
    return read_security(server, tls, err);
}

static void redis_close(struct lb_server *server) {
    struct redis_server *state = server->state;
    sock_tls_close(state->tls);
    state->tls = NULL;
}

/* Whether the lock makes other names of a key, beside the key itself. */
static bool has_helpers(const struct lb_session *session) {
    const struct lb_algorithm *algorithm = session->lock->algorithm;
    struct lb_names *names = calloc(1, sizeof *names);
    bool found = false;
    if (names && algorithm->names)
        algorithm->names(session, &(struct lb_request){.key = "k", .key_len = 1}, names);
    for (int i = 0; names && i < names->count; i++)
        found |= strstr(names->item[i].text, "{k}") != NULL;
    free(names);
    return found;
}

static int connect_cluster(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    struct redis_state *state = redis_state_of(session);
    const struct url *url = &redis_server_of(session)->url;
    state->cluster = malloc(sizeof *state->cluster);
    if (!state->cluster) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    state->cluster->helpers = has_helpers(session);
    memset(state->cluster->node, REDIS_NOBODY, sizeof state->cluster->node);
    /* Each node of a cluster knows all other nodes, so the first one that answers is enough. */
    for (int i = 0; i < url->host_count; i++) {
        struct redis_node *node = redis_node_add(state, url->host[i], url->port[i]);
        struct lb_err why = {0};
        if (redis_node_connect(session, node, deadline_ns, &why) == 0 &&
            redis_cluster_learn(session, node, &why) == 0) {
            return 0;
        }
        redis_node_drop(session, node); /* the node may be back when a key needs it */
        err_set(err, why.code, "%s", why.text);
        if (why.code == LB_EXIT_USAGE) return -1;
    }
    return -1;
}

/* Connects to each server of the URL; some may be down. */
static int connect_independents(struct lb_session *session, int64_t deadline_ns,
                                struct lb_err *err) {
    struct redis_state *state = redis_state_of(session);
    const struct url *url = &redis_server_of(session)->url;
    int up = 0;
    for (int i = 0; i < url->host_count; i++) {
        struct lb_err why = {0};
        int64_t share_ns = (deadline_ns - lb_now()) / (url->host_count - i);
        if (share_ns > HUNG_NS) share_ns = HUNG_NS;
        struct redis_node *node = redis_node_add(state, url->host[i], url->port[i]);
        node->primary = true;
        int failed = redis_node_connect(session, node, lb_now() + share_ns, &why);
        up += !failed;
        if (failed) err_set(err, why.code, "%s", why.text);
        if (why.code == LB_EXIT_USAGE) return -1;
    }
    if (up == 0) return -1;
    *err = (struct lb_err){0};
    return 0;
}

static int redis_connect(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    struct redis_state *state = redis_state_of(session);
    const struct redis_server *server = redis_server_of(session);
    int failed;
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
    free(state->cluster);
    state->cluster = NULL;
}

static enum lb_outcome redis_ping(struct lb_session *session, int64_t deadline_ns) {
    const struct redis_word words[] = {{"PING", 4}};
    const struct redis_command command = {.words = words, .count = 1};
    const struct redis_reply *reply = NULL;
    if (redis_are_independent(session)) {
        /* A lock on independent servers asks all of them, so the ping waits for the slowest one. */
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
    {"sentinel_login", LB_OPT_TEXT, offsetof(struct redis_options, sentinel_login), NULL, 0, 0,
     NULL,
     "file with user:password or :password of the sentinels' own account, if they ask for one"},
    LB_DURABILITY_OPTION(struct redis_options),
    LB_TLS_OPTIONS(struct redis_options, tls),
    {0},
};

static const char *redis_library(char *text, size_t size) {
    snprintf(text, size, "hiredis %d.%d.%d", HIREDIS_MAJOR, HIREDIS_MINOR, HIREDIS_PATCH);
    return text;
}

/* A session has a connection to each server of the URL (in a cluster only to the nodes whose keys it has
 * used), and one more while it looks for the primary. */
static int redis_descriptors(const struct lb_session *session, uint32_t keys) {
    (void)keys;
    const struct redis_server *server = redis_server_of(session);
    int each = session->lock->algorithm->connections ? session->lock->algorithm->connections : 1;
    switch (server->mode) {
    case REDIS_SINGLE:
        return each;
    case REDIS_REPLICAS:
    case REDIS_SENTINEL:
        return each + 1;
    case REDIS_CLUSTER:
    case REDIS_INDEPENDENTS:
        break;
    }
    return each * server->url.host_count;
}

const struct lb_connector redis_connector = {
    .options = redis_options,
    .options_bytes = sizeof(struct redis_options),
    .server_bytes = sizeof(struct redis_server),
    .session_bytes = sizeof(struct redis_state),
    .open = redis_open,
    .close = redis_close,
    .connect = redis_connect,
    .disconnect = redis_disconnect,
    .describe = redis_describe,
    .ping = redis_ping,
    .library = redis_library,
    .clean = redis_clean,
    .descriptors = redis_descriptors,
};
