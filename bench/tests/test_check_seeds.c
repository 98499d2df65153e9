/* The runs of several seeds as one cell: the worst verdict with its evidence, the sums of the counts. */
#include "bench/tests/check_cell_help.h"

/* One seed that came out so; its trials are its own. */
static struct cell_result one_seed(const char *verdict, int grants, int64_t trial_ns, int seed) {
    struct cell_result result = result_of(good_run(), NULL, true);
    struct check_cell *cell = &result.cell;
    cell->verdict = CHECK_SAFE;
    while (strcmp(check_verdict_name(cell->verdict), verdict) != 0) cell->verdict++;
    cell->verdict_word = check_verdict_name(cell->verdict);
    cell->grants = grants;
    cell->seed = seed;
    cell->trials = cell_result_keep(&result, json_pack("[I]", (json_int_t)trial_ns));
    return result;
}

TEST(several_seeds_show_their_worst) {
    struct cell_result three =
        merged(one_seed("safe", 100, 3 * S_NS, 1), one_seed("expired", 50, 1 * S_NS, 2));
    json_t *all = json_of(merged(three, one_seed("safe", 200, 2 * S_NS, 3)));
    assert_int_equal(whole(all, "seed"), 2); /* whose evidence it is */
    assert_int_equal(whole(all, "grants"), 350);
    assert_int_equal(whole(all, "stale_attempted"), 6);
    assert_int_equal(whole(all, "unavailable_ns"), 3 * S_NS); /* the longest, not the sum */
    assert_true(json_is_null(json_object_get(all, "bound95")));
    const json_t *recovery = json_object_get(all, "recovery_ns");
    assert_int_equal(whole(recovery, "count"), 3);
    assert_int_equal(whole(recovery, "min"), 1 * S_NS);
    assert_int_equal(whole(recovery, "p50"), 2 * S_NS);
    assert_int_equal(whole(recovery, "p90"), 3 * S_NS);
    assert_int_equal(whole(recovery, "max"), 3 * S_NS);
    assert_seen(all, "expired", NULL);
    all = json_of(merged(one_seed("safe", 100, 1, 1), one_seed("safe", 200, 2, 2)));
    assert_bound(all, 1 - 0.223606797750); /* two faults */
    assert_int_equal(whole(all, "seed"), 1);
    assert_seen(all, "safe", NULL);
    /* The trials of both are in one order, and each stays the whole number that it was. */
    struct cell_result a = one_seed("safe", 1, 1, 1), b = one_seed("safe", 1, 1, 2);
    a.cell.trials = cell_result_keep(&a, json_pack("[i, i]", 1, 9));
    b.cell.trials = cell_result_keep(&b, json_pack("[i, i]", 2, 3));
    all = json_of(merged(a, b));
    json_t *sorted = json_pack("[i, i, i, i]", 1, 2, 3, 9);
    assert_true(json_equal(json_object_get(json_object_get(all, "recovery_ns"), "trials"), sorted));
    json_decref(sorted);
    json_decref(all);
}

/* A failed seed makes a safe cell fail, and hides no bad finding of the other seeds. */
TEST(a_failed_seed_hides_what_is_fine_and_nothing_bad) {
    static const char *const order[] = {"safe",    "inconclusive", "failed",
                                        "expired", "stuck",        "violated"};
    for (int a = 0; a < 6; a++) {
        for (int b = 0; b < 6; b++) {
            assert_seen(json_of(merged(one_seed(order[a], 1, 1, 1), one_seed(order[b], 1, 1, 2))),
                        order[a > b ? a : b], NULL);
        }
    }
}

/* Nobody held when the only fault of this seed acted. */
static struct cell_result no_trial(bool judged) {
    json_t *run = good_run();
    json_t *fault = json_array_get(part(run, "faults"), 0);
    json_object_set_new(fault, "held", json_integer(0));
    json_object_set_new(fault, "tested", json_integer(0));
    json_object_set_new(run, "plan", json_pack("{s:{s:b}}", "check", "history", 1));
    if (!judged) json_object_set_new(part(run, NULL), "history", json_null());
    return result_of(run, NULL, true);
}

TEST(a_seed_without_a_trial_adds_no_trial) {
    for (int first = 0; first < 2; first++) {
        struct cell_result safe = one_seed("safe", 100, 1, 1), none = no_trial(true);
        none.cell.failed_runs = 1;
        safe.cell.failed_runs = 0;
        json_t *both = json_of(first ? merged(none, safe) : merged(safe, none));
        assert_int_equal(whole(both, "faults_hit"), 1);
        assert_bound(both, 0.95); /* one fault */
        assert_int_equal(whole(both, "failed_runs"), 0);
        assert_seen(both, "safe", NULL);
    }
    assert_seen(json_of(merged(no_trial(true), one_seed("violated", 1, 1, 2))), "violated", NULL);
    assert_seen(json_of(merged(no_trial(true), no_trial(true))), "inconclusive",
                "no client held a grant when the fault acted");
    /* Without its record it might have shown a second holder. */
    assert_seen(json_of(merged(one_seed("safe", 1, 1, 1), no_trial(false))), "inconclusive",
                "no client held a grant when the fault acted");
    assert_seen(json_of(merged(one_seed("safe", 1, 1, 1), result_of(good_run(), "Ctrl-C", true))),
                "failed", "Ctrl-C");
}

TEST(what_is_not_there_in_one_seed_is_kept_of_the_other) {
    struct cell_result full = one_seed("safe", 10, 5 * S_NS, 1);
    full.cell.residue = 2;
    full.cell.residue_example = "key a";
    struct cell_result merge = merged(result_of(NULL, "no server", true), full);
    assert_int_equal(json_array_size(merge.cell.trials), 1);
    json_t *both = json_of(merge);
    assert_int_equal(whole(json_object_get(both, "residue"), "count"), 2);
    assert_int_equal(whole(both, "stale_attempted"), 2);
    assert_seen(both, "failed", "no server");
    struct cell_result a = one_seed("safe", 1, 1, 1), b = one_seed("safe", 1, 1, 2);
    a.cell.residue = 0;
    b.cell.residue = 3;
    b.cell.residue_example = "key b";
    b.cell.recovered = 0;
    both = json_of(merged(a, b));
    assert_int_equal(whole(json_object_get(both, "residue"), "count"), 3);
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(both, "residue"), "example")), "key b");
    assert_true(json_is_false(json_object_get(both, "recovered")));
    assert_seen(both, "safe", NULL);
}

TEST_MAIN(NULL, NULL)
