/* test_redis_cluster: slots by known answers, CLUSTER NODES in every form. peers/redis.peer has trouble that a node makes,
 * stories/redis_live.story a slot that moves. */
#include "bench/tests/unit.h"

#include "drivers/redis/redis_impl.h"

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

TEST_MAIN(NULL, NULL)
