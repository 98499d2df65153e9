/* test_clean_names: what is left of a stage is found and removed. More of what a guest on a server may touch is in
 * stories/clean.story.
 * Needs: servers. */
#include "drivers/clean.h"
#include "drivers/tests/live_help.h"

/* The login is a "set" of any key. The secret has 32 characters. */
#define MEMCACHED                                                                                  \
    "exec 3<>/dev/tcp/127.0.0.1/$PORT; printf 'set login 0 0 42\\r\\nlockbench '$SECRET'\\r\\n"    \
    "set lockbench-00000000-1 0 9 1\\r\\n1\\r\\n' >&3; sed /STORED/!d\\;n\\;q <&3"

static void tell_server(const struct live_place *live, const char *script) {
    char port[12];
    snprintf(port, sizeof port, "%d", topo_port(live->place->topo, 0, 0));
    setenv("PORT", port, 1);
    setenv("SECRET", topo_about(live->place->topo)->secret, 1);
    setenv("SCRIPT", script, 1);
    assert_int_equal(system("bash -c \"$SCRIPT\" >/dev/null"), 0);
}

/* Asks a lock for the residue of two keys, of which only the second one has left something. */
static void look_for_left(void *arg) {
    const struct live_place *live = arg;
    const struct lb_own_keys own = {.count = 2};
    for (int i = 0; i < live->plan->lock_count; i++) {
        struct lb_residue left = {0};
        struct lb_err err = {0};
        struct live_client client;
        live_come_as(&client, live, i, "unused");
        client.session.only = &own;
        const struct lb_lock *lock = client.session.lock;
        CHECK(lock->algorithm->residue(&client.session, "lockbench-00000000-", &left, &err) == 0,
              "%s", err.text);
        CHECK(left.count == 1, "%s: %llu are left", lock->name, (unsigned long long)left.count);
        live_client_done(&client);
    }
}

TEST(what_is_left_of_own_names_is_found) {
    static const struct {
        const char *lock, *keep;
    } left[] = {
        {"redis-setnx", "redis-cli -p $PORT mset lockbench-00000000-1 1 lockbench-00000000-2 1"},
        {"redis-fair", "redis-cli -p $PORT mset 'redisson_lock_queue:{lockbench-00000000-1}' 1"},
        {"redis-permit", "redis-cli -p $PORT set '{lockbench-00000000-1}:timeout' 1"},
        {"memcached-add", MEMCACHED},
    };
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        struct live_place live = live_open(left[i].lock, NULL);
        LIVE_NEEDS(&live);
        tell_server(&live, left[i].keep);
        live_run(look_for_left, &live);
        live_close(&live);
    }
}

TEST_MAIN(NULL, NULL)
