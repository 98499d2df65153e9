/* test_compare_stored: comparisons of real runs with each other: nothing changed between them, so
 * what is called a change is a false alarm.
 *
 * golden/repeats.json has the stages of forty runs of two locks, one after the other, each with
 * servers of its own: the result of `run --repeat 40`, without the members that compare does not
 * read. They are dealt to two sides in turns (A B B A or B A A B), by a seed, as `run --against`
 * measures them. All deals are of the same forty runs, so the test covers the noise of these runs
 * only: a drift over minutes, and a run that is a quarter slower than the rest. */
#define _GNU_SOURCE

#include <jansson.h>

#include "bench/base/rng.h"
#include "bench/tests/unit.h"
#include "report/compare/compare.h"

#define STORED "report/tests/golden/repeats.json"
#define TRIALS 200
#define ALARMS_MOST 10 /* 5 % */

static char folder[] = "/tmp/lockbench-stored-XXXXXX";
static char paths[2][80]; /* base, new */

static int make_folder(void **state) {
    *state = json_load_file(STORED, 0, NULL);
    if (!*state || !mkdtemp(folder)) return -1;
    snprintf(paths[0], sizeof paths[0], "%s/base.json", folder);
    snprintf(paths[1], sizeof paths[1], "%s/new.json", folder);
    return 0;
}

static int remove_folder(void **state) {
    json_decref(*state);
    unlink(paths[0]);
    unlink(paths[1]);
    return rmdir(folder);
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

static void write_run(const char *path, json_t *stages) {
    json_t *run =
        json_pack("{s:s, s:{}, s:o}", "schema", "lockbench.run/2", "plan", "stages", stages);
    assert_non_null(run);
    assert_int_equal(json_dump_file(run, path, JSON_REAL_PRECISION(17)), 0);
    json_decref(run);
}

/* Deals the runs to the sides and compares these; free it with compare_free. */
static struct compare *deal(const json_t *runs, uint64_t seed, double new_faster) {
    struct lb_rng rng;
    json_t *sides[2] = {json_array(), json_array()};
    rng_seed(&rng, seed, 11);
    size_t count = json_array_size(runs);
    assert_int_equal(count % 4, 0);
    for (size_t block = 0; block < count; block += 4) {
        int first = (int)rng_below(&rng, 2);
        for (size_t i = 0; i < 4; i++) {
            int side = i == 0 || i == 3 ? first : !first;
            add_stages(sides[side], json_array_get(runs, block + i), (int)(block + i),
                       side ? new_faster : 1);
        }
    }
    write_run(paths[0], sides[0]);
    write_run(paths[1], sides[1]);
    struct lb_err err = {0};
    const char *base = paths[0], *new = paths[1];
    struct compare_ask ask = {
        .base = &base, .new = &new, .base_count = 1, .new_count = 1, .min_effect = 0.03};
    struct compare *compare = compare_make(&ask, &err);
    assert_string_equal(err.text, "");
    assert_non_null(compare);
    return compare;
}

TEST(runs_of_one_build_are_seldom_called_different) {
    int alarms = 0;
    for (uint64_t seed = 0; seed < TRIALS; seed++) {
        struct compare *compare = deal(*state, seed, 1);
        assert_int_equal(compare->row_count, 2);
        alarms += compare->counts[COMPARE_WORSE] + compare->counts[COMPARE_BETTER] > 0;
        compare_free(compare);
    }
    if (alarms > ALARMS_MOST) fail_msg("%d false alarms in %d comparisons", alarms, TRIALS);
}

/* Without this test, a comparison that never finds a change would pass the test above. */
TEST(a_third_less_is_seen_among_them) {
    int found = 0;
    for (uint64_t seed = 0; seed < TRIALS / 4; seed++) {
        struct compare *compare = deal(*state, seed, 0.67);
        found += compare->counts[COMPARE_WORSE] > 0;
        compare_free(compare);
    }
    if (found < TRIALS / 4 * 9 / 10) fail_msg("found in %d of %d comparisons", found, TRIALS / 4);
}

TEST_MAIN(make_folder, remove_folder)
