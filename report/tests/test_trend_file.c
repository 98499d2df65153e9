/* test_trend_file: the lines that runs append to a history, and histories that are wrong. */
#define _GNU_SOURCE
#include "report/tests/trend_help.h"

static void run_file(const char *path, const char *start, const char *options, const char *stages) {
    char *text = NULL;
    assert_true(
        asprintf(
            &text,
            "{\"schema\":\"lockbench.run/1\",\"started_at\":\"%s\",\"environment\":{\"cpus\":2,"
            "\"cpu_model\":\"x\",\"hostname_hash\":\"h\",\"kernel\":\"k\"},\"plan\":{"
            "\"options\":{%s}},\"stages\":[%s]}",
            start, options, stages) > 0);
    store(path, text);
    free(text);
}

#define STAGE(lock, repeat, rate, more)                                                            \
    "{\"lock\":\"" lock                                                                            \
    "\",\"clients\":4,\"keys\":1,\"arrival\":\"closed\",\"status\":\"complete\","                  \
    "\"repeat\":" #repeat                                                                          \
    ",\"processes\":1,\"threads\":2,\"topology\":\"redis\",\"durability\":\"=1+1\","               \
    "\"throughput_per_s\":" #rate ",\"exclusion\":{\"verdict\":\"clean\",\"grants\":9}" more "}"

/* A time that trend_read would refuse is refused when it is appended, and no file is made. */
TEST(a_run_without_a_proper_time_is_refused) {
    static const char *const times[] = {"yesterday", "2026-01-01 00:00:00", "2026-01-01T00:00:00",
                                        "2026-1-1T00:00:00.000000000Z", "2026-01-01T00:00:00ZZ"};
    char *file = path_of("times.csv"), *run = path_of("run.json");
    unlink(file);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        struct lb_err err = {0};
        struct trend_added added = {0};
        run_file(run, times[i], "", STAGE("a", 0, 100, ""));
        assert_int_equal(trend_append(file, (const char *[]){run}, 1, NULL, &added, &err), -1);
        assert_int_equal(err.code, LB_EXIT_USAGE);
        has(err.text, times[i]);
        assert_int_equal(access(file, F_OK), -1);
    }
    free(file);
    free(run);
}

/* What the reader of the history would refuse is refused when it is appended. */
TEST(a_name_that_is_no_utf8_is_refused) {
    struct lb_err err = {0};
    struct trend_added added = {0};
    char *file = path_of("latin.csv"), *dir = path_of("caf\xe9"),
         *run = path_of("caf\xe9/run.json");
    char *good = path_of("run.json");
    unlink(file);
    assert_int_equal(mkdir(dir, 0777), 0);
    run_file(run, "2026-01-01T00:00:00Z", "", STAGE("a", 0, 100, ""));
    run_file(good, "2026-01-01T00:00:00Z", "", STAGE("a", 0, 100, ""));
    assert_int_equal(trend_append(file, (const char *[]){run}, 1, NULL, &added, &err), -1);
    assert_int_equal(err.code, LB_EXIT_USAGE);
    has(err.text, "its folder's name is no UTF-8");
    err = (struct lb_err){0};
    assert_int_equal(trend_append(file, (const char *[]){good}, 1, "v\xe9", &added, &err), -1);
    assert_int_equal(err.code, LB_EXIT_USAGE);
    has(err.text, "the commit 'v?' is no UTF-8");
    assert_int_equal(access(file, F_OK), -1);
    assert_int_equal(trend_append(file, (const char *[]){good}, 1, "v\xc3\xa9", &added, &err), 0);
    free(file);
    free(dir);
    free(run);
    free(good);
}

/* The medians of a run that was interrupted are of fewer stages. */
TEST(partial_runs_are_counted) {
    struct lb_err err = {0};
    struct trend_added added = {0};
    char *file = path_of("partial.csv"), *run = path_of("run.json"), *text;
    assert_true(asprintf(&text,
                         "{\"schema\":\"lockbench.run/1\",\"started_at\":\"2026-01-01T00:00:00Z\","
                         "\"partial\":true,\"stages\":[%s]}",
                         STAGE("a", 0, 100, "")) > 0);
    store(run, text);
    assert_int_equal(trend_append(file, (const char *[]){run}, 1, NULL, &added, &err), 0);
    assert_int_equal(added.partial, 1);
    unlink(file);
    assert_int_equal(run_lockbench("history", "$D/run.json --append --file $D/partial.csv"), 0);
    char *said = content_of("out");
    has(said, "1 line added; 1 of the runs is PARTIAL: only stages that came to their end");
    free(said);
    free(text);
    free(file);
    free(run);
}

TEST(two_runs_of_one_second_are_both_kept) {
    struct lb_err err = {0};
    struct trend_added added = {0};
    char *file = path_of("second.csv"), *one = path_of("one"), *two = path_of("two");
    assert_true(mkdir(one, 0777) == 0 && mkdir(two, 0777) == 0);
    char *first = path_of("one/run.json"), *second = path_of("two/run.json");
    run_file(first, "2026-01-01T00:00:00Z", "", STAGE("a", 0, 100, ""));
    run_file(second, "2026-01-01T00:00:00Z", "", STAGE("a", 0, 101, ""));
    assert_int_equal(trend_append(file, (const char *[]){one}, 1, NULL, &added, &err), 0);
    assert_int_equal(added.lines, 1);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(trend_append(file, (const char *[]){two, one}, 2, NULL, &added, &err), 0);
        assert_int_equal(added.lines, again ? 0 : 1);
        assert_int_equal(added.there, again ? 2 : 1);
    }
    free(file);
    free(one);
    free(two);
    free(first);
    free(second);
}

/* Two jobs of one host may begin in the same second, in folders of one name: the figures tell them apart. A run
 * that is named twice is one run. */
TEST(two_runs_of_one_second_and_name_are_both_kept) {
    static const struct {
        const char *runs[4];
        int lines, there; /* of a new history */
    } cases[] = {{{"j1/run", "j2/run"}, 2, 0},
                 {{"j2/run", "j1/run", "j2/run"}, 2, 1},
                 {{"j1/run", "j1/run"}, 1, 1},
                 {{"j1/run", "j3/run"}, 2, 0},
                 {{"j3/run", "j4/run"}, 2, 0}};
    static const char *const stages[] = {
        STAGE("a", 0, 100, ",\"cost\":{\"commands_per_grant\":2.123456789012}") "," STAGE("a", 1,
                                                                                          102, ""),
        STAGE("a", 0, 100, "") "," STAGE("a", 1, 103, ""),
        STAGE("a", 0, 100, ",\"limited_by\":\"generator\"") "," STAGE("a", 1, 101, ""),
        STAGE("a", 0, 100, ",\"limited_by\":\"generator\"")};
    for (int j = 0; j < 4; j++) {
        char name[20];
        snprintf(name, sizeof name, "j%d", j + 1);
        char *job = path_of(name);
        strcat(name, "/run");
        char *dir = path_of(name);
        strcat(name, "/run.json");
        char *run = path_of(name);
        assert_true(mkdir(job, 0777) == 0 && mkdir(dir, 0777) == 0);
        run_file(run, "2026-01-01T00:00:00Z", "", stages[j]);
        free(job);
        free(dir);
        free(run);
    }
    char *file = path_of("jobs.csv");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lb_err err = {0};
        struct trend_added added = {0}, sum = {0};
        char *runs[4];
        int count = 0;
        for (; count < 4 && cases[i].runs[count]; count++)
            runs[count] = path_of(cases[i].runs[count]);
        unlink(file);
        const char *const *all = (const char *const *)runs;
        assert_int_equal(trend_append(file, all, count, NULL, &added, &err), 0);
        if (added.lines != cases[i].lines || added.there != cases[i].there)
            fail_msg("case %zu: %d lines, %d there", i, added.lines, added.there);
        struct trend *trend = trend_read(file, &err);
        assert_string_equal(err.text, "");
        assert_int_equal(trend->count, cases[i].lines);
        for (int l = 0; l < trend->count; l++)
            assert_true(atoi(trend->lines[l].text[TREND_REPEATS]) <= 2);
        trend_free(trend);
        /* one after the other is the same, and none of them is added again */
        unlink(file);
        for (int again = 0; again < 2; again++) {
            for (int r = 0; r < count; r++) {
                assert_int_equal(trend_append(file, all + r, 1, NULL, &added, &err), 0);
                sum.lines += added.lines;
            }
            assert_int_equal(sum.lines, cases[i].lines);
        }
        for (int r = 0; r < count; r++) free(runs[r]);
    }
    free(file);
}

/* Each batch of repeats has a run 05, and an acknowledgement of one is of no other: the batch is a part of the name. A
 * line with the shorter name, of an older version, is of the same run. */
TEST(a_repeat_is_named_with_its_batch) {
    static const struct {
        const char *dirs[3], *run;
    } cases[] = {{{"monday", "monday/05"}, "monday/05"},
                 {{"tuesday", "tuesday/05"}, "tuesday/05"},
                 {{"pair", "pair/base", "pair/base/005"}, "pair/base/005"},
                 {{"v5"}, "v5"},
                 {{"base"}, "base"},
                 {{"2026-11-26"}, "2026-11-26"}};
    struct lb_err err = {0};
    struct trend_added added = {0};
    char *file = path_of("batches.csv");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *dir = NULL, *run = NULL;
        for (int d = 0; d < 3 && cases[i].dirs[d]; d++) {
            free(dir);
            dir = path_of(cases[i].dirs[d]);
            assert_int_equal(mkdir(dir, 0777), 0);
        }
        assert_true(asprintf(&run, "%s/run.json", dir) > 0);
        run_file(run, "2026-01-01T00:00:00Z", "", STAGE("a", 0, 100, ""));
        unlink(file);
        assert_int_equal(trend_append(file, (const char *const *)&dir, 1, NULL, &added, &err), 0);
        assert_int_equal(added.lines, 1);
        struct trend *trend = trend_read(file, &err);
        assert_string_equal(trend->lines[0].text[TREND_RUN], cases[i].run);
        trend_free(trend);
        const char *slash = strrchr(cases[i].run, '/');
        char *text = read_whole(file), *name = strstr(text, cases[i].run), *older;
        assert_true(asprintf(&older, "%.*s%s%s", (int)(name - text), text,
                             slash ? slash + 1 : cases[i].run, name + strlen(cases[i].run)) > 0);
        store(file, older);
        free(older);
        assert_int_equal(trend_append(file, (const char *const *)&dir, 1, NULL, &added, &err), 0);
        assert_int_equal(added.there, 1);
        free(text);
        free(dir);
        free(run);
    }
    free(file);
}

/* Three repeats are one line with their median; a control and an incomplete stage have none; a run
 * that is appended twice is in the file once. */
TEST(runs_are_appended_once) {
    struct lb_err err = {0};
    struct trend_added added = {0};
    char *file = path_of("a.csv"), *run = path_of("run.json"), *later = path_of("later.json");
    const char *const runs[] = {run, later};
    run_file(run, "2026-01-01T00:00:00Z", "",
             STAGE("a", 0, 100, "") "," STAGE("a", 1, 300, "") "," STAGE("a", 2, 120, "") "," STAGE(
                 "bad", 0, 5,
                 ",\"control\":true") ",{\"lock\":\"cut\",\"clients\":4,\"status\":\"partial\"}");
    run_file(later, "2026-01-02T00:00:00Z", "", STAGE("a", 0, 110, "") "," STAGE("b", 0, 7, ""));
    assert_int_equal(trend_append(file, runs, 1, "v1", &added, &err), 0);
    assert_int_equal(added.lines, 1);
    assert_int_equal(trend_append(file, runs, 2, "v2", &added, &err), 0);
    assert_int_equal(added.lines, 2);
    assert_int_equal(added.there, 1);
    char *before = read_whole(file);
    assert_int_equal(trend_append(file, runs, 2, NULL, &added, &err), 0);
    assert_int_equal(added.lines, 0);
    assert_int_equal(added.there, 3);
    char *after = read_whole(file);
    assert_string_equal(before, after);
    struct trend *trend = trend_read(file, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(trend->count, 3);
    assert_true(trend->lines[0].figure[0] == 120);
    assert_string_equal(trend->lines[0].text[TREND_COMMIT], "v1");
    assert_string_equal(trend->lines[0].text[TREND_REPEATS], "3");
    /* no formula for a spreadsheet */
    assert_string_equal(trend->lines[0].text[TREND_DURABILITY], "=1+1");
    has(after, "\"'=1+1\"");
    assert_true(isnan(trend->lines[0].figure[1]));
    trend_free(trend);
    free(before);
    free(after);
    free(file);
    free(run);
    free(later);
}

/* A history of a version that had fewer figures: the new figures get columns, and no line is
 * lost. */
TEST(new_figures_are_new_columns) {
    struct lb_err err = {0};
    char *text = slower_text(), *old = path_of("old.csv"), *run = path_of("later.json");
    struct trend_added added = {0};
    store(old, text);
    store(run,
          "{\"schema\":\"lockbench.run/1\",\"started_at\":\"2026-12-01T00:00:00Z\",\"stages\":[{"
          "\"lock\":\"redis-setnx\",\"clients\":2,\"status\":\"complete\",\"arrival\":"
          "\"poisson:5/s\",\"latency_ns\":{\"acquire\":{\"p50\":7}},\"response_ns\":{\"p50\":9,"
          "\"p99\":\"never\"},\"not_granted\":0.25}]}");
    assert_int_equal(trend_append(old, (const char *[]){run}, 1, NULL, &added, &err), 0);
    assert_int_equal(added.lines, 1);
    char *wide = read_whole(old);
    /* Each old line is there as it was, with empty cells behind it. */
    char *from = text, *at = wide;
    for (char *end; (end = strchr(from, '\n')); from = end + 1, at = strchr(at, '\n') + 1) {
        if (strncmp(at, from, (size_t)(end - from)) != 0) fail_msg("not kept: %.200s", from);
    }
    has(wide, ",commands,limited,acquire_due_p50,acquire_due_p99,not_granted");
    struct trend *trend = trend_read(old, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(trend->count, 46);
    const struct trend_line *line = &trend->lines[45];
    assert_true(line->figure[metric_of("acquire_due_p50")] == 9);
    assert_true(line->figure[metric_of("acquire_due_p99")] == INFINITY);
    assert_true(line->figure[metric_of("not_granted")] == 0.25);
    assert_true(isnan(line->figure[metric_of("acquire_p50")])); /* the other stands in its place */
    assert_true(isnan(trend->lines[0].figure[metric_of("acquire_due_p50")]));
    trend_free(trend);
    free(wide);
    assert_int_equal(trend_append(old, (const char *[]){run}, 1, NULL, &added, &err), 0);
    assert_int_equal(added.there, 1);
    free(text);
    free(old);
    free(run);
}

#define LIMITED_STAGE(lock, repeat, rate, limited)                                                 \
    "{\"lock\":\"" lock                                                                            \
    "\",\"clients\":2,\"status\":\"complete\",\"arrival\":\"closed\",\"repeat\":" repeat           \
    ",\"throughput_per_s\":" rate ",\"limited_by\":" limited "}"

/* Generator-limited stages are in no median, and their number is counted; a gate over no other
 * stages is inconclusive. */
TEST(generator_limited_stages_are_left_out) {
    struct lb_err err = {0};
    char *file = path_of("limited.csv"), *run = path_of("limited.json");
    struct trend_added added = {0};
    store(
        run,
        "{\"schema\":\"lockbench.run/1\",\"started_at\":\"2026-12-01T00:00:00Z\",\"stages\":[" LIMITED_STAGE(
            "a", "0", "100",
            "null") "," LIMITED_STAGE("a", "1", "20",
                                      "\"generator\"") "," LIMITED_STAGE("b", "0", "20",
                                                                         "\"generator\"") "]}");
    assert_int_equal(trend_append(file, (const char *[]){run}, 1, NULL, &added, &err), 0);
    assert_int_equal(added.lines, 2);
    assert_int_equal(added.limited, 2);
    struct trend *trend = trend_read(file, &err);
    assert_string_equal(err.text, "");
    assert_true(trend->lines[0].figure[0] == 100);
    assert_string_equal(trend->lines[0].text[TREND_REPEATS], "1");
    assert_string_equal(trend->lines[0].text[TREND_LIMITED], "1");
    assert_true(isnan(trend->lines[1].figure[0]));
    assert_string_equal(trend->lines[1].text[TREND_LIMITED], "1");
    struct trend_view *view = look(trend, -1, 5);
    assert_false(view->series[0].inconclusive);
    assert_true(view->series[1].inconclusive);
    assert_int_equal(trend_exit(view), LB_EXIT_INCONCLUSIVE);
    trend_view_free(view);
    view = look(trend, -1, 0);
    assert_int_equal(trend_exit(view), LB_EXIT_OK);
    trend_view_free(view);
    trend_free(trend);
    free(file);
    free(run);
}

/* .environment is the coordinator's; the clients are on the load hosts. */
TEST(other_machines_of_load_hosts_are_another_series) {
    static const char *const stages[] = {
        STAGE("a", 0, 100, "") "],\"hosts\":[{\"environment\":{\"cpus\":8}}",
        STAGE("a", 0, 100, "") "],\"hosts\":[{\"environment\":{\"cpus\":8,\"kernel\":\"k2\"}}",
        STAGE("a", 0, 100, "") "],\"hosts\":[{\"environment\":{\"cpus\":2}}"};
    struct lb_err err = {0};
    struct trend_added added = {0};
    char *file = path_of("hosts.csv"), *run = path_of("hosts.json"), start[32];
    for (int i = 0; i < 3; i++) {
        snprintf(start, sizeof start, "2026-01-0%dT00:00:00Z", i + 1);
        run_file(run, start, "", stages[i]);
        assert_int_equal(trend_append(file, (const char *[]){run}, 1, NULL, &added, &err), 0);
    }
    struct trend *trend = trend_read(file, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(trend->count, 3);
    const char *first = trend->lines[0].text[TREND_ENVIRONMENT];
    assert_string_equal(trend->lines[1].text[TREND_ENVIRONMENT], first);
    assert_string_not_equal(trend->lines[2].text[TREND_ENVIRONMENT], first);
    trend_free(trend);
    free(file);
    free(run);
}

/* Who gives up earlier waits less, and more segments have more holders; 4 of them are the default, which older versions
 * wrote for all locks. */
TEST(other_requests_are_another_series) {
#define TIMED(ns) "},\"acquire\":{\"timeout_ns\":" ns
#define MUTEX(bound) STAGE("a", 0, 100, ",\"primitive\":\"mutex\",\"bound\":" bound)
    static const char timed[] = STAGE("a", 0, 100, ",\"mode\":\"timed\"");
    static const struct {
        const char *options, *stages, *other_options, *other_stages;
        bool same;
    } cases[] = {{TIMED("5"), timed, TIMED("6"), timed, false},
                 {TIMED("5"), timed, TIMED("5"), timed, true},
                 {TIMED("5"), MUTEX("null"), TIMED("6"), MUTEX("null"), true},
                 {"", MUTEX("null"), "", MUTEX("4"), true},
                 {"", MUTEX("4"), "", MUTEX("8"), false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lb_err err = {0};
        struct trend_added added = {0};
        char *file = path_of("requests.csv"), *run = path_of("requests.json");
        unlink(file);
        run_file(run, "2026-01-01T00:00:00Z", cases[i].options, cases[i].stages);
        assert_int_equal(trend_append(file, (const char *[]){run}, 1, NULL, &added, &err), 0);
        run_file(run, "2026-01-02T00:00:00Z", cases[i].other_options, cases[i].other_stages);
        assert_int_equal(trend_append(file, (const char *[]){run}, 1, NULL, &added, &err), 0);
        struct trend *trend = trend_read(file, &err);
        assert_string_equal(err.text, "");
        assert_int_equal(trend->count, 2);
        bool same = strcmp(trend->lines[0].text[TREND_ENVIRONMENT],
                           trend->lines[1].text[TREND_ENVIRONMENT]) == 0;
        if (same != cases[i].same) fail_msg("case %zu: %s series", i, same ? "one" : "another");
        trend_free(trend);
        free(file);
        free(run);
    }
}

/* A lock that runs with other options is another series: if it polls less often, it has not become
 * slower. The program under test (exec.program) is what changes from run to run. */
TEST(other_options_are_another_series) {
    static const struct {
        const char *options;
        bool same; /* as the first */
    } cases[] = {
        {"\"a\":{\"poll_max_ns\":1,\"poll_min_ns\":1},\"r\":{\"t\":1}", true},
        {"\"a\":{\"poll_min_ns\":1,\"poll_max_ns\":1},\"b\":{\"x\":1},\"r\":{\"t\":1}", true},
        {"\"a\":{\"poll_max_ns\":2,\"poll_min_ns\":1},\"r\":{\"t\":1}", false},
        {"\"a\":{\"poll_max_ns\":1,\"poll_min_ns\":1},\"r\":{\"t\":2}", false},
        {"\"a\":{\"poll_max_ns\":1,\"poll_min_ns\":1,\"program\":\"v1/client\"},\"r\":{\"t\":1}",
         true},
        {"\"a\":{\"poll_max_ns\":1,\"poll_min_ns\":1,\"program\":\"v2/client\"},\"r\":{\"t\":1}",
         true}};
    enum { COUNT = sizeof cases / sizeof *cases };
    struct lb_err err = {0};
    char *file = path_of("options.csv"), *run = path_of("options.json");
    const char *const runs[] = {run};
    struct trend_added added = {0};
    for (int i = 0; i < COUNT; i++) {
        char start[32];
        snprintf(start, sizeof start, "2026-01-0%dT00:00:00Z", i + 1);
        run_file(run, start, cases[i].options, STAGE("a", 0, 100, ",\"backend\":\"r\""));
        assert_int_equal(trend_append(file, runs, 1, NULL, &added, &err), 0);
    }
    struct trend *trend = trend_read(file, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(trend->count, COUNT);
    for (int i = 0; i < COUNT; i++) {
        bool same = strcmp(trend->lines[i].text[TREND_ENVIRONMENT],
                           trend->lines[0].text[TREND_ENVIRONMENT]) == 0;
        if (same != cases[i].same)
            fail_msg("options %s: %s series", cases[i].options, same ? "one" : "another");
    }
    trend_free(trend);
    free(file);
    free(run);
}

/* Git's merge=union, or a copy that is put back, leaves lines twice: one run is not two samples. */
TEST(a_line_that_is_there_twice_is_one_run) {
    struct lines lines;
    struct lb_err err = {0};
    lines_begin(&lines, HEADER);
    for (int copy = 0; copy < 3; copy++) {
        for (int day = 0; day < 2; day++)
            put_line(lines.out, day, &(struct made){.rate = 1000 + day});
    }
    put_line(lines.out, 1, &(struct made){.rate = 1002}); /* another run of that second */
    assert_int_equal(fclose(lines.out), 0);
    struct trend *trend = trend_parse(lines.text, "x.csv", &err);
    if (!trend) fail_msg("%s", err.text);
    assert_int_equal(trend->count, 3);
    assert_int_equal(trend->copies, 4);
    assert_string_equal(trend->lines[0].text[TREND_COMMIT], "c000");
    assert_true(trend->lines[1].figure[0] == 1001 && trend->lines[2].figure[0] == 1002);
    trend_free(trend);
}

TEST(wrong_files_are_one_clear_line) {
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "names no column 'time'"},
        {"time,commit\n", "names no column 'run'"},
        {"{\"schema\":\"lockbench.run/1\"}\n", "is no history of lockbench"},
        {"time,time\n", "x.csv:1: names a column twice"},
        {HEADER "2026-01-01T00:00:00Z,a\n", "x.csv:2: has 2 fields, and the first line names 23"},
        {HEADER "2026-01-01T00:00:00Z,a", "x.csv:2: was cut off"},
        {HEADER HEADER, "x.csv:2: names the columns again: remove this line"},
        {HEADER "<<<<<<< HEAD\n", "x.csv:2: is a mark of a conflict"},
        {HEADER "=======\n", "x.csv:2: is a mark of a conflict"},
        {HEADER ">>>>>>> a branch, of mine\n", "x.csv:2: is a mark of a conflict"},
        {HEADER "\"2026\n", "x.csv:2: has a quoted field without its end"},
        {HEADER "\"a\"b,c\n", "x.csv:2: has a quoted field without its end"},
        {HEADER "2026-01-01T00:00:00Z,,,,,,,a,1,,,,,1,clean,fast,,,,,,,\n",
         "throughput 'fast' is neither a number"},
        {HEADER "2026-01-01T00:00:00Z,,,,,,,a,1,,,,,1,clean,nan,,,,,,,\n",
         "throughput 'nan' is neither a number"},
        {HEADER "2026-01-01T00:00:00Z,,,,,,,a,1,,,,,1,clean,-1,,,,,,,\n",
         "throughput '-1' is neither a number"},
        {HEADER "2026-01-01T00:00:00Z,,,,,,,a,1,,,,,1,clean,0x10,,,,,,,\n",
         "x.csv:2: throughput '0x10' is neither a number"},
        {HEADER "2026-01-01T00:00:00Z,,,,,,,a,1,,,,,1,clean, 1,,,,,,,\n",
         "throughput ' 1' is neither a number"},
        {HEADER "2026-01-01T00:00:00Z,,,,,,,a,1,,,,,-1,clean,1,,,,,,,\n",
         "x.csv:2: repeats '-1' is no whole number"},
        {HEADER "2026-01-01T00:00:00Z,,,,,,,a,1,,,,,,clean,1,,,,,,,\n",
         "repeats '' is no whole number"},
        {HEADER "2026-01-01T00:00:00Z,,,,,,,a,two,,,,,1,clean,1,,,,,,,\n",
         "clients 'two' is no whole number"},
        {HEADER "2026-01-01T00:00:00Z,,,,,,,a,1,,,,,99999999999,clean,1,,,,,,,\n",
         "repeats '99999999999' is no whole number"},
        {HEADER "2026-01-01T00:00:00Z,caf\xe9,,,,,,a,1,,,,,1,clean,1,,,,,,,\n",
         "x.csv:2: 'caf?' is no UTF-8"},
        {HEADER "yesterday,,,,,,,a,1,,,,,1,clean,1,,,,,,,\n", "time is not like"},
        {HEADER "2026-01-01T00:00:00Z,,,,,,,,1,,,,,1,clean,1,,,,,,,\n", "names no lock"},
        /* A word that is not known may be one for a lock that failed. */
        {HEADER "2026-01-01T00:00:00Z,,,,,,,a,1,,,,,1,Violatet,1,,,,,,,\n",
         "x.csv:2: no verdict 'Violatet', did you mean 'VIOLATED'?"},
        {HEADER "2026-01-01T00:00:00Z,,,,,,,a,1,,,,,1,violated,1,,,,,,,\n",
         "x.csv:2: no verdict 'violated', did you mean 'VIOLATED'?"},
        {HEADER "2026-01-01T00:00:00Z,,,,,,,a,1,,,,,1,,1,,,,,,,\n",
         "x.csv:2: no verdict '': it is one of baseline, unchecked, untested, hidden"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lb_err err = {0};
        struct trend *trend = trend_parse(strdup(cases[i].text), "x.csv", &err);
        if (trend) fail_msg("case %zu was read", i);
        assert_int_equal(err.code, LB_EXIT_USAGE);
        has(err.text, cases[i].says);
        assert_null(strchr(err.text, '\n'));
    }
    struct lb_err err = {0};
    struct trend *trend = trend_parse(strdup(HEADER), "x.csv", &err);
    assert_non_null(trend);
    assert_null(trend_look(trend, &(struct trend_ask){.last = 10}, &err));
    has(err.text, "x.csv: has no line yet");
    trend_free(trend);
    /* Columns in another order, some more, some missing, CRLF and an empty line: read. */
    err = (struct lb_err){0};
    trend = trend_parse(
        strdup(
            "new,lock,time,commit,run,environment,host,kernel,server,clients,load,topology,durability,"
            "executor,repeats,verdict,throughput\r\n1,a,2026-01-01T00:00:00Z,,,,,,,1,,,,,1,clean,5\r\n\r\n"),
        "x.csv", &err);
    assert_string_equal(err.text, "");
    assert_int_equal(trend->count, 1);
    assert_true(trend->lines[0].figure[0] == 5 && isnan(trend->lines[0].figure[1]));
    trend_free(trend);
}

/* A spreadsheet that saves the file puts the mark before its first line. */
TEST(a_byte_order_mark_is_skipped) {
    struct lb_err err = {0};
    struct trend *trend = trend_parse(
        strdup("\xef\xbb\xbf" HEADER "2026-01-01T00:00:00Z,,,,,,,a,1,,,,,1,clean,5,,,,,,,\n"),
        "x.csv", &err);
    assert_string_equal(err.text, "");
    assert_int_equal(trend->count, 1);
    assert_true(trend->lines[0].figure[0] == 5);
    trend_free(trend);
}

TEST_MAIN(make_folder, remove_folder)
