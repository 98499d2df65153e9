/* test_sale: the flash sale on real servers. Locks that exclude sell the stock and nothing beyond
 * it, in one part or in segments; a lock whose lease ends during the work sells pieces twice.
 * Needs: servers. */
#define _GNU_SOURCE
#include "bench/tests/cli_help.h"

struct sale {
    double stock, sold, left, oversold;
    const char *verdict;
    json_t *run; /* the verdict's owner */
};

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
    if (access(out, F_OK) != 0) {
        if (getenv("CI")) fail_msg("%s can't run here, and CI tests everything: %s", lock, cli.err);
        print_message("[ SKIPPED ] %s can't run here: %s\n", lock, cli.err);
        cli_free(&cli);
        skip();
    }
    cli_free(&cli);
    json_t *run = cli_result(out);
    assert_string_equal(cli_text_at(run, "stages.0.store.where"), "backend");
    return (struct sale){.stock = cli_number_at(run, "stages.0.store.sale.stock"),
                         .sold = cli_number_at(run, "stages.0.store.sale.sold"),
                         .left = cli_number_at(run, "stages.0.store.sale.left"),
                         .oversold = cli_number_at(run, "stages.0.exclusion.oversold"),
                         .verdict = cli_text_at(run, "stages.0.exclusion.verdict"),
                         .run = run};
}

/* A stock that outlasts the run. */
static void test_what_is_sold_is_missing(void **state) {
    struct sale sale = run_sale(*state, "1ms", "10s", "1000001");
    assert_string_equal(sale.verdict, "clean");
    assert_true(sale.stock == 1000001);
    assert_true(sale.sold > 20);
    assert_true(sale.sold + sale.left == sale.stock);
    assert_true(sale.oversold == 0);
    json_decref(sale.run);
}

/* A stock that does not: nobody sells what is not there. */
static void test_nothing_is_sold_beyond_the_stock(void **state) {
    struct sale sale = run_sale(*state, "1ms", "10s", "41");
    assert_string_equal(sale.verdict, "clean");
    assert_true(sale.stock == 41);
    assert_true(sale.sold == 41);
    assert_true(sale.left == 0);
    assert_true(sale.oversold == 0);
    json_decref(sale.run);
}

static void test_a_broken_lock_oversells(void **state) {
    (void)state;
    struct sale sale = run_sale("unsafe-redis-ttl-short", "5ms", "2ms", "1000000");
    assert_string_equal(sale.verdict, "violated");
    assert_true(sale.oversold > 0);
    assert_true(sale.sold == sale.stock - sale.left + sale.oversold);
    json_decref(sale.run);
}

/* Connections end all the time, some of them between the write and its COMMIT. What was committed without an answer is
 * missing though nobody counted it; what was rolled back must not have been counted. */
static void test_what_was_rolled_back_was_not_sold(void **state) {
    (void)state;
    cli_need("postgres");
    char *out = cli_path("rolled-back");
    struct cli cli =
        cli_run(NULL, ARGS("run", "sale", "--lock", "pg-row", "--out", out, "--set",
                           "load.clients=8", "--set", "load.hold=0", "--set", "check.stock=1000000",
                           "--set", "run.duration=4s", "--set", "fault.kind=terminate", "--set",
                           "fault.target=all", "--set", "fault.first=100ms", "--set",
                           "fault.every=40ms", "--set", "fault.for=10ms"));
    json_t *run = cli_result(out);
    double missing = cli_number_at(run, "stages.0.store.sale.stock") -
                     cli_number_at(run, "stages.0.store.sale.left");
    double sold = cli_number_at(run, "stages.0.store.sale.sold");
    assert_true(sold > 0);
    if (sold > missing) fail_msg("%g sold, but %g are missing", sold, missing);
    assert_true(cli_number_at(run, "stages.0.exclusion.oversold") == 0);
    json_decref(run);
    cli_free(&cli);
}

#define SALE(test, lock)                                                                           \
    { lock ": " #test, test, NULL, NULL, (void *)(uintptr_t)lock }

int main(void) {
    const struct CMUnitTest tests[] = {
        SALE(test_what_is_sold_is_missing, "redis-setnx"),
        SALE(test_what_is_sold_is_missing, "redis-segmented"),
        SALE(test_what_is_sold_is_missing, "etcd-mutex"),
        SALE(test_what_is_sold_is_missing, "zk-lock"),
        SALE(test_what_is_sold_is_missing, "pg-lease"),
        SALE(test_what_is_sold_is_missing, "pg-row"),
        SALE(test_nothing_is_sold_beyond_the_stock, "redis-setnx"),
        SALE(test_nothing_is_sold_beyond_the_stock, "redis-segmented"),
        SALE(test_nothing_is_sold_beyond_the_stock, "pg-row"),
        cmocka_unit_test(test_what_was_rolled_back_was_not_sold),
        cmocka_unit_test(test_a_broken_lock_oversells),
    };
    return cmocka_run_group_tests(tests, cli_setup, cli_teardown);
}
