/* Sales in the transaction that holds the lock's row: stock and order are written by the release, and by nothing else.
 * A server's error between grant and release undoes both and gives up the lock, and the release says so.
 * Needs: servers. */
#include "drivers/store.h"
#include "drivers/tests/sql_help.h"

/* One database: its lock, and how every order is made to be a deadlock's victim there, and no longer. */
struct shop {
    const char *lock, *refuse, *allow;
    struct live_place sql;
};

static struct shop pg = {
    .lock = "pg-row",
    .refuse = "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
              "'BEGIN RAISE EXCEPTION USING ERRCODE = ''deadlock_detected''; END'; "
              "CREATE TRIGGER refuse BEFORE INSERT ON lockbench_order FOR EACH ROW "
              "EXECUTE FUNCTION refuse(); SELECT 'done'",
    .allow = "DROP TRIGGER refuse ON lockbench_order; DROP FUNCTION refuse; SELECT 'done'",
};

static struct shop my = {
    .lock = "mysql-row",
    .refuse =
        "CREATE TRIGGER lockbench.refuse BEFORE INSERT ON lockbench.lockbench_order FOR EACH ROW "
        "SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213; SELECT 'done'",
    .allow = "DROP TRIGGER lockbench.refuse; SELECT 'done'",
};

#define STOCK 5

static const struct lb_store *store_of(const struct live_client *client) {
    return client->session.lock->store;
}

/* Takes the lock, and one piece out of the stock. */
static void take_piece(struct live_client *client) {
    uint64_t value = 777;
    CHECK(live_acquire(client, LB_NEVER) == LB_OK, "%s", client->session.err.text);
    enum lb_outcome outcome =
        store_of(client)->install(&client->session, &client->request, client->grant.token, &value);
    CHECK(outcome == LB_OK, "install: %s", client->session.err.text);
    outcome =
        store_of(client)->write(&client->session, &client->request, client->grant.token, value - 1);
    CHECK(outcome == LB_OK, "write: %s", client->session.err.text);
}

static enum lb_outcome order(struct live_client *client) {
    return store_of(client)->order(&client->session, &client->request, client->grant.token);
}

static void check_counts(struct live_client *client, uint64_t stock, uint64_t orders) {
    uint64_t left = 777, counted = 777;
    client->session.err.code = 0;
    CHECK(store_of(client)->tally(&client->session, &client->request, &left, &counted) == LB_OK,
          "%s", client->session.err.text);
    CHECK(left == stock && counted == orders, "%llu left and %llu orders, not %llu and %llu",
          (unsigned long long)left, (unsigned long long)counted, (unsigned long long)stock,
          (unsigned long long)orders);
}

static void open_shop(struct live_client *client) {
    uint64_t value;
    struct lb_err err = {0};
    CHECK(store_of(client)->setup(&client->session, &err) == 0, "%s", err.text);
    CHECK(store_of(client)->install(&client->session, &client->request, 0, &value) == LB_OK, "%s",
          client->session.err.text);
    CHECK(store_of(client)->write(&client->session, &client->request, 0, STOCK) == LB_OK, "%s",
          client->session.err.text);
}

/* Neither stock nor orders are left. */
static void close_shop(struct live_client *client) {
    uint64_t value;
    struct lb_err err = {0};
    CHECK(store_of(client)->drop(&client->session, &client->request, &err) == 0, "%s", err.text);
    CHECK(store_of(client)->install(&client->session, &client->request, 0, &value) == LB_OK, "%s",
          client->session.err.text);
    check_counts(client, 0, 0);
    CHECK(store_of(client)->drop(&client->session, &client->request, &err) == 0, "%s", err.text);
}

static void a_sale_comes_with_the_release(void *arg) {
    const struct shop *shop = arg;
    struct live_client seller, clerk;
    live_come(&seller, &shop->sql, "article");
    live_come(&clerk, &shop->sql, "article");
    open_shop(&clerk);

    take_piece(&seller);
    CHECK(order(&seller) == LB_OK, "%s", seller.session.err.text);
    check_counts(&clerk, STOCK, 0); /* not before the release */
    CHECK(live_release(&seller) == LB_OK, "%s", seller.session.err.text);
    check_counts(&clerk, STOCK - 1, 1);

    take_piece(&seller);
    CHECK(order(&seller) == LB_OK, "%s", seller.session.err.text);
    live_hang_up(&seller);
    live_connect(&seller);
    CHECK(live_acquire(&seller, LB_NEVER) == LB_OK, "%s", seller.session.err.text);
    check_counts(&clerk, STOCK - 1, 1);
    CHECK(live_release(&seller) == LB_OK, "%s", seller.session.err.text);
    close_shop(&clerk);
    live_client_done(&seller);
    live_client_done(&clerk);
}

static void an_error_within_gives_up_sale_and_lock(void *arg) {
    const struct shop *shop = arg;
    struct live_client seller, clerk;
    struct foreign foreign;
    live_come(&seller, &shop->sql, "refused article");
    live_come(&clerk, &shop->sql, "refused article");
    open_shop(&clerk);
    foreign_shell(&foreign, &shop->sql);
    CHECK(strcmp(foreign_ask(&foreign, shop->refuse), "done") == 0, "no trigger");

    take_piece(&seller);
    enum lb_outcome outcome = order(&seller);
    CHECK(outcome == LB_LOST, "the order said %s", lb_outcome_name(outcome));
    CHECK(live_acquire(&clerk, 20 * LB_S_NS) == LB_OK, "still held: %s", clerk.session.err.text);
    CHECK(live_release(&clerk) == LB_OK, "%s", clerk.session.err.text);
    outcome = live_release(&seller);
    CHECK(outcome == LB_LOST, "release said %s", lb_outcome_name(outcome));
    check_counts(&clerk, STOCK, 0);

    /* The session goes on. */
    CHECK(strcmp(foreign_ask(&foreign, shop->allow), "done") == 0, "the trigger stays");
    take_piece(&seller);
    CHECK(order(&seller) == LB_OK, "%s", seller.session.err.text);
    CHECK(live_release(&seller) == LB_OK, "%s", seller.session.err.text);
    check_counts(&clerk, STOCK - 1, 1);
    foreign_end(&foreign);
    close_shop(&clerk);
    live_client_done(&seller);
    live_client_done(&clerk);
}

FIXTURE(open_both) {
    pg.sql = live_open(pg.lock, NULL);
    my.sql = live_open(my.lock, NULL);
    return 0;
}

FIXTURE(close_both) {
    live_close(&pg.sql);
    live_close(&my.sql);
    return 0;
}

ON(pg, a_sale_comes_with_the_release)
ON(my, a_sale_comes_with_the_release)
ON(pg, an_error_within_gives_up_sale_and_lock)
ON(my, an_error_within_gives_up_sale_and_lock)

TEST_MAIN(open_both, close_both)
