/* session: connecting to Redis and round trips over the connection. See redis.h. */
#include "drivers/redis/redis_impl.h"

#ifdef LB_HAVE_HIREDIS
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "drivers/redis/sha1.h"
#include "drivers/wait.h"

#define REDIS_PORT 6379

static struct redis_conn *conn_of(struct lb_session *session) {
    return session->state;
}

static int64_t answer_deadline(const struct lb_session *session) {
    const struct redis_options *options = session->server->options;
    return lb_after(lb_now(), options->command_timeout_ns);
}

static int redis_open(struct lb_server *server, struct lb_err *err) {
    struct redis_server *state = server->state;
    return url_parse(&state->url, server->urls[0], REDIS_PORT, err);
}

/* Writes a command in RESP into out. Its length, or 0 if it does not fit. */
static size_t format(char *out, size_t size, const struct redis_word *words, int count) {
    int head = snprintf(out, size, "*%d\r\n", count);
    size_t used = (size_t)head;
    for (int i = 0; i < count; i++) {
        size_t len = words[i].len ? words[i].len : strlen(words[i].text);
        if (used + len + 32 > size) return 0;
        char digits[20];
        int n = 0;
        size_t rest = len;
        do digits[n++] = (char)('0' + rest % 10);
        while ((rest /= 10) > 0);
        out[used++] = '$';
        while (n > 0) out[used++] = digits[--n];
        memcpy(out + used, "\r\n", 2);
        memcpy(out + used + 2, words[i].text, len);
        memcpy(out + used + 2 + len, "\r\n", 2);
        used += len + 4;
    }
    return used;
}

static enum lb_outcome die(struct lb_session *session, enum lb_outcome outcome, const char *what,
                           const char *why) {
    conn_of(session)->dead = true;
    lb_fail(session, outcome, "redis: %s: %s", what, why);
    return outcome;
}

/* Sends all of it. LB_BROKEN if not a byte left, LB_UNKNOWN if some did. */
static enum lb_outcome send_all(struct lb_session *session, const char *data, size_t len,
                                int64_t deadline_ns) {
    int fd = conn_of(session)->context->fd;
    size_t sent = 0;
    while (sent < len) {
        ssize_t wrote = send(fd, data + sent, len - sent, MSG_NOSIGNAL);
        if (wrote > 0) {
            sent += (size_t)wrote;
            continue;
        }
        enum lb_outcome outcome = sent > 0 ? LB_UNKNOWN : LB_BROKEN;
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0 && errno != EAGAIN) return die(session, outcome, "sending", strerror(errno));
        if (lb_wait_edge(fd, LB_WRITABLE, deadline_ns) <= 0)
            return die(session, outcome, "sending", "timed out");
    }
    return LB_OK;
}

/* Waits for one whole reply. */
static enum lb_outcome receive(struct lb_session *session, int64_t deadline_ns) {
    struct redis_conn *conn = conn_of(session);
    redisReader *reader = conn->context->reader;
    conn->reply.count = 0;
    conn->text_used = 0;
    for (;;) {
        int ready = lb_wait_edge(conn->context->fd, LB_READABLE, deadline_ns);
        if (ready < 0) return die(session, LB_UNKNOWN, "waiting", strerror(-ready));
        if (ready == 0 || lb_stopping()) return die(session, LB_UNKNOWN, "no answer", "timed out");
        for (;;) {
            char data[4096];
            ssize_t got = recv(conn->context->fd, data, sizeof data, 0);
            if (got == 0) return die(session, LB_UNKNOWN, "no answer", "the server closed the connection");
            if (got < 0 && errno == EINTR) continue;
            if (got < 0 && errno == EAGAIN) break;
            if (got < 0) return die(session, LB_UNKNOWN, "no answer", strerror(errno));
            void *object = NULL;
            if (redisReaderFeed(reader, data, (size_t)got) != REDIS_OK ||
                redisReaderGetReply(reader, &object) != REDIS_OK) {
                return die(session, LB_UNKNOWN, "bad answer", reader->errstr);
            }
            if (object) return LB_OK;
            /* Half a reply: read on until EAGAIN, for an end that came along with it gives no new edge. */
        }
    }
}

enum lb_outcome redis_call(struct lb_session *session, const struct redis_word *words, int count,
                           const struct redis_reply **ret_reply) {
    struct redis_conn *conn = conn_of(session);
    if (!conn->context || conn->dead) {
        lb_fail(session, LB_BROKEN, "redis: not connected");
        return LB_BROKEN;
    }
    char command[LB_KEY_MAX + 2048];
    size_t len = format(command, sizeof command, words, count);
    if (len == 0) {
        lb_fail(session, LB_REFUSED, "redis: command too long");
        return LB_REFUSED;
    }
    int64_t deadline_ns = answer_deadline(session);
    session->commands++;
    enum lb_outcome outcome = send_all(session, command, len, deadline_ns);
    if (outcome == LB_OK) outcome = receive(session, deadline_ns);
    if (outcome == LB_OK) *ret_reply = &conn->reply;
    return outcome;
}

/* The script's digest, computed on this session's first use of it. */
static const char *sha1_of(struct redis_conn *conn, const struct redis_script *script) {
    int i = 0;
    while (i < REDIS_SCRIPTS_MAX - 1 && conn->scripts[i].script && conn->scripts[i].script != script) i++;
    if (conn->scripts[i].script != script) {
        conn->scripts[i].script = script;
        sha1_hex(script->text, strlen(script->text), conn->scripts[i].sha1);
    }
    return conn->scripts[i].sha1;
}

enum lb_outcome redis_eval(struct lb_session *session, const struct redis_script *script, int keys,
                           const struct redis_word *words, int count, const struct redis_reply **ret_reply) {
    char number[12];
    snprintf(number, sizeof number, "%d", keys);
    struct redis_word all[REDIS_ARGS_MAX] = {
        {"EVALSHA", 7}, {sha1_of(conn_of(session), script), 40}, {number, 0}};
    memcpy(all + 3, words, (size_t)count * sizeof *words);
    const struct redis_reply *reply = NULL;
    enum lb_outcome outcome = redis_call(session, all, count + 3, &reply);
    if (outcome == LB_OK && reply->value.type == REDIS_ERROR &&
        strncmp(reply->value.text, "NOSCRIPT", 8) == 0) {
        all[0] = (struct redis_word){"EVAL", 4};
        all[1] = (struct redis_word){script->text, 0};
        outcome = redis_call(session, all, count + 3, &reply);
    }
    if (outcome == LB_OK) *ret_reply = reply;
    return outcome;
}

enum lb_outcome redis_refuse(struct lb_session *session, const struct redis_reply *reply) {
    static const char *const final[] = {"NOAUTH", "WRONGPASS", "WRONGTYPE", "NOPERM", "ERR", "READONLY"};
    const char *text =
        reply->value.type == REDIS_ERROR ? reply->value.text : "an answer of an unexpected type";
    enum lb_outcome outcome = LB_BROKEN;
    for (size_t i = 0; i < sizeof final / sizeof *final; i++) {
        if (strncmp(text, final[i], strlen(final[i])) == 0) outcome = LB_REFUSED;
    }
    return lb_fail(session, outcome, "redis: %s", text);
}

/* Proves who we are and picks the database, as the URL says, and that the server lets us in. */
static int enter(struct lb_session *session, const struct url *url, struct lb_err *err) {
    const struct redis_reply *reply = NULL;
    if (url->password[0]) {
        struct redis_word words[3] = {{"AUTH", 4}, {url->user, 0}, {url->password, 0}};
        if (!url->user[0]) words[1] = words[2];
        if (redis_call(session, words, url->user[0] ? 3 : 2, &reply) != LB_OK) goto broken;
        if (reply->value.type == REDIS_ERROR) goto refused;
    }
    if (url->path[0]) {
        if (redis_call(session, (struct redis_word[]){{"SELECT", 6}, {url->path, 0}}, 2, &reply) != LB_OK)
            goto broken;
        if (reply->value.type == REDIS_ERROR) goto refused;
    }
    /* A server that is full accepts and then answers the first command with an error: let this be the first.
     */
    if (redis_call(session, (struct redis_word[]){{"PING", 4}}, 1, &reply) != LB_OK) goto broken;
    if (reply->value.type == REDIS_ERROR) goto refused;
    return 0;
broken:
    return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
refused:
    return err_set(err, LB_EXIT_USAGE, "redis at %s:%d refuses: %s", url->host[0], url->port[0],
                   reply->value.text);
}

static int redis_connect(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    struct redis_conn *conn = conn_of(session);
    const struct redis_server *server = session->server->state;
    const char *host = server->url.host[0];
    int port = server->url.port[0];
    session->traffic_fd = -1;
    conn->context = redisConnectNonBlock(host, port);
    if (!conn->context || conn->context->err) {
        return err_set(err, LB_EXIT_MACHINE, "redis at %s:%d: %s", host, port,
                       conn->context ? conn->context->errstr : "out of memory");
    }
    int fd = conn->context->fd;
    int ready = lb_wait_edge(fd, LB_WRITABLE, deadline_ns);
    int failed = 0;
    socklen_t len = sizeof failed;
    if (ready > 0) getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &len);
    if (ready <= 0 || failed) {
        return err_set(err, LB_EXIT_MACHINE, "redis at %s:%d: %s", host, port,
                       failed ? strerror(failed) : "no connection in time");
    }
    /* Edge-triggered from here on for reading only, so that room to write is not reported with each answer.
     */
    lb_fd_forget(fd);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    conn->context->reader->fn = &redis_reply_functions;
    conn->context->reader->privdata = conn;
    session->traffic_fd = fd;
    return enter(session, &server->url, err);
}

static void redis_disconnect(struct lb_session *session) {
    struct redis_conn *conn = conn_of(session);
    if (!conn->context) return;
    lb_fd_forget(conn->context->fd);
    session->traffic_fd = -1;
    redisFree(conn->context);
    conn->context = NULL;
}

/* One "name:value" line of INFO as a fact. */
static void info_fact(struct lb_facts *facts, const char *info, const char *line_name,
                      const char *fact_name) {
    const char *at = strstr(info, line_name);
    if (!at) return;
    at += strlen(line_name);
    lb_fact(facts, fact_name, "%.*s", (int)strcspn(at, "\r\n"), at);
}

static int redis_describe(struct lb_session *session, struct lb_facts *facts, struct lb_err *err) {
    static const char *const settings[] = {"save", "appendonly", "appendfsync", "maxmemory-policy",
                                           "maxclients"};
    const struct redis_reply *reply = NULL;
    if (redis_call(session, (struct redis_word[]){{"INFO", 4}, {"server", 6}}, 2, &reply) != LB_OK)
        goto broken;
    if (reply->value.type == REDIS_STRING) {
        info_fact(facts, reply->value.text, "redis_version:", "version");
        info_fact(facts, reply->value.text, "redis_mode:", "mode");
    }
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        struct redis_word words[3] = {{"CONFIG", 6}, {"GET", 3}, {settings[i], 0}};
        if (redis_call(session, words, 3, &reply) != LB_OK) goto broken;
        /* A managed server may forbid CONFIG: then the fact is missing. */
        if (reply->value.type == REDIS_ARRAY && reply->count == 2) {
            lb_fact(facts, settings[i], "%s", reply->element[1].len ? reply->element[1].text : "(empty)");
        }
    }
    return 0;
broken:
    return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
}

static enum lb_outcome redis_ping(struct lb_session *session, int64_t deadline_ns) {
    (void)deadline_ns; /* command_timeout bounds every round trip */
    const struct redis_reply *reply = NULL;
    enum lb_outcome outcome = redis_call(session, (struct redis_word[]){{"PING", 4}}, 1, &reply);
    if (outcome != LB_OK) return outcome;
    return reply->value.type == REDIS_ERROR ? redis_refuse(session, reply) : LB_OK;
}

static const struct lb_option redis_options[] = {
    {"command_timeout", LB_OPT_DURATION, offsetof(struct redis_options, command_timeout_ns), "5s", 1e6, 600e9,
     NULL, "longest wait for one answer; then the outcome is unknown"},
    {0},
};
#endif

static const char *const redis_schemes[] = {"redis", NULL};

const struct lb_backend backend_redis = {
    .name = "redis",
    .summary = "Redis, one server",
    .schemes = redis_schemes,
    .topologies = (const char *const[]){"redis", NULL},
    .unavailable = LB_WHY_HIREDIS,
    .install = "libhiredis-dev redis-server",
    LB_IF_HIREDIS(.options = redis_options, .options_bytes = sizeof(struct redis_options),
                  .server_bytes = sizeof(struct redis_server), .session_bytes = sizeof(struct redis_conn),
                  .open = redis_open, .connect = redis_connect, .disconnect = redis_disconnect,
                  .describe = redis_describe, .ping = redis_ping, )};
