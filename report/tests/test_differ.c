/* test_differ: runs that stand in one table although their plans differ say so. */
#include "report/tests/report_help.h"

#define RUN(plan, keys)                                                                            \
    "{\"schema\":\"lockbench.run/2\",\"plan\":{" plan                                              \
    "},\"stages\":[{\"lock\":\"a\",\"clients\":2,\"keys\":" keys ",\"arrival\":\"closed\"}]}"

static void expect(const char *first, const char *second, const char *words) {
    const char *const texts[] = {first, second};
    struct lb_err err = {0};
    struct run **runs = calloc(2, sizeof *runs);
    assert_non_null(runs);
    for (int i = 0; i < 2; i++) {
        runs[i] = run_parse(texts[i], strlen(texts[i]), "run.json", &err);
        assert_string_equal(err.text, "");
    }
    struct report *report = report_make(runs, 2, &err);
    assert_non_null(report);
    char *text = one_line(render(report, REPORT_FULL, false));
    if (words)
        has(text, words);
    else
        lacks(text, "whose plans differ");
    free(text);
    report_free(report);
}

TEST(a_difference_that_the_loads_text_lacks_is_told) {
    expect(RUN("\"acquire\":{\"mode\":\"timed\",\"timeout_ns\":5}", "1"),
           RUN("\"acquire\":{\"mode\":\"timed\",\"timeout_ns\":6}", "1"),
           "Tables have rows of runs A and B, whose plans differ: acquire.timeout_ns 5 and 6.");
    expect(RUN("\"options\":{\"a\":{\"poll_ns\":1}}", "1"),
           RUN("\"options\":{\"a\":{\"poll_ns\":2}}", "1"), "differ: options.a.poll_ns 1 and 2.");
    expect(RUN("\"run\":{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1}", "1"),
           RUN("\"run\":{\"a\":2,\"b\":2,\"c\":2,\"d\":2,\"e\":2,\"f\":2,\"g\":2,\"h\":2}", "1"),
           "run.f 1 and 2 and 2 more.");
}

/* The choice of locks and loads shows in the rows; runs without a table in common need no line. */
TEST(what_makes_rows_and_tables_of_its_own_is_no_difference) {
    expect(
        RUN("\"load\":{\"seed\":1,\"clients\":[1,2]},\"locks\":[\"a\"],\"options\":{\"b\":{\"x\":1}}",
            "1"),
        RUN("\"load\":{\"seed\":2,\"clients\":[2]},\"locks\":[\"a\",\"c\"]", "1"), NULL);
    expect(RUN("\"run\":{\"duration_ns\":1}", "1"), RUN("\"run\":{\"duration_ns\":2}", "7"), NULL);
}

TEST_MAIN(NULL, NULL)
