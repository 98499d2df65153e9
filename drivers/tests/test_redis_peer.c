/* test_redis_peer: how redis-setnx handles answers that are odd, cut or missing. */
#include "drivers/tests/fake_session.h"

#include "drivers/redis/redis_impl.h"
#include "drivers/registry.h"

/* What comes before a session's first SET. */
#define LOADED                                                                                     \
    { .await = "PING", .say = "+PONG\r\n" }

static struct fake_session fake_new(void) {
    return (struct fake_session){.lock = registry_lock("redis-setnx"), .release = true};
}

TEST(test_what_is_sent) {
    struct fake_session fake = fake_new();
    fake.key = "orders:7";
    fake.lease_ns = 1500 * LB_MS_NS - 1; /* no grant outlasts its key */
    fake.renew = true;
    char *seen =
        FAKE_PLAY(&fake, "redis", LOADED, {.await = "NX", .say = "+OK\r\n"},
                  {.await = "EVALSHA", .say = ":1\r\n"}, {.await = "EVALSHA", .say = ":1\r\n"});
    assert_int_equal(fake.acquired, LB_OK);
    assert_int_equal(fake.renewed, LB_OK);
    assert_int_equal(fake.released, LB_OK);
    assert_int_equal(fake.commands, 3);
    assert_true(fake.grant.lease_end_ns >= fake.renew_sent_ns + fake.lease_ns);
    /* SET key token NX PX 1500, the token of 40 characters. */
    assert_non_null(strstr(seen, "*6\r\n$3\r\nSET\r\n$8\r\norders:7\r\n$40\r\n"));
    assert_non_null(strstr(seen, "\r\n$2\r\nNX\r\n$2\r\nPX\r\n$4\r\n1500\r\n"));
    free(seen);
}

TEST(test_in_pieces) {
    for (size_t piece = 1; piece < 6; piece++) {
        struct fake_session fake = fake_new();
        free(FAKE_PLAY(&fake, "redis", LOADED, {.await = "NX", .say = "+OK\r\n", .piece = piece},
                       {.await = "EVALSHA", .say = ":1\r\n", .piece = piece}));
        assert_int_equal(fake.acquired, LB_OK);
        assert_int_equal(fake.released, LB_OK);
    }
}

/* The connections of a thread share a parser, unless an answer is not complete. */
TEST(test_halves_of_two_connections_are_not_mixed) {
    static const struct peer_step steps[] = {
        LOADED,
        {.await = "NX", .say = "+OK\r\n", .piece = 1},
        {.await = "EVALSHA", .say = ":1\r\n", .piece = 1},
    };
    struct lb_err err = {0};
    struct loop *loop = loop_new(&(struct loop_config){0}, &err);
    struct fake_session fakes[4];
    struct fake_peer *peers[4];
    for (int i = 0; i < 4; i++) {
        fakes[i] = fake_new();
        peers[i] = fake_peer_start(steps, 3);
        fake_address(&fakes[i], "redis", peers[i]);
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

/* The answer's bytes and the connection's end come in one edge: the wait must end at once, not
 * after the command's time is over, which is longer than this test may take. */
TEST(test_cut_anywhere) {
    static const char answer[] = "+OK\r\n";
    for (size_t len = 1; len < sizeof answer - 1; len++) {
        struct fake_session fake = fake_new();
        free(FAKE_PLAY(&fake, "redis", LOADED,
                       {.await = "NX", .say = answer, .say_len = len, .then = PEER_CLOSES}));
        assert_int_equal(fake.acquired, LB_UNKNOWN);
        assert_string_equal(fake.err.text, "redis: no answer: the server closed the connection");
    }
}

/* The server had no time to answer: it is not said to have been silent. */
TEST(test_cut_off_by_the_run) {
    struct fake_session fake = fake_new();
    fake.cut_off_ns = 20 * LB_MS_NS;
    free(FAKE_PLAY(&fake, "redis", LOADED, {.await = "NX"}));
    assert_int_equal(fake.acquired, LB_UNKNOWN);
    assert_non_null(strstr(fake.err.text, "cut off while waiting"));
}

TEST(test_error_replies) {
    static const struct {
        const char *answer;
        enum lb_outcome outcome;
    } cases[] = {
        {"-NOAUTH Authentication required.\r\n", LB_REFUSED},
        {"-NOPERM this user has no permissions\r\n", LB_REFUSED},
        {"-READONLY You can't write against a read only replica.\r\n", LB_REFUSED},
        {"-ERR unknown command\r\n", LB_REFUSED},
        /* it takes no write now, and the connection is good */
        {"-OOM command not allowed when used memory > 'maxmemory'.\r\n", LB_REFUSED},
        {"-MISCONF Errors writing to the AOF file\r\n", LB_REFUSED},
        /* a name's fault */
        {"-CROSSSLOT Keys in request don't hash to the same slot\r\n", LB_REFUSED},
        {"-LOADING Redis is loading the dataset in memory\r\n", LB_BROKEN},
        {"$5\r\nhello\r\n", LB_BROKEN}, /* not what SET answers */
        {":1\r\n", LB_BROKEN},
        {"$-1\r\n", LB_BUSY},
        {"HTTP/1.1 400 Bad Request\r\n", LB_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fake_session fake = fake_new();
        free(FAKE_PLAY(&fake, "redis", LOADED, {.await = "NX", .say = cases[i].answer}));
        if (fake.acquired != cases[i].outcome)
            fail_msg("'%s' gave %s", cases[i].answer, lb_outcome_name(fake.acquired));
        if (fake.acquired != LB_BUSY) assert_true(fake.err.code != 0);
    }
}

TEST(test_release_answers) {
    static const struct {
        const char *answer;
        enum lb_outcome outcome;
    } cases[] = {{":1\r\n", LB_OK},
                 {":0\r\n", LB_LOST},
                 {"-ERR Error running script\r\n", LB_REFUSED},
                 {"+OK\r\n", LB_BROKEN}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fake_session fake = fake_new();
        free(FAKE_PLAY(&fake, "redis", LOADED, {.await = "NX", .say = "+OK\r\n"},
                       {.await = "EVALSHA", .say = cases[i].answer}));
        if (fake.released != cases[i].outcome)
            fail_msg("'%s' gave %s", cases[i].answer, lb_outcome_name(fake.released));
    }
}

/* A word of a command, as it is sent. */
#define WORD(len, text) "$" #len "\r\n" text "\r\n"

TEST(test_the_servers_own_comparisons) {
    static const struct {
        const char *release, *await;
    } cases[] = {{"release=delifeq", "*3\r\n" WORD(7, "DELIFEQ") WORD(1, "k")},
                 {"release=delex", "*4\r\n" WORD(5, "DELEX") WORD(1, "k") WORD(4, "IFEQ")}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fake_session fake = fake_new();
        fake.setup = fake.renew = true;
        fake.sets = (const char *const[]){cases[i].release, "renew=ifeq", NULL};
        /* The setup asks with a key that no client uses. */
        char *seen = FAKE_PLAY(
            &fake, "redis", LOADED, {.await = "lockbench-probe-", .say = ":0\r\n"},
            {.await = "lockbench-probe-", .say = "$-1\r\n"}, {.await = "NX", .say = "+OK\r\n"},
            {.await = WORD(4, "IFEQ"), .say = "+OK\r\n"},
            {.await = cases[i].await, .say = ":1\r\n"});
        free(seen);
        assert_int_equal(fake.released, LB_OK);
    }
}

TEST(test_a_comparison_that_fails_is_a_loss) {
    struct fake_session fake = fake_new();
    fake.renew = true;
    fake.sets = (const char *const[]){"release=delifeq", "renew=ifeq", NULL};
    free(FAKE_PLAY(&fake, "redis", LOADED, {.await = "NX", .say = "+OK\r\n"},
                   {.await = "IFEQ", .say = "$-1\r\n"}, {.await = "DELIFEQ", .say = ":0\r\n"}));
    assert_int_equal(fake.renewed, LB_LOST);
    assert_int_equal(fake.released, LB_LOST);
}

/* Before anything is locked. */
TEST(test_a_server_without_these_comparisons) {
    static const struct {
        const char *set, *answer, *said;
    } cases[] = {
        {"release=delifeq", "-ERR unknown command 'DELIFEQ', with args beginning with: \r\n",
         "this server has no DELIFEQ (release=delifeq needs Valkey 9.0)"},
        {"release=delex", "-ERR unknown command 'DELEX', with args beginning with: \r\n",
         "this server has no DELEX (release=delex needs Redis 8.4 or Valkey 9.2)"},
        {"renew=ifeq", "-ERR syntax error\r\n",
         "this server has no SET IFEQ (renew=ifeq needs Redis 8.4 or Valkey 8.1)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fake_session fake = fake_new();
        fake.setup = fake.refused = true;
        fake.sets = (const char *const[]){cases[i].set, NULL};
        char *seen = FAKE_PLAY(&fake, "redis", LOADED,
                               {.await = "lockbench-probe-", .say = cases[i].answer});
        if (!strstr(fake.err.text, cases[i].said)) fail_msg("it says: %s", fake.err.text);
        assert_int_equal(fake.err.code, LB_EXIT_USAGE);
        assert_null(strstr(seen, "$2\r\nNX\r\n"));
        free(seen);
    }
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
            assert_int_equal(listener.last, LB_LOST);
            assert_true(listener.ended_ns < listener.deadline_ns);
        }
    }
}

TEST_MAIN(NULL, NULL)
