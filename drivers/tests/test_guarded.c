/* The guarded stores that backends keep for their locks' tokens, on real servers: a smaller token
 * is refused, and an equal or greater one accepted, whatever happens between; and a dropped store
 * leaves nothing. One lock of each store.
 * Needs: servers. */
#include "drivers/store.h"
#include "drivers/tests/live_help.h"

#define KEY "it's guarded/%{x}" /* what a query, a path or a pattern might trip over */
#define OTHER "it's guarded/%{x}2"

struct pair {
    struct live_client older, newer, other;
    const struct lb_store *store;
};

static enum lb_outcome install(struct live_client *client, uint64_t token, uint64_t *value) {
    client->session.err.code = 0;
    return client->session.lock->store->install(&client->session, &client->request, token, value);
}

static enum lb_outcome put(struct live_client *client, uint64_t token, uint64_t value) {
    client->session.err.code = 0;
    return client->session.lock->store->write(&client->session, &client->request, token, value);
}

static uint64_t value_of(struct live_client *client) {
    uint64_t value = 777;
    client->session.err.code = 0;
    enum lb_outcome outcome =
        client->session.lock->store->read(&client->session, &client->request, &value);
    CHECK(outcome == LB_OK, "read: %s: %s", lb_outcome_name(outcome), client->session.err.text);
    return value;
}

static void drop(struct live_client *client) {
    struct lb_err err = {0};
    CHECK(client->session.lock->store->drop(&client->session, &client->request, &err) == 0, "%s",
          err.text);
}

#define GIVES(call, wanted)                                                                        \
    do {                                                                                           \
        enum lb_outcome got = (call);                                                              \
        CHECK(got == (wanted), #call " gives %s", lb_outcome_name(got));                           \
    } while (0)

static void try_tokens(struct pair *pair) {
    uint64_t value = 777;
    CHECK(value_of(&pair->older) == 0);
    GIVES(install(&pair->older, 33, &value), LB_OK);
    CHECK(value == 0);
    GIVES(put(&pair->older, 33, 1), LB_OK);
    GIVES(put(&pair->older, 33, 1), LB_OK); /* the same again is a write too */
    CHECK(value_of(&pair->newer) == 1);

    /* As soon as the newer token is installed, the older one is refused. */
    GIVES(install(&pair->newer, 34, &value), LB_OK);
    CHECK(value == 1);
    GIVES(put(&pair->older, 33, 9), LB_LOST);
    value = 777;
    GIVES(install(&pair->older, 33, &value), LB_LOST);
    CHECK(value == 777, "a refused installation writes its value");
    CHECK(value_of(&pair->older) == 1);
    GIVES(put(&pair->newer, 34, 2), LB_OK);

    /* Token and value are whole numbers of more than 32 bits. */
    uint64_t token = UINT64_C(1) << 40, much = (UINT64_C(1) << 40) + 1;
    GIVES(install(&pair->older, token, &value), LB_OK);
    GIVES(put(&pair->older, token, much), LB_OK);
    GIVES(put(&pair->newer, token - 1, 5), LB_LOST);
    CHECK(value_of(&pair->newer) == much);
    /* As text, 9 comes after 10. */
    GIVES(put(&pair->newer, 9, 5), LB_LOST);

    CHECK(value_of(&pair->other) == 0, "another key has the value");
}

/* ---- several at once ---- */

#define CROWD 4
#define TURNS 15

static uint64_t next_token, taken;
static int running;

static void take_turns(void *arg) {
    struct live_client *client = arg;
    for (int i = 0; i < TURNS && !check_failed[0]; i++) {
        uint64_t token = ++next_token, value = 0;
        enum lb_outcome outcome = install(client, token, &value);
        if (outcome == LB_OK) outcome = put(client, token, value + 1);
        CHECK(outcome == LB_OK || outcome == LB_LOST, "%s: %s", lb_outcome_name(outcome),
              client->session.err.text);
        taken += outcome == LB_OK;
    }
    running--;
}

/* Clients without a lock write in turn: no accepted write is lost, under any interleaving. */
static void try_crowd(const struct live_place *live, const char *key) {
    struct live_client clients[CROWD];
    struct lb_fiber *fibers[CROWD];
    next_token = taken = 0;
    running = CROWD;
    for (int i = 0; i < CROWD; i++) live_come(&clients[i], live, key);
    for (int i = 0; i < CROWD; i++) fibers[i] = lb_start_fiber("crowd", take_turns, &clients[i]);
    for (int i = 0; i < CROWD; i++) lb_join(fibers[i]);
    CHECK(running == 0);
    CHECK(taken > 0 && taken <= (uint64_t)CROWD * TURNS);
    uint64_t value = value_of(&clients[0]);
    CHECK(value == taken, "%llu were taken, and the value is %llu", (unsigned long long)taken,
          (unsigned long long)value);
    drop(&clients[0]);
    for (int i = 0; i < CROWD; i++) live_client_done(&clients[i]);
}

static void body(void *arg) {
    const struct live_place *live = arg;
    const struct lb_lock *lock = live->plan->locks[0].lock;
    struct pair pair;
    struct lb_err err = {0};
    struct lb_residue residue = {0};
    live_come(&pair.older, live, KEY);
    live_come(&pair.newer, live, KEY);
    live_come(&pair.other, live, OTHER);
    if (lock->algorithm->setup)
        CHECK(lock->algorithm->setup(&pair.older.session, &err) == 0, "%s", err.text);
    if (lock->store->setup)
        CHECK(lock->store->setup(&pair.older.session, &err) == 0, "%s", err.text);
    if (!check_failed[0]) try_tokens(&pair);
    drop(&pair.newer);
    drop(&pair.newer); /* nothing there is no error */
    CHECK(value_of(&pair.older) == 0);
    live_client_done(&pair.older);
    live_client_done(&pair.newer);
    if (!check_failed[0]) try_crowd(live, KEY);
    CHECK(lock->algorithm->residue(&pair.other.session, "it's", &residue, &err) == 0, "%s",
          err.text);
    CHECK(residue.count == 0, "left: %s", residue.example);
    live_client_done(&pair.other);
}

static void test_tokens_are_checked(void **state) {
    const struct lb_lock *lock = *state;
    struct live_place live = live_open(lock->name, NULL);
    LIVE_NEEDS(&live);
    live_run(body, &live);
    live_close(&live);
}

/* Each store has all of its functions. */
static void test_stores_are_whole(void **state) {
    (void)state;
    int stores = 0;
    for (const struct lb_lock *const *at = registry_locks(); *at; at++) {
        const struct lb_lock *lock = *at;
        if (!lock->store) continue;
        stores++;
        assert_true(lock->store->install && lock->store->write && lock->store->read &&
                    lock->store->drop);
        assert_true(lock->caps & LB_CAP_FENCE);
    }
    if (stores == 0) print_message("skipped: no client library of a lock with a store is here\n");
}

#define STORES_MAX 16

int main(void) {
    static struct CMUnitTest tests[STORES_MAX + 1];
    const struct lb_store *seen[STORES_MAX];
    static char names[STORES_MAX][80];
    size_t count = 0;
    for (const struct lb_lock *const *at = registry_locks(); *at; at++) {
        const struct lb_lock *lock = *at;
        bool known = !lock->store || count == STORES_MAX;
        for (size_t s = 0; s < count; s++) known |= seen[s] == lock->store;
        if (known) continue;
        snprintf(names[count], sizeof names[count], "tokens are checked: %s", lock->name);
        tests[count] =
            (struct CMUnitTest){names[count], test_tokens_are_checked, NULL, NULL, (void *)lock};
        seen[count++] = lock->store;
    }
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_stores_are_whole);
    return _cmocka_run_group_tests("guarded", tests, count, NULL, NULL);
}
