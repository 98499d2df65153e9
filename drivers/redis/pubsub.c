/* pubsub: connections for subscriptions, and the waits for messages of a channel. See redisson.h. */
#include <stdlib.h>
#include <string.h>

#include "drivers/redis/redis_impl.h"
#include "drivers/redis/redisson.h"
#include "drivers/wait.h"

static struct pubsub_line *line_of(struct pubsub *pubsub, struct redis_node *node) {
    for (int i = 0; i < REDIS_NODES_MAX; i++) {
        struct pubsub_line *line = &pubsub->line[i];
        if (!line->node) line->node = node;
        if (line->node == node) return line;
    }
    return NULL;
}

static bool is_on(const struct pubsub_wait *wait, const char *channel) {
    return !wait->lost && !wait->refused && strcmp(wait->channel, channel) == 0;
}

static struct pubsub_wait *subscribed(const struct pubsub_line *line, const char *channel) {
    struct pubsub_wait *at = line->first;
    while (at && !is_on(at, channel)) at = at->next;
    return at;
}

static void link_last(struct pubsub_line *line, struct pubsub_wait *wait) {
    if (line->last)
        line->last->next = wait;
    else
        line->first = wait;
    line->last = wait;
}

static void unlink_wait(struct pubsub_line *line, struct pubsub_wait *wait) {
    struct pubsub_wait *before = NULL;
    for (struct pubsub_wait *at = line->first; at != wait; at = at->next) before = at;
    if (before)
        before->next = wait->next;
    else
        line->first = wait->next;
    if (line->last == wait) line->last = before;
}

static void wake(struct pubsub_wait *wait) {
    if (wait->asleep) lb_wake(wait->fiber);
}

/* Distributes wake-ups among the channel's waiters, first to those that have none. The first waiter
 * keeps the surplus. */
static void wake_waiters(struct pubsub_line *line, const char *channel, int permits) {
    for (struct pubsub_wait *at = line->first; at && permits > 0; at = at->next) {
        if (at->permits > 0 || !is_on(at, channel)) continue;
        at->permits++;
        permits--;
        wake(at);
    }
    struct pubsub_wait *keeper = subscribed(line, channel);
    if (keeper) keeper->permits += permits;
}

static void on_message(struct pubsub_line *line, const char *channel, const char *message) {
    struct pubsub_wait *first = subscribed(line, channel);
    int waiters = 0;
    if (!first) return;
    for (struct pubsub_wait *at = first; at; at = at->next) waiters += is_on(at, channel);
    wake_waiters(line, channel, first->count(message, waiters));
}

/* The connection is lost or useless, and so are its subscriptions. Another fiber may be sending on
 * it, so it is closed only when the session ends. */
static void lose(struct pubsub_line *line) {
    line->gone = true;
    for (struct pubsub_wait *at = line->first; at; at = at->next) {
        at->lost = true;
        wake(at);
    }
}

static bool confirmed(const struct pubsub_wait *wait) {
    return wait->line->answered >= wait->number;
}

/* Whether an UNSUBSCRIBE of this channel was not sent by us: the last waiter unsubscribes, so while a waiter
 * with a confirmed subscription exists, the server has ended the subscription. */
static bool unasked(const struct pubsub_line *line, const char *channel) {
    struct pubsub_wait *at = line->first;
    while (at && !(is_on(at, channel) && confirmed(at))) at = at->next;
    return at;
}

static void on_reply(struct pubsub_line *line, const struct redis_reply *reply) {
    const struct redis_value *element = reply->element;
    if (reply->value.type == REDIS_ARRAY && reply->count == 3) {
        /* When a slot moves to another node, the old node ends the subscriptions of the slot's channels. */
        if (strcmp(element[0].text, "sunsubscribe") == 0 && unasked(line, element[1].text)) {
            lose(line);
            return;
        }
        if (strcmp(element[0].text, "message") == 0 || strcmp(element[0].text, "smessage") == 0) {
            on_message(line, element[1].text, element[2].text);
            return;
        }
    }
    line->answered++;
    for (struct pubsub_wait *at = line->first; at; at = at->next) {
        if (at->number != line->answered) continue;
        if (reply->value.type == REDIS_ERROR) at->refused = redis_refuse(at->session, reply);
        wake(at);
    }
}

/* Wakes another waiter, which takes over the reading. */
static void hand_over(struct pubsub_line *line) {
    if (line->reader) return;
    struct pubsub_wait *at = line->first;
    while (at && !at->asleep) at = at->next;
    if (at) lb_wake(at->fiber);
}

/* Waits for the confirmation, or for a message. */
static enum lb_outcome wait_for(struct pubsub_wait *wait, bool message, int64_t deadline_ns) {
    struct pubsub_line *line = wait->line;
    enum lb_outcome outcome = LB_OK;
    for (;;) {
        if (wait->refused) {
            outcome = wait->refused;
            break;
        }
        if (wait->lost) {
            outcome = lb_fail(wait->session, LB_BROKEN,
                              "redis: the connection of the subscriptions is gone");
            break;
        }
        if (message ? wait->permits > 0 : confirmed(wait)) break;
        if (lb_stopping() || lb_now() >= deadline_ns) {
            outcome = LB_TIMEOUT;
            break;
        }
        if (line->reader) {
            wait->asleep = true;
            lb_sleep_until(deadline_ns);
            wait->asleep = false;
            continue;
        }
        line->reader = lb_self();
        enum lb_outcome got =
            line->conn->dead ? LB_UNKNOWN : conn_receive_next(line->conn, deadline_ns);
        line->reader = NULL;
        if (got == LB_OK) on_reply(line, &line->conn->reply[0]);
        if (got == LB_UNKNOWN) lose(line);
    }
    hand_over(line);
    return outcome;
}

/* Does not wait for the answer. */
static enum lb_outcome send_word(struct pubsub_line *line, struct lb_session *session,
                                 const char *command, const char *channel) {
    const struct redis_word words[] = {{command, 0}, {channel, 0}};
    struct redis_conn *conn = line->conn;
    int64_t deadline_ns = redis_answer_deadline(session);
    bool sent = false;
    if (gate_enter(&line->sending, deadline_ns)) {
        conn_begin();
        if (!conn->dead && conn_put(words, 2, NULL, 0)) {
            session->commands++;
            sent = conn_send(conn, deadline_ns) == LB_OK;
        }
        gate_leave(&line->sending);
    }
    line->sent += sent;
    return sent ? LB_OK : lb_fail(session, LB_BROKEN, "redis: can't send %s", command);
}

/* Opens the connection, which allocates memory, at the session's first wait. */
static enum lb_outcome open_line(struct lb_session *session, struct pubsub_line *line,
                                 int64_t deadline_ns) {
    const struct redis_node *node = line->node;
    struct lb_err err = {0};
    if (!gate_enter(&line->opening, deadline_ns)) return LB_TIMEOUT;
    struct redis_conn *conn = line->conn ? NULL : calloc(1, sizeof *conn);
    if (conn && conn_open(conn, session, node->host, node->port, false, deadline_ns, &err) == 0) {
        line->conn = conn;
    } else if (conn) {
        conn_close(conn);
        free(conn);
    }
    gate_leave(&line->opening);
    if (line->gone)
        return lb_fail(session, LB_BROKEN, "redis: the connection of the subscriptions is gone");
    if (line->conn) return LB_OK;
    if (lb_stopping() || lb_now() >= deadline_ns) return LB_TIMEOUT;
    return lb_fail(session, LB_BROKEN, "%s", err.code ? err.text : "redis: out of memory");
}

enum lb_outcome pubsub_join(struct lb_session *session, struct pubsub *pubsub,
                            struct redis_node *node, const char *channel, pubsub_count_fn *count,
                            int64_t deadline_ns, struct pubsub_wait *wait) {
    struct pubsub_line *line = line_of(pubsub, node);
    if (!line) return lb_fail(session, LB_REFUSED, "redis: more than %d nodes", REDIS_NODES_MAX);
    enum lb_outcome outcome = open_line(session, line, deadline_ns);
    if (outcome != LB_OK) return outcome;
    const struct pubsub_wait *other = subscribed(line, channel);
    *wait = (struct pubsub_wait){
        .line = line, .session = session, .channel = channel, .count = count, .fiber = lb_self()};
    if (!other) {
        outcome = send_word(line, session, redis_is_cluster(session) ? "SSUBSCRIBE" : "SUBSCRIBE",
                            channel);
        if (outcome != LB_OK) return outcome;
    }
    wait->number = other ? other->number : line->sent;
    link_last(line, wait);
    outcome = wait_for(wait, false, deadline_ns);
    if (outcome != LB_OK) pubsub_leave(wait);
    return outcome;
}

enum lb_outcome pubsub_wait(struct pubsub_wait *wait, int64_t deadline_ns) {
    enum lb_outcome outcome = wait_for(wait, true, deadline_ns);
    if (outcome == LB_OK) wait->permits--;
    return outcome;
}

void pubsub_leave(struct pubsub_wait *wait) {
    struct pubsub_line *line = wait->line;
    unlink_wait(line, wait);
    struct pubsub_wait *other = subscribed(line, wait->channel);
    if (other) {
        wake_waiters(line, wait->channel, wait->permits);
    } else if (!line->gone && !wait->refused) {
        const char *command = redis_is_cluster(wait->session) ? "SUNSUBSCRIBE" : "UNSUBSCRIBE";
        struct lb_err before = wait->session->err;
        send_word(line, wait->session, command, wait->channel);
        wait->session->err = before; /* no failure: a dead connection has no subscriptions */
    }
    hand_over(line);
}

void pubsub_end(struct pubsub *pubsub) {
    for (int i = 0; i < REDIS_NODES_MAX; i++) {
        struct redis_conn *conn = pubsub->line[i].conn;
        if (conn) conn_close(conn);
        free(conn);
        pubsub->line[i].conn = NULL;
    }
}
