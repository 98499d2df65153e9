/* test_redis_feed: a connection for subscriptions, where messages come unasked: many of them at
 * once, more than one read takes, and the connection's end along with the last. No message may stay
 * unread until the wait's time is over. */
#include "drivers/tests/fake_session.h"

#include "drivers/redis/redis_impl.h"

#define MESSAGE "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\n0\r\n"
#define MESSAGES 200 /* together more than one read takes */

/* What was done and what came of it; looked at outside of the fiber, whence cmocka must not
 * jump. */
struct listener {
    int port, messages;
    bool opened;
    enum lb_outcome last;
    int64_t deadline_ns, ended_ns;
};

static void listen_to_all(void *arg) {
    struct listener *listener = arg;
    struct redis_server redis = {.mode = REDIS_SINGLE};
    struct redis_options options = {.command_timeout_ns = 20 * LB_S_NS};
    struct redis_state state = {.mode = REDIS_SINGLE};
    struct lb_server server = {.backend = &backend_redis, .state = &redis, .options = &options};
    struct lb_session session = {.server = &server, .state = &state, .traffic_fd = -1};
    struct redis_node node = {.host = "127.0.0.1", .port = listener->port};
    const struct redis_word words[] = {{"SUBSCRIBE", 9}, {"c", 1}};
    const struct redis_reply *reply = NULL;
    listener->deadline_ns = lb_now() + 20 * LB_S_NS;
    struct redis_feed *feed = redis_feed_open(&session, &node, listener->deadline_ns);
    listener->opened = feed && redis_feed_send(feed, words, 2) == LB_OK;
    listener->last = LB_OK;
    while (listener->opened && listener->last == LB_OK) {
        listener->last = redis_feed_next(feed, listener->deadline_ns, &reply);
        listener->messages += listener->last == LB_OK;
    }
    listener->ended_ns = lb_now();
    redis_feed_close(feed);
}

TEST(test_all_at_once) {
    static char burst[MESSAGES * sizeof MESSAGE];
    size_t len = sizeof MESSAGE - 1;
    for (int i = 0; i < MESSAGES; i++) memcpy(burst + len * (size_t)i, MESSAGE, len + 1);
    for (int count = 1; count <= MESSAGES; count += MESSAGES - 1) {
        for (int round = 0; round < 10; round++) {
            const struct peer_step steps[] = {{.await = "PING", .say = "+PONG\r\n"},
                                              {.await = "SUBSCRIBE",
                                               .say = burst,
                                               .say_len = len * (size_t)count,
                                               .then = PEER_CLOSES}};
            struct fake_peer *peer = fake_peer_start(steps, 2);
            struct listener listener = {.port = fake_peer_port(peer)};
            struct lb_err err = {0};
            assert_int_equal(loop_once("listener", listen_to_all, &listener, &err), 0);
            free(fake_peer_stop(peer));
            assert_true(listener.opened);
            assert_int_equal(listener.messages, count);
            assert_int_equal(listener.last, LB_LOST);
            assert_true(listener.ended_ns < listener.deadline_ns);
        }
    }
}

TEST_MAIN(NULL, NULL)
