/* feed: a second connection, for subscriptions. The sender does not wait for answers; a reader
 * takes what arrives, one reply at a time. See redis.h. This file does not interpret channels or
 * messages. */
#include "drivers/redis/redis_impl.h"

#include <stdlib.h>

#include "drivers/wait.h"

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
