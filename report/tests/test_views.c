/* test_views: the data of the views that decide: intervals and their basis, the last lines of the
 * verdict. */
#include <math.h>

#include "bench/tests/hdr_texts.h"
#include "report/page/html_parts.h"
#include "report/run/run_doc.h"
#include "report/run/words.h"
#include "report/tests/report_help.h"

#define GOLDEN "report/tests/golden/"

static const struct column *column_of(const char *key) {
    const struct column *column = columns_of(IN_COMPARISON);
    while (strcmp(column->key, key) != 0) column++;
    return column;
}

/* With as many places as clients nobody has to wait always, and a client that only tries never
 * waits. */
TEST(test_when_the_load_fixes_the_mean_wait) {
    struct run_stage stage = {.arrival = "closed", .keys = "4", .clients = 4};
    assert_false(report_wait_is_fixed(&stage));
    stage.clients = 5;
    assert_true(report_wait_is_fixed(&stage));
    stage.mode = "try";
    assert_false(report_wait_is_fixed(&stage));
    stage.mode = "wait";
    stage.primitive = "semaphore";
    stage.bound = 4;
    stage.permits = 2;
    assert_false(report_wait_is_fixed(&stage));
    stage.primitive = "mutex";
    assert_true(report_wait_is_fixed(&stage));
    stage.arrival = "poisson:100/s";
    assert_false(report_wait_is_fixed(&stage));
}

static struct spread spread_in(const char *run, const char *lock, double clients, const char *key,
                               double *ret_median) {
    struct lb_err err = {0};
    struct report *report = report_load(&run, 1, &err);
    assert_string_equal(err.text, "");
    assert_non_null(report);
    const struct column *column = column_of(key);
    struct spread spread = {.kind = SPREAD_NONE};
    bool found = false;
    for (int g = 0; g < report->group_count && !found; g++) {
        for (int r = 0; r < report->groups[g].row_count && !found; r++) {
            const struct report_row *row = &report->groups[g].rows[r];
            if (report->groups[g].clients != clients ||
                strcmp(report->locks[row->lock].name, lock) != 0)
                continue;
            found = true;
            *ret_median = column_value(column, row);
            spread = spread_of(row, column);
        }
    }
    assert_true(found);
    report_free(report);
    return spread;
}

TEST(test_what_intervals_stand_on) {
    double median;
    struct spread seven = spread_in(GOLDEN "decide", "mem-mutex", 16, "throughput_per_s", &median);
    assert_int_equal(seven.kind, SPREAD_REPEATS);
    assert_true(seven.count == 7);
    assert_true(seven.low < median && median < seven.high);
    struct spread three = spread_in(GOLDEN "clean", "redis-setnx", 1, "throughput_per_s", &median);
    assert_int_equal(three.kind, SPREAD_RANGE);
    assert_true(three.count == 3);
    /* The samples of one run depend on each other: it has no interval. */
    assert_int_equal(
        spread_in(GOLDEN "mixed", "zk-lock", 16, "latency_ns.acquire.p50", &median).kind,
        SPREAD_NONE);
    assert_int_equal(spread_in(GOLDEN "mixed", "zk-lock", 16, "throughput_per_s", &median).kind,
                     SPREAD_NONE);
}

static json_t *page_data(const struct report *report) {
    struct lb_err err = {0};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(html_data(out, report, &err), 0);
    fclose(out);
    json_t *root = json_loads(text, 0, NULL);
    assert_non_null(root);
    free(text);
    return root;
}

static double time_item(const json_t *time, const char *list, size_t i) {
    return json_number_value(json_array_get(json_object_get(time, list), i));
}

/* Three seconds an interval: their grants are added, of their percentiles the worst is shown. Silence is not zero, and
 * what came after the window is no second. */
TEST(test_a_long_run_has_several_seconds_an_interval) {
    char *stage = NULL;
    size_t size;
    FILE *out = open_memstream(&stage, &size);
    fputs("{\"lock\":\"a\",\"clients\":2,\"duration_s\":241,\"series\":[", out);
    for (int s = 0; s < 241; s++)
        fprintf(
            out,
            "{\"t_s\":%d,\"ok\":%d,\"acquire_p50_ns\":%d,\"acquire_p99_ns\":%d,\"draining\":false},",
            s, s, s, 2 * s);
    fputs("{\"t_s\":241,\"ok\":9,\"draining\":true}]}", out);
    fclose(out);
    struct report *report = report_of(stage, "");
    json_t *root = page_data(report);
    const json_t *group = json_array_get(json_object_get(root, "groups"), 0);
    const json_t *time = json_object_get(json_array_get(json_object_get(group, "rows"), 0), "time");
    assert_int_equal(json_integer_value(json_object_get(time, "merged")), 3);
    assert_int_equal(json_array_size(json_object_get(time, "from")), 81);
    assert_true(time_item(time, "from", 1) == 3 && time_item(time, "to", 80) == 241);
    assert_true(time_item(time, "grants", 1) == 3 + 4 + 5 && time_item(time, "grants", 80) == 240);
    assert_true(time_item(time, "p50", 1) == 5 && time_item(time, "p99", 1) == 10);
    json_decref(root);
    report_free(report);
    free(stage);
}

TEST(test_a_silent_second_has_no_percentiles) {
    struct report *report = report_of(
        "{\"lock\":\"a\",\"clients\":2,\"duration_s\":1.5,\"series\":[{\"t_s\":0,\"ok\":5,"
        "\"acquire_p50_ns\":10},{\"t_s\":1,\"ok\":0,\"acquire_p50_ns\":null}]}",
        "");
    json_t *root = page_data(report);
    char *text = json_dumps(root, JSON_COMPACT);
    has(text, "\"to\":[1,1.5],\"grants\":[5,0],\"p50\":[10,null],\"p99\":[null,null]");
    free(text);
    json_decref(root);
    report_free(report);
}

TEST_MAIN(NULL, NULL)
