/* connector: ZooKeeper as a backend: URLs, sessions, ping. Its locks are in their own files. */
#include "drivers/facts.h"
#include "drivers/zookeeper/calls.h"

#include <stdio.h>
#include <string.h>

#include "drivers/resolve.h"
#include "drivers/url.h"

#define ZOOKEEPER_PORT 2181

/* Appends every address of a host. The lookup happens once, here, since the client library would
 * block a loop for it. */
static int add_host(struct zk_server *server, const char *host, int port, struct lb_err *err) {
    const struct resolved *resolved = resolve_host(host, err);
    if (!resolved) return -1;
    for (int i = 0; i < resolved->count; i++) {
        size_t used = strlen(server->hosts);
        int wrote = snprintf(server->hosts + used, sizeof server->hosts - used, "%s%s:%d",
                             used ? "," : "", resolved->address[i], port);
        if ((size_t)wrote >= sizeof server->hosts - used)
            return err_set(err, LB_EXIT_USAGE, "zookeeper: too many servers in the URL");
        server->host_count++;
    }
    return 0;
}

/* Sets the prefix of our paths. The chroot is part of the prefix, and its nodes are created as
 * others are; the client library's own chroot would copy each path. */
static int make_prefix(struct zk_server *server, const char *chroot, struct lb_err *err) {
    size_t len = strlen(chroot);
    while (len > 0 && chroot[len - 1] == '/') len--;
    if (strstr(chroot, "//") || strstr(chroot, "/./") || strstr(chroot, "/../") ||
        strncmp(chroot, "./", 2) == 0 || strncmp(chroot, "../", 3) == 0) {
        return err_set(
            err, LB_EXIT_USAGE,
            "zookeeper: '/%s' can't be a path in ZooKeeper: it has an empty part, \".\" or \"..\"",
            chroot);
    }
    snprintf(server->prefix, sizeof server->prefix, "%s%.*s" ZK_ROOT, len ? "/" : "", (int)len,
             chroot);
    return 0;
}

/* Refuses parts of a URL that ZooKeeper has no use for. */
static int check_url(const struct url *url, const char *text, struct lb_err *err) {
    char shown[256];
    url_public(text, shown, sizeof shown);
    if (strcmp(url->scheme, "zookeepers") == 0 || strcmp(url->scheme, "zks") == 0)
        return err_set(
            err, LB_EXIT_USAGE,
            "zookeeper: the client library has no TLS: start a tunnel to the server (stunnel, "
            "client = yes), and write zookeeper://, with its port: %s",
            shown);
    if (!url->user[0] != !url->password[0])
        return err_set(
            err, LB_EXIT_USAGE,
            "zookeeper: write the account as user:password@ (digest); SASL is not supported: %s",
            shown);
    return 0;
}

static int zk_open(struct lb_server *server, struct lb_err *err) {
    struct zk_server *state = server->state;
    zoo_set_debug_level((ZooLogLevel)0); /* the library would write to stderr */
    struct url url;
    if (url_parse(&url, server->urls[0], ZOOKEEPER_PORT, err) != 0 ||
        check_url(&url, server->urls[0], err) != 0 || make_prefix(state, url.path, err) != 0)
        return -1;
    for (int i = 0; i < url.host_count; i++) {
        const char *dial_host = url.host[i];
        int dial_port = url.port[i];
        lb_route(server, &dial_host, &dial_port);
        if (add_host(state, dial_host, dial_port, err) != 0) return -1;
    }
    if (url.user[0])
        snprintf(state->credentials, sizeof state->credentials, "%s:%s", url.user, url.password);
    url_public(server->urls[0], state->shown, sizeof state->shown);
    return 0;
}

static int zk_connect(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    const struct lb_lock *lock = session->lock;
    if (zk_session_open(zk_session_of(session), session, NULL, deadline_ns, NULL, err) != 0)
        return -1;
    return lock->algorithm->prepare ? lock->algorithm->prepare(session, deadline_ns, err) : 0;
}

static void zk_disconnect(struct lb_session *session) {
    zk_session_close(zk_session_of(session));
}

static enum lb_outcome zk_ping(struct lb_session *session, int64_t deadline_ns) {
    (void)deadline_ns; /* command_timeout bounds every round trip */
    /* A read that the server answers from memory. The protocol's own ping tells the caller
     * nothing. */
    int rc = zk_exists(zk_session_of(session), "/", NULL);
    return rc == ZOK ? LB_OK : zk_fail(session, rc, "look at", "/");
}

static const struct lb_option zk_option_table[] = {
    {"command_timeout", LB_OPT_DURATION, offsetof(struct zk_options, command_timeout_ns), "5s", 1e6,
     600e9, NULL, "longest wait for one answer or a reconnection; then the outcome is unknown"},
    LB_DURABILITY_OPTION(struct zk_options),
    {0},
};

static const char *zk_library(char *text, size_t size) {
    snprintf(text, size, "zookeeper %s", ZOO_VERSION);
    return text;
}

const struct lb_connector zookeeper_connector = {
    .options = zk_option_table,
    .options_bytes = sizeof(struct zk_options),
    .server_bytes = sizeof(struct zk_server),
    .session_bytes = sizeof(struct zk_session),
    .open = zk_open,
    .connect = zk_connect,
    .disconnect = zk_disconnect,
    .describe = zk_facts,
    .ping = zk_ping,
    .library = zk_library,
    .clean = zk_clean,
};
