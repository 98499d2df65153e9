/* test_compare: how often comparisons call noise a change, and find a change in it: of runs made from a seed with a
 * spread of their own, and of real ones. What they say is in said/compare.said.
 *
 * golden/repeats.json has the stages of forty runs of two locks, one after the other, each with
 * servers of its own: the result of `run --repeat 40`, without the members that compare does not
 * read. They are dealt to two sides in turns (A B B A or B A A B), by a seed, as `run --against`
 * measures them. All deals are of the same forty runs, so the test covers the noise of these runs
 * only: a drift over minutes, and a run that is a quarter slower than the rest. */
#define _GNU_SOURCE
#include "report/tests/compare_help.h"

#define STORED "report/tests/golden/repeats.json"

static bool any_change(const struct compare *compare) {
    return compare->counts[COMPARE_WORSE] + compare->counts[COMPARE_BETTER] > 0;
}

static bool fewer_grants(const struct compare *compare) {
    return compare->rows[0].figure[0].verdict == COMPARE_WORSE;
}

/* In how many of so many comparisons of made runs it is so. */
static int count_made(const struct made *base, const struct made *new, int trials,
                      bool (*is_so)(const struct compare *)) {
    int count = 0;
    for (int trial = 0; trial < trials; trial++) {
        char *a = make_run(base, (uint64_t)trial), *b = make_run(new, (uint64_t)trial + 1000003);
        const char *const sides[] = {a, b};
        struct compare *compare = compare_paths(&sides[0], &sides[1], 1);
        count += is_so(compare);
        compare_free(compare);
        unlink(a);
        unlink(b);
        free(a);
        free(b);
    }
    return count;
}

/* Two samples of one distribution: called changed in at most 5 of 100 comparisons of eight
 * figures. */
TEST(nothing_changed_is_seldom_called_a_change) {
    const struct made made = {.repeats = 10, .noise = 0.05};
    int alarms = count_made(&made, &made, 150, any_change);
    if (alarms > 7) fail_msg("%d false alarms in 150 comparisons", alarms);
}

TEST(five_per_cent_are_found_at_twenty_repeats) {
    const struct made base = {.repeats = 20, .noise = 0.035},
                      new = {.repeats = 20, .noise = 0.035, .faster = 0.95};
    int found = count_made(&base, &new, 100, fewer_grants);
    if (found < 90) fail_msg("found in %d of 100 comparisons", found);
}

/* A run's stages as another repeat of the new side or the base, its grants a second changed by a
 * factor. */
static void add_stages(json_t *side, const json_t *run, int repeat, double faster) {
    size_t i;
    json_t *stage;
    json_array_foreach(run, i, stage) {
        json_t *copy = json_deep_copy(stage);
        double rate = json_number_value(json_object_get(stage, "throughput_per_s"));
        json_object_set_new(copy, "repeat", json_integer(repeat));
        json_object_set_new(copy, "throughput_per_s", json_real(rate * faster));
        json_array_append_new(side, copy);
    }
}

/* Deals the runs to the sides and compares these. */
static struct compare *deal(const json_t *runs, uint64_t seed, double new_faster) {
    struct lb_rng rng;
    json_t *sides[2] = {json_array(), json_array()};
    char *paths[2] = {path_of("base.json"), path_of("new.json")};
    rng_seed(&rng, seed, 11);
    size_t count = json_array_size(runs);
    assert_true(count > 0 && count % 4 == 0);
    for (size_t block = 0; block < count; block += 4) {
        int first = (int)rng_below(&rng, 2);
        for (size_t i = 0; i < 4; i++) {
            int side = i == 0 || i == 3 ? first : !first;
            add_stages(sides[side], json_array_get(runs, block + i), (int)(block + i),
                       side ? new_faster : 1);
        }
    }
    for (int side = 0; side < 2; side++) {
        json_t *run =
            json_pack("{s:s, s:{}, s:o}", "schema", RUN_SCHEMA, "plan", "stages", sides[side]);
        assert_int_equal(json_dump_file(run, paths[side], JSON_REAL_PRECISION(17)), 0);
        json_decref(run);
    }
    const char *const base = paths[0], *const new = paths[1];
    struct compare *compare = compare_paths(&base, &new, 1);
    assert_int_equal(compare->row_count, 2);
    free(paths[0]);
    free(paths[1]);
    return compare;
}

/* Nothing changed between the runs of one build. Were no change ever found, a third less would not be, either. */
TEST(of_real_runs_a_third_less_is_found_and_nothing_else) {
    json_t *runs = json_load_file(STORED, 0, NULL);
    int alarms = 0, found = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct compare *same = deal(runs, seed, 1),
                       *less = seed < 50 ? deal(runs, seed, 0.67) : NULL;
        alarms += any_change(same);
        found += less && less->counts[COMPARE_WORSE] > 0;
        compare_free(same);
        compare_free(less);
    }
    json_decref(runs);
    if (alarms > 5 || found < 45)
        fail_msg("%d false alarms in 100 comparisons, found in %d of 50", alarms, found);
}

TEST_MAIN(make_folder, remove_folder)
