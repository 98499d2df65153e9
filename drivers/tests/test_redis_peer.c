/* test_redis_peer: what Redis's connections share: answers in pieces to several of them at once, and messages that come
 * unasked. What drivers make of odd answers is in drivers/tests/peers. */
#include "drivers/tests/fake_peer.h"
#include "drivers/tests/fake_session.h"

#include "drivers/redis/redis_impl.h"
#include "drivers/registry.h"

/* The connections of a thread share a parser, unless an answer is not complete. */
TEST(test_halves_of_two_connections_are_not_mixed) {
    static const struct peer_step steps[] = {
        {.await = "PING", .say = "+PONG\r\n"},
        {.await = "NX", .say = "+OK\r\n", .piece = 1},
        {.await = "EVALSHA", .say = ":1\r\n", .piece = 1},
    };
    struct lb_err err = {0};
    struct loop *loop = loop_new(&(struct loop_config){0}, &err);
    struct fake_session fakes[4];
    struct fake_peer *peers[4];
    for (int i = 0; i < 4; i++) {
        fakes[i] = (struct fake_session){.lock = registry_lock("redis-setnx"),
                                         .key = "k",
                                         .lease_ns = 10 * LB_S_NS,
                                         .release = true};
        peers[i] = fake_peer_start(steps, 3);
        snprintf(fakes[i].url, sizeof fakes[i].url, "redis://127.0.0.1:%d",
                 fake_peer_port(peers[i]));
        assert_non_null(loop_start_fiber(loop, "fake", fake_talk, &fakes[i]));
    }
    loop_run(loop);
    for (int i = 0; i < 4; i++) {
        free(fake_peer_stop(peers[i]));
        if (fakes[i].acquired != LB_OK) fail_msg("%d: %s", i, fakes[i].err.text);
        assert_int_equal(fakes[i].released, LB_OK);
    }
    loop_free(loop);
}

/* --- a connection for subscriptions, where messages come unasked --- */

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
    struct redis_conn *conn = calloc(1, sizeof *conn);
    struct lb_err err = {0};
    const struct redis_word words[] = {{"SUBSCRIBE", 9}, {"c", 1}};
    listener->deadline_ns = lb_now() + 20 * LB_S_NS;
    listener->opened = conn_open(conn, &session, "127.0.0.1", listener->port, false,
                                 listener->deadline_ns, &err) == 0;
    conn_begin();
    listener->opened = listener->opened && conn_put(words, 2, NULL, 0) &&
                       conn_send(conn, listener->deadline_ns) == LB_OK;
    listener->last = LB_OK;
    while (listener->opened && listener->last == LB_OK) {
        listener->last = conn_receive_next(conn, listener->deadline_ns);
        listener->messages += listener->last == LB_OK;
    }
    listener->ended_ns = lb_now();
    conn_close(conn);
    free(conn);
}

/* Many messages at once, more than one read takes, and the connection's end along with the last: none may stay unread
 * until the wait's time is over. */
TEST(test_all_messages_at_once) {
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
            assert_int_equal(listener.last, LB_UNKNOWN);
            assert_true(listener.ended_ns < listener.deadline_ns);
        }
    }
}

TEST_MAIN(NULL, NULL)
