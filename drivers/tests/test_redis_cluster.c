/* test_redis_cluster: slots by known answers, CLUSTER NODES in every form, and trouble
 * that a fake node makes. stories/redis_live.story has a slot that moves. */
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

/* A node: what it says may name its own port, since nobody comes before its script is whole. */
struct node {
    struct peer_step steps[14];
    struct fake_peer *peer;
    int port;
    char map[200];
};

/* Its first two steps are played already: it is all of a cluster. */
static void node_start(struct node *node, int count) {
    char body[120];
    memset(node, 0, sizeof *node);
    node->peer = fake_peer_start(node->steps, count);
    node->port = fake_peer_port(node->peer);
    int len = snprintf(body, sizeof body, "id 127.0.0.1:%d@1 master - 0 0 1 connected 0-16383\n",
                       node->port);
    snprintf(node->map, sizeof node->map, "$%d\r\n%s\r\n", len, body);
    node->steps[0] = (struct peer_step){.await = "PING", .say = "+PONG\r\n"};
    node->steps[1] = (struct peer_step){.await = "NODES", .say = node->map};
}

/* Acquires a key there. */
static struct fake_session node_play_key(struct node *node, const char *lock, const char *key) {
    struct fake_session fake = {.lock = registry_lock(lock), .key = key, .lease_ns = 10 * LB_S_NS};
    struct lb_err err = {0};
    snprintf(fake.url, sizeof fake.url, "redis+cluster://127.0.0.1:%d", node->port);
    assert_int_equal(loop_once("fake", fake_talk, &fake, &err), 0);
    free(fake_peer_stop(node->peer));
    if (fake.connected != 0) fail_msg("no session: %s", fake.err.text);
    return fake;
}

static struct fake_session node_play(struct node *node) {
    return node_play_key(node, "redis-setnx", KEY);
}

/* Redisson's locks have keys beside the key, which a name with odd braces puts into other slots: then the lock could
 * be taken, and not be freed. A lock of one key takes any name. */
TEST(test_a_name_that_a_cluster_would_spread) {
    static const char *const locks[] = {"redis-rwlock", "redis-fair", "redis-fenced"};
    static const char *const names[] = {"a}b", "a{b", "{}a", "a{}{b}"};
    struct node node;
    for (size_t i = 0; i < 12; i++) {
        node_start(&node, 2);
        struct fake_session fake = node_play_key(&node, locks[i / 4], names[i % 4]);
        if (fake.acquired != LB_REFUSED || fake.commands != 0)
            fail_msg("%s '%s': %s after %llu commands", locks[i / 4], names[i % 4],
                     lb_outcome_name(fake.acquired), (unsigned long long)fake.commands);
        assert_non_null(strstr(fake.err.text, "slots"));
    }
    node_start(&node, 3);
    node.steps[2] = (struct peer_step){.await = "NX", .say = "+OK\r\n"};
    assert_int_equal(node_play_key(&node, "redis-setnx", "a}b").acquired, LB_OK);
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
    struct node node;
    char moved[100];
    node_start(&node, 14);
    snprintf(moved, sizeof moved, "-MOVED %u 127.0.0.1:%d\r\n", slot_of(KEY), node.port);
    for (int i = 2; i < 14; i += 2) {
        node.steps[i] = (struct peer_step){.await = "NX", .say = moved};
        node.steps[i + 1] = node.steps[1];
    }
    struct fake_session fake = node_play(&node);
    assert_int_equal(fake.acquired, LB_BROKEN);
    assert_non_null(strstr(fake.err.text, "MOVED"));
}

TEST(test_trouble_is_not_an_answer) {
    static const char *const troubles[] = {
        "-CLUSTERDOWN The cluster is down\r\n",
        "-TRYAGAIN Multiple keys request during rehashing of slot\r\n", "-MOVED x\r\n",
        "-MOVED 99999 127.0.0.1:1\r\n", "-ASK 1 nowhere\r\n"};
    for (size_t i = 0; i < sizeof troubles / sizeof *troubles; i++) {
        struct node node;
        node_start(&node, 3);
        node.steps[2] = (struct peer_step){.await = "NX", .say = troubles[i]};
        struct fake_session fake = node_play(&node);
        if (fake.acquired != LB_BROKEN)
            fail_msg("'%s' gave %s", troubles[i], lb_outcome_name(fake.acquired));
    }
}

TEST_MAIN(NULL, NULL)
