/* test_redis_cluster: slots by known answers, CLUSTER NODES in every form, and how a session
 * follows MOVED and ASK, with fake peers for nodes: a real cluster moves no slot on demand in the
 * middle of a command. */
#include "drivers/tests/fake_session.h"

#include "drivers/redis/redis_impl.h"
#include "drivers/registry.h"

static unsigned slot_of(const char *key) {
    return redis_slot(key, strlen(key));
}

TEST(test_slots) {
    assert_int_equal(slot_of("123456789"), 0x31C3); /* the specification's check value */
    /* What CLUSTER KEYSLOT says. */
    assert_int_equal(slot_of(""), 0);
    assert_int_equal(slot_of("foo"), 12182);
    assert_int_equal(slot_of("bar"), 5061);
    assert_int_equal(slot_of("hello"), 866);
    /* The specification's examples of hash tags. */
    assert_int_equal(slot_of("{user1000}.following"), slot_of("user1000"));
    assert_int_equal(slot_of("foo{}{bar}"), 8363);
    assert_int_equal(slot_of("foo{{bar}}zap"), slot_of("{bar"));
    assert_int_equal(slot_of("foo{bar}{zap}"), slot_of("bar"));
    assert_int_equal(slot_of("foo{bar"), 15278);
    assert_int_equal(slot_of("{}"), 15257);
}

TEST(test_names_fall_in_their_slot) {
    static const char *const names[] = {"orders", "a}b", "", "x{y}z", "{tag}1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char one[64], other[64];
        size_t one_len = redis_tagged(one, sizeof one, "queue:", names[i], strlen(names[i]), "");
        size_t other_len =
            redis_tagged(other, sizeof other, "", names[i], strlen(names[i]), ":timeout");
        assert_int_equal(one_len, strlen(one));
        /* Not for a name whose tag would be empty or end early ("", "a}b"): its keys may have
         * different slots. */
        if (names[i][0] && names[i][0] != 'a')
            assert_int_equal(redis_slot(one, one_len), redis_slot(other, other_len));
    }
    char out[64];
    redis_tagged(out, sizeof out, "queue:", "orders", 6, ":x");
    assert_string_equal(out, "queue:{orders}:x");
    redis_tagged(out, sizeof out, "queue:", "x{y}z", 5, ":x");
    assert_string_equal(out, "queue:x{y}z:x");
}

/* --- CLUSTER NODES --- */

static struct redis_cluster cluster;
static struct redis_state nodes;

static int parse(const char *text) {
    struct lb_err err = {0};
    nodes = (struct redis_state){.mode = REDIS_CLUSTER, .cluster = &cluster};
    return redis_cluster_parse(&nodes, text, "10.9.9.9", &err);
}

static void expect_slot(unsigned slot, const char *host, int port) {
    int index = cluster.node[slot];
    if (!host) {
        assert_int_equal(index, REDIS_NOBODY);
        return;
    }
    assert_true(index < nodes.node_count);
    assert_string_equal(nodes.node[index].host, host);
    assert_int_equal(nodes.node[index].port, port);
    assert_true(nodes.node[index].primary);
}

TEST(test_cluster_nodes) {
    assert_int_equal(
        parse(
            "07c37df 127.0.0.1:30004@31004,host4 slave e7d1eec 0 1426238317239 4 connected\n"
            "67ed2db 127.0.0.1:30002@31002 master - 0 1426238316232 2 connected 5461-10922\n"
            "292f8b3 :30003@31003 master - 0 1426238318243 3 connected 10923-16000 16002 [16001-<-67ed2db]\n"
            "6ec2392 ::1:30005 slave,fail 67ed2db 0 1426238316232 5 disconnected\n"
            "824fe11 :0@0 master,noaddr - 1426238317238 1426238316232 6 disconnected\n"
            "aaaaaaa 127.0.0.1:30009@31009 master - 0 1426238316232 9 connected\n"
            "e7d1eec 127.0.0.1:30001@31001 myself,master - 0 0 1 connected 0-5460\n"),
        0);
    expect_slot(0, "127.0.0.1", 30001);
    expect_slot(5460, "127.0.0.1", 30001);
    expect_slot(5461, "127.0.0.1", 30002);
    expect_slot(16000, "10.9.9.9", 30003); /* an address left out is that of who was asked */
    expect_slot(16001, NULL, 0);
    expect_slot(16002, "10.9.9.9", 30003);
    expect_slot(16383, NULL, 0);
    int primaries = 0, ipv6 = 0;
    for (int i = 0; i < nodes.node_count; i++) {
        primaries += nodes.node[i].primary;
        ipv6 += strcmp(nodes.node[i].host, "::1") == 0 && nodes.node[i].port == 30005;
    }
    assert_int_equal(primaries, 3);
    assert_int_equal(ipv6, 1);
}

TEST(test_bad_cluster_nodes) {
    static const char *const bad[] = {
        "x\n",
        "id 127.0.0.1 master - 0 0 1 connected 0-1\n",
        "id 127.0.0.1:99999 master - 0 0 1 connected 0-1\n",
        "id 127.0.0.1:1 master - 0 0 1 connected 0-16384\n",
        "id 127.0.0.1:1 master - 0 0 1 connected 5-4\n",
        "id 127.0.0.1:1 master - 0 0 1 connected 5x\n",
        "id 127.0.0.1:1 master - 0 0 1 connected -5\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (parse(bad[i]) == 0) fail_msg("took '%s'", bad[i]);
    }
    char many[8192];
    for (int count = REDIS_NODES_MAX; count <= REDIS_NODES_MAX + 1; count++) {
        int used = 0;
        for (int i = 0; i < count; i++)
            used += snprintf(many + used, sizeof many - (size_t)used,
                             "id h:%d master - 0 0 1 connected %d\n", 1 + i, i);
        assert_int_equal(parse(many), count > REDIS_NODES_MAX ? -1 : 0);
    }
}

/* --- sessions --- */

#define KEY "orders:7"

/* Two nodes: what each plays may name the other's port, since nobody comes before both scripts are
 * whole. */
struct pair {
    struct peer_step here[20], there[8];
    struct fake_peer *first, *second;
    int first_port, second_port;
    char text[4][200];
};

static void pair_start(struct pair *pair, int here, int there) {
    pair->first = fake_peer_start(pair->here, here);
    pair->second = fake_peer_start(pair->there, there);
    pair->first_port = fake_peer_port(pair->first);
    pair->second_port = fake_peer_port(pair->second);
}

/* CLUSTER NODES' answer: one primary has it all. */
static const char *all_at(struct pair *pair, int text, int port) {
    char body[120];
    int len =
        snprintf(body, sizeof body, "id 127.0.0.1:%d@1 master - 0 0 1 connected 0-16383\n", port);
    snprintf(pair->text[text], sizeof pair->text[text], "$%d\r\n%s\r\n", len, body);
    return pair->text[text];
}

static const char *go_to(struct pair *pair, int text, const char *how, int port) {
    snprintf(pair->text[text], sizeof pair->text[text], "-%s %u 127.0.0.1:%d\r\n", how,
             slot_of(KEY), port);
    return pair->text[text];
}

/* Acquires and releases through the first node; *ret_seen: what both have read, for the caller to
 * free. */
static struct fake_session pair_play(struct pair *pair, char *ret_seen[2]) {
    struct fake_session fake = {.lock = registry_lock("redis-setnx"),
                                .key = KEY,
                                .lease_ns = 10 * LB_S_NS,
                                .release = true};
    struct lb_err err = {0};
    snprintf(fake.url, sizeof fake.url, "redis+cluster://127.0.0.1:%d", pair->first_port);
    assert_int_equal(loop_once("fake", fake_talk, &fake, &err), 0);
    ret_seen[0] = fake_peer_stop(pair->first);
    ret_seen[1] = fake_peer_stop(pair->second);
    if (fake.connected != 0) fail_msg("no session: %s", fake.err.text);
    return fake;
}

/* Followed, and remembered: the release goes to the new node at once. */
TEST(test_moved) {
    struct pair pair = {.text = {""}};
    char *seen[2];
    pair_start(&pair, 3, 4);
    memcpy(pair.here,
           (struct peer_step[]){{.await = "PING", .say = "+PONG\r\n"},
                                {.await = "NODES", .say = all_at(&pair, 0, pair.first_port)},
                                {.await = "NX", .say = go_to(&pair, 1, "MOVED", pair.second_port)}},
           3 * sizeof *pair.here);
    memcpy(pair.there,
           (struct peer_step[]){{.await = "PING", .say = "+PONG\r\n"},
                                {.await = "NODES", .say = all_at(&pair, 2, pair.second_port)},
                                {.await = "NX", .say = "+OK\r\n"},
                                {.await = "EVALSHA", .say = ":1\r\n"}},
           4 * sizeof *pair.there);
    struct fake_session fake = pair_play(&pair, seen);
    assert_int_equal(fake.acquired, LB_OK);
    assert_int_equal(fake.released, LB_OK);
    assert_null(strstr(seen[0], "EVALSHA"));
    assert_null(strstr(seen[1], "ASKING"));
    assert_int_equal(fake.commands, 5); /* SET here, PING, NODES, SET and EVALSHA there */
    free(seen[0]);
    free(seen[1]);
}

/* Followed, with ASKING right before, and not remembered: the slot is still the old node's. */
TEST(test_ask) {
    struct pair pair = {.text = {""}};
    char *seen[2];
    pair_start(&pair, 4, 3);
    memcpy(
        pair.here,
        (struct peer_step[]){{.await = "PING", .say = "+PONG\r\n"},
                             {.await = "NODES", .say = all_at(&pair, 0, pair.first_port)},
                             {.await = "NX", .say = go_to(&pair, 1, "ASK", pair.second_port)},
                             {.await = "EVALSHA", .say = go_to(&pair, 1, "ASK", pair.second_port)}},
        4 * sizeof *pair.here);
    memcpy(pair.there,
           (struct peer_step[]){{.await = "PING", .say = "+PONG\r\n"},
                                {.await = "NX", .say = "+OK\r\n+OK\r\n"},
                                {.await = "EVALSHA", .say = "+OK\r\n:1\r\n"}},
           3 * sizeof *pair.there);
    struct fake_session fake = pair_play(&pair, seen);
    assert_int_equal(fake.acquired, LB_OK);
    assert_int_equal(fake.released, LB_OK);
    assert_int_equal(fake.commands, 7);
    const char *asking = strstr(seen[1], "*1\r\n$6\r\nASKING\r\n*6\r\n$3\r\nSET\r\n");
    assert_non_null(asking);
    assert_non_null(strstr(asking + 1, "*1\r\n$6\r\nASKING\r\n*5\r\n$7\r\nEVALSHA\r\n"));
    free(seen[0]);
    free(seen[1]);
}

/* A map that is longer than the room for an answer is not used at all, not even its first part. */
TEST(test_a_long_map) {
    static char answer[9100];
    int len = snprintf(answer, sizeof answer,
                       "$9000\r\nid 127.0.0.1:1@1 master - 0 0 1 connected 0-16383\n");
    memset(answer + len, '\n', sizeof answer - 1 - (size_t)len);
    memcpy(answer + strlen("$9000\r\n") + 9000, "\r\n", 3);
    struct fake_session fake = {.lock = registry_lock("redis-setnx"), .refused = true};
    free(FAKE_PLAY(&fake, "redis+cluster", {.await = "PING", .say = "+PONG\r\n"},
                   {.await = "NODES", .say = answer}));
    assert_int_equal(fake.connected, -1);
    assert_non_null(strstr(fake.err.text, "longer than"));
}

/* A node that answers each command with MOVED to itself, and a map that says the same: the command
 * ends, and nothing was done. */
TEST(test_moved_for_ever) {
    struct pair pair = {.text = {""}};
    char *seen[2];
    pair_start(&pair, 2 + 2 * 6, 0);
    pair.here[0] = (struct peer_step){.await = "PING", .say = "+PONG\r\n"};
    pair.here[1] = (struct peer_step){.await = "NODES", .say = all_at(&pair, 0, pair.first_port)};
    for (int i = 2; i < 14; i += 2) {
        pair.here[i] =
            (struct peer_step){.await = "NX", .say = go_to(&pair, 1, "MOVED", pair.first_port)};
        pair.here[i + 1] = pair.here[1];
    }
    struct fake_session fake = pair_play(&pair, seen);
    assert_int_equal(fake.acquired, LB_BROKEN);
    assert_non_null(strstr(fake.err.text, "MOVED"));
    free(seen[0]);
    free(seen[1]);
}

TEST(test_trouble_is_not_an_answer) {
    static const char *const troubles[] = {
        "-CLUSTERDOWN The cluster is down\r\n",
        "-TRYAGAIN Multiple keys request during rehashing of slot\r\n", "-MOVED x\r\n",
        "-MOVED 99999 127.0.0.1:1\r\n", "-ASK 1 nowhere\r\n"};
    for (size_t i = 0; i < sizeof troubles / sizeof *troubles; i++) {
        struct pair pair = {.text = {""}};
        char *seen[2];
        pair_start(&pair, 3, 0);
        memcpy(pair.here,
               (struct peer_step[]){{.await = "PING", .say = "+PONG\r\n"},
                                    {.await = "NODES", .say = all_at(&pair, 0, pair.first_port)},
                                    {.await = "NX", .say = troubles[i]}},
               3 * sizeof *pair.here);
        struct fake_session fake = pair_play(&pair, seen);
        if (fake.acquired != LB_BROKEN)
            fail_msg("'%s' gave %s", troubles[i], lb_outcome_name(fake.acquired));
        free(seen[0]);
        free(seen[1]);
    }
}

TEST_MAIN(NULL, NULL)
