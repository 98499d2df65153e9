/* connector: NATS as a backend: URLs, sessions, facts about a server, ping. The servers of a cluster
 * are those of the URL; servers that other servers announce are not used. */
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "drivers/facts.h"
#include "drivers/nats/nats.h"
#include "drivers/resolve.h"

#define NATS_PORT 4222

static int nats_open(struct lb_server *server, struct lb_err *err) {
    struct nats_server *state = server->state;
    if (url_parse(&state->url, server->urls[0], NATS_PORT, err) != 0) return -1;
    if (state->url.path[0])
        return err_set(err, LB_EXIT_USAGE,
                       "nats: a server or a cluster is one URL: write "
                       "nats://[user:password@]host[:port][,host[:port]...]");
    const struct nats_options *options = server->options;
    bool encrypted = strcmp(state->url.scheme, "tls") == 0;
    if (lb_tls_check(&options->tls, true, "nats", "tls://", err) != 0) return -1;
    state->tls = sock_tls_open(server, &options->tls, &state->no_tls);
    if (!state->tls && (encrypted || lb_tls_is_set(&options->tls)))
        return err_set(err, state->no_tls.code, "%s", state->no_tls.text);
    if (!options->nkey && !options->creds) return 0;
    if (state->url.user[0] || (options->nkey && options->creds))
        return err_set(
            err, LB_EXIT_USAGE,
            "nats: credentials are given twice: keep one of the URL's user, nats.nkey and nats.creds");
    state->nkey =
        options->nkey ? nkey_read_seed(options->nkey, err) : nkey_read_creds(options->creds, err);
    return state->nkey ? 0 : -1;
}

static void nats_close(struct lb_server *server) {
    struct nats_server *state = server->state;
    sock_tls_close(state->tls);
    nkey_free(state->nkey);
    state->tls = NULL;
    state->nkey = NULL;
}

/* Reads the facts in the server's INFO. */
static void take_info(struct nats_session *nats, const char *line) {
    json_t *info = json_loads(line + strlen("INFO "), 0, NULL);
    const char *version = json_string_value(json_object_get(info, "version"));
    snprintf(nats->version, sizeof nats->version, "%s", version ? version : "");
    const char *cluster = json_string_value(json_object_get(info, "cluster"));
    snprintf(nats->cluster, sizeof nats->cluster, "%s", cluster ? cluster : "");
    nats->wants_tls = json_is_true(json_object_get(info, "tls_required"));
    nats->offers_tls = nats->wants_tls || json_is_true(json_object_get(info, "tls_available"));
    const char *nonce = json_string_value(json_object_get(info, "nonce"));
    snprintf(nats->nonce, sizeof nats->nonce, "%s", nonce ? nonce : "");
    json_decref(info);
}

/* Writes "CONNECT {...}\r\n" with the key's signature, or with the URL's user and password, or with
 * its user alone as a token. Returns the length, 0 if there is no room for it. */
static size_t connect_line(const struct nats_server *server, const char *nonce, char *out,
                           size_t size) {
    const struct url *url = &server->url;
    json_t *words =
        json_pack("{s:b,s:b,s:b,s:b,s:s,s:s,s:s}", "verbose", 0, "pedantic", 0, "headers", 1,
                  "no_responders", 1, "lang", "C", "version", "1", "name", "lockbench");
    if (server->nkey) {
        char signature[NKEY_SIGNATURE_BYTES];
        json_object_set_new(words, nkey_is_jwt(server->nkey) ? "jwt" : "nkey",
                            json_string(nkey_identity(server->nkey)));
        json_object_set_new(words, "sig", json_string(nkey_sign(server->nkey, nonce, signature)));
    } else if (url->user[0] && url->password[0]) {
        json_object_set_new(words, "user", json_string(url->user));
        json_object_set_new(words, "pass", json_string(url->password));
    } else if (url->user[0]) {
        json_object_set_new(words, "auth_token", json_string(url->user));
    }
    size_t used = (size_t)snprintf(out, size, "CONNECT ");
    size_t len = json_dumpb(words, out + used, size - used - 2, JSON_COMPACT);
    json_decref(words);
    if (len == 0 || len > size - used - 2) return 0;
    memcpy(out + used + len, "\r\n", 2);
    return used + len + 2;
}

/* Encrypts the connection where the URL or the server asks for it. A tls:// URL never leads to
 * an unencrypted connection. */
static enum lb_outcome encrypt_connection(struct lb_session *session, int64_t deadline_ns) {
    const struct nats_server *server = session->server->state;
    const struct nats_options *options = session->server->options;
    struct nats_session *nats = nats_session_of(session);
    const char *host = server->url.host[nats->endpoint];
    int port = server->url.port[nats->endpoint];
    bool asked = strcmp(server->url.scheme, "tls") == 0 || lb_tls_is_set(&options->tls);
    struct lb_err err = {0};
    if (!asked && !nats->wants_tls) return LB_OK;
    if (!nats->offers_tls)
        return lb_fail(session, LB_BROKEN,
                       "nats at %s:%d: the server does not speak TLS at this port", host, port);
    if (!server->tls) return lb_fail(session, LB_REFUSED, "%s", server->no_tls.text);
    if (stream_secure(&nats->stream, server->tls, host, deadline_ns, &err) == 0) return LB_OK;
    nats->stream.dead = true;
    return lb_fail(session, LB_BROKEN, "nats at %s:%d: %s", host, port, err.text);
}

/* Sends the client's credentials and waits for the PONG that confirms them. */
static enum lb_outcome log_in_nats(struct lb_session *session, int64_t deadline_ns) {
    const struct nats_server *server = session->server->state;
    struct nats_session *nats = nats_session_of(session);
    char text[6144], *line; /* room for a JWT */
    enum lb_outcome outcome = stream_line(&nats->stream, session, deadline_ns, &line);
    if (outcome != LB_OK) return outcome;
    if (strncmp(line, "INFO ", 5) != 0)
        return lb_fail(session, LB_REFUSED, "nats at %s:%d: this is no NATS server",
                       nats->stream.host, nats->stream.port);
    take_info(nats, line);
    outcome = encrypt_connection(session, deadline_ns); /* what follows has the password */
    if (outcome != LB_OK) return outcome;
    snprintf(nats->inbox, sizeof nats->inbox, "_INBOX.%014llx",
             (unsigned long long)(rng_u64(&session->rng) & UINT64_C(0xffffffffffffff)));
    size_t len = connect_line(server, nats->nonce, text, sizeof text - 64);
    if (len == 0) return lb_fail(session, LB_REFUSED, "nats: the user and password are too long");
    len += (size_t)snprintf(text + len, sizeof text - len, "SUB %s.* 1\r\nPING\r\n", nats->inbox);
    outcome = stream_send(&nats->stream, session, text, len, deadline_ns);
    while (outcome == LB_OK) {
        outcome = stream_line(&nats->stream, session, deadline_ns, &line);
        if (outcome == LB_OK && strcmp(line, "PONG") == 0) return LB_OK;
        if (outcome == LB_OK && strncmp(line, "-ERR", 4) == 0)
            return lb_fail(session, LB_REFUSED, "nats at %s:%d refuses: %.200s%s",
                           nats->stream.host, nats->stream.port, line,
                           strstr(line, "Authorization Violation")
                               ? ": check the user and password, or the token, of the URL, "
                                 "nats.nkey and nats.creds"
                               : "");
    }
    return outcome;
}

/* Opens a session with one server, by deadline_ns. */
static int connect_endpoint(struct lb_session *session, int endpoint, int64_t deadline_ns,
                            struct lb_err *err) {
    const struct nats_server *server = session->server->state;
    const struct nats_options *options = session->server->options;
    struct nats_session *nats = nats_session_of(session);
    int64_t left_ns = deadline_ns - lb_now();
    nats->endpoint = endpoint;
    nats->patience_ns =
        left_ns < options->command_timeout_ns ? left_ns : options->command_timeout_ns;
    if (stream_connect(&nats->stream, session->server, server->url.host[endpoint],
                       server->url.port[endpoint], deadline_ns, err) != 0) {
        err_prefix(err, "nats");
        return -1;
    }
    nats->stream.unasked = true;
    /* Not where the URL says so already: a server may want the encryption to begin before its first word. */
    nats->stream.tls_scheme = strcmp(server->url.scheme, "tls") == 0 ? NULL : "tls";
    session->traffic_fd = nats->stream.sock.fd;
    enum lb_outcome outcome = log_in_nats(session, deadline_ns);
    if (outcome != LB_OK) {
        return err_set(err, outcome == LB_REFUSED ? LB_EXIT_USAGE : LB_EXIT_MACHINE, "%s",
                       session->err.text);
    }
    if (session->lock->algorithm->prepare &&
        session->lock->algorithm->prepare(session, deadline_ns, err) != 0)
        return -1;
    nats->patience_ns = options->command_timeout_ns;
    return nats_pongs_begin(session, err);
}

static void nats_disconnect(struct lb_session *session) {
    nats_pongs_end(session);
    stream_close(&nats_session_of(session)->stream);
}

/* Clients begin with different servers, each always with the same one; the next ones follow in the order of the URL,
 * until one serves. So a session that has lost its server moves on when it is opened again. */
static int nats_connect(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    const struct nats_server *server = session->server->state;
    return lb_connect_in_turn(session, session->client, server->url.host_count, deadline_ns,
                              connect_endpoint, err);
}

static int nats_describe(struct lb_session *session, struct lb_facts *facts, struct lb_err *err) {
    const struct nats_session *nats = nats_session_of(session);
    (void)err;
    lb_fact(facts, "version", "%s", nats->version);
    sock_facts(&nats->stream.sock, &((const struct nats_options *)session->server->options)->tls,
               facts);
    if (nats->cluster[0]) lb_fact(facts, "cluster", "%s", nats->cluster);
    if (nats->replicas > 0) lb_fact(facts, "replicas", "%d", nats->replicas);
    facts->alone = !nats->cluster[0] || nats->replicas == 1;
    lb_facts_durability(
        facts, NULL,
        "not told: NATS does not tell its clients how often it flushes its files (sync_interval)");
    return 0;
}

static enum lb_outcome nats_ping(struct lb_session *session, int64_t deadline_ns) {
    (void)deadline_ns; /* command_timeout bounds every round trip */
    return nats_round_trip(session);
}

static const struct lb_option nats_option_table[] = {
    {"command_timeout", LB_OPT_DURATION, offsetof(struct nats_options, command_timeout_ns), "5s",
     1e6, 600e9, NULL, "longest wait for one answer; then the outcome is unknown"},
    {"nkey", LB_OPT_TEXT, offsetof(struct nats_options, nkey), NULL, 0, 0, NULL,
     "file with the seed of the user's nkey (SU...)"},
    {"creds", LB_OPT_TEXT, offsetof(struct nats_options, creds), NULL, 0, 0, NULL,
     "file with the user's JWT and seed (.creds)"},
    LB_DURABILITY_OPTION(struct nats_options),
    LB_TLS_OPTIONS(struct nats_options, tls),
    {0},
};

static const char *const nats_schemes[] = {"nats", "tls", NULL};

static const struct lb_connector connector = {
    .options = nats_option_table,
    .options_bytes = sizeof(struct nats_options),
    .server_bytes = sizeof(struct nats_server),
    .session_bytes = sizeof(struct nats_session),
    .open = nats_open,
    .close = nats_close,
    .connect = nats_connect,
    .disconnect = nats_disconnect,
    .describe = nats_describe,
    .ping = nats_ping,
    .clean = nats_clean,
};

const struct lb_backend backend_nats = {
    .name = "nats",
    .summary = "NATS with JetStream, one server or a cluster (nats://host1,host2,host3)",
    .schemes = nats_schemes,
    .topologies = (const char *const[]){"nats", "nats-3", NULL},
    .install = "nats-server",
    .connector = &connector,
};
