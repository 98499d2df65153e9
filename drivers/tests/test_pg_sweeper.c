/* pg-table with sweep=one: while the sweeper is dead nobody gets a lock whose owner died, and somebody does when it
 * is back; it comes back by itself when only its connection ended.
 * Needs: servers. */
#include "drivers/postgres/pg_session.h"
#include "drivers/tests/live_help.h"

#define SOON (20 * LB_S_NS) /* waits that ought to end do so by then */

static struct live_place live;

static void query(struct live_client *client, const char *sql, char *ret_text, size_t size) {
    PGresult *result = NULL;
    CHECK(pg_query(&client->session, sql, lb_now() + SOON, &result) == LB_OK, "%s",
          client->session.err.text);
    if (ret_text && result) snprintf(ret_text, size, "%s", pg_text(result, 0, 0));
    PQclear(result);
}

/* Leaves the row of an owner that died, and whose time is over. */
static void leave_dead_row(struct live_client *by) {
    query(
        by,
        "INSERT INTO lockbench_table VALUES ('swept', 'dead', now() - interval '1 s') ON CONFLICT "
        "DO NOTHING",
        NULL, 0);
}

static void expect_row(struct live_client *asked, const char *count) {
    char text[32] = "";
    query(asked, "SELECT count(*) FROM lockbench_table WHERE owner = 'dead'", text, sizeof text);
    CHECK(strcmp(text, count) == 0, "%s rows of the dead, not %s", text, count);
}

static void expect_sweepers(struct live_client *asked, const char *count) {
    char text[32] = "";
    for (int64_t until_ns = lb_now() + SOON; strcmp(text, count) != 0 && lb_now() < until_ns;) {
        lb_sleep_until(lb_now() + 5 * LB_MS_NS);
        query(
            asked,
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'DELETE FROM lockbench_table WHERE "
            "expire_at%'",
            text, sizeof text);
    }
    CHECK(strcmp(text, count) == 0, "%s sweepers, not %s", text, count);
}

static void take_and_free(struct live_client *client) {
    CHECK(live_acquire(client, SOON) == LB_OK, "%s", client->session.err.text);
    CHECK(live_release(client) == LB_OK, "%s", client->session.err.text);
}

LIVE(&live, a_dead_sweeper_leaves_what_the_dead_held) {
    struct live_client first, other;
    live_client_init(&first, &live, "swept");
    live_client_init(&other, &live, "swept");
    first.session.client = 0; /* has the sweeper */
    other.session.client = 1;
    live_connect(&first);
    live_connect(&other);
    expect_sweepers(&other, "1");
    leave_dead_row(&other);
    take_and_free(&other);

    live_hang_up(&first); /* the first client dies, and with it the sweeper */
    expect_sweepers(&other, "0");
    leave_dead_row(&other);
    CHECK(live_acquire(&other, 300 * LB_MS_NS) == LB_TIMEOUT, "%s", other.session.err.text);
    CHECK(live_acquire(&other, 0) == LB_BUSY, "%s", other.session.err.text);
    expect_row(&other, "1");

    live_connect(&first);
    take_and_free(&other);
    expect_row(&other, "0");
    live_client_done(&first);
    live_client_done(&other);
}

LIVE(&live, a_sweeper_comes_back_when_its_connection_ends) {
    struct live_client first, other;
    live_come(&first, &live, "swept");
    live_client_init(&other, &live, "swept");
    other.session.client = 1;
    live_connect(&other);
    expect_sweepers(&other, "1");
    query(&other,
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'DELETE FROM "
          "lockbench_table WHERE expire_at%'",
          NULL, 0);
    leave_dead_row(&other);
    take_and_free(&other);
    take_and_free(&first); /* whose own session goes on */
    live_client_done(&first);
    live_client_done(&other);
}

LIVE_MAIN(live, NULL, "pg-table", "pg-table.sweep=one", "pg-table.sweep_every=20ms", NULL)
