/* test_sale: the flash sale on real servers. Locks that exclude sell the stock and nothing beyond
 * it, in one part or in segments; a lock whose lease ends during the work sells pieces twice. Locks
 * that sell in their own transaction leave as many orders as pieces are missing.
 * Needs: servers. */
#define _GNU_SOURCE
#include "bench/tests/cli_help.h"

#include <math.h>

struct sale {
    double stock, sold, left, oversold;
    double orders; /* where sales leave orders; else NAN */
    const char *verdict;
    json_t *run; /* the verdict's owner */
};

/* What became of the sale of a result; it keeps the result. */
static struct sale read_sale(json_t *run) {
    bool ordered = json_is_number(cli_get(run, "stages.0.store.sale.orders"));
    return (struct sale){.stock = cli_number_at(run, "stages.0.store.sale.stock"),
                         .sold = cli_number_at(run, "stages.0.store.sale.sold"),
                         .left = cli_number_at(run, "stages.0.store.sale.left"),
                         .orders = ordered ? cli_number_at(run, "stages.0.store.sale.orders") : NAN,
                         .oversold = cli_number_at(run, "stages.0.exclusion.oversold"),
                         .verdict = cli_text_at(run, "stages.0.exclusion.verdict"),
                         .run = run};
}

/* Locks that sell in their own transaction leave an order for each piece that is missing; others leave none. */
static void assert_orders(const struct sale *sale, const char *lock) {
    bool orders = strcmp(lock, "pg-row") == 0 || strcmp(lock, "mysql-row") == 0;
    if (orders)
        assert_true(sale->orders == sale->stock - sale->left);
    else
        assert_true(isnan(sale->orders));
}

/* Runs the sale of one lock. Where the lock can't run here: skipped, in CI a failure. The caller
 * drops the run. */
static struct sale run_sale(const char *lock, const char *hold, const char *lease,
                            const char *stock) {
    char *out = cli_path("%s-%s", lock, stock);
    char hold_set[40], lease_set[40], stock_set[40];
    snprintf(hold_set, sizeof hold_set, "load.hold=%s", hold);
    snprintf(lease_set, sizeof lease_set, "acquire.lease=%s", lease);
    snprintf(stock_set, sizeof stock_set, "check.stock=%s", stock);
    struct cli cli =
        cli_run(NULL, ARGS("run", "sale", "--lock", lock, "--out", out, "--set", "load.clients=8",
                           "--set", hold_set, "--set", lease_set, "--set", stock_set, "--set",
                           "run.warmup=0", "--set", "run.duration=1500ms"));
    char why[300];
    snprintf(why, sizeof why, "%.*s", (int)strcspn(cli.err, "\n"), cli.err);
    cli_free(&cli);
    if (access(out, F_OK) != 0) skip_for("%s can't run here: %s", lock, why);
    json_t *run = cli_result(out);
    assert_string_equal(cli_text_at(run, "stages.0.store.where"), "backend");
    struct sale sale = read_sale(run);
    assert_orders(&sale, lock);
    return sale;
}

/* A stock that outlasts the run. */
static void test_what_is_sold_is_missing(const char *lock) {
    struct sale sale = run_sale(lock, "1ms", "10s", "1000001");
    assert_string_equal(sale.verdict, "clean");
    assert_true(sale.stock == 1000001);
    assert_true(sale.sold > 0);
    assert_true(sale.sold + sale.left == sale.stock);
    assert_true(sale.oversold == 0);
    json_decref(sale.run);
}

/* A stock that does not, even on a machine on which a commit takes a tenth of a second: nobody sells what is not there. */
static void test_nothing_is_sold_beyond_the_stock(const char *lock) {
    struct sale sale = run_sale(lock, "1ms", "10s", "9");
    assert_string_equal(sale.verdict, "clean");
    assert_true(sale.stock == 9);
    assert_true(sale.sold == 9);
    assert_true(sale.left == 0);
    assert_true(sale.oversold == 0);
    json_decref(sale.run);
}

#define SALE(test, name, lock)                                                                     \
    TEST(test##_##name) {                                                                          \
        test(lock);                                                                                \
    }
SALE(test_what_is_sold_is_missing, redis_setnx, "redis-setnx")
SALE(test_what_is_sold_is_missing, redis_segmented, "redis-segmented")
SALE(test_what_is_sold_is_missing, pg_lease, "pg-lease")
SALE(test_what_is_sold_is_missing, pg_row, "pg-row")
SALE(test_what_is_sold_is_missing, mysql_row, "mysql-row")
SALE(test_nothing_is_sold_beyond_the_stock, redis_setnx, "redis-setnx")
SALE(test_nothing_is_sold_beyond_the_stock, redis_segmented, "redis-segmented")
SALE(test_nothing_is_sold_beyond_the_stock, pg_row, "pg-row")
SALE(test_nothing_is_sold_beyond_the_stock, mysql_row, "mysql-row")

TEST(test_a_broken_lock_oversells) {
    struct sale sale = run_sale("unsafe-redis-ttl-short", "5ms", "2ms", "1000000");
    assert_string_equal(sale.verdict, "violated");
    assert_true(sale.oversold > 0);
    assert_true(sale.sold == sale.stock - sale.left + sale.oversold);
    json_decref(sale.run);
}

/* Connections end all the time, except at the end, where clients must be connected again. Some of them end
 * between the write and its COMMIT. What was committed without an answer is missing though nobody counted it; what
 * was rolled back must not have been counted. */
TEST(test_what_was_rolled_back_was_not_sold) {
    cli_need("postgres");
    char *out = cli_path("rolled-back");
    struct cli cli =
        cli_run(NULL, ARGS("run", "sale", "--lock", "pg-row", "--out", out, "--set",
                           "load.clients=8", "--set", "load.processes=2", "--set", "load.hold=0",
                           "--set", "check.stock=1000000", "--set", "run.duration=4s", "--set",
                           "fault.kind=terminate", "--set", "fault.target=holder", "--set",
                           "fault.first=100ms", "--set", "fault.every=100ms", "--set",
                           "fault.for=10ms", "--set", "fault.times=12"));
    struct sale sale = read_sale(cli_result(out));
    assert_orders(&sale, "pg-row");
    double missing = sale.stock - sale.left;
    assert_true(sale.sold > 0);
    if (sale.sold > missing) fail_msg("%g sold, but %g are missing", sale.sold, missing);
    assert_true(sale.oversold == 0);
    json_decref(sale.run);
    cli_free(&cli);
}

/* Tables as lockbench makes them; and the server refuses the COMMIT of every second grant that leaves an order,
 * as a server does that finds transactions in each other's way. */
static const char refuse_commits[] =
    "create table lockbench_order (name text not null, token bigint not null, primary key (name, token));"
    "comment on table lockbench_order is 'made by lockbench';"
    "create function refuse() returns trigger language plpgsql as "
    "'begin raise exception using errcode = ''serialization_failure''; end';"
    "create constraint trigger refuse after insert on lockbench_order deferrable initially deferred "
    "for each row when (new.token % 2 = 0) execute function refuse();";

/* Runs pg-row's sale on a server with such statements done. The caller drops the run. */
static struct sale sale_after(const char *statements, const char *name) {
    char option[200];
    struct cli up;
    char *out = cli_path("%s", name);
    cli_up(&up, "postgres", "postgres", option, sizeof option);
    cli_psql(option, statements);
    struct cli cli = cli_run(NULL, ARGS("run", "sale", "--lock", "pg-row", "--url", option, "--out",
                                        out, "--set", "load.clients=4", "--set", "load.hold=0",
                                        "--set", "check.stock=1000000", "--set", "run.warmup=0",
                                        "--set", "run.duration=1500ms"));
    if (access(out, F_OK) != 0) fail_msg("no result: %s", cli.err);
    struct sale sale = read_sale(cli_result(out));
    cli_free(&cli);
    cli_down(&up);
    return sale;
}

/* Each of these was written, and its COMMIT failed: none has been sold. */
TEST(test_a_refused_commit_sells_nothing) {
    cli_need("postgres");
    struct sale sale = sale_after(refuse_commits, "refused");
    double grants = cli_number_at(sale.run, "stages.0.exclusion.grants");
    assert_orders(&sale, "pg-row");
    assert_true(sale.sold > 0);
    if (sale.sold != sale.orders) fail_msg("%g sold, %g orders", sale.sold, sale.orders);
    if (!(grants > sale.sold)) fail_msg("%g grants, %g sold: no COMMIT failed", grants, sale.sold);
    assert_true(sale.oversold == 0);
    json_decref(sale.run);
}

/* The database loses orders behind the lock's back: they are missing, and the run says so. */
TEST(test_lost_orders_are_found) {
    cli_need("postgres");
    struct sale sale = sale_after(
        "create table lockbench_order (name text not null, token bigint not null, primary key (name, token));"
        "comment on table lockbench_order is 'made by lockbench';"
        "create rule lose as on insert to lockbench_order where new.token % 2 = 0 do instead nothing;",
        "lost-orders");
    assert_string_equal(sale.verdict, "violated");
    assert_true(sale.orders < sale.stock - sale.left);
    assert_true(sale.oversold == sale.stock - sale.left - sale.orders);
    json_decref(sale.run);
}

TEST_MAIN(cli_setup, cli_teardown)
