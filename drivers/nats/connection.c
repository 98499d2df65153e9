/* connection: see nats.h. It reads what NATS's client protocol has: INFO, MSG, HMSG, PING, PONG,
 * +OK, -ERR. */
#define _GNU_SOURCE /* for POLLRDHUP */

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "drivers/nats/nats.h"
#include "drivers/wait.h"

/* A message that arrived: its subscription and, for an answer, the number at the end of its
 * subject. */
struct arrival {
    unsigned sid, number;
    bool pong;
    struct nats_message message;
};

static int64_t answer_deadline(struct lb_session *session) {
    return lb_after(lb_now(), nats_session_of(session)->patience_ns);
}

static enum lb_outcome fail_odd_line(struct lb_session *session, const char *line) {
    struct stream *stream = &nats_session_of(session)->stream;
    stream->dead = true;
    bool denied = strstr(line, "Permissions Violation") != NULL;
    return lb_fail(session, LB_UNKNOWN, "nats at %s:%d said: %.200s%s", stream->host, stream->port,
                   line,
                   denied ? ": in the server's configuration: permissions { publish: "
                            "[\"$JS.API.>\", \"$KV.>\"], subscribe: \"_INBOX.>\" }, then "
                            "nats-server --signal reload"
                          : "");
}

/* The value of a header line with this name; NULL for other lines. */
static const char *header_value(const char *line, const char *name) {
    size_t len = strlen(name);
    if (strncasecmp(line, name, len) != 0 || line[len] != ':') return NULL;
    return line + len + 1 + strspn(line + len + 1, " ");
}

/* Reads the header lines of a message, up to the empty one. */
static enum lb_outcome read_headers(struct lb_session *session, int64_t deadline_ns,
                                    struct nats_message *message) {
    struct stream *stream = &nats_session_of(session)->stream;
    char *line;
    for (bool first = true;; first = false) {
        enum lb_outcome outcome = stream_line(stream, session, deadline_ns, &line);
        if (outcome != LB_OK) return outcome;
        if (!*line) return LB_OK;
        const char *value;
        if (first) {
            message->status = strncmp(line, "NATS/1.0 ", 9) == 0 ? atoi(line + 9) : 0;
        } else if ((value = header_value(line, "KV-Operation"))) {
            message->deleted = strcmp(value, "DEL") == 0 || strcmp(value, "PURGE") == 0;
        } else if ((value = header_value(line, "Nats-Sequence"))) {
            message->sequence = strtoull(value, NULL, 10);
        }
    }
}

/* The stream's sequence in the reply subject of a message that a consumer delivers:
 * "$JS.ACK.<stream>.<consumer>. <delivered>.<stream sequence>. ...". From 2.11 on, a domain and an
 * account may stand before the stream. */
static uint64_t delivered_sequence(const char *reply) {
    int dots = 0, wanted;
    for (const char *at = reply; *at; at++) dots += *at == '.';
    wanted = dots == 8 ? 5 : 7;
    for (; wanted > 0 && reply; wanted--) {
        reply = strchr(reply, '.');
        if (reply) reply++;
    }
    return reply ? strtoull(reply, NULL, 10) : 0;
}

/* "MSG subject sid [reply] size" or "HMSG subject sid [reply] header-size size", and the message
 * after this line. */
static enum lb_outcome read_message(struct lb_session *session, char *line, int64_t deadline_ns,
                                    struct arrival *arrival, char *room, size_t size) {
    struct nats_session *nats = nats_session_of(session);
    struct nats_message *message = &arrival->message;
    bool has_headers = line[0] == 'H';
    char *words[6] = {0}, *rest = line;
    int count = 0;
    for (char *word; count < 6 && (word = strsep(&rest, " \t"));) {
        if (*word) words[count++] = word;
    }
    int sizes = has_headers ? 2 : 1;
    if (count < 3 + sizes) return fail_odd_line(session, "a message without its size");
    const char *reply = count > 3 + sizes ? words[3] : "";
    size_t total = strtoull(words[count - 1], NULL, 10);
    size_t head = has_headers ? strtoull(words[count - 2], NULL, 10) : 0;
    if (head > total) return fail_odd_line(session, "a message that is shorter than its headers");
    arrival->sid = (unsigned)strtoul(words[2], NULL, 10);
    const char *dot = strrchr(words[1], '.');
    arrival->number = dot ? (unsigned)strtoul(dot + 1, NULL, 10) : 0;
    uint64_t sequence = delivered_sequence(reply);
    enum lb_outcome outcome = LB_OK;
    if (has_headers) outcome = read_headers(session, deadline_ns, message);
    message->len = total - head;
    message->data = room;
    size_t keep = message->len < size ? message->len : size - 1;
    if (outcome == LB_OK) outcome = stream_take(&nats->stream, session, deadline_ns, room, keep);
    if (outcome == LB_OK)
        outcome = stream_take(&nats->stream, session, deadline_ns, NULL, message->len - keep + 2);
    room[outcome == LB_OK ? keep : 0] = '\0';
    if (outcome == LB_OK && nats->watch.sid && arrival->sid == nats->watch.sid &&
        message->status == 0) {
        nats->watch.news = true;
        nats->watch.held = !message->deleted;
        nats->watch.sequence = sequence;
    }
    return outcome;
}

/* Waits for one message of the server. LB_OK; LB_TIMEOUT: none arrived; LB_UNKNOWN. Once a
 * message has begun to arrive, the rest of it may take until command_timeout. */
static enum lb_outcome await_arrival(struct lb_session *session, int64_t deadline_ns,
                                     struct arrival *arrival, char *room, size_t size) {
    struct nats_session *nats = nats_session_of(session);
    char *line;
    *arrival = (struct arrival){0};
    enum lb_outcome outcome = stream_await(&nats->stream, session, deadline_ns);
    if (outcome != LB_OK) return outcome;
    int64_t rest_ns = answer_deadline(session);
    outcome = stream_line(&nats->stream, session, rest_ns, &line);
    if (outcome != LB_OK) return outcome;
    if (strncmp(line, "MSG ", 4) == 0 || strncmp(line, "HMSG ", 5) == 0)
        return read_message(session, line, rest_ns, arrival, room, size);
    if (strcmp(line, "PING") == 0) {
        outcome = stream_send(&nats->stream, session, "PONG\r\n", 6, rest_ns);
        /* an earlier request may have been carried out */
        return outcome == LB_BROKEN ? LB_UNKNOWN : outcome;
    }
    arrival->pong = strcmp(line, "PONG") == 0;
    if (arrival->pong || strcmp(line, "+OK") == 0 || strncmp(line, "INFO ", 5) == 0) return LB_OK;
    return fail_odd_line(session, line);
}

/* Takes in one message that has arrived, and answers a PING. LB_OK; LB_TIMEOUT: there is none; LB_UNKNOWN: the connection
 * is gone. The caller has passed the gate. */
static enum lb_outcome nats_take_news(struct lb_session *session) {
    struct arrival arrival;
    char room[32];
    struct lb_err before = session->err;          /* of the last call */
    nats_session_of(session)->stream.read = true; /* reads before it waits */
    enum lb_outcome outcome = await_arrival(session, lb_now(), &arrival, room, sizeof room);
    session->err = before;
    return outcome;
}

/* Waits while the fiber that answers PINGs uses the connection. */
static bool enter(struct nats_session *nats, int64_t deadline_ns) {
    nats->used = true;
    return gate_enter(&nats->gate, deadline_ns);
}

static enum lb_outcome fail_no_turn(struct lb_session *session) {
    return lb_fail(session, LB_BROKEN,
                   "nats: another request had the connection until the deadline");
}

static enum lb_outcome fail_unanswered(struct lb_session *session) {
    /* its answer may arrive while another one is awaited */
    struct nats_session *nats = nats_session_of(session);
    nats->stream.dead = nats->unanswered = true;
    return lb_fail(session, LB_UNKNOWN, "nats at %s:%d: no answer in time", nats->stream.host,
                   nats->stream.port);
}

static enum lb_outcome request_reply(struct lb_session *session, const char *subject,
                                     const char *headers, const char *body, char *room, size_t size,
                                     struct nats_message *ret_answer) {
    struct nats_session *nats = nats_session_of(session);
    int64_t deadline_ns = answer_deadline(session);
    char text[2 * NATS_SUBJECT_MAX + 1024];
    size_t body_len = strlen(body),
           head_len = headers ? strlen("NATS/1.0\r\n\r\n") + strlen(headers) : 0;
    unsigned number = ++nats->last;
    nats->unanswered = false;
    int len = headers ? snprintf(text, sizeof text,
                                 "HPUB %s %s.%u %zu %zu\r\nNATS/1.0\r\n%s\r\n%s\r\n", subject,
                                 nats->inbox, number, head_len, head_len + body_len, headers, body)
                      : snprintf(text, sizeof text, "PUB %s %s.%u %zu\r\n%s\r\n", subject,
                                 nats->inbox, number, body_len, body);
    if (len < 0 || (size_t)len >= sizeof text)
        return lb_fail(session, LB_REFUSED, "nats: too long a request");
    if (!enter(nats, deadline_ns)) return fail_no_turn(session);
    session->commands++;
    struct arrival arrival = {0};
    enum lb_outcome outcome = stream_send(&nats->stream, session, text, (size_t)len, deadline_ns);
    while (outcome == LB_OK && !(arrival.sid == 1 && arrival.number == number))
        outcome = await_arrival(session, deadline_ns, &arrival, room, size);
    gate_leave(&nats->gate);
    if (outcome == LB_TIMEOUT) return fail_unanswered(session);
    if (outcome == LB_OK) *ret_answer = arrival.message;
    return outcome;
}

enum lb_outcome nats_request(struct lb_session *session, const char *subject, const char *headers,
                             const char *body, struct nats_message *ret_answer) {
    char *room = nats_session_of(session)->text;
    return request_reply(session, subject, headers, body, room, NATS_DATA_MAX + 1, ret_answer);
}

#define ROOM_BYTES (4 << 20) /* a page of the list of streams, or the subjects of a stream */

json_t *nats_ask(struct lb_session *session, const char *subject, const char *body,
                 struct lb_err *err) {
    struct nats_message answer;
    char *room = malloc(ROOM_BYTES);
    json_t *json = NULL;
    if (!room) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        return NULL;
    }
    if (request_reply(session, subject, NULL, body, room, ROOM_BYTES, &answer) != LB_OK) {
        err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
    } else if (!(json = json_loads(room, 0, NULL))) {
        err_set(err, LB_EXIT_MACHINE, "nats: the answer to %s can't be read", subject);
    }
    free(room);
    const char *why =
        json_string_value(json_object_get(json_object_get(json, "error"), "description"));
    if (!why) return json;
    err_set(err, LB_EXIT_MACHINE, "nats: %s: %s", subject, why);
    json_decref(json);
    return NULL;
}

enum lb_outcome nats_round_trip(struct lb_session *session) {
    struct nats_session *nats = nats_session_of(session);
    int64_t deadline_ns = answer_deadline(session);
    struct arrival arrival = {0};
    if (!enter(nats, deadline_ns)) return fail_no_turn(session);
    session->commands++;
    enum lb_outcome outcome = stream_send(&nats->stream, session, "PING\r\n", 6, deadline_ns);
    while (outcome == LB_OK && !arrival.pong)
        outcome = await_arrival(session, deadline_ns, &arrival, nats->text, sizeof nats->text);
    gate_leave(&nats->gate);
    return outcome == LB_TIMEOUT ? fail_unanswered(session) : outcome;
}

/* Sends what has no answer. */
static enum lb_outcome send_alone(struct lb_session *session, const char *text, size_t len) {
    struct nats_session *nats = nats_session_of(session);
    int64_t deadline_ns = answer_deadline(session);
    if (!enter(nats, deadline_ns)) return fail_no_turn(session);
    enum lb_outcome outcome = stream_send(&nats->stream, session, text, len, deadline_ns);
    gate_leave(&nats->gate);
    return outcome;
}

enum lb_outcome nats_watch_start(struct lb_session *session, char *ret_subject) {
    struct nats_session *nats = nats_session_of(session);
    char text[96];
    unsigned sid = ++nats->last + 1; /* number 1 is the inbox */
    snprintf(ret_subject, 48, "%s-w.%u", nats->inbox, sid);
    int len = snprintf(text, sizeof text, "SUB %s %u\r\n", ret_subject, sid);
    nats->watch.sid = sid;
    nats->watch.news = false;
    return send_alone(session, text, (size_t)len);
}

enum lb_outcome nats_watch_wait(struct lb_session *session, int64_t deadline_ns) {
    struct nats_session *nats = nats_session_of(session);
    enum lb_outcome outcome = LB_OK;
    if (!enter(nats, deadline_ns)) return LB_TIMEOUT;
    while (outcome == LB_OK && !nats->watch.news) {
        struct arrival arrival;
        outcome = await_arrival(session, deadline_ns, &arrival, nats->text, sizeof nats->text);
    }
    gate_leave(&nats->gate);
    return outcome;
}

void nats_watch_stop(struct lb_session *session, const char *delete_subject) {
    struct nats_session *nats = nats_session_of(session);
    char text[256];
    if (!nats->watch.sid) return;
    int len = snprintf(text, sizeof text, "UNSUB %u\r\n", nats->watch.sid);
    nats->watch.sid = 0;
    if (*delete_subject) {
        len += snprintf(text + len, sizeof text - (size_t)len, "PUB %s 0\r\n\r\n", delete_subject);
        session->commands++;
    }
    if (nats->stream.dead) return;
    send_alone(session, text, (size_t)len);
}

int nats_error(struct nats_message *answer, const char **ret_why) {
    static const char none[] = "JetStream does not answer: start the server with JetStream (-js)";
    char *code = strstr(answer->data, "\"err_code\":"),
         *why = strstr(answer->data, "\"description\":\"");
    *ret_why = none;
    if (answer->status == 503) return 503;
    if (!strstr(answer->data, "\"error\":") || !code) return 0;
    int error = atoi(code + strlen("\"err_code\":"));
    if (why) {
        why += strlen("\"description\":\"");
        why[strcspn(why, "\"")] = '\0';
        *ret_why = why;
    }
    return error ? error : -1;
}

/* pongs: answers the servers' PINGs for sessions that send no requests, for example while a client holds. A server ends
 * the connection of a client that does not answer two PINGs, by default after some minutes.
 *
 * One fiber serves all sessions of a thread, because a fiber for each would double the memory of a session. The fiber
 * looks rarely, and only at sessions that no call has used since its last look. */

#define LOOK_NS LB_S_NS
#define AT_ONCE 64 /* sessions between two moments when other fibers may run */

/* The sessions of this thread. */
static _Thread_local struct {
    struct lb_session *first, *next; /* next: the session at which the present pass looks next */
    struct lb_fiber *fiber; /* ends with the last session; a later session starts a new one */
} pongs;

static bool is_over(void) {
    return pongs.fiber != lb_self() || lb_stopping();
}

/* Whether there are bytes to read. False for a connection that has ended: the next request notices that, and its
 * outcome is then unknown. */
static bool has_news(const struct nats_session *nats) {
    struct pollfd look = {.fd = nats->stream.sock.fd, .events = POLLIN | POLLRDHUP};
    if (nats->stream.dead || poll(&look, 1, 0) < 0 || (look.revents & ~POLLIN)) return false;
    return look.revents || nats->stream.start < nats->stream.end;
}

static void look_at(struct lb_session *session) {
    struct nats_session *nats = nats_session_of(session);
    bool used = nats->used;
    nats->used = false;
    if (used || nats->gate.taken || !gate_enter(&nats->gate, LB_NEVER)) return;
    enum lb_outcome outcome = LB_OK;
    while (outcome == LB_OK && has_news(nats) && !is_over()) outcome = nats_take_news(session);
    gate_leave(&nats->gate);
}

static void look_at_all(void) {
    int looked = 0;
    for (pongs.next = pongs.first; pongs.next && !is_over();) {
        struct lb_session *session = pongs.next;
        pongs.next = nats_session_of(session)->pongs_next;
        look_at(session);
        if (++looked % AT_ONCE == 0) lb_yield();
    }
}

static void run_pongs(void *arg) {
    (void)arg;
    while (!is_over()) {
        lb_sleep_until(lb_now() + LOOK_NS);
        look_at_all();
    }
}

int nats_pongs_begin(struct lb_session *session, struct lb_err *err) {
    struct nats_session *nats = nats_session_of(session);
    if (!pongs.fiber) pongs.fiber = lb_start_fiber("nats pongs", run_pongs, NULL);
    if (!pongs.fiber) return err_set(err, LB_EXIT_MACHINE, "nats: out of memory");
    nats->has_pongs = true;
    nats->pongs_before = NULL;
    nats->pongs_next = pongs.first;
    if (pongs.first) nats_session_of(pongs.first)->pongs_before = session;
    pongs.first = session;
    return 0;
}

void nats_pongs_end(struct lb_session *session) {
    struct nats_session *nats = nats_session_of(session);
    if (!nats->has_pongs) return;
    nats->has_pongs = false;
    while (!gate_enter(&nats->gate, LB_NEVER)) lb_yield();
    struct lb_session *before = nats->pongs_before, *next = nats->pongs_next;
    if (before)
        nats_session_of(before)->pongs_next = next;
    else
        pongs.first = next;
    if (next) nats_session_of(next)->pongs_before = before;
    if (pongs.next == session) pongs.next = next;
    gate_leave(&nats->gate);
    if (pongs.first) return;
    struct lb_fiber *fiber = pongs.fiber;
    pongs.fiber = NULL;
    lb_wake(fiber);
    lb_join(fiber);
}
