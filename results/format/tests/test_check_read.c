/* test_check_read: the structs that a sound check.json becomes, and the one line of error for each
 * unsound one. */

#include <math.h>

#include "bench/base/rng.h"
#include "bench/tests/unit.h"
#include "results/format/check_read.h"

#define LISTS                                                                                      \
    "\"faults\":[{\"name\":\"none\"},{\"name\":\"pause\",\"summary\":\"stands still\"}],"          \
    "\"locks\":[{\"name\":\"a\",\"backend\":\"redis\",\"token\":true},{\"name\":\"b\",\"control\":true}],"
#define CHECK(more, cells) "{\"schema\":\"lockbench.check/2\"," LISTS more "\"cells\":[" cells "]}"
#define CELL(more) "{\"lock\":\"a\",\"fault\":\"pause\",\"verdict\":\"safe\"" more "}"

static struct check *parse(const char *text, struct lb_err *err) {
    return check_parse(text, strlen(text), "dir/check.json", err);
}

static struct check *parse_sound(const char *text) {
    struct lb_err err = {0};
    struct check *check = parse(text, &err);
    assert_string_equal(err.text, "");
    assert_non_null(check);
    return check;
}

TEST(test_a_cell_is_read) {
    struct check *check = parse_sound(
        CHECK("\"partial\":true,\"partial_reason\":\"Ctrl-C\",\"seeds\":[1,2],\"tour\":\"full\",",
              "{\"lock\":\"b\",\"fault\":\"none\",\"verdict\":\"violated\",\"compared\":\"as "
              "expected\",\"recovered\":null},"
              "{\"lock\":\"a\",\"fault\":\"pause\",\"verdict\":\"expired\",\"expected\":\"safe\","
              "\"compared\":\"worse\","
              "\"grants\":120,\"bound95\":null,\"recovered\":true,\"stale_rejected_fenced\":3,"
              "\"residue\":{\"count\":2,"
              "\"example\":\"k\"},\"recovery_ns\":{\"count\":2,\"p50\":7,\"theory_max\":9,"
              "\"theory\":\"the lease\",\"trials\":[7,8]},"
              "\"seeds\":[1,2],\"faults\":[{\"kind\":\"pause\"}],\"counterexample\":[{\"client\":"
              "1}],"
              "\"unheard_of\":1}"));
    assert_true(check->partial);
    assert_string_equal(check->partial_reason, "Ctrl-C");
    assert_string_equal(check->tour, "full");
    assert_string_equal(check->dir, "dir");
    assert_int_equal(json_array_size(check->seeds), 2);
    assert_int_equal(check->cell_count, 2);
    const struct check_cell *cell = &check->cells[1];
    assert_int_equal(cell->lock, 0);
    assert_int_equal(cell->fault, 1);
    assert_true(check->locks[cell->lock].token);
    assert_int_equal(cell->verdict, CHECK_EXPIRED);
    assert_int_equal(cell->compared, CHECK_WORSE);
    assert_true(cell->grants == 120 && isnan(cell->bound95) && cell->recovered == 1);
    assert_true(cell->stale_rejected_fenced == 3 && cell->residue == 2);
    assert_true(cell->recovery_count == 2 && cell->recovery_p50 == 7 && isnan(cell->recovery_max));
    assert_string_equal(cell->theory, "the lease");
    assert_int_equal(json_array_size(cell->trials), 2);
    assert_int_equal(json_array_size(cell->counterexample), 1);
    assert_null(cell->why);
    assert_true(check->locks[check->cells[0].lock].control);
    assert_true(isnan(check->cells[0].recovered));
    check_free(check);
}

TEST(test_a_check_that_has_just_begun) {
    struct check *check = parse_sound(CHECK("\"partial\":true,", ""));
    assert_int_equal(check->cell_count, 0);
    check_free(check);
    check = parse_sound("{\"schema\":\"lockbench.check/2\",\"cells\":[]}");
    check_free(check);
}

TEST(test_what_is_wrong_is_named) {
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "dir/check.json:"},
        {"{\"schema\":\"lockbench.check/2\",\"cells\":[", "the file ends too early"},
        {"[]", "is not a result of lockbench check (no JSON object)"},
        {"{}", "(no .schema \"lockbench.check/2\")"},
        {"{\"schema\":\"lockbench.run/2\",\"cells\":[]}", "is not a result of lockbench check"},
        {"{\"schema\":\"lockbench.check/1\",\"cells\":[]}",
         "dir/check.json: lockbench of an unknown version wrote it (schema lockbench.check/1)"},
        {"{\"schema\":\"lockbench.check/2\"}", "dir/check.json: .cells is missing"},
        {"{\"schema\":\"lockbench.check/2\",\"cells\":{}}", "cells is not an array"},
        {"{\"schema\":\"lockbench.check/2\",\"cells\":[],\"cells\":[]}", "duplicate"},
        {"{\"schema\":\"lockbench.check/2\",\"locks\":[{}],\"cells\":[]}",
         ".locks[0].name is missing"},
        {CHECK("", "7"), ".cells[0] is not an object"},
        {CHECK("", "{\"fault\":\"pause\",\"verdict\":\"safe\"}"), ".cells[0].lock is missing"},
        {CHECK("", "{\"lock\":\"a\",\"verdict\":\"safe\"}"), ".cells[0].fault is missing"},
        {CHECK("", "{\"lock\":\"z\",\"fault\":\"pause\",\"verdict\":\"safe\"}"),
         ".cells[0].lock is \"z\""},
        {CHECK("", "{\"lock\":\"a\",\"fault\":\"z\",\"verdict\":\"safe\"}"),
         ".cells[0].fault is \"z\""},
        {CHECK("", "{\"lock\":\"a\",\"fault\":\"pause\"}"), ".cells[0].verdict is missing"},
        {CHECK("", "{\"lock\":\"a\",\"fault\":\"pause\",\"verdict\":\"fine\"}"),
         ".cells[0].verdict is \"fine\""},
        {CHECK("", CELL(",\"compared\":\"equal\"")), ".cells[0].compared is \"equal\""},
        {CHECK("", CELL(",\"grants\":-1")), ".cells[0].grants is negative or not finite"},
        {CHECK("", CELL(",\"grants\":\"7\"")), ".cells[0].grants is not a number"},
        {CHECK("", CELL(",\"grants\":1e300")), ".cells[0].grants is absurdly large"},
        {CHECK("", CELL(",\"grants\":1e999")), "is not sound JSON"},
        {CHECK("", CELL(",\"grants\":NaN")), "is not sound JSON"},
        {CHECK("", CELL(",\"recovered\":1")), ".cells[0].recovered is not true or false"},
        {CHECK("", CELL(",\"recovery_ns\":{\"p50\":-2}")), ".cells[0].recovery_ns.p50 is negative"},
        {CHECK("", CELL(",\"recovery_ns\":{\"trials\":[1,-1]}")),
         ".cells[0].recovery_ns.trials has a bad number"},
        {CHECK("", CELL(",\"counterexample\":[7]")),
         ".cells[0].counterexample[0] is not an object"},
        {CHECK("", CELL(",\"counterexample\":{}")), ".cells[0].counterexample is not an array"},
        {CHECK("", CELL(",\"why\":[]")), ".cells[0].why is not a text"},
        {CHECK("\"environment\":7,", ""), "environment is not an object"},
        {CHECK("\"partial\":\"no\",", ""), "partial is not true or false"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lb_err err = {0};
        struct check *check = parse(cases[i].text, &err);
        if (check || !strstr(err.text, cases[i].says) || strchr(err.text, '\n'))
            fail_msg("%s\n  gave \"%s\", not \"%s\"", cases[i].text, err.text, cases[i].says);
        assert_int_equal(err.code, LB_EXIT_USAGE);
    }
}

/* A file with changed bytes or without its end gives an error or a check, never a crash. */
TEST(test_damaged_files) {
    static const char sound[] = CHECK(
        "\"seeds\":[1],",
        CELL(",\"recovery_ns\":{\"count\":1,\"trials\":[5]},\"counterexample\":[{\"client\":1}],"
             "\"faults\":[{\"acted\":true}],\"residue\":{\"count\":1}"));
    struct lb_rng rng;
    rng_seed(&rng, 7, 0);
    int kept = 0;
    for (int i = 0; i < 4000; i++) {
        char text[sizeof sound];
        size_t length = sizeof sound - 1;
        memcpy(text, sound, sizeof sound);
        for (int n = 0; n < 1 + i % 3; n++)
            text[rng_below(&rng, length)] = (char)(32 + rng_below(&rng, 95));
        if (i % 5 == 0) length = rng_below(&rng, length);
        struct lb_err err = {0};
        struct check *check = check_parse(text, length, "check.json", &err);
        assert_true(!check == (err.code != 0));
        kept += check != NULL;
        check_free(check);
    }
    assert_true(kept > 10); /* fewer: the texts tested the JSON parser only */
}

TEST(test_a_check_is_told_from_a_run) {
    assert_true(check_is("report/tests/golden/check/faults"));
    assert_true(check_is("report/tests/golden/check/faults/"));
    assert_true(check_is("report/tests/golden/check/faults/check.json"));
    assert_false(check_is("report/tests/golden/mixed"));
    assert_false(check_is("/nonexistent"));
    assert_false(check_is("/dev/zero"));
}

/* Two fields at one place, or with one path, would show one figure under two names. */
TEST(test_fields_do_not_collide) {
    for (const struct result_field *a = check_cell_fields(); a->path; a++) {
        for (const struct result_field *b = a + 1; b->path; b++) {
            assert_string_not_equal(a->path, b->path);
            if (!result_field_has_member(a) || !result_field_has_member(b)) continue;
            assert_int_not_equal(a->offset, b->offset);
        }
    }
}

TEST_MAIN(NULL, NULL)
