/* test_views: the data of the views that decide: ratios to the best, intervals and their basis, the
 * last lines of the verdict. */
#include <math.h>

#include "bench/tests/hdr_texts.h"
#include "report/page/html_parts.h"
#include "report/run/ranking.h"
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

static void assert_near(double is, double expected) {
    if (!(fabs(is - expected) < 1e-9 * fabs(expected)))
        fail_msg("is %.12g, not %.12g", is, expected);
}

/* Ratios are within a durability. A lock that let two clients in is not the best, and has no
 * ratio. */
TEST(test_ratios) {
    struct report *report =
        report_of(STAGE("slow", "memory", "clean", 100, 8000) "," STAGE(
                      "fast", "memory", "clean", 400,
                      2000) "," STAGE("broken", "memory", "violated", 900,
                                      10) "," STAGE("disk", "disk", "clean", 5, 90000),
                  "");
    const struct report_group *group = &report->groups[0];
    const struct column *rate = column_of("throughput_per_s"),
                        *p50 = column_of("latency_ns.acquire.p50");
    assert_int_equal(group->row_count, 4);
    assert_near(best_ratio(rate, group, 0), 4);
    assert_near(best_ratio(p50, group, 0), 4);
    assert_near(best_ratio(rate, group, 1), 1);
    assert_true(isnan(best_ratio(rate, group, 2)));
    assert_near(best_ratio(rate, group, 3), 1);
    assert_true(isnan(best_ratio(column_of("latency_ns.ping.p50"), group, 0)));
    assert_near(best_ratio_mean(group, 0), 4);
    assert_near(best_ratio_mean(group, 1), 1);
    assert_true(isnan(best_ratio_mean(group, 2)));
    report_free(report);
}

/* 2 and 8 times worse: 4 times, by the geometric mean. */
TEST(test_the_mean_is_geometric) {
    struct report *report = report_of(
        STAGE("slow", "memory", "clean", 100, 8000) "," STAGE("fast", "memory", "clean", 200, 1000),
        "");
    assert_near(best_ratio_mean(&report->groups[0], 0), 4);
    report_free(report);
}

/* Where clients always wait for each other, a lower median wait is no merit: an unfair lock has it. */
TEST(test_the_median_of_a_fixed_mean_is_not_ranked) {
    static const struct {
        const char *think;
        bool ranks;
    } cases[] = {{"0", false}, {"0s", false}, {"exp:1ms", true}, {"1ms", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char stages[2000];
        snprintf(stages, sizeof stages,
                 LOOP("few", "memory", "clean", 100, 2000, "%s") "," LOOP("all", "memory", "clean",
                                                                          400, 8000, "%s"),
                 cases[i].think, cases[i].think);
        struct report *report = report_of(stages, "");
        const struct report_group *group = &report->groups[0];
        const struct column *p50 = column_of("latency_ns.acquire.p50");
        char *table = render(report, REPORT_TABLE, false), *md = render(report, REPORT_MD, false);
        assert_int_equal(best_is_marked(p50, group, 0), cases[i].ranks);
        assert_int_equal(!isnan(best_ratio(p50, group, 0)), cases[i].ranks);
        assert_near(best_ratio_mean(group, 0), cases[i].ranks ? 2 : 4);
        assert_near(best_ratio_mean(group, 1), cases[i].ranks ? 2 : 1);
        assert_int_equal(count_of(table, "acquire p50 is not ranked"), !cases[i].ranks);
        assert_int_equal(count_of(md, "acquire p50 is not ranked"), !cases[i].ranks);
        free(table);
        free(md);
        report_free(report);
    }
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

/* The first screen of a report, as markup; the caller frees it. */
static char *first_screen(const char *stages) {
    struct report *report = report_of(stages, "");
    struct answers answers;
    struct lb_err err = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    answer_make(report, &answers);
    assert_int_equal(html_first(out, report, &answers, &err), 0);
    assert_int_equal(fclose(out), 0);
    report_free(report);
    return text;
}

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

/* The times of an unfair lock are those of the few clients that were served. */
TEST(test_an_unfair_lock_leads_only_unfair_ones) {
    char *text = first_screen(SHARED("greedy", 90000, 0.3, "null") "," SHARED(
        "fair", 100, 1, "\"generator\"") "," SHARED("near", 98, 1, "null"));
    assert_non_null(strstr(text, "Leading with 2 clients: <b>fair</b> (in memory)."));
    assert_non_null(strstr(text, "greedy is nearer to the best, but unfair (Jain 0.30)"));
    assert_non_null(strstr(text, "Level with it: near</p>"));
    assert_non_null(strstr(text, "Generator-limited: its times"));
    free(text);
    text = first_screen(SHARED("greedy", 90000, 0.3, "null") "," SHARED("worse", 10, 0.2, "null"));
    assert_non_null(strstr(text, "<b>greedy</b>"));
    assert_non_null(strstr(text, "It is unfair (Jain 0.30)"));
    free(text);
    /* The other formats name the same leader. */
    struct report *report =
        report_of(SHARED("greedy", 90000, 0.3, "null") "," SHARED("fair", 100, 1, "null"), "");
    text = render(report, REPORT_TABLE, false);
    has(text,
        "Leading with 2 clients: fair (in memory). greedy is nearer to the best, but unfair (Jain 0.30)");
    free(text);
    text = render(report, REPORT_MD, false);
    has(text, "Leading with 2 clients: **fair** (in memory). greedy is nearer");
    free(text);
    report_free(report);
    report = report_of(SHARED("a", 9, 1, "null"), "");
    text = render(report, REPORT_TABLE, false);
    assert_int_equal(count_of(text, "Leading"), 0); /* nobody to lead */
    free(text);
    report_free(report);
}

/* In this run all clients meet on a key, so no figure answers "fastest alone". */
TEST(test_a_question_that_no_load_answers_is_not_asked) {
    struct report *report =
        report_of(SHARED("a", 900, 1, "null") "," SHARED("b", 100, 1, "null"), "");
    struct doc doc = {0};
    run_doc_begin(report, &doc);
    char *text = written(&doc, DOC_TERMINAL);
    assert_non_null(strstr(text, "most grants/s, 2 clients: a"));
    assert_null(strstr(text, "fastest alone"));
    free(text);
    report_free(report);
}

#define RUN(lock, repeat, rate, p99)                                                               \
    "{\"lock\":\"" lock                                                                            \
    "\",\"topology\":\"t\",\"durability_class\":\"memory\",\"clients\":2,\"keys\":1,"              \
    "\"arrival\":\"closed\",\"repeat\":" #repeat ",\"throughput_per_s\":" #rate                    \
    ",\"latency_ns\":{\"acquire\":{\"count\":900,\"hdr\":\"" HDR_900 "\",\"p99\":" #p99            \
    "}},\"exclusion\":{\"verdict\":\"clean\",\"grants\":900}}"

/* The p99 of one run is a matter of luck, and so is a difference of 3 % in throughput. */
TEST(test_one_run_tells_no_best_tail) {
    struct report *report =
        report_of(RUN("a", 0, 100, 2000) "," RUN("b", 0, 103, 8000) "," RUN("c", 0, 50, 9000), "");
    const struct report_group *group = &report->groups[0];
    const struct column *rate = column_of("throughput_per_s"),
                        *p99 = column_of("latency_ns.acquire.p99");
    struct answers answers;
    answer_make(report, &answers);
    for (int r = 0; r < 3; r++) {
        assert_false(best_is_marked(p99, group, r));
        assert_true(isnan(best_ratio(p99, group, r)));
        assert_int_equal(best_is_marked(rate, group, r), r < 2);
    }
    assert_near(best_ratio(rate, group, 0), 1);
    assert_near(best_ratio(rate, group, 2), 103.0 / 50);
    const struct answer *tail = &answers.cell[DURABILITY_MEMORY][SHORTEST_TAIL];
    assert_true(!tail->best && tail->untold);
    const struct answer *most = &answers.cell[DURABILITY_MEMORY][MOST_GRANTS];
    assert_true(most->best == &group->rows[1] && most->tie_count == 1);
    report_free(report);
}

/* A best that had no rival is called so; a figure that rivals lack is not compared. */
TEST(test_a_best_without_a_rival_says_so) {
    struct report *report = report_of(RUN("a", 0, 100, 2000) "," SHARED("b", 50, 1, "null"), "");
    char *text = render(report, REPORT_TABLE, false);
    has(text, "most grants/s, 2 clients: a 100\n");
    has(text, "shortest wait, p99, 2 clients: a 2.00 us (no other has it)\n");
    free(text);
    report_free(report);
    report = report_of(SHARED("b", 50, 1, "null"), "");
    text = render(report, REPORT_TABLE, false);
    has(text, "most grants/s, 2 clients: b 50.0 (the only one)\n");
    free(text);
    report_free(report);
}

#define DUE(lock, p99)                                                                             \
    "{\"lock\":\"" lock "\",\"durability_class\":\"memory\",\"clients\":2,\"keys\":1,"             \
    "\"arrival\":\"poisson:9/s\",\"throughput_per_s\":9,\"limited_by\":\"generator\","             \
    "\"response_ns\":{\"p50\":5,\"p99\":" p99                                                      \
    "},\"exclusion\":{\"verdict\":\"clean\",\"grants\":900}}"

/* A tail that is "never" elsewhere is still the tail of one run. The mark of a row is explained by
 * the same mark. */
TEST(test_no_star_for_the_tail_of_one_run) {
    struct report *report =
        report_of(DUE("a", "2000") "," DUE("b", "9000") "," DUE("c", "\"never\""), "");
    const struct report_group *group = &report->groups[0];
    for (int r = 0; r < 3; r++)
        assert_false(best_is_marked(column_of("response_ns.p99"), group, r));
    assert_true(isinf(best_ratio(column_of("response_ns.p99"), group, 2)));
    char *text = render(report, REPORT_MD, false);
    has(text, "| a (limited) |");
    has(text, "generator-limited (limited): the times include");
    free(text);
    report_free(report);
}

/* The ranges of a and b have values in common, that of c has none with either. */
TEST(test_spreads_of_repeats_tell_the_best) {
    struct report *report = report_of(
        RUN("a", 0, 100, 2000) "," RUN("a", 1, 110, 2500) "," RUN("a", 2, 120, 4000) "," RUN(
            "b", 0, 118,
            3900) "," RUN("b", 1, 140,
                          5000) "," RUN("b", 2, 150,
                                        9000) "," RUN("c", 0, 60, 20000) "," RUN("c", 1, 61, 30000),
        "");
    const struct report_group *group = &report->groups[0];
    const struct column *rate = column_of("throughput_per_s"),
                        *p99 = column_of("latency_ns.acquire.p99");
    for (int r = 0; r < 3; r++) {
        assert_int_equal(best_is_marked(rate, group, r), r < 2);
        assert_int_equal(best_is_marked(p99, group, r), r < 2);
    }
    assert_near(best_ratio(rate, group, 0), 1);
    assert_near(best_ratio(p99, group, 1), 1);
    assert_near(best_ratio(p99, group, 2), 10);
    report_free(report);
}

/* Against the best lock, a: b has half the rate in its middle repeat, 1/4 and 0.8 of the rate in the others. A lock of
 * one run has no range. */
TEST(test_a_mean_has_a_range_where_there_are_repeats) {
    double low = -1, high = -1;
    struct report *report = report_of(
        RUN("a", 0, 400, 100) "," RUN("a", 1, 400, 100) "," RUN("a", 2, 400, 100) "," RUN(
            "b", 0, 100, 100) "," RUN("b", 1, 200, 100) "," RUN("b", 2, 320, 100) "," RUN("c", 0,
                                                                                          100, 100),
        "");
    const struct report_group *group = &report->groups[0];
    double mean = best_ratio_mean(group, 1);
    assert_true(mean > 1);
    assert_true(best_ratio_range(group, 1, &low, &high));
    assert_near(high, mean * mean); /* the same root of 4 as of 2 */
    assert_true(1 < low && low < mean);
    assert_true(best_ratio_range(group, 0, &low, &high));
    assert_true(low == 1 && high == 1);
    low = high = -1;
    assert_false(best_ratio_range(group, 2, &low, &high));
    assert_true(low == -1 && high == -1);
    report_free(report);
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
                "GENERATOR-LIMITED: in 1 of the 1 stages");
}

static json_t *page_data(const struct report *report) {
    struct lb_err err = {0};
    struct answers answers;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    answer_make(report, &answers);
    assert_int_equal(html_data(out, report, &answers, &err), 0);
    fclose(out);
    json_t *root = json_loads(text, 0, NULL);
    assert_non_null(root);
    free(text);
    return root;
}

/* Up and down are no repeats of each other, and each is a sweep of its own. */
TEST(test_both_ways_of_a_sweep_stand_apart) {
#define RUNG(leg, rate)                                                                            \
    "{\"lock\":\"a\",\"clients\":2,\"arrival\":\"poisson:" #rate "/s\",\"offered_per_s\":" #rate   \
    ",\"grants\":1,\"sweep\":{\"by\":\"rate\",\"order\":\"mirror\",\"leg\":\"" leg                 \
    "\",\"step\":0}}"
    struct report *report = report_of(RUNG("up", 10) "," RUNG("up", 20) "," RUNG("down", 10), "");
    json_t *root = page_data(report), *groups = json_object_get(root, "groups");
    const char *task[3];
    assert_int_equal(report->group_count, 3);
    for (size_t g = 0; g < 3; g++) {
        const json_t *group = json_array_get(groups, g);
        task[g] = json_string_value(json_object_get(group, "task"));
        assert_true(json_number_value(json_object_get(group, "offered")) == (g == 1 ? 20 : 10));
    }
    assert_string_equal(task[0], task[1]);
    assert_string_not_equal(task[0], task[2]);
    json_decref(root);
    report_free(report);
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
    char *text = render(report, REPORT_TABLE, false);
    has(text, "runs A and B, whose machines differ: kernel \"6.1\" and \"6.2\".");
    free(text);
    report_free(report);
}

TEST_MAIN(NULL, NULL)
