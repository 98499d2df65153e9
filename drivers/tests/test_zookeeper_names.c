/* The decisions of the ZooKeeper locks that need no server: paths, node names, their order. */
#include "bench/tests/unit.h"
#include "drivers/zookeeper/session.h"

TEST(keys_become_paths) {
    static const struct {
        const char *key, *path;
    } cases[] = {
        {"orders", "/lockbench/orders"},
        {"a-b_c.7", "/lockbench/a-b_c.7"},
        {"a/b", "/lockbench/a%2Fb"},
        {"/", "/lockbench/%2F"},
        {"100%", "/lockbench/100%25"},
        {"a%2Fb", "/lockbench/a%252Fb"}, /* not the same node as "a/b" */
        {".", "/lockbench/%2E"},
        {"..", "/lockbench/%2E."},
        {"...", "/lockbench/..."},
        {".hidden", "/lockbench/.hidden"},
        {"\x01 \x7f", "/lockbench/%01%20%7F"},
        {"\xc3\xa9", "/lockbench/%C3%A9"},
        {"zookeeper", "/lockbench/zookeeper"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[ZK_PARENT_MAX];
        assert_int_equal(
            zk_path_of("/lockbench", cases[i].key, strlen(cases[i].key), path, sizeof path), 0);
        assert_string_equal(path, cases[i].path);
    }
}

TEST(keys_of_any_bytes_stay_apart) {
    char seen[256][16];
    for (int c = 1; c < 256; c++) {
        char key[2] = {(char)c, '\0'};
        assert_int_equal(zk_path_of("", key, 1, seen[c], sizeof seen[c]), 0);
        for (const char *at = seen[c] + 1; *at; at++) {
            assert_true(*at > ' ' && *at < 0x7f && *at != '/');
        }
        for (int d = 1; d < c; d++) assert_string_not_equal(seen[c], seen[d]);
    }
}

TEST(long_and_empty_keys) {
    char key[LB_KEY_MAX], path[ZK_PARENT_MAX];
    memset(key, '/', sizeof key); /* each byte three times as long */
    assert_int_equal(zk_path_of("/chroot/lockbench", key, sizeof key, path, sizeof path), 0);
    assert_int_equal(strlen(path), strlen("/chroot/lockbench/") + 3 * sizeof key);
    assert_int_equal(zk_path_of("/chroot", key, sizeof key, path, 64), -1);
    assert_int_equal(zk_path_of("/chroot", key, 0, path, sizeof path), -1);
    /* As much room as an escape and the NUL need, and one byte less. */
    assert_int_equal(zk_path_of("", "/", 1, path, sizeof "/%2F"), 0);
    assert_int_equal(zk_path_of("", "/", 1, path, sizeof "/%2F" - 1), -1);
}

TEST(orders) {
    assert_string_equal(zk_order_lock("_c_uuid-lock-0000000007"), "0000000007");
    /* the last one counts */
    assert_string_equal(zk_order_lock("lock-lock-0000000007"), "0000000007");
    assert_string_equal(zk_order_lock("lock-"), "");
    assert_string_equal(zk_order_lock("_c_uuid-__READ__0000000003"), "_c_uuid-__READ__0000000003");
    /* counter overflow */
    assert_string_equal(zk_order_lock("_c_uuid-lock--000000003"), "-000000003");
    assert_string_equal(zk_order_read_write("_c_uuid-__READ__0000000003"), "0000000003");
    assert_string_equal(zk_order_read_write("_c_uuid-__WRIT__0000000004"), "0000000004");
    assert_string_equal(zk_order_read_write("_c_uuid-lock-0000000004"), "_c_uuid-lock-0000000004");
}

/* Sorts as Curator does (stable, by text), for comparison. Returns the place of own in order[]. */
static int sort(char *const *names, int count, const char *own, zk_order_fn *key, int *order) {
    for (int i = 0; i < count; i++) {
        int at = i;
        while (at > 0 && strcmp(key(names[i]), key(names[order[at - 1]])) < 0) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
    }
    for (int i = 0; i < count; i++) {
        if (strcmp(names[order[i]], own) == 0) return i;
    }
    return -1;
}

static int before_by_sorting(char *const *names, int count, const char *own, zk_order_fn *key) {
    int order[64], at = sort(names, count, own, key, order);
    return at < 0 ? ZK_ABSENT : at == 0 ? ZK_FIRST : order[at - 1];
}

/* As Curator's ReadLock: the first write node of all; granted if it stands behind. */
static int writer_by_sorting(char *const *names, int count, const char *own) {
    int order[64], at = sort(names, count, own, zk_order_read_write, order);
    for (int i = 0; i < at; i++) {
        if (strstr(names[order[i]], "__WRIT__")) return order[i];
    }
    return at < 0 ? ZK_ABSENT : ZK_FIRST;
}

TEST(those_ahead_are_those_of_a_stable_sort) {
    static const char *const shapes[] = {"_c_%d-lock-%010u", "_c_%d-__READ__%010u",
                                         "_c_%d-__WRIT__%010u", "x-%016x-%010u"};
    struct lb_rng rng;
    rng_seed(&rng, 11, 0);
    for (int round = 0; round < 2000; round++) {
        char text[20][64], *names[20];
        int count = 1 + (int)rng_below(&rng, 20);
        for (int i = 0; i < count; i++) {
            /* Few numbers, so that some are equal; names of other recipes among them. */
            unsigned number = (unsigned)rng_below(&rng, 12);
            size_t shape = rng_below(&rng, 6) ? (size_t)round % 4 : rng_below(&rng, 4);
            if (round % 4 == 2 && rng_below(&rng, 2)) shape = 1;
            snprintf(text[i], sizeof text[i], shapes[shape], i, number);
            names[i] = text[i];
        }
        assert_int_equal(zk_ahead_lock(names, count, "_c_q-lock-0000000099"), ZK_ABSENT);
        assert_int_equal(zk_ahead_read(names, count, "_c_q-__READ__0000000099"), ZK_ABSENT);
        for (int i = 0; i < count; i++) {
            assert_int_equal(zk_ahead_lock(names, count, names[i]),
                             before_by_sorting(names, count, names[i], zk_order_lock));
            assert_int_equal(zk_ahead_write(names, count, names[i]),
                             before_by_sorting(names, count, names[i], zk_order_read_write));
            assert_int_equal(zk_ahead_read(names, count, names[i]),
                             writer_by_sorting(names, count, names[i]));
        }
    }
}

TEST(protected_nodes_are_found_again) {
    static const char uuid[] = "11111111-2222-4333-8444-555555555555";
    char *names[] = {"_c_11111111-2222-4333-8444-555555555556-lock-0000000001", "lock-0000000002",
                     "x_c_11111111-2222-4333-8444-555555555555-lock-0000000003",
                     "_c_11111111-2222-4333-8444-555555555555-lock-0000000004"};
    assert_int_equal(zk_protected(names, 4, uuid), 3);
    assert_int_equal(zk_protected(names, 3, uuid), ZK_ABSENT);
    assert_int_equal(zk_protected(names, 0, uuid), ZK_ABSENT);
}

TEST_MAIN(NULL, NULL)
