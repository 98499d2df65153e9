/* test_views: the data of the views that decide: intervals and their basis, the last lines of the
 * verdict. */
#include <math.h>

#include "bench/tests/hdr_texts.h"
#include "report/page/html_parts.h"
#include "report/run/run_doc.h"
#include "report/run/words.h"
#include "report/tests/report_help.h"

#define GOLDEN "report/tests/golden/"
#define STAGE(lock, class, verdict, rate, p50) LOOP(lock, class, verdict, rate, p50, "exp:1ms")
#define LOOP(lock, class, verdict, rate, p50, think)                                               \
    "{\"lock\":\"" lock "\",\"topology\":\"t\",\"durability_class\":\"" class                      \
        "\",\"clients\":2,\"keys\":1,\"arrival\":"                                                 \
        "\"closed\",\"think\":\"" think "\",\"throughput_per_s\":" #rate                           \
        ",\"latency_ns\":{\"acquire\":{\"count\":500,\"hdr\":\"" HDR_500 "\","                     \
        "\"p50\":" #p50 "}},\"exclusion\":{\"verdict\":\"" verdict "\",\"grants\":9}}"

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

#define SHARED(lock, rate, jain, limited)                                                          \
    "{\"lock\":\"" lock "\",\"topology\":\"t\",\"durability_class\":\"memory\",\"clients\":2,"     \
    "\"keys\":1,\"arrival\":\"closed\",\"throughput_per_s\":" #rate                                \
    ",\"fairness\":{\"jain\":" #jain "},\"limited_by\":" limited                                   \
    ",\"exclusion\":{\"verdict\":\"clean\",\"grants\":900}}"

/* The section of the promises is below the first screen. */
TEST(test_a_broken_promise_has_no_green_verdict) {
    const char *const slos[] = {"kept", "broken"};
    for (int i = 0; i < 2; i++) {
        char more[200];
        struct doc doc = {0};
        snprintf(more, sizeof more,
                 ",\"slo\":[{\"slo\":\"acquire.p99<=1ms\",\"lock\":\"a\",\"verdict\":\"%s\"}]",
                 slos[i]);
        struct report *report = report_of(SHARED("a", 900, 1, "null"), more);
        report->locks[0].competing = 1e6;
        run_verdict(report, &doc);
        char *text = written(&doc, DOC_HTML);
        assert_int_equal(strstr(text, "0 kept, 1 broken") != NULL, i == 1);
        assert_int_equal(strstr(text, "class=\"verdict bad\"") != NULL, i == 1);
        free(text);
        report_free(report);
    }
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

static void assert_said(const char *stages, const char *more, const char *expected) {
    struct report *report = report_of(stages, more);
    char *text = render(report, REPORT_MD, false);
    if (!strstr(text, expected)) fail_msg("\"%s\" is not in: %.600s", expected, text);
    free(text);
    report_free(report);
}

TEST(test_the_verdict_says_what_ran) {
    assert_said(
        STAGE("a", "memory", "clean", 1, 1),
        ",\"plan\":{\"workload\":{\"name\":\"w\"}},\"servers\":[{\"backend\":\"b\",\"topology\":\"t\","
        "\"facts\":{"
        "\"version\":\"1.2\"}}],\"environment\":{\"cpu_model\":\"CPU\",\"cpus\":2,\"kernel\":\"K 6\"}",
        "Ran: w, 1 lock in 1 stage on t 1.2; CPU, 2 processors, K 6.");
    assert_said("{\"lock\":\"a\",\"clients\":1,\"limited_by\":\"generator\"}", "",
                "In 1 of the 1 rows of locks");
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

/* The page's head names the machine in the words of the verdict. */
TEST(test_the_head_names_the_machine) {
    struct report *report =
        report_of("{\"lock\":\"a\",\"clients\":2}",
                  ",\"environment\":{\"cpu_model\":\"C&U\",\"cpus\":1,\"kernel\":\"K 6\"}");
    char *page = render(report, REPORT_HTML, false);
    has(page, "1 lock &middot; C&amp;U, 1 processor, K 6</p>");
    free(page);
    report_free(report);
}

/* Rows of one table from different machines: the verdict says what differs. */
TEST(test_machines_that_differ_are_told) {
#define ON(kernel)                                                                                 \
    "{\"schema\":\"lockbench.run/2\",\"environment\":{\"kernel\":\"" kernel                        \
    "\",\"cpus\":2,\"load_before\":" kernel "},\"stages\":[{\"lock\":\"a\",\"clients\":1}]}"
    static const char *const texts[] = {ON("6.1"), ON("6.2")};
    struct lb_err err = {0};
    struct run **runs = calloc(2, sizeof(struct run *));
    assert_non_null(runs);
    for (int i = 0; i < 2; i++) runs[i] = run_parse(texts[i], strlen(texts[i]), "run.json", &err);
    struct report *report = report_make(runs, 2, &err);
    assert_non_null(report);
    char *text = one_line(render(report, REPORT_FULL, false));
    has(text, "of run A were on 2 processors, 6.1, those of run B on 2 processors, 6.2:");
    free(text);
    report_free(report);
}

TEST_MAIN(NULL, NULL)
