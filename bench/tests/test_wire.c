/* test_wire: the wire passes everything on unless it has a fault, and each fault acts: by its
 * counters, and by the bytes that the far end received. */
#include <poll.h>

#include "bench/tests/wire_help.h"

WIRED(passes_on_both_ways) {
    struct pair pair = pair_up();
    help_pass(pair.client, pair.server, "question");
    help_pass(pair.server, pair.client, "answer");
    assert_int_equal(help_count(WIRE_REQUESTS).forwarded_bytes, 8);
    assert_int_equal(help_count(WIRE_ANSWERS).forwarded_bytes, 6);
    assert_int_equal(help_count(WIRE_BOTH).read_bytes, 14);
    assert_int_equal(help_count(WIRE_BOTH).swallowed_bytes, 0);
    /* One way may end while the other goes on. */
    char byte;
    shutdown(pair.client, SHUT_WR);
    assert_int_equal(help_read(pair.server, &byte, 1), 0);
    help_pass(pair.server, pair.client, "still here");
    close(pair.server);
    assert_int_equal(help_read(pair.client, &byte, 1), 0);
    close(pair.client);
}

WIRED(a_reset_is_passed_on) {
    for (int from_server = 0; from_server < 2; from_server++) {
        struct pair pair = pair_up();
        struct linger at_once = {.l_onoff = 1, .l_linger = 0};
        int dies = from_server ? pair.server : pair.client,
            lives = from_server ? pair.client : pair.server;
        char data[8];
        help_pass(pair.client, pair.server, "x");
        help_send(dies, "words");
        HELP_UNTIL(help_count(WIRE_BOTH).forwarded_bytes == (from_server ? 12U : 6U));
        setsockopt(dies, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close(dies);
        assert_int_equal(help_read(lives, data, 5), 5); /* its last words come first */
        assert_int_equal(help_read(lives, data, 1), -ECONNRESET);
        close(lives);
    }
}

WIRED(no_server_is_a_reset) {
    struct lb_err err = {0};
    char byte;
    int port;
    int fd = loopback_bind(&port); /* nobody is there */
    assert_int_equal(wire_aim(rig.wire, 0, port, &err), 0);
    int client = wire_connect(wire_port(rig.wire, 0));
    assert_int_equal(client < 0 ? client : help_read(client, &byte, 1), -ECONNRESET);
    if (client >= 0) close(client);
    close(fd);
    /* Aimed at a server, it leads there. */
    fd = help_listen(&port);
    assert_int_equal(wire_aim(rig.wire, 0, port, &err), 0);
    client = wire_connect(wire_port(rig.wire, 0));
    int server = accept(fd, NULL, NULL);
    help_pass(client, server, "hello");
    close(server);
    close(client);
    close(fd);
}

/* A delayed connection's bytes come after those that an undelayed one sent later; they keep their
 * order. */
WIRED(delays_and_keeps_the_order) {
    struct pair late = pair_up();
    int fault = help_set(

        (struct wire_fault){.kind = WIRE_DELAY, .way = WIRE_REQUESTS, .by_ns = 300 * LB_MS_NS});
    int64_t sent_ns = lb_now();
    char text[101] = "";
    for (int i = 0; i < 100; i++) {
        text[i] = (char)('!' + i % 90);
        assert_int_equal(send(late.client, text + i, 1, MSG_NOSIGNAL), 1);
        HELP_UNTIL(help_count(WIRE_REQUESTS).read_bytes == (uint64_t)i + 1);
    }
    struct wire_count before = help_count(WIRE_REQUESTS);
    bool in_time = lb_now() < sent_ns + 300 * LB_MS_NS; /* else the look came too late */
    if (in_time) assert_int_equal(before.forwarded_bytes, 0);
    help_pass(late.server, late.client, "the other way is not delayed");
    help_comes(late.server, text);
    assert_true(lb_now() >= sent_ns + 300 * LB_MS_NS); /* never early */
    struct wire_sign sign = help_sign(fault);
    assert_int_equal(sign.struck, 100);
    assert_int_equal(sign.bytes, 100);
    assert_int_equal(sign.matched, 1);
    assert_true(sign.first_ns >= sent_ns);
    /* Lifted, what was on its way comes. */
    help_lift(fault);
    fault = help_set((struct wire_fault){.kind = WIRE_DELAY, .by_ns = 3600 * LB_S_NS});
    help_send(late.client, "held");
    HELP_UNTIL(help_count(WIRE_REQUESTS).read_bytes == 104);
    assert_int_equal(help_count(WIRE_REQUESTS).forwarded_bytes, 100);
    help_lift(fault);
    help_comes(late.server, "held");
    assert_int_equal(help_sign(fault).struck, 1); /* kept after it */
}

/* The first chunks of a direction pass, and all that comes after them is held, over all connections, new ones too; what
 * was held goes on in its order. */
WIRED(holds_from_a_chunk_on) {
    struct pair pair = pair_up(), other = pair_up();
    int fault = help_set((struct wire_fault){
        .kind = WIRE_DELAY, .way = WIRE_REQUESTS, .chunks = 2, .by_ns = 3600 * LB_S_NS});
    help_pass(pair.client, pair.server, "one");
    help_pass(pair.server, pair.client, "answers are not counted");
    help_pass(other.client, other.server, "two");
    assert_int_equal(help_sign(fault).struck, 0);
    help_send(pair.client, "three");
    HELP_UNTIL(help_sign(fault).struck == 1);
    help_send(pair.client, ", four");
    HELP_UNTIL(help_sign(fault).struck == 2);
    help_send(other.client, "five");
    HELP_UNTIL(help_sign(fault).struck == 3);
    help_pass(pair.server, pair.client, "answers pass");
    assert_int_equal(help_count(WIRE_REQUESTS).forwarded_bytes, 6);
    close(other.client);
    help_lift(fault);
    help_comes(pair.server, "three, four");
    char data[8] = "";
    assert_int_equal(help_read(other.server, data, 8), 4);
    assert_string_equal(data, "five");
    help_pass(pair.client, pair.server, "all passes");
    close(other.server);
}

WIRED(the_end_comes_after_the_delayed_bytes) {
    struct pair pair = pair_up();
    char data[8] = "";
    help_set((struct wire_fault){.kind = WIRE_DELAY, .by_ns = 50 * LB_MS_NS});
    help_send(pair.client, "last");
    close(pair.client);
    assert_int_equal(help_read(pair.server, data, 8), 4);
    assert_string_equal(data, "last");
    close(pair.server);
}

/* Half of a round trip each way: all bytes of a long question and of its answer come, in their order, and no answer
 * sooner than that. Bytes under way do not hold up the next ones: the question is read to its end before its first byte
 * is due. */
WIRED(a_round_trip_takes_what_was_asked_for) {
    enum { TRIP_MS = 40, LONG = 100000 };
    struct pair pair = pair_up();
    static char question[LONG], seen[LONG], answer[LONG];
    for (int i = 0; i < LONG; i++) question[i] = (char)(i * 7 + i / 251);
    help_set((struct wire_fault){.kind = WIRE_DELAY, .by_ns = TRIP_MS * LB_MS_NS / 2});
    for (int i = 0; i < 3; i++) {
        int64_t begin_ns = lb_now();
        help_pass(pair.client, pair.server, "acquire");
        assert_true(lb_now() - begin_ns >= TRIP_MS * LB_MS_NS / 2);
        help_pass(pair.server, pair.client, "granted");
        assert_true(lb_now() - begin_ns >= TRIP_MS * LB_MS_NS);
    }
    int64_t begin_ns = lb_now();
    uint64_t before = help_count(WIRE_REQUESTS).forwarded_bytes;
    for (int at = 0; at < LONG; at += LONG / 100)
        assert_int_equal(send(pair.client, question + at, LONG / 100, MSG_NOSIGNAL), LONG / 100);
    HELP_UNTIL(help_count(WIRE_REQUESTS).read_bytes == before + LONG);
    uint64_t passed = help_count(WIRE_REQUESTS).forwarded_bytes - before;
    bool in_time = lb_now() < begin_ns + TRIP_MS * LB_MS_NS / 2; /* else the machine was busy */
    if (in_time) assert_int_equal(passed, 0);
    assert_int_equal(help_read(pair.server, seen, LONG), LONG);
    assert_memory_equal(seen, question, LONG);
    assert_int_equal(send(pair.server, seen, LONG, MSG_NOSIGNAL), LONG);
    assert_int_equal(help_read(pair.client, answer, LONG), LONG);
    assert_true(lb_now() - begin_ns >= TRIP_MS * LB_MS_NS);
    assert_memory_equal(answer, question, LONG);
}

WIRED(swallows_both_ways) {
    struct pair pair = pair_up(), idle = pair_up();
    char byte;
    help_pass(pair.client, pair.server, "before");
    int fault = help_set((struct wire_fault){.kind = WIRE_SWALLOW});
    struct wire_count before = help_count(WIRE_BOTH);
    help_send(pair.client, "question");
    help_send(pair.server, "answer");
    HELP_UNTIL(help_count(WIRE_BOTH).swallowed_bytes == 14);
    shutdown(pair.client, SHUT_WR); /* not even an end */
    HELP_UNTIL(help_sign(fault).struck == 3);
    /* A new connection is accepted, but not passed to the server. */
    int client = wire_connect(wire_port(rig.wire, 0));
    assert_true(client >= 0);
    help_send(client, "anybody?");
    HELP_UNTIL(help_count(WIRE_BOTH).swallowed_bytes == 22);
    help_silent(pair.server);
    help_silent(client);
    struct pollfd comes = {.fd = rig.listen_fd, .events = POLLIN};
    assert_int_equal(poll(&comes, 1, 0), 0);
    assert_int_equal(help_count(WIRE_BOTH).forwarded_bytes, before.forwarded_bytes);
    assert_int_equal(help_sign(fault).bytes, 22);
    assert_int_equal(help_sign(fault).matched, 3);
    /* When the fault is lifted, connections that lost bytes are reset; one that lost none goes
     * on. */
    help_lift(fault);
    assert_int_equal(help_read(pair.server, &byte, 1), -ECONNRESET);
    assert_int_equal(help_read(client, &byte, 1), -ECONNRESET);
    help_pass(idle.client, idle.server, "as if nothing had been");
    struct pair later = pair_up();
    help_pass(later.server, later.client, "welcome");
    close(client);
}

WIRED(swallows_one_way) {
    for (int way = WIRE_REQUESTS; way <= WIRE_ANSWERS; way++) {
        struct pair pair = pair_up();
        int mute = way == WIRE_REQUESTS ? pair.client : pair.server,
            deaf = way == WIRE_REQUESTS ? pair.server : pair.client;
        int fault = help_set((struct wire_fault){.kind = WIRE_SWALLOW, .way = (enum wire_way)way});
        help_send(mute, "lost");
        help_pass(deaf, mute, "the other way is fine");
        HELP_UNTIL(help_sign(fault).bytes == 4);
        help_silent(deaf);
        char byte;
        help_lift(fault);
        assert_int_equal(help_read(deaf, &byte, 1), -ECONNRESET);
    }
}

/* Once: a later connection is none of it. comes: what each end reads. */
static void ends_all(enum wire_kind kind, ssize_t comes) {
    struct pair pair = pair_up();
    char byte;
    help_pass(pair.client, pair.server, "x");
    int fault = help_set((struct wire_fault){.kind = kind});
    assert_int_equal(help_sign(fault).struck, 1);
    assert_int_equal(help_read(pair.client, &byte, 1), comes);
    assert_int_equal(help_read(pair.server, &byte, 1), comes);
    struct pair later = pair_up();
    help_pass(later.client, later.server, "once only");
}

WIRED(resets) {
    ends_all(WIRE_RESET, -ECONNRESET);
}

WIRED(cuts) {
    ends_all(WIRE_CUT, 0);
}

WIRED(refuses) {
    struct pair old = pair_up();
    for (int round = 0; round < 2; round++) {
        int fault = help_set((struct wire_fault){.kind = WIRE_REFUSE});
        assert_int_equal(wire_connect(wire_port(rig.wire, 0)), -ECONNREFUSED);
        assert_int_equal(help_sign(fault).struck, 1);
        help_pass(old.client, old.server, "old ones go on");
        help_lift(fault);
        struct pair later = pair_up();
        help_pass(later.client, later.server, "welcome");
    }
}

WIRED(ends_all_midway_together) {
    char data[16] = "";
    struct pair one = pair_up(), two = pair_up();
    int fault = help_set((struct wire_fault){.kind = WIRE_MIDWAY, .bytes = 5});
    help_pass(one.server, one.client, "abc");
    help_send(two.server, "defg");
    assert_int_equal(help_read(two.client, data, 4), 2);
    assert_memory_equal(data, "de", 2);
    assert_int_equal(help_read(one.client, data, 1), 0);
    assert_int_equal(wire_connect(wire_port(rig.wire, 0)), -ECONNREFUSED);
    help_lift(fault);
    struct pair later = pair_up();
    help_pass(later.server, later.client, "welcome");
}

/* A lost reply: the request was done, the answer never comes, the connection ends. */
WIRED(drops_and_resets) {
    char data[16] = "";
    struct pair pair = pair_up(), other = pair_up();
    int fault = help_set((struct wire_fault){.kind = WIRE_DROP});
    help_pass(pair.client, pair.server, "requests pass");
    help_send(pair.server, ":1\r\n+OK\r\n");
    assert_int_equal(help_read(pair.client, data, 1), -ECONNRESET);
    assert_int_equal(help_sign(fault).struck, 1);
    assert_int_equal(help_sign(fault).bytes, 9);
    help_pass(other.server, other.client, "+OK\r\n"); /* one answer, and no more */
}

TEST_MAIN(NULL, NULL)
