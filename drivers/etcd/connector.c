/* connector: the etcd backend's connector: it reads URLs, opens and closes sessions, asks a server for its facts, and
 * pings. The locks are in their own files. */
#include "drivers/etcd/session.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "drivers/facts.h"
#include "drivers/resolve.h"
#include "drivers/url.h"
#include "drivers/wait.h"

#define ETCD_PORT 2379
#define ACCEPT_MS 1000 /* for each address of a host that has several */
#define ACCOUNTS_PATIENCE_NS (2 * LB_S_NS)
#define ANSWER_BYTES                                                                               \
    8192 /* room for one message: our keys have at most LB_KEY_MAX bytes, values are short */

/* Refuses a URL with parts that this backend does not use. */
static int check_url(const struct url *url, const char *shown, struct lb_err *err) {
    if (url->path[0])
        return err_set(err, LB_EXIT_USAGE,
                       "etcd: a URL ends with its hosts, etcd://user:password@host:port: %s",
                       shown);
    if (url->password[0] && !url->user[0])
        return err_set(err, LB_EXIT_USAGE,
                       "etcd: the URL has a password without a user: write user:password@: %s",
                       shown);
    return 0;
}

static int etcd_open(struct lb_server *server, struct lb_err *err) {
    struct etcd_server *state = server->state;
    struct url url;
    if (url_parse(&url, server->urls[0], ETCD_PORT, err) != 0) return -1;
    url_public(server->urls[0], state->shown, sizeof state->shown);
    bool encrypted = strcmp(url.scheme, "etcds") == 0 || strcmp(url.scheme, "https") == 0;
    const struct etcd_options *options = server->options;
    state->tls = lb_tls_of(&options->tls, server->ca);
    if (check_url(&url, state->shown, err) != 0 ||
        lb_tls_check(&options->tls, encrypted, "etcd", "etcds:// or https://", err) != 0 ||
        http_open(&state->http, encrypted ? &state->tls : NULL, err) != 0)
        return -1;
    for (int i = 0; i < url.host_count; i++) {
        const char *dial_host = url.host[i];
        int dial_port = url.port[i];
        lb_route(server, &dial_host, &dial_port);
        const char *address = resolve_serving(dial_host, dial_port, ACCEPT_MS, err);
        if (!address || http_add_endpoint(&state->http, url.host[i], address, dial_port, err) != 0)
            return -1;
    }
    snprintf(state->user, sizeof state->user, "%s", url.user);
    snprintf(state->password, sizeof state->password, "%s", url.password);
    return 0;
}

static void etcd_close(struct lb_server *server) {
    http_close(&((struct etcd_server *)server->state)->http);
}

/* Reads a key that does not exist. If the user has no permission for the key, the error arrives after the
 * same round trip, so it counts as an answer too. */
static enum lb_outcome ask_nothing(struct etcd_session *e, bool serializable, struct lb_err *err) {
    static const char missing[] = "lockbench-ping";
    Etcdserverpb__RangeRequest request = ETCDSERVERPB__RANGE_REQUEST__INIT;
    request.key = etcd_bytes(missing, sizeof missing - 1);
    request.serializable = serializable;
    enum lb_outcome outcome = etcd_call(&e->call, &etcd_range, &request.base, err);
    if (outcome != LB_REFUSED || e->call.status != ETCD_DENIED) return outcome;
    *err = (struct lb_err){0};
    return LB_OK;
}

static void etcd_disconnect(struct lb_session *session) {
    struct etcd_session *e = etcd_session_of(session);
    if (!e->owner) return;
    if (e->watch.transfer.easy) etcd_watch_stop(e);
    if (e->call.transfer.easy) etcd_lease_end(e);
    etcd_line_done(&e->watch);
    etcd_line_done(&e->keep);
    etcd_line_done(&e->call);
    http_done(&e->http);
    e->owner = NULL;
}

/* Logs in. A server that has lost its data has no accounts until somebody creates them again. So this
 * function tries again for a moment; otherwise a client that connects at once would fail with an unknown user. */
static int log_in(struct etcd_session *e, int64_t deadline_ns, struct lb_err *err) {
    int64_t until_ns = lb_now() + ACCOUNTS_PATIENCE_NS;
    if (until_ns > deadline_ns) until_ns = deadline_ns;
    for (;;) {
        struct lb_err why = {0};
        if (etcd_authenticate_on(&e->call, &why) == 0) return 0;
        if (e->call.status != ETCD_UNREADY || lb_now() >= until_ns || lb_stopping())
            return err_set(err, why.code, "%s", why.text);
        lb_sleep_until(lb_now() + 10 * LB_MS_NS);
    }
}

/* Opens a session with one member. The session counts only if the member knows a leader, because a
 * lease and a linearizable read need a leader. */
static int connect_to(struct lb_session *session, int endpoint, int64_t deadline_ns,
                      struct lb_err *err) {
    struct etcd_session *e = etcd_session_of(session);
    const struct etcd_server *server = session->server->state;
    const struct etcd_options *options = session->server->options;
    int64_t left_ns = deadline_ns - lb_now();
    e->owner = session;
    e->keep_due_ns = e->alive_until_ns = LB_NEVER;
    e->patience_ns = left_ns < options->command_timeout_ns ? left_ns : options->command_timeout_ns;
    /* Room for the longest request: a transaction that contains the key nine times. */
    if (http_init(&e->http, &server->http, endpoint, session, err) != 0 ||
        etcd_line_init(&e->call, e, ANSWER_BYTES, 16 * 1024, err) != 0 ||
        etcd_line_init(&e->keep, e, 1024, 256, err) != 0 ||
        etcd_line_init(&e->watch, e, ANSWER_BYTES, 2048, err) != 0) {
        return -1;
    }
    if (log_in(e, deadline_ns, err) != 0) return -1;
    if (session->lock->algorithm->prepare &&
        session->lock->algorithm->prepare(session, deadline_ns, err) != 0)
        return -1;
    if (e->lease == 0 && ask_nothing(e, false, err) != LB_OK) return -1;
    e->patience_ns = options->command_timeout_ns;
    return 0;
}

/* Each client begins with a member of its own, always the same one. If that member does not serve, the
 * client tries the next ones in the order of the URL. So a session that has lost its member moves to
 * another one when it is opened again. */
static int etcd_connect(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    const struct etcd_server *server = session->server->state;
    return lb_connect_in_turn(session, session->client, server->http.count, deadline_ns, connect_to,
                              err);
}

static int etcd_describe(struct lb_session *session, struct lb_facts *facts, struct lb_err *err) {
    struct etcd_session *e = etcd_session_of(session);
    Etcdserverpb__StatusRequest ask = ETCDSERVERPB__STATUS_REQUEST__INIT;
    Etcdserverpb__MemberListRequest ask_members = ETCDSERVERPB__MEMBER_LIST_REQUEST__INIT;
    if (etcd_call(&e->call, &etcd_status, &ask.base, err) != LB_OK) return -1;
    const Etcdserverpb__StatusResponse *status = etcd_answer(&e->call);
    lb_fact(facts, "version", "%s", status->version);
    lb_facts_durability(
        facts, NULL,
        "not told: etcd does not say whether it flushes its log before each answer, its default");
    struct lb_err ignored = {0}; /* a user may lack the right to ask */
    if (etcd_call(&e->call, &etcd_member_list, &ask_members.base, &ignored) == LB_OK) {
        const Etcdserverpb__MemberListResponse *list = etcd_answer(&e->call);
        lb_fact(facts, "members", "%zu", list->n_members);
        facts->alone = list->n_members == 1;
    }
    lb_facts_encryption(facts, &((const struct etcd_server *)session->server->state)->tls,
                        e->http.protocol);
    return 0;
}

static enum lb_outcome etcd_ping(struct lb_session *session, int64_t deadline_ns) {
    (void)deadline_ns; /* command_timeout bounds every round trip */
    /* Serializable: answered by this server from memory, without asking the others. */
    return ask_nothing(etcd_session_of(session), true, &session->err);
}

static const struct lb_option etcd_option_table[] = {
    {"command_timeout", LB_OPT_DURATION, offsetof(struct etcd_options, command_timeout_ns), "5s",
     1e6, 600e9, NULL, "longest wait for one answer; then the outcome is unknown"},
    LB_DURABILITY_OPTION(struct etcd_options),
    LB_TLS_OPTIONS(struct etcd_options, tls),
    {0},
};

static const char *etcd_library(char *text, size_t size) {
    snprintf(text, size, "libcurl %s, protobuf-c %s", curl_version_info(CURLVERSION_NOW)->version,
             protobuf_c_version());
    return text;
}

/* Three descriptors: the connection, and the two ends of libcurl's own wake-up pipe. */
static int etcd_descriptors(const struct lb_session *session, uint32_t keys) {
    (void)session;
    (void)keys;
    return 3;
}

const struct lb_connector etcd_connector = {
    .options = etcd_option_table,
    .options_bytes = sizeof(struct etcd_options),
    .server_bytes = sizeof(struct etcd_server),
    .session_bytes = sizeof(struct etcd_session),
    .open = etcd_open,
    .close = etcd_close,
    .connect = etcd_connect,
    .disconnect = etcd_disconnect,
    .describe = etcd_describe,
    .ping = etcd_ping,
    .library = etcd_library,
    .clean = etcd_clean,
    .descriptors = etcd_descriptors,
};
