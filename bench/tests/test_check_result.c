/* The sums of a check, from hand-made cells: the findings that the exit code counts must be those
 * of the report. */
#include "bench/check/result.h"
#include "bench/tests/unit.h"

static const struct lb_backend backend = {.name = "memory"};
static const struct lb_lock real = {.name = "a-lock", .backend = &backend};
static const struct lb_lock control = {
    .name = "unsafe-x", .backend = &backend, .caps = LB_CAP_CONTROL};

static struct matrix_column columns[] = {{.name = "pause", .fault = LB_SCENARIO_PAUSE},
                                         {.name = CHECK_EXPOSED, .fault = LB_SCENARIOS}};

/* One cell of a lock that showed a verdict where another was expected, as a finished check sums it
 * up. */
static struct result_sum sum_of(const struct lb_lock *lock, int column, enum lb_expect expected,
                                const char *verdict) {
    struct matrix_cell cell = {.lock = lock, .column = column, .expected = {.worst = expected}};
    struct matrix matrix = {.columns = columns, .column_count = 2, .cells = &cell, .cell_count = 1};
    struct lb_err err = {0};
    struct result result;
    char folder[] = "/tmp/lockbench-result-XXXXXX", file[64];
    assert_non_null(mkdtemp(folder));
    struct result_ask ask = {.matrix = &matrix,
                             .folder = folder,
                             .version = "1",
                             .command = "lockbench check",
                             .tour = "short"};
    assert_int_equal(result_init(&result, &ask, &err), 0);
    struct cell_result shown = {.kept = json_array()};
    while (strcmp(check_verdict_name(shown.cell.verdict), verdict) != 0) shown.cell.verdict++;
    assert_int_equal(result_add(&result, 0, 1, "cells/x", &shown, &err), 0);
    cell_result_free(&shown);
    struct result_sum sum = result_sum(&result);
    assert_int_equal(result_is_finding(&result, 0), sum.worse);
    result_done(&result);
    snprintf(file, sizeof file, "%s/check.json", folder);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(rmdir(folder), 0);
    return sum;
}

TEST(a_real_lock_that_is_worse_counts) {
    assert_int_equal(sum_of(&real, 0, LB_EXPECT_SAFE, "violated").worse, 1);
    assert_int_equal(sum_of(&real, 0, LB_EXPECT_VIOLATED, "violated").worse, 0);
}

/* A control is broken on purpose: its verdict under a fault is shown, but does not count. */
TEST(a_control_under_a_fault_does_not) {
    struct result_sum sum = sum_of(&control, 0, LB_EXPECT_SAFE, "violated");
    assert_int_equal(sum.worse, 0);
    assert_int_equal(sum.missed, 0);
    assert_int_equal(sum_of(&control, 0, LB_EXPECT_VIOLATED, "safe").missed, 0);
}

TEST(a_control_counts_by_being_missed) {
    assert_int_equal(sum_of(&control, 1, LB_EXPECT_VIOLATED, "safe").missed, 1);
    struct result_sum sum = sum_of(&control, 1, LB_EXPECT_EXPIRED, "violated");
    assert_int_equal(sum.missed, 0);
    assert_int_equal(sum.worse, 0);
    sum = sum_of(&control, 1, LB_EXPECT_VIOLATED, "failed");
    assert_int_equal(sum.failed, 1);
}

TEST_MAIN(NULL, NULL)
