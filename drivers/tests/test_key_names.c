/* test_key_names: the name of a key on each lock's server, and the numbers of names. That the
 * servers hold these names is what stories/keys.story and the foreign clients show. */
#include <string.h>

#include "bench/tests/unit.h"
#include "drivers/clean.h"
#include "drivers/key_names.h"
#include "drivers/registry.h"

static struct lb_names names;

static bool ask_names(const char *lock_name, int64_t lease_ns, const char *key) {
    const struct lb_lock *lock = registry_lock(lock_name);
    struct arena arena = {0};
    struct lb_err err = {0};
    assert_non_null(lock);
    void *options =
        options_new(lock->algorithm->options, lock->algorithm->options_bytes, &arena, &err);
    assert_non_null(options);
    bool found = lb_names_of(lock, options, lease_ns, key, &names);
    arena_done(&arena);
    return found;
}

/* Fails unless the lock has this name for the key "a/b". A lock that this build lacks is left out. */
static void expect_name(const char *lock, const char *text) {
    const struct lb_lock *known = registry_lock(lock);
    if (known && lb_unavailable(known->backend)) return;
    assert_true(ask_names(lock, 30 * LB_S_NS, "a/b"));
    for (int i = 0; i < names.count; i++) {
        if (strcmp(names.item[i].text, text) == 0) return;
    }
    fail_msg("%s: no name is '%s'; the first is '%s'", lock, text, names.item[0].text);
}

TEST(every_lock_that_others_can_reach_has_a_name) {
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        if (lb_unavailable(lock->backend)) continue;
        bool found = ask_names(lock->name, LB_S_NS, "a/b");
        if (found != (lock->backend->schemes != NULL))
            fail_msg("%s: %s", lock->name, found ? "has a name" : "has no name");
    }
}

static bool is_marked(const char *text) {
    return lb_is_marked(text, strlen(text));
}

TEST(a_key_of_a_run_is_known_by_its_mark) {
    assert_true(is_marked("lockbench-0123abcd-0"));
    assert_true(is_marked("redisson_lock_token:{lockbench-0123abcd-12}"));
    assert_true(is_marked("lockbench-lockbench-0123abcd-7:guarded"));
    assert_false(is_marked("lockbench-0123abcd-"));
    assert_false(is_marked("lockbench-0123abcd-x"));
    assert_false(is_marked("lockbench-0123abc-0"));
    assert_false(is_marked("lockbench-0123abcde-0"));
    assert_false(is_marked("lockbench-0123ABCD-0"));
    assert_false(is_marked("lockbench_fence"));
    assert_false(lb_is_marked("lockbench-0123abcd-0", 19));
}

TEST(names_are_as_the_servers_have_them) {
    expect_name("redis-setnx", "a/b");
    expect_name("redis-fair", "redisson_lock_queue:{a/b}");
    expect_name("redis-fenced", "redisson_lock_token:{a/b}");
    expect_name("memcached-add", "a/b");
    expect_name("nats-kv", "$KV.lockbench_30000ms.a/b");
    expect_name("zk-lock", "/lockbench/a%2Fb");
    expect_name("zk-semaphore", "/lockbench/a%2Fb/leases");
    expect_name("etcd-mutex", "a/b/<lease in hex>");
    expect_name("etcd-key", "a/b");
    expect_name("pg-row", "lockbench_row, name = 'a/b'");
    expect_name("mysql-getlock", "a/b");
    expect_name("file-flock", "a%2Fb.lock");
}

TEST(a_key_that_a_server_cannot_have_has_no_name) {
    assert_false(ask_names("memcached-add", LB_S_NS, "a b"));
    assert_false(ask_names("nats-kv", LB_S_NS, "a..b"));
}

TEST(a_number_is_itself_and_other_names_have_a_stable_hash) {
    assert_int_equal(lb_key_number("42", 2), 42);
    assert_int_equal(lb_key_number("0", 1), 0);
    /* A migration tool of Rails takes a number of 19 digits. */
    assert_true(lb_key_number("4052605083914157315", 19) == 4052605083914157315u);
    assert_true(lb_key_number("9223372036854775807", 19) == INT64_MAX);
    assert_true((int64_t)lb_key_number("-42", 3) == -42);
    assert_true((int64_t)lb_key_number("-9223372036854775808", 20) == INT64_MIN);
    static const char *const hashed[] = {
        "-", "-0", "+7", "-07", "18446744073709551617", "-9223372036854775809"};
    for (size_t i = 0; i < sizeof hashed / sizeof *hashed; i++)
        assert_true(lb_key_number(hashed[i], strlen(hashed[i])) > 1000000 &&
                    lb_key_number(hashed[i], strlen(hashed[i])) <= INT64_MAX);
    assert_int_not_equal(lb_key_number("042", 3), 42);
    assert_int_not_equal(lb_key_number("", 0), 0);
    /* FNV-1a of "foobar", from its authors' test vectors: 0x85944171f73967e8 */
    assert_true(lb_key_number("foobar", 6) == 0x05944171f73967e8u);
    assert_true(lb_key_number("9223372036854775808", 19) != (uint64_t)INT64_MAX + 1);
    /* only len bytes count */
    assert_int_equal(lb_key_number("42x", 2), 42);
}

TEST_MAIN(NULL, NULL)
