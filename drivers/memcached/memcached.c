/* memcached: the backend and its lock, over memcached's meta protocol (1.6 and newer).
 *
 * memcached-add: `ms key len ME T<ttl> c` (mode E is add: stored only if absent) takes the lock and
 * answers its CAS number; `md key C<cas>` deletes it only if nobody wrote since: one round trip
 * each, owner-safe. The CAS number grows with each write on a server and starts again when it
 * restarts: the fencing token, while the server lives.
 *
 * memcached counts time in whole seconds on a tick of its own, which comes a little late each time
 * and so now and then skips one: a TTL of n seconds lives n-2 to n seconds (n = 3 was seen to live
 * 1.01 s). So the lease that a grant may rely on is n-2 seconds, and a lease of s seconds (rounded
 * up) is asked for as n = s + 2. Eviction, flush_all and a restart free locks early: this is a
 * cache, and the claims say no more. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/backoff.h"
#include "drivers/clean.h"
#include "drivers/facts.h"
#include "drivers/key_names.h"
#include "drivers/stream.h"
#include "drivers/url.h"
#include "drivers/wait.h"

#define MEMCACHED_PORT 11211
#define KEY_MAX 250                   /* the limit of the protocol */
#define OWNER_BYTES 17                /* 16 digits in hex and a NUL */
#define TICKS_S 2                     /* a TTL may be too short by this time */
#define TTL_MAX_S (60 * 60 * 24 * 30) /* memcached takes a greater number for a date */

struct memcached_server {
    struct url url;
    struct sock_tls *tls; /* NULL = not encrypted */
    bool answered;        /* to the first connection, before there are threads, or to a later one */
};

struct memcached_options {
    int64_t command_timeout_ns;
    struct lb_tls tls;
};

struct add_options {
    struct backoff_options poll;
};

struct add_grant {
    uint64_t cas;
    char owner[OWNER_BYTES]; /* written as the value, so that an outcome in doubt can be settled */
};

static int memcached_open(struct lb_server *server, struct lb_err *err) {
    struct memcached_server *state = server->state;
    const struct memcached_options *options = server->options;
    if (url_parse(&state->url, server->urls[0], MEMCACHED_PORT, err) != 0) return -1;
    if (state->url.path[0] || state->url.host_count != 1)
        return err_set(
            err, LB_EXIT_USAGE,
            "memcached: name one server and nothing else: write memcached://[user:password@]host[:port]");
    if (state->url.user[0] && !state->url.password[0])
        return err_set(err, LB_EXIT_USAGE,
                       "memcached: the URL has a user without a password: write user:password@");
    bool encrypted = strcmp(state->url.scheme, "memcacheds") == 0;
    if (lb_tls_check(&options->tls, encrypted, "memcached", "memcacheds://", err) != 0) return -1;
    if (encrypted) state->tls = sock_tls_open(server, &options->tls, err);
    return encrypted && !state->tls ? -1 : 0;
}

static void memcached_close(struct lb_server *server) {
    struct memcached_server *state = server->state;
    sock_tls_close(state->tls);
    state->tls = NULL;
}

/* Sends a line and waits for the answer to it. 0, or -1 with err. */
static int ask_line(struct lb_session *session, const char *text, int64_t deadline_ns,
                    char **ret_line, struct lb_err *err) {
    struct stream *stream = session->state;
    enum lb_outcome outcome = stream_send(stream, session, text, strlen(text), deadline_ns);
    if (outcome == LB_OK) outcome = stream_line(stream, session, deadline_ns, ret_line);
    if (outcome == LB_OK) return 0;
    return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
}

/* The login of the text protocol: a "set" of any key whose value is the user and the password. A
 * server that asks for no login would store that value where everybody can read it, so we first
 * check that it refuses a command without login. SASL needs the binary protocol, which has no
 * meta commands; a server that requires SASL closes the connection. */
static int log_in_memcached(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    const struct memcached_server *server = session->server->state;
    const struct url *url = &server->url;
    char text[URL_USER_MAX + URL_PASSWORD_MAX + 40], *line = NULL;
    if (ask_line(session, "mn\r\n", deadline_ns, &line, err) != 0) return -1;
    if (strncmp(line, "CLIENT_ERROR unauthenticated", 28) != 0)
        return err_set(
            err, LB_EXIT_USAGE,
            "memcached at %s:%d asks for no password: leave user:password@ out of the URL",
            url->host[0], url->port[0]);
    snprintf(text, sizeof text, "set login 0 0 %zu\r\n%s %s\r\n",
             strlen(url->user) + 1 + strlen(url->password), url->user, url->password);
    if (ask_line(session, text, deadline_ns, &line, err) != 0) return -1;
    if (strcmp(line, "STORED") == 0) return 0;
    return err_set(err, LB_EXIT_USAGE, "memcached at %s:%d refuses the user and password: %.100s",
                   url->host[0], url->port[0], line);
}

/* A server with too many clients takes no more of them, or answers with an error and hangs up: a connection alone says
 * nothing. */
static int check_serves(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    struct memcached_server *server = session->server->state;
    const struct url *url = &server->url;
    struct stream *stream = session->state;
    char *line = NULL;
    if (server->answered) stream->tls_scheme = NULL;
    if (ask_line(session, "version\r\n", deadline_ns, &line, err) != 0) {
        size_t used = strlen(err->text);
        if (server->answered)
            snprintf(err->text + used, sizeof err->text - used,
                     ": it answers others: does it have more clients than its -c?");
        return -1;
    }
    if (!server->answered) server->answered = true;
    if (strncmp(line, "ERROR", 5) != 0) return 0;
    return err_set(err, LB_EXIT_MACHINE, "memcached at %s:%d refuses: %.100s%s", url->host[0],
                   url->port[0], line, strstr(line, "open connections") ? ": raise its -c" : "");
}

static int memcached_connect(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    const struct memcached_server *server = session->server->state;
    struct stream *stream = session->state;
    if (stream_connect(stream, session->server, server->url.host[0], server->url.port[0],
                       deadline_ns, err) != 0) {
        err_prefix(err, "memcached");
        return -1;
    }
    stream->tls_scheme = "memcacheds";
    session->traffic_fd = stream->sock.fd;
    if (server->tls &&
        stream_secure(stream, server->tls, server->url.host[0], deadline_ns, err) != 0) {
        err_prefix(err, "memcached at %s:%d", server->url.host[0], server->url.port[0]);
        return -1;
    }
    return server->url.user[0] ? log_in_memcached(session, deadline_ns, err)
                               : check_serves(session, deadline_ns, err);
}

static void memcached_disconnect(struct lb_session *session) {
    stream_close(session->state);
}

/* Sends a command and waits for the first line of its answer. LB_OK, LB_UNKNOWN, LB_BROKEN. */
static enum lb_outcome memcached_call(struct lb_session *session, const char *command, size_t len,
                                      char **ret_line) {
    const struct memcached_options *options = session->server->options;
    int64_t deadline_ns = lb_after(lb_now(), options->command_timeout_ns);
    session->commands++;
    enum lb_outcome outcome = stream_send(session->state, session, command, len, deadline_ns);
    return outcome == LB_OK ? stream_line(session->state, session, deadline_ns, ret_line) : outcome;
}

/* Fails the operation, because the server's line is no answer to the command. */
static enum lb_outcome memcached_odd(struct lb_session *session, const char *line) {
    bool ours = strncmp(line, "CLIENT_ERROR", 12) == 0 || strncmp(line, "ERROR", 5) == 0;
    const char *advice = strstr(line, "unauthenticated") ? ": write user:password@ in the URL" : "";
    return lb_fail(session, ours ? LB_REFUSED : LB_BROKEN, "memcached answered: %s%s", line,
                   advice);
}

static enum lb_outcome memcached_ping(struct lb_session *session, int64_t deadline_ns) {
    (void)deadline_ns; /* command_timeout bounds every round trip */
    char *line = NULL;
    enum lb_outcome outcome = memcached_call(session, "mn\r\n", 4, &line);
    if (outcome != LB_OK) return outcome;
    return strcmp(line, "MN") == 0 ? LB_OK : memcached_odd(session, line);
}

static int memcached_describe(struct lb_session *session, struct lb_facts *facts,
                              struct lb_err *err) {
    const struct memcached_options *options = session->server->options;
    char *line = NULL;
    if (memcached_call(session, "version\r\n", 9, &line) != LB_OK)
        return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
    lb_fact(facts, "version", "%s", strncmp(line, "VERSION ", 8) == 0 ? line + 8 : line);
    lb_facts_durability(facts, "memory", "in memory, gone with the process");
    sock_facts(&((const struct stream *)session->state)->sock, &options->tls, facts);
    return 0;
}

/* memcached takes no spaces and control characters in a key, and at most 250 bytes. */
static bool key_fits(const struct lb_request *request) {
    if (request->key_len > KEY_MAX || request->key_len == 0) return false;
    for (size_t i = 0; i < request->key_len; i++) {
        unsigned char c = (unsigned char)request->key[i];
        if (c <= 0x20 || c == 0x7f) return false;
    }
    return true;
}

/* The TTL that is certain to last for the lease, and the time for which it is certain to last. */
static int64_t ttl_s(int64_t lease_ns) {
    int64_t ttl = (lease_ns + LB_S_NS - 1) / LB_S_NS + TICKS_S;
    return ttl > TTL_MAX_S ? TTL_MAX_S : ttl;
}

static int64_t sure_ns(int64_t lease_ns) {
    return (ttl_s(lease_ns) - TICKS_S) * LB_S_NS;
}

/* The number after flag in "HD c123"; 0 = there is none. */
static uint64_t memcached_flag(const char *line, char flag) {
    for (const char *at = strchr(line, ' '); at; at = strchr(at + 1, ' ')) {
        if (at[1] == flag) return strtoull(at + 2, NULL, 10);
    }
    return 0;
}

static enum lb_outcome add_acquire(struct lb_session *session, const struct lb_request *request,
                                   struct lb_grant *grant) {
    struct add_grant *mine = grant->data;
    const struct add_options *options = session->options;
    if (!key_fits(request)) {
        return lb_fail(session, LB_REFUSED,
                       "memcached: a key has 1 to %d bytes without spaces or control characters",
                       KEY_MAX);
    }
    snprintf(mine->owner, sizeof mine->owner, "%016llx",
             (unsigned long long)rng_u64(&session->rng));
    char command[KEY_MAX + 96];
    int len = snprintf(command, sizeof command, "ms %s 16 ME T%lld c\r\n%s\r\n", request->key,
                       (long long)ttl_s(request->lease_ns), mine->owner);
    struct backoff backoff;
    backoff_start(&backoff, &options->poll);
    bool once = request->deadline_ns <= lb_now();
    for (;;) {
        char *line = NULL;
        int64_t sent_ns = lb_now();
        enum lb_outcome outcome = memcached_call(session, command, (size_t)len, &line);
        if (outcome != LB_OK) return outcome;
        if (strncmp(line, "HD", 2) == 0) {
            mine->cas = memcached_flag(line, 'c');
            if (mine->cas == 0) {
                return lb_fail(
                    session, LB_REFUSED,
                    "memcached gives no CAS numbers, without which no lock can be freed safely: "
                    "start it without -C");
            }
            return lb_granted(grant, mine->cas, sent_ns + sure_ns(request->lease_ns));
        }
        if (strncmp(line, "NS", 2) != 0) return memcached_odd(session, line);
        if (once) return LB_BUSY;
        if (!backoff_sleep(&backoff, session, request->deadline_ns)) return LB_TIMEOUT;
    }
}

static enum lb_outcome add_release(struct lb_session *session, const struct lb_request *request,
                                   struct lb_grant *grant) {
    const struct add_grant *mine = grant->data;
    char command[KEY_MAX + 40], *line = NULL;
    int len = snprintf(command, sizeof command, "md %s C%llu\r\n", request->key,
                       (unsigned long long)mine->cas);
    enum lb_outcome outcome = memcached_call(session, command, (size_t)len, &line);
    if (outcome != LB_OK) return outcome;
    if (strncmp(line, "HD", 2) == 0) return LB_OK;
    /* EX: another client has written since. NF: the item is gone. */
    return strncmp(line, "EX", 2) == 0 || strncmp(line, "NF", 2) == 0
               ? LB_LOST
               : memcached_odd(session, line);
}

static enum lb_outcome add_renew(struct lb_session *session, const struct lb_request *request,
                                 struct lb_grant *grant) {
    struct add_grant *mine = grant->data;
    char command[KEY_MAX + 96], *line = NULL;
    int len =
        snprintf(command, sizeof command, "ms %s 16 T%lld C%llu c\r\n%s\r\n", request->key,
                 (long long)ttl_s(request->lease_ns), (unsigned long long)mine->cas, mine->owner);
    int64_t sent_ns = lb_now();
    enum lb_outcome outcome = memcached_call(session, command, (size_t)len, &line);
    if (outcome != LB_OK) return outcome;
    if (strncmp(line, "HD", 2) == 0) {
        /* The release needs the new CAS number of this write. The fencing token stays that of the
         * grant. */
        mine->cas = memcached_flag(line, 'c');
        grant->lease_end_ns = sent_ns + sure_ns(request->lease_ns);
        return LB_OK;
    }
    return strncmp(line, "EX", 2) == 0 || strncmp(line, "NF", 2) == 0
               ? LB_LOST
               : memcached_odd(session, line);
}

/* Reads the value after the line "VA <length> ...". Another program may have written any bytes. Writes an
 * owner's text, and "" for a longer value. */
static enum lb_outcome read_owner(struct lb_session *session, const char *line,
                                  char owner[OWNER_BYTES]) {
    const struct memcached_options *options = session->server->options;
    size_t len = strtoull(line + 3, NULL, 10);
    bool fits = len < OWNER_BYTES;
    int64_t deadline_ns = lb_after(lb_now(), options->command_timeout_ns);
    enum lb_outcome outcome =
        stream_take(session->state, session, deadline_ns, fits ? owner : NULL, len);
    owner[fits ? len : 0] = '\0';
    return outcome == LB_OK ? stream_take(session->state, session, deadline_ns, NULL, 2) : outcome;
}

/* The add may have arrived: read the value, and delete it by its CAS number if it is ours. */
static enum lb_outcome add_settle(struct lb_session *session, const struct lb_request *request,
                                  struct lb_grant *grant) {
    struct add_grant *mine = grant->data;
    char command[KEY_MAX + 16], *line = NULL;
    int len = snprintf(command, sizeof command, "mg %s v c\r\n", request->key);
    enum lb_outcome outcome = memcached_call(session, command, (size_t)len, &line);
    if (outcome != LB_OK) return outcome;
    if (strncmp(line, "EN", 2) == 0) return LB_OK; /* nothing there */
    if (strncmp(line, "VA ", 3) != 0) return memcached_odd(session, line);
    mine->cas = memcached_flag(line, 'c');
    char owner[OWNER_BYTES];
    outcome = read_owner(session, line, owner);
    if (outcome != LB_OK) return outcome;
    if (!owner[0] || strcmp(owner, mine->owner) != 0) return LB_OK;
    outcome = add_release(session, request, grant);
    return outcome == LB_LOST ? LB_OK : outcome;
}

/* True if a key as metadump writes it ("%3A" for ':') begins with prefix. */
static bool key_begins(const char *key, const char *prefix) {
    for (; *prefix; prefix++, key++) {
        unsigned c = (unsigned char)*key;
        if (c == '%') {
            if (!isxdigit((unsigned char)key[1]) || !isxdigit((unsigned char)key[2])) return false;
            sscanf(key + 1, "%2x", &c);
            key += 2;
        }
        if (c != (unsigned char)*prefix) return false;
    }
    return true;
}

/* Counts the items by asking for the keys' names. */
static int count_named(struct lb_session *session, const char *prefix, struct lb_residue *residue,
                       struct lb_err *err) {
    for (uint32_t i = 0; i < session->only->count; i++) {
        char command[KEY_MAX + 16], *line = NULL;
        int len = snprintf(command, sizeof command, "mg %s%u\r\n", prefix, i);
        if (memcached_call(session, command, (size_t)len, &line) != LB_OK)
            return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
        lb_left(residue, strncmp(line, "HD", 2) == 0, "item %.100s%u", prefix, i);
    }
    return 0;
}

/* Lists all items that have not expired. This suits a benchmark's server, not one with millions
 * of items. */
static int add_residue(struct lb_session *session, const char *prefix, struct lb_residue *residue,
                       struct lb_err *err) {
    const struct memcached_options *options = session->server->options;
    char *line = NULL;
    if (session->only) return count_named(session, prefix, residue, err);
    if (memcached_call(session, "lru_crawler metadump all\r\n", 26, &line) != LB_OK) goto broken;
    int64_t deadline_ns = lb_after(lb_now(), options->command_timeout_ns);
    while (strncmp(line, "key=", 4) == 0) {
        lb_left(residue, key_begins(line + 4, prefix), "item %.*s", (int)strcspn(line + 4, " "),
                line + 4);
        if (stream_line(session->state, session, deadline_ns, &line) != LB_OK) goto broken;
    }
    if (strcmp(line, "END") != 0)
        return err_set(err, LB_EXIT_MACHINE, "memcached answered: %.80s", line);
    return 0;
broken:
    return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
}

/* --- cleaning --- */

/* Sends a command for an item. 0, and whether the item exists; -1 with err. */
static int ask_item(struct lb_session *session, const char *verb, const char *key, bool *ret_there,
                    struct lb_err *err) {
    char command[KEY_MAX + 40], *line = NULL;
    int len = snprintf(command, sizeof command, "%s %s\r\n", verb, key);
    *ret_there = false;
    if ((size_t)len >= sizeof command || strpbrk(key, " \t\r\n")) return 0; /* it can't exist */
    enum lb_outcome outcome = memcached_call(session, command, (size_t)len, &line);
    if (outcome == LB_OK) {
        *ret_there = strncmp(line, "HD", 2) == 0;
        if (*ret_there || strncmp(line, "NF", 2) == 0 || strncmp(line, "EN", 2) == 0) return 0;
        memcached_odd(session, line);
    }
    return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
}

/* Removes items of keys whose names are known. A memcached lists its keys only as a dump of all items, so items that
 * other runs left are not searched for: each ends by its own time to live. */
static int memcached_clean(struct lb_session *session, struct lb_cleaning *cleaning,
                           struct lb_err *err) {
    bool there;
    if (cleaning->scope == LB_CLEAN_KEY) {
        if (ask_item(session, "mg", cleaning->name, &there, err) != 0) return -1;
        if (!there || !lb_clean_found(cleaning, "item", "%s", cleaning->name)) return 0;
        return ask_item(session, "md", cleaning->name, &there, err);
    }
    for (uint32_t i = 0; cleaning->scope == LB_CLEAN_STAGE && i < cleaning->count && !lb_stopping();
         i++) {
        char key[KEY_MAX];
        snprintf(key, sizeof key, "%s%u", cleaning->name, i);
        if (ask_item(session, "md", key, &there, err) != 0) return -1;
    }
    if (cleaning->scope == LB_CLEAN_LEFT)
        snprintf(cleaning->unseen, sizeof cleaning->unseen,
                 "memcached lists no keys: items of runs end by their own time to live, and "
                 "`clean --key NAME` removes one by its name");
    return 0;
}

static const struct lb_option memcached_options[] = {
    {"command_timeout", LB_OPT_DURATION, offsetof(struct memcached_options, command_timeout_ns),
     "5s", 1e6, 600e9, NULL, "longest wait for one answer; then the outcome is unknown"},
    LB_TLS_OPTIONS(struct memcached_options, tls),
    {0},
};

static const struct lb_option add_options[] = {
    BACKOFF_OPTIONS(struct add_options, poll, "1ms", "64ms"),
    {0},
};

static const char *const memcached_schemes[] = {"memcached", "memcacheds", NULL};

static const struct lb_connector connector = {
    .options = memcached_options,
    .options_bytes = sizeof(struct memcached_options),
    .server_bytes = sizeof(struct memcached_server),
    .session_bytes = sizeof(struct stream),
    .open = memcached_open,
    .close = memcached_close,
    .connect = memcached_connect,
    .disconnect = memcached_disconnect,
    .describe = memcached_describe,
    .ping = memcached_ping,
    .clean = memcached_clean,
};

const struct lb_backend backend_memcached = {
    .name = "memcached",
    .summary = "memcached, one server",
    .schemes = memcached_schemes,
    .topologies = (const char *const[]){"memcached", NULL},
    .install = "memcached",
    .connector = &connector,
};

static void add_names(const struct lb_session *session, const struct lb_request *request,
                      struct lb_names *names) {
    (void)session;
    if (key_fits(request)) lb_names_add(names, "key", "%s", request->key);
}

static const struct lb_algorithm algorithm = {
    .options = add_options,
    .causes = backoff_causes,
    .options_bytes = sizeof(struct add_options),
    .grant_bytes = sizeof(struct add_grant),
    .acquire = add_acquire,
    .release = add_release,
    .renew = add_renew,
    .settle = add_settle,
    .residue = add_residue,
    .names = add_names,
};

const struct lb_lock lock_memcached_add = {
    .name = "memcached-add",
    .summary = "meta set in add mode, delete by CAS number",
    .backend = &backend_memcached,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_LEASE | LB_CAP_RENEW | LB_CAP_FENCE,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_CRASH_RELEASE,
    .waits = "poll",
    .about = {.compatible =
                  "every client that adds the key: ms ... ME, or add in the older protocols",
              .order = "none",
              .token = "the item's CAS number, while the server runs",
              .hazards =
                  "a cache: eviction, flush_all and a restart free it early; time is in whole "
                  "seconds, so a lease is up to 2 s shorter than its TTL",
              LB_TERMS(1, 1, LB_ON_ONE_NODE, LB_CRASH_LEASE),
              .crash_slack_ns = (TICKS_S + 1) * LB_S_NS},
    .algorithm = &algorithm,
};
