/* test_stream: drivers/stream.c against a peer that splits, delays and drops bytes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>

#include "bench/engine/loop.h"
#include "bench/tests/loopback.h"
#include "bench/tests/unit.h"
#include "drivers/stream.h"
#include "drivers/tests/fake_peer.h"

/* The results of the calls on the fiber. Assertions look at them outside of the fiber, because
 * cmocka must not jump out of one. */
struct talk {
    int port;
    const char *host;
    struct stream stream;
    struct lb_session session;
    struct lb_server server;
    int connected;
    struct lb_err err;
    int64_t patience_ns;
    int lines; /* to read */
    enum lb_outcome outcome[8];
    char line[8][64];
    enum lb_outcome sent;
    size_t big_bytes; /* to send instead of "hello\r\n" */
    int64_t ended_ns;
    _Atomic int64_t cutoff_ns;
};

static const struct lb_backend backend = {.name = "fake"};

static void talk(void *arg) {
    struct talk *t = arg;
    t->server.backend = &backend;
    t->session.server = &t->server;
    t->connected = stream_connect(&t->stream, &t->server, t->host ? t->host : "127.0.0.1", t->port,
                                  lb_now() + 20 * LB_S_NS, &t->err);
    if (t->connected == 0) {
        char *big = t->big_bytes ? calloc(1, t->big_bytes) : NULL;
        /* or the kernel may let it grow until it holds them all */
        if (big) setsockopt(t->stream.sock.fd, SOL_SOCKET, SO_SNDBUF, &(int){65536}, sizeof(int));
        t->sent = stream_send(&t->stream, &t->session, big ? big : "hello\r\n",
                              big ? t->big_bytes : 7, lb_now() + t->patience_ns);
        free(big);
        for (int i = 0; i < t->lines; i++) {
            char *line = NULL;
            t->outcome[i] = stream_line(&t->stream, &t->session, lb_now() + t->patience_ns, &line);
            if (t->outcome[i] == LB_OK) snprintf(t->line[i], sizeof t->line[i], "%s", line);
        }
    }
    t->ended_ns = lb_now();
    stream_close(&t->stream);
    stream_close(&t->stream);
}

/* An error names the server, and says what happened. */
static void assert_told(const struct talk *t, const char *what) {
    char text[200];
    snprintf(text, sizeof text, "fake at 127.0.0.1:%d%s", t->port, what);
    assert_string_equal(t->session.err.text, text);
}

static void run(struct talk *t) {
    struct lb_err err = {0};
    if (!t->patience_ns) t->patience_ns = 20 * LB_S_NS;
    if (!t->cutoff_ns) t->cutoff_ns = LB_NEVER;
    struct loop *loop = loop_new(&(struct loop_config){.cutoff_ns = &t->cutoff_ns}, &err);
    assert_non_null(loop);
    assert_non_null(loop_start_fiber(loop, "talk", talk, t));
    loop_run(loop);
    loop_free(loop);
}

/* Plays the steps to a talk; what the peer read is the caller's to free. */
static char *play(struct talk *t, const struct peer_step *steps, int count) {
    struct fake_peer *peer = fake_peer_start(steps, count);
    t->port = fake_peer_port(peer);
    run(t);
    return fake_peer_stop(peer);
}
#define PLAY(t, ...)                                                                               \
    free(play((t), (const struct peer_step[]){__VA_ARGS__},                                        \
              (int)(sizeof(const struct peer_step[]){__VA_ARGS__} / sizeof(struct peer_step))))

TEST(test_lines_however_split) {
    static const char text[] = "one\r\n\r\nthree \r with odd\r\nfour\n";
    for (size_t piece = 0; piece < sizeof text; piece++) {
        struct talk t = {.lines = 4};
        PLAY(&t, {.await = "hello\r\n", .say = text, .piece = piece});
        assert_int_equal(t.sent, LB_OK);
        for (int i = 0; i < 4; i++) assert_int_equal(t.outcome[i], LB_OK);
        assert_string_equal(t.line[0], "one");
        assert_string_equal(t.line[1], "");
        assert_string_equal(t.line[2], "three \r with odd");
        assert_string_equal(t.line[3], "four");
    }
}

TEST(test_a_line_cut_in_the_middle) {
    struct talk t = {.lines = 3};
    PLAY(&t, {.await = "hello", .say = "one\r\ntw", .then = PEER_CLOSES});
    assert_int_equal(t.outcome[0], LB_OK);
    assert_string_equal(t.line[0], "one");
    assert_int_equal(t.outcome[1], LB_UNKNOWN); /* half an answer is none */
    assert_int_equal(t.outcome[2], LB_UNKNOWN); /* and the connection is dead */
    assert_told(&t, ": the server closed the connection");
}

TEST(test_a_reset) {
    struct talk t = {.lines = 1};
    PLAY(&t, {.await = "hello", .then = PEER_RESETS});
    assert_int_equal(t.outcome[0], LB_UNKNOWN);
    assert_non_null(strstr(t.session.err.text, "reset"));
}

TEST(test_silence_until_the_deadline) {
    struct talk t = {.lines = 1, .patience_ns = 50 * LB_MS_NS};
    int64_t begin_ns = lb_now();
    PLAY(&t, {.await = "hello", .say = "half a li"});
    assert_int_equal(t.outcome[0], LB_UNKNOWN);
    assert_true(t.ended_ns >= begin_ns + t.patience_ns);
    assert_told(&t, ": no answer in time");
}

TEST(test_a_late_answer_is_an_answer) {
    struct talk t = {.lines = 1};
    PLAY(&t, {.await = "hello", .delay_ms = 100, .say = "late\r\n"});
    assert_int_equal(t.outcome[0], LB_OK);
    assert_string_equal(t.line[0], "late");
}

TEST(test_the_cutoff_ends_the_wait) {
    struct talk t = {.lines = 1, .patience_ns = 600 * LB_S_NS};
    t.cutoff_ns = lb_now() + 100 * LB_MS_NS;
    PLAY(&t, {.await = "hello"});
    assert_int_equal(t.outcome[0], LB_UNKNOWN);
}

TEST(test_a_line_longer_than_the_buffer) {
    static char text[STREAM_BUFFER_BYTES + 100];
    memset(text, 'x', sizeof text - 1);
    struct talk t = {.lines = 1};
    PLAY(&t, {.await = "hello", .say = text});
    assert_int_equal(t.outcome[0], LB_UNKNOWN);
    assert_told(&t, ": answer too long");
    /* The longest line that fits is read. */
    text[STREAM_BUFFER_BYTES - 2] = '\r';
    text[STREAM_BUFFER_BYTES - 1] = '\n';
    struct talk fits = {.lines = 2};
    PLAY(&fits, {.await = "hello", .say = text, .say_len = STREAM_BUFFER_BYTES},
         {.say = "next\r\n"});
    assert_int_equal(fits.outcome[0], LB_OK);
    assert_int_equal(fits.outcome[1], LB_OK);
    assert_string_equal(fits.line[1], "next");
}

TEST(test_what_nobody_reads_is_in_doubt) {
    /* More bytes than the sockets' buffers hold: a part of them is sent when the time is over. */
    struct talk t = {.big_bytes = 64 * 1024 * 1024, .patience_ns = 200 * LB_MS_NS, .lines = 1};
    PLAY(&t, {.delay_ms = 1000});
    assert_int_equal(t.sent, LB_UNKNOWN);
    assert_int_equal(t.outcome[0], LB_UNKNOWN);
}

static void send_to_dead(void *arg) {
    struct talk *t = arg;
    t->server.backend = &backend;
    t->session.server = &t->server;
    t->sent = stream_send(&t->stream, &t->session, "x", 1, lb_now() + LB_S_NS);
}

TEST(test_a_closed_one_says_so) {
    struct lb_err err = {0};
    struct talk t = {.lines = 0};
    assert_int_equal(loop_once("send", send_to_dead, &t, &err), 0);
    assert_int_equal(t.sent, LB_BROKEN); /* nothing left this host */
    assert_string_equal(t.session.err.text, "fake: not connected");
}

TEST(test_nobody_listens) {
    struct talk t = {0};
    int bound = loopback_bind(&t.port);
    run(&t);
    close(bound);
    assert_int_equal(t.connected, -1);
    assert_int_equal(t.err.code, LB_EXIT_MACHINE);
    assert_non_null(strstr(t.err.text, "refused"));
    struct talk nowhere = {.port = 1, .host = "nowhere.invalid"};
    run(&nowhere);
    assert_int_equal(nowhere.connected, -1);
    assert_int_equal(nowhere.err.code, LB_EXIT_MACHINE);
    assert_non_null(strstr(nowhere.err.text, "'nowhere.invalid'"));
}

TEST(test_sends_what_it_is_given) {
    struct talk t = {.lines = 1};
    const struct peer_step steps[] = {{.await = "hello\r\n", .say = "ok\r\n"}};
    char *seen = play(&t, steps, 1);
    assert_string_equal(seen, "hello\r\n");
    free(seen);
}

static int looked_up; /* names, not numbers */

/* In front of the C library's. */
int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                struct addrinfo **ret) {
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    looked_up += !(hints->ai_flags & AI_NUMERICHOST);
    return real(host, service, hints, ret);
}

/* A look-up stops all clients of the thread: one is enough for all connections of a run. */
TEST(test_a_host_is_looked_up_once) {
    looked_up = 0;
    for (int i = 0; i < 3; i++) {
        struct talk t = {.host = "localhost", .lines = 1};
        PLAY(&t, {.await = "hello\r\n", .say = "one\r\n"});
        assert_int_equal(t.connected, 0);
        assert_int_equal(t.outcome[0], LB_OK);
    }
    if (looked_up > 1) fail_msg("%d look-ups", looked_up);
}

TEST_MAIN(NULL, NULL)
