/* pubsub: a connection for subscriptions, and the waits for messages of a channel. See redis.h and
 * redisson.h. */
#include <stdlib.h>
#include <string.h>

#include "drivers/redis/redis_impl.h"
#include "drivers/redis/redisson.h"
#include "drivers/wait.h"

/* feed: a second connection, for subscriptions. The sender does not wait for answers; a reader
 * takes what arrives, one reply at a time. See redis.h. This file does not interpret channels or
 * messages. */

struct redis_feed {
    struct redis_conn conn;
    struct gate gate; /* around sending */
};

struct redis_feed *redis_feed_open(struct lb_session *session, struct redis_node *node,
                                   int64_t deadline_ns) {
    struct redis_feed *feed = calloc(1, sizeof *feed);
    struct lb_err err = {0};
    if (!feed) {
        lb_fail(session, LB_BROKEN, "redis: out of memory");
        return NULL;
    }
    if (conn_open(&feed->conn, session, node->host, node->port, false, deadline_ns, &err) == 0)
        return feed;
    lb_fail(session, LB_BROKEN, "%s", err.text);
    redis_feed_close(feed);
    return NULL;
}

enum lb_outcome redis_feed_send(struct redis_feed *feed, const struct redis_word *words,
                                int count) {
    struct redis_conn *conn = &feed->conn;
    int64_t deadline_ns = redis_answer_deadline(conn->session);
    if (!gate_enter(&feed->gate, deadline_ns))
        return lb_fail(conn->session, LB_BROKEN,
                       "redis: another request had the connection until the deadline");
    enum lb_outcome outcome = LB_BROKEN;
    conn_begin();
    if (conn->dead) {
        lb_fail(conn->session, LB_BROKEN, "redis: the subscriptions' connection is lost");
    } else if (!conn_put(words, count, NULL, 0)) {
        lb_fail(conn->session, LB_BROKEN, "redis: command too long");
    } else {
        conn->session->commands++;
        outcome = conn_send(conn, deadline_ns);
    }
    gate_leave(&feed->gate);
    return outcome == LB_OK ? LB_OK : LB_BROKEN;
}

enum lb_outcome redis_feed_next(struct redis_feed *feed, int64_t deadline_ns,
                                const struct redis_reply **ret_reply) {
    struct redis_conn *conn = &feed->conn;
    if (conn->dead) return LB_LOST;
    enum lb_outcome outcome = conn_receive_next(conn, deadline_ns);
    if (outcome == LB_OK) *ret_reply = &conn->reply[0];
    return outcome == LB_UNKNOWN ? LB_LOST : outcome;
}

void redis_feed_close(struct redis_feed *feed) {
    if (!feed) return;
    conn_close(&feed->conn);
    free(feed);
}

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
        const struct redis_reply *reply = NULL;
        line->reader = lb_self();
        enum lb_outcome got = redis_feed_next(line->feed, deadline_ns, &reply);
        line->reader = NULL;
        if (got == LB_OK) on_reply(line, reply);
        if (got == LB_LOST) lose(line);
    }
    hand_over(line);
    return outcome;
}

static enum lb_outcome send_word(struct pubsub_line *line, struct lb_session *session,
                                 const char *command, const char *channel) {
    const struct redis_word words[] = {{command, 0}, {channel, 0}};
    enum lb_outcome outcome = redis_feed_send(line->feed, words, 2);
    if (outcome != LB_OK) return lb_fail(session, LB_BROKEN, "redis: can't send %s", command);
    line->sent++;
    return LB_OK;
}

static enum lb_outcome open_feed(struct lb_session *session, struct pubsub_line *line,
                                 int64_t deadline_ns) {
    if (!gate_enter(&line->opening, deadline_ns)) return LB_TIMEOUT;
    if (!line->feed) line->feed = redis_feed_open(session, line->node, deadline_ns);
    gate_leave(&line->opening);
    if (line->gone)
        return lb_fail(session, LB_BROKEN, "redis: the connection of the subscriptions is gone");
    if (line->feed) return LB_OK;
    return lb_stopping() || lb_now() >= deadline_ns ? LB_TIMEOUT : LB_BROKEN;
}

enum lb_outcome pubsub_join(struct lb_session *session, struct pubsub *pubsub,
                            struct redis_node *node, const char *channel, pubsub_count_fn *count,
                            int64_t deadline_ns, struct pubsub_wait *wait) {
    struct pubsub_line *line = line_of(pubsub, node);
    if (!line) return lb_fail(session, LB_REFUSED, "redis: more than %d nodes", REDIS_NODES_MAX);
    enum lb_outcome outcome = open_feed(session, line, deadline_ns);
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
        redis_feed_close(pubsub->line[i].feed);
        pubsub->line[i].feed = NULL;
    }
}
