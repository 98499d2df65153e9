/* test_sql_sqlite: the databases of several keys of SQLite. A stranger in the same file is in stories/sqlite.story. */
#include "drivers/tests/live_help.h"

static struct live_place place;

static uint64_t left_by(struct live_client *ours, const char *prefix) {
    struct lb_residue left = {.count = 99};
    struct lb_err err = {0};
    CHECK(ours->session.lock->algorithm->residue(&ours->session, prefix, &left, &err) == 0, "%s",
          err.text);
    return left.count;
}

/* Each key has a database of its own, and so a row of its own to remove. */
static void rows_of_two_keys(void *arg) {
    struct live_client ours;
    const struct lb_key_range both = {.prefix = "k", .first = 0, .count = 2};
    struct lb_err err = {0};
    (void)arg;
    live_come(&ours, &place, "k0");
    const struct lb_algorithm *algorithm = ours.session.lock->algorithm;
    const struct lb_request first = ours.request;
    CHECK(algorithm->arm_range(&ours.session, &both, &first, &err) == 0, "%s", err.text);
    for (uint32_t i = 0; i < 2; i++) {
        ours.request.key = i ? "k1" : "k0";
        ours.request.key_index = i;
        CHECK(live_acquire(&ours, 0) == LB_OK, "%s", ours.session.err.text);
        CHECK(live_release(&ours) == LB_OK, "%s", ours.session.err.text);
    }
    CHECK(left_by(&ours, "k") == 2);
    CHECK(algorithm->disarm_range(&ours.session, &both, &first, &err) == 0, "%s", err.text);
    CHECK(left_by(&ours, "k") == 0);
    live_client_done(&ours);
}

TEST(rows_of_several_keys) {
    place = live_open("sqlite-optimistic", NULL);
    LIVE_NEEDS(&place);
    live_run(rows_of_two_keys, NULL);
    live_close(&place);
}

/* With open_databases=2 the third key pushes out the second, never the held first. */
static void databases_are_closed(void *arg) {
    struct live_place *sql = arg;
    struct live_client one, two;
    live_come(&one, sql, "key");
    live_come(&two, sql, "key");
    CHECK(live_acquire(&one, 0) == LB_OK, "%s", one.session.err.text);
    for (uint32_t key = 1; key < 5; key++) {
        two.request.key_index = one.request.key_index = key;
        CHECK(live_acquire(&two, 0) == LB_OK, "another key: %s", two.session.err.text);
        CHECK(live_acquire(&one, 0) == LB_BUSY, "key %u does not exclude", key);
        CHECK(live_release(&two) == LB_OK, "%s", two.session.err.text);
    }
    one.request.key_index = 0;
    CHECK(live_release(&one) == LB_OK, "the held database was closed: %s", one.session.err.text);
    live_client_done(&one);
    live_client_done(&two);
}

TEST(a_held_database_stays_open) {
    struct live_place sql =
        live_open("sqlite-immediate", (const char *const[]){"sqlite.open_databases=2", NULL});
    LIVE_NEEDS(&sql);
    live_run(databases_are_closed, &sql);
    live_close(&sql);
}

TEST_MAIN(NULL, NULL)
