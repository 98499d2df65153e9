/* test_views: the data of the views that decide: intervals and their basis, seconds; the words for states. */
#include <math.h>

#include "report/page/html_parts.h"
#include "report/run/run_doc.h"
#include "report/run/words.h"
#include "report/tests/report_help.h"

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

/* The data of the page of these stages has this part. */
static void page_says(const char *stages, const char *part) {
    struct report *report = report_of(stages, "");
    json_t *root = page_data(report);
    char *text = json_dumps(root, JSON_COMPACT);
    has(text, part);
    free(text);
    json_decref(root);
    report_free(report);
}

/* The samples of one run depend on each other: it has no interval. */
TEST(test_what_intervals_stand_on) {
    static const struct {
        int repeats;
        const char *says;
    } cases[] = {{7, "{\"low\":100,\"high\":106,\"kind\":\"repeats\",\"count\":7}"},
                 {3, "{\"low\":100,\"high\":102,\"kind\":\"range\",\"count\":3}"},
                 {1, "{}"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char stages[1000] = "", says[100];
        for (int n = 0; n < cases[i].repeats; n++)
            sprintf(stages + strlen(stages),
                    "%s{\"lock\":\"a\",\"clients\":1,\"repeat\":%d,\"throughput_per_s\":%d}",
                    n ? "," : "", n, 100 + n);
        snprintf(says, sizeof says, "\"throughput_per_s\":%s", cases[i].says);
        page_says(stages, says);
    }
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
    page_says("{\"lock\":\"a\",\"clients\":2,\"duration_s\":1.5,\"series\":[{\"t_s\":0,\"ok\":5,"
              "\"acquire_p50_ns\":10},{\"t_s\":1,\"ok\":0,\"acquire_p50_ns\":null}]}",
              "\"to\":[1,1.5],\"grants\":[5,0],\"p50\":[10,null],\"p99\":[null,null]");
}

/* In tables, sentences and the page that explains them. */
TEST(each_state_has_one_word) {
    char *page = read_whole("report/READING.md"), row[64];
    assert_non_null(page);
    for (int word = LOCK_BASELINE; word <= LOCK_VIOLATED; word++) {
        snprintf(row, sizeof row, "\n  | `%s` | ", words_state((enum lock_state)word));
        has(page, row);
    }
    free(page);
}

TEST_MAIN(NULL, NULL)
