/* test_html_time: the page's data over time, against logs of which every value is known. */

#include <math.h>

#include "bench/base/clock.h"
#include "report/page/html_parts.h"
#include "report/report.h"
#include "report/tests/report_help.h"
#include "results/format/hlog.h"

#define START_NS (INT64_C(1795286183) * LB_S_NS)

static FILE *create(const char *name) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    return out;
}

/* A log of so many seconds: in second i, i + 1 times EACH acquires of 1 ms and EACH of 1 s; every third
 * second has none. */
#define EACH 300
static void log_each(const char *name, int seconds, int each) {
    static const char *const tags[] = {"acquire", "acquire_due", "handoff", "lag", "release"};
    struct lb_err err = {0};
    FILE *out = create(name);
    assert_int_equal(hlog_begin(out, START_NS, "test", &err), 0);
    for (int i = 0; i < seconds; i++) {
        for (size_t t = 0; t < sizeof tags / sizeof *tags; t++) {
            struct hist *hist = hist_new(HIST_DIGITS, HIST_HIGHEST_NS);
            if (i % 3 != 2) {
                hist_record_times(hist, LB_MS_NS, (i + 1) * each);
                hist_record_times(hist, LB_S_NS, each);
            }
            assert_int_equal(hlog_write(out, tags[t], START_NS + i * LB_S_NS, LB_S_NS, hist, &err),
                             0);
            hist_free(hist);
        }
    }
    assert_int_equal(fclose(out), 0);
}

static void write_log(const char *name, int seconds) {
    log_each(name, seconds, EACH);
}

/* over_time of the only row of a run with this stage; json_decref it. */
static json_t *time_of(const char *stage) {
    struct lb_err err = {0};
    FILE *out = create("run.json");
    fprintf(out, "{\"schema\":\"lockbench.run/2\",\"stages\":[%s]}", stage);
    assert_int_equal(fclose(out), 0);
    const char *const paths[] = {folder};
    struct report *report = report_load(paths, 1, &err);
    assert_string_equal(err.text, "");
    json_t *root = json_object();
    assert_int_equal(html_time(report, root, &err), 0);
    json_t *row = json_array_get(json_array_get(json_object_get(root, "over_time"), 0), 0);
    assert_non_null(row);
    json_incref(row);
    json_decref(root);
    report_free(report);
    return row;
}

static double item(const json_t *row, const char *list, size_t i) {
    return json_number_value(json_array_get(json_object_get(row, list), i));
}

#define STAGE(id, arrival, more)                                                                   \
    "{\"id\":\"" id "\",\"lock\":\"a\",\"clients\":2,\"keys\":1,\"arrival\":\"" arrival "\"" more  \
    "}"

TEST(test_every_second_of_a_log) {
    write_log("one.hlog", 6);
    json_t *row = time_of(STAGE("one", "closed", ",\"duration_s\":6"));
    const json_t *acquire = json_object_get(row, "acquire");
    assert_int_equal(json_array_size(json_object_get(row, "from")), 6);
    assert_true(json_is_true(json_object_get(row, "logged")) &&
                json_is_false(json_object_get(row, "cut")));
    for (size_t i = 0; i < 6; i++) {
        assert_true(item(row, "from", i) == (double)i && item(row, "to", i) == (double)i + 1);
        if (i % 3 == 2) { /* silence is not zero */
            assert_true(item(row, "grants", i) == 0);
            assert_true(json_is_null(json_array_get(json_object_get(acquire, "p50"), i)));
            continue;
        }
        assert_true(item(row, "grants", i) == EACH * ((double)i + 2));
        assert_true(fabs(item(acquire, "p50", i) - 1e6) < 1e3);
        assert_true(fabs(item(acquire, "p99", i) - 1e9) < 1e6);
    }
    /* In a closed loop requests are always due, so these two are left out. */
    assert_null(json_object_get(row, "acquire_due"));
    assert_null(json_object_get(row, "lag"));
    assert_non_null(json_object_get(row, "handoff"));
    json_decref(row);
}

TEST(test_an_open_loop_with_its_events) {
    write_log("open.hlog", 3);
    json_t *row = time_of(STAGE(
        "open", "poisson:100/s",
        ",\"duration_s\":3,\"offered_per_s\":100,\"faults\":[{\"kind\":\"pause\",\"target\":\"holder\","
        "\"from_s\":0.5,\"to_s\":null,\"acted\":true}]"));
    const json_t *fault = json_array_get(json_object_get(row, "faults"), 0);
    assert_non_null(json_object_get(row, "acquire_due"));
    assert_non_null(json_object_get(row, "lag"));
    assert_true(json_number_value(json_object_get(row, "offered")) == 100);
    assert_string_equal(json_string_value(json_object_get(fault, "kind")), "pause");
    assert_true(json_number_value(json_object_get(fault, "from_s")) == 0.5);
    assert_true(json_is_null(json_object_get(fault, "to_s")));
    json_decref(row);
}

/* The histograms are added: a percentile of 4 seconds is no mean of four percentiles. */
TEST(test_a_long_run_has_several_seconds_an_interval) {
    write_log("long.hlog", 480);
    json_t *row = time_of(STAGE("long", "closed", ",\"duration_s\":480"));
    assert_int_equal(json_array_size(json_object_get(row, "from")), 120);
    assert_int_equal(json_integer_value(json_object_get(row, "merged")), 4);
    double grants = 0;
    for (size_t i = 0; i < 120; i++) grants += item(row, "grants", i);
    /* i + 2 of each second but every third: 2 + 3 + 5 + 6 + 8 + ... */
    double all = 0;
    for (int i = 0; i < 480; i++) all += i % 3 == 2 ? 0 : i + 2;
    assert_true(grants == EACH * all);
    assert_true(item(row, "from", 1) == 4 && item(row, "to", 119) == 480);
    assert_true(fabs(item(json_object_get(row, "acquire"), "p99", 119) - 1e6) < 1e3);
    json_decref(row);
}

TEST(test_a_cut_log_shows_what_can_be_read) {
    write_log("whole.hlog", 4);
    char path[128];
    snprintf(path, sizeof path, "%s/whole.hlog", folder);
    char *text = read_whole(path);
    FILE *out = create("cut.hlog");
    fwrite(text, 1, strlen(text) - 700, out);
    assert_int_equal(fclose(out), 0);
    free(text);
    json_t *row = time_of(STAGE("cut", "closed", ",\"duration_s\":4"));
    assert_true(json_is_true(json_object_get(row, "cut")));
    assert_in_range(json_array_size(json_object_get(row, "from")), 3, 4);
    assert_true(item(row, "grants", 0) == EACH * 2);
    json_decref(row);
}

/* The p99 of 44 times is their maximum. */
TEST(test_percentiles_of_few_times_are_left_out) {
    log_each("few.hlog", 2, 100); /* 200 and 300 times */
    json_t *row = time_of(STAGE("few", "closed", ",\"duration_s\":2"));
    const json_t *acquire = json_object_get(row, "acquire");
    for (size_t i = 0; i < 2; i++) {
        assert_true(item(acquire, "p50", i) > 0);
        assert_true(json_is_null(json_array_get(json_object_get(acquire, "p99"), i)));
    }
    json_decref(row);
    log_each("fewer.hlog", 1, 4);
    row = time_of(STAGE("fewer", "closed", ",\"duration_s\":1"));
    acquire = json_object_get(row, "acquire");
    assert_true(json_is_null(json_array_get(json_object_get(acquire, "p50"), 0)));
    json_decref(row);
}

/* Without a log, and with a name that leads elsewhere: run.json's seconds. */
TEST(test_without_a_log_the_series) {
    static const char *const stages[] = {
        STAGE(
            "none", "closed",
            ",\"duration_s\":1.5,\"series\":[{\"t_s\":0,\"ok\":5,\"acquire_p50_ns\":10,\"acquire_p99_ns\":"
            "20},"
            "{\"t_s\":1,\"ok\":0,\"acquire_p50_ns\":0,\"acquire_p99_ns\":0}]"),
        STAGE(
            "x/../one", "closed",
            ",\"duration_s\":1.5,\"series\":[{\"t_s\":0,\"ok\":5,\"acquire_p50_ns\":10,\"acquire_p99_ns\":"
            "20},"
            "{\"t_s\":1,\"ok\":0,\"acquire_p50_ns\":0,\"acquire_p99_ns\":0}]"),
    };
    for (size_t s = 0; s < 2; s++) {
        json_t *row = time_of(stages[s]);
        const json_t *p50 = json_object_get(json_object_get(row, "acquire"), "p50");
        assert_true(json_is_false(json_object_get(row, "logged")));
        assert_int_equal(json_array_size(json_object_get(row, "to")), 2);
        assert_true(item(row, "to", 1) == 1.5 && item(row, "grants", 0) == 5);
        assert_true(json_number_value(json_array_get(p50, 0)) == 10);
        assert_true(json_is_null(json_array_get(p50, 1)));
        json_decref(row);
    }
    json_t *row = time_of(STAGE("nothing", "closed", ""));
    assert_true(json_is_null(row));
    json_decref(row);
}

TEST_MAIN(make_folder, remove_folder)
