/* conn: one connection to one Redis server: RESP over a socket that is waited for edge-triggered.
 * See redis_impl.h. hiredis parses. */
#define _GNU_SOURCE /* POLLRDHUP */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drivers/redis/redis_impl.h"
#include "drivers/stream.h"
#include "drivers/wait.h"

/* reply: hiredis' parser, writing replies into the connection instead of allocating them. */

const char redis_ok[] = "OK";

static struct redis_value *place(const redisReadTask *task) {
    struct redis_conn *conn = task->privdata;
    struct redis_reply *reply = conn->filling;
    if (!task->parent) return &reply->value;
    static _Thread_local struct redis_value dropped;
    reply->total++;
    if (reply->count == REDIS_ELEMENTS_MAX) return &dropped;
    return &reply->element[reply->count++];
}

static void *on_text(const redisReadTask *task, char *text, size_t len) {
    struct redis_conn *conn = task->privdata;
    struct redis_value *value = place(task);
    if (task->type == REDIS_REPLY_STATUS && len == 2 && memcmp(text, redis_ok, 2) == 0) {
        *value = (struct redis_value){.type = REDIS_STATUS, .text = redis_ok, .len = len};
        return value;
    }
    /* A reply longer than the buffer is cut; answers to INFO and CLUSTER NODES may be so long. */
    size_t room = sizeof conn->text - conn->text_used;
    size_t keep = room == 0 ? 0 : len < room ? len : room - 1;
    char *at = conn->text + conn->text_used;
    if (room > 0) {
        memcpy(at, text, keep);
        at[keep] = '\0';
        conn->text_used += keep + 1;
    }
    *value = (struct redis_value){.type = task->type == REDIS_REPLY_ERROR    ? REDIS_ERROR
                                          : task->type == REDIS_REPLY_STATUS ? REDIS_STATUS
                                                                             : REDIS_STRING,
                                  .text = room > 0 ? at : "",
                                  .len = keep};
    return value;
}

#if HIREDIS_MAJOR >= 1
static void *on_array(const redisReadTask *task, size_t count) {
#else
static void *on_array(const redisReadTask *task, int count) {
#endif
    if (task->parent) return task->privdata; /* nested: flattened */
    struct redis_value *value = place(task);
    *value = (struct redis_value){.type = REDIS_ARRAY, .integer = (long long)count, .text = ""};
    return value;
}

static void *on_integer(const redisReadTask *task, long long number) {
    struct redis_value *value = place(task);
    *value = (struct redis_value){.type = REDIS_INTEGER, .integer = number, .text = ""};
    return value;
}

static void *on_nil(const redisReadTask *task) {
    struct redis_value *value = place(task);
    *value = (struct redis_value){.type = REDIS_NIL, .text = ""};
    return value;
}

static void on_free(void *object) {
    (void)object; /* nothing was allocated */
}

redisReplyObjectFunctions redis_reply_functions = {
    .createString = on_text,
    .createArray = on_array,
    .createInteger = on_integer,
    .createNil = on_nil,
    .freeObject = on_free,
};

const char *redis_after(const struct redis_reply *reply, const char *name) {
    for (int i = 0; i + 1 < reply->count; i += 2) {
        if (strcmp(reply->element[i].text, name) == 0) return reply->element[i + 1].text;
    }
    return "";
}

#define OUT_BYTES (16 * 1024) /* room for the commands of one round trip */
#define PART_BYTES_MAX                                                                             \
    (1024 * 1024) /* limit of one line or text of a reply; no reply to our commands is larger */
#define UNWAITED_BYTES_MAX (64 * 1024) /* after so many bytes without a wait the time is checked */
#define FAREWELL_NS (200 * LB_MS_NS)   /* limit of the wait for owed replies before closing */

enum lb_outcome conn_die(struct redis_conn *conn, enum lb_outcome outcome, const char *what,
                         const char *why) {
    conn->dead = true;
    return lb_fail(conn->session, outcome, "redis: %s: %s", what, why);
}

const char *conn_why_late(void) {
    return lb_stopping() ? "cut off while waiting" : "timed out";
}

bool conn_is_closed(const struct redis_conn *conn) {
    struct pollfd look = {.fd = conn->sock.fd, .events = POLLRDHUP};
    return poll(&look, 1, 0) > 0 && (look.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

/* --- writing --- */

/* Writes a header of RESP: "$5" or "*3" and the line's end. */
static size_t put_number(char *out, char kind, size_t number) {
    out[0] = kind;
    size_t used = 1 + redis_decimal(number, out + 1);
    out[used++] = '\r';
    out[used++] = '\n';
    return used;
}

/* All connections of a thread share one buffer. A buffer in each connection would cost 16 KiB a
 * client. */
static _Thread_local struct {
    size_t used;
    char bytes[OUT_BYTES];
} out;

static bool put_words(const struct redis_word *words, int count) {
    for (int i = 0; i < count; i++) {
        size_t len = words[i].len ? words[i].len : strlen(words[i].text);
        if (out.used + len + 32 > sizeof out.bytes) return false;
        char *at = out.bytes + out.used;
        size_t head = put_number(at, '$', len);
        memcpy(at + head, words[i].text, len);
        memcpy(at + head + len, "\r\n", 2);
        out.used += head + len + 2;
    }
    return true;
}

void conn_begin(void) {
    out.used = 0;
}

bool conn_put(const struct redis_word *head, int head_count, const struct redis_word *words,
              int count) {
    if (out.used + 32 > sizeof out.bytes) return false;
    out.used += put_number(out.bytes + out.used, '*', (size_t)head_count + (size_t)count);
    return put_words(head, head_count) && put_words(words, count);
}

/* Adds the connection's bytes to the session's, unless the core counts them by itself. */
static void count_bytes(struct redis_conn *conn) {
    uint64_t bytes = sock_take_bytes(&conn->sock);
    if (!conn->counted) conn->session->more_bytes += bytes;
}

/* Sends as many bytes as the socket takes at once: *ret_sent. LB_OK even if that is only a part. */
static enum lb_outcome send_some(struct redis_conn *conn, const char *data, size_t len, bool began,
                                 size_t *ret_sent) {
    size_t sent = 0;
    while (sent < len) {
        ssize_t wrote = sock_send(&conn->sock, data + sent, len - sent);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0 && errno == EAGAIN) break;
        if (wrote < 0)
            return conn_die(conn, began || sent > 0 ? LB_UNKNOWN : LB_BROKEN, "sending",
                            sock_error(&conn->sock, errno));
        sent += (size_t)wrote;
        count_bytes(conn);
    }
    *ret_sent = sent;
    return LB_OK;
}

/* Sends the bytes that did not fit into the socket's buffer. They are copied first, because other
 * fibers use the thread's buffer meanwhile. */
static enum lb_outcome send_rest(struct redis_conn *conn, const char *rest, size_t len, bool began,
                                 int64_t deadline_ns) {
    char *copy = malloc(len);
    if (!copy) return conn_die(conn, began ? LB_UNKNOWN : LB_BROKEN, "sending", "out of memory");
    memcpy(copy, rest, len);
    enum lb_outcome outcome = LB_OK;
    for (size_t at = 0, sent = 0; at < len && outcome == LB_OK; at += sent, sent = 0) {
        bool any = began || at > 0;
        if (sock_wait(&conn->sock, LB_WRITABLE, deadline_ns) > 0)
            outcome = send_some(conn, copy + at, len - at, any, &sent);
        else
            outcome = conn_die(conn, any ? LB_UNKNOWN : LB_BROKEN, "sending", "timed out");
    }
    free(copy);
    return outcome;
}

enum lb_outcome conn_send(struct redis_conn *conn, int64_t deadline_ns) {
    size_t sent = 0;
    enum lb_outcome outcome = send_some(conn, out.bytes, out.used, false, &sent);
    if (outcome != LB_OK || sent == out.used) return outcome;
    return send_rest(conn, out.bytes + sent, out.used - sent, sent > 0, deadline_ns);
}

/* --- reading --- */

/* All connections of a thread share one parser and one buffer to read into. With thousands of
 * connections, the memory of a parser each would be in no cache when an answer comes. A connection
 * whose answer is not complete keeps the shared parser, and the thread takes that connection's own
 * parser in exchange. */
static _Thread_local struct {
    redisReader *reader;
    int connections;
    char bytes[4096];
} in;

static int join_thread(struct redis_conn *conn) {
    if (!in.reader) in.reader = redisReaderCreateWithFunctions(&redis_reply_functions);
    if (in.reader) conn->reader = redisReaderCreateWithFunctions(&redis_reply_functions);
    if (!conn->reader) return -1;
    in.connections++;
    return 0;
}

static void leave_thread(void) {
    if (--in.connections > 0) return;
    redisReaderFree(in.reader);
    in.reader = NULL;
}

static redisReader *reader_of(struct redis_conn *conn) {
    redisReader *reader = conn->half_read ? conn->reader : in.reader;
    reader->privdata = conn;
    return reader;
}

/* Called after a parser was used: the connection keeps it if it still contains unparsed or half-parsed bytes. */
static void keep_reader(struct redis_conn *conn, redisReader *reader) {
    bool done = reader->pos == reader->len && reader->ridx < 0 && !reader->err;
    if (!done && !conn->half_read) {
        in.reader = conn->reader;
        conn->reader = reader;
    }
    conn->half_read = !done;
}

static void begin_reply(struct redis_conn *conn, int index) {
    conn->filling = &conn->reply[index];
    conn->filling->count = conn->filling->total = 0;
}

/* Parses the bytes that were read. 1: all wanted replies are complete; 0: more bytes must come; -1: the
 * bytes are not RESP. */
static int parse(struct redis_conn *conn, redisReader *reader, int wanted) {
    while (conn->owed > 0 || conn->have < wanted) {
        void *object = NULL;
        if (redisReaderGetReply(reader, &object) != REDIS_OK) return -1;
        if (!object) return 0;
        if (conn->owed > 0) {
            conn->owed--;
            conn->text_used = 0;
            begin_reply(conn, 0);
        } else if (++conn->have < wanted) {
            begin_reply(conn, conn->have);
        }
    }
    return 1;
}

/* The same after new bytes have come (len 0: for the bytes that are left from before). */
static int parse_bytes(struct redis_conn *conn, const char *bytes, size_t len, int wanted) {
    redisReader *reader = reader_of(conn);
    bool fed = len == 0 || redisReaderFeed(reader, bytes, len) == REDIS_OK;
    int done = fed ? parse(conn, reader, wanted) : -1;
    keep_reader(conn, reader);
    return done;
}

static size_t unparsed_bytes(const struct redis_conn *conn) {
    return conn->half_read ? conn->reader->len - conn->reader->pos : 0;
}

/* Waits for replies. unasked: for messages, which are not answers. A further message, or the end of the
 * connection, may have arrived together with the bytes that were read. Such an arrival gives no new edge,
 * so the socket is read again before the next wait; and lb_wake ends the wait as its deadline would. */
static enum lb_outcome receive_replies(struct redis_conn *conn, int wanted, int64_t deadline_ns,
                                       bool unasked) {
    conn->have = 0;
    if (conn->owed == 0 &&
        !(conn->half_read && conn->reader->ridx >= 0)) { /* a half-read reply is dropped */
        conn->text_used = 0;
        begin_reply(conn, 0);
    }
    bool late = false;
    int done = unparsed_bytes(conn) > 0 ? parse_bytes(conn, NULL, 0, wanted) : 0;
    while (done == 0) {
        int ready = conn->unread ? LB_READABLE : sock_wait(&conn->sock, LB_READABLE, deadline_ns);
        if (ready < 0) return conn_die(conn, LB_UNKNOWN, "waiting", strerror(-ready));
        /* The socket is read once more: the answer may have arrived while other waits of this fiber
         * used up the time. */
        late = ready == 0 || (unasked && ready == LB_WOKEN) || lb_stopping();
        size_t unwaited = 0;
        while (done == 0) {
            ssize_t got = sock_recv(&conn->sock, in.bytes, sizeof in.bytes);
            conn->unread = unasked && (got > 0 || (got < 0 && errno == EINTR));
            if (got == 0)
                return conn_die(conn, LB_UNKNOWN, "no answer", "the server closed the connection");
            if (got < 0 && errno == EINTR) continue;
            if (got < 0 && errno == EAGAIN) break;
            if (got < 0)
                return conn_die(conn, LB_UNKNOWN, "no answer", sock_error(&conn->sock, errno));
            count_bytes(conn);
            done = parse_bytes(conn, in.bytes, (size_t)got, wanted);
            /* The reply is incomplete. Reading continues until EAGAIN, because the end of the
             * connection may have arrived with these bytes and gives no new edge. A server that never stops
             * talking gives no EAGAIN: its time and the reader's memory are limited here. */
            if (done == 0 && unparsed_bytes(conn) > PART_BYTES_MAX)
                return conn_die(conn, LB_UNKNOWN, "bad answer", "too long");
            unwaited += (size_t)got;
            if (done != 0 || unwaited < UNWAITED_BYTES_MAX) continue;
            if (lb_now() >= deadline_ns || lb_stopping())
                return conn_die(conn, LB_UNKNOWN, "no whole answer", conn_why_late());
            unwaited = 0;
            lb_yield();
        }
        if (late && done == 0) return LB_TIMEOUT;
    }
    if (done < 0) return conn_die(conn, LB_UNKNOWN, "bad answer", conn->reader->errstr);
    return LB_OK;
}

enum lb_outcome conn_receive(struct redis_conn *conn, int wanted, int64_t deadline_ns) {
    return receive_replies(conn, wanted, deadline_ns, false);
}

enum lb_outcome conn_receive_next(struct redis_conn *conn, int64_t deadline_ns) {
    return receive_replies(conn, 1, deadline_ns, true);
}

int conn_ask(struct redis_conn *conn, const struct redis_word *words, int count,
             int64_t deadline_ns, struct lb_err *err) {
    struct lb_session *session = conn->session;
    conn_begin();
    if (!conn_put(words, count, NULL, 0))
        return err_set(err, LB_EXIT_USAGE, "redis: command too long");
    session->commands++;
    enum lb_outcome outcome = conn_send(conn, deadline_ns);
    if (outcome == LB_OK) outcome = conn_receive(conn, 1, deadline_ns);
    if (outcome == LB_TIMEOUT) conn_die(conn, LB_UNKNOWN, "no answer", conn_why_late());
    if (outcome == LB_OK) return 0;
    return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
}

/* --- opening and closing --- */

/* Of a server's sentence without its full stop, since our error goes on or ends there. */
static int length_without_stop(const char *text) {
    size_t length = strlen(text);
    return (int)(length > 0 && text[length - 1] == '.' ? length - 1 : length);
}

/* What to do about a login that was refused, to follow the server's words; "" where it was none. */
static const char *login_advice(const char *refusal, bool sentinel) {
    bool wanted = strncmp(refusal, "NOAUTH", 6) == 0, wrong = strncmp(refusal, "WRONGPASS", 9) == 0;
    if (!wanted && !wrong) return "";
    if (sentinel) return ": check the file of redis.sentinel_login";
    return wanted ? ": write user:password@ or :password@ in the URL"
                  : ": check the user and password of the URL";
}

/* Logs in, selects the database, and verifies that the server accepts commands. */
static int log_in(struct redis_conn *conn, const char *host, int port, bool sentinel,
                  int64_t deadline_ns, struct lb_err *err) {
    const struct redis_server *server = redis_server_of(conn->session);
    const struct url *url = &server->url;
    const struct redis_reply *reply = &conn->reply[0];
    const struct redis_word select[] = {{"SELECT", 6}, {server->database, 0}};
    const char *user = sentinel ? server->sentinels.user : url->user;
    const char *password = sentinel ? server->sentinels.password : url->password;
    struct redis_word auth[3] = {{"AUTH", 4}, {user, 0}, {password, 0}};
    if (!user[0]) auth[1] = auth[2];
    if (password[0]) {
        if (conn_ask(conn, auth, user[0] ? 3 : 2, deadline_ns, err) != 0) return -1;
        if (reply->value.type == REDIS_ERROR) goto refused;
    }
    if (server->database[0] && !sentinel) {
        if (conn_ask(conn, select, 2, deadline_ns, err) != 0) return -1;
        if (reply->value.type == REDIS_ERROR) goto refused;
    }
    /* A server with too many clients accepts the connection and answers its first command with an
     * error. This PING is that first command. */
    if (conn_ask(conn, (const struct redis_word[]){{"PING", 4}}, 1, deadline_ns, err) != 0)
        return -1;
    if (reply->value.type == REDIS_ERROR) goto refused;
    return 0;
refused:
    return err_set(
        err, strncmp(reply->value.text, "LOADING", 7) == 0 ? LB_EXIT_MACHINE : LB_EXIT_USAGE,
        "redis at %s:%d refuses: %.*s%s", host, port, length_without_stop(reply->value.text),
        reply->value.text, login_advice(reply->value.text, sentinel));
}

int conn_open(struct redis_conn *conn, struct lb_session *session, const char *host, int port,
              bool sentinel, int64_t deadline_ns, struct lb_err *err) {
    struct lb_err why = {0};
    int fd = stream_dial(session->server, host, port, deadline_ns, &why);
    if (fd < 0) return err_set(err, LB_EXIT_MACHINE, "redis: %s", why.text);
    if (join_thread(conn) != 0) {
        close(fd);
        return err_set(err, LB_EXIT_MACHINE, "redis at %s:%d: out of memory", host, port);
    }
    conn->session = session;
    conn->sock.fd = fd;
    const struct sock_tls *tls = redis_server_of(session)->tls;
    if (tls && sock_secure(&conn->sock, tls, host, deadline_ns, err) != 0) {
        err_prefix(err, "redis at %s:%d", host, port);
        return -1;
    }
    if (log_in(conn, host, port, sentinel, deadline_ns, &why) == 0) return 0;
    const struct url *url = &redis_server_of(session)->url; /* "redis+cluster" */
    char scheme[sizeof url->scheme + 1];
    snprintf(scheme, sizeof scheme, "rediss%s", url->scheme + strlen("redis"));
    return err_set(err, why.code, "%s%s", why.text, sock_advice(&conn->sock, scheme));
}

void conn_close(struct redis_conn *conn) {
    if (!conn->reader) return;
    /* Closing a socket with unread answers resets the connection, and then the server may drop commands that
     * it has not carried out yet. */
    if (conn->owed > 0 && !conn->dead) conn_receive(conn, 0, lb_now() + FAREWELL_NS);
    lb_fd_forget(conn->sock.fd);
    sock_end(&conn->sock);
    close(conn->sock.fd);
    redisReaderFree(conn->reader);
    conn->reader = NULL;
    leave_thread();
}
