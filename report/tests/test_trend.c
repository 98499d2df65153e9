/* test_trend: histories whose answers are known: runs and lines made from a seed, and what must be
 * said of them; the outputs against stored ones (UPDATE_GOLDEN=1 writes them; read the diff); the
 * command with bad input. */
#define _GNU_SOURCE
#include <math.h>
#include <sys/stat.h>

#include "bench/base/rng.h"
#include "report/tests/report_help.h"
#include "report/trend/trend.h"

#define GOLDEN "report/tests/golden/trend/"
#define HEADER                                                                                               \
    "time,commit,run,environment,host,kernel,server,lock,clients,load,topology,durability,executor,repeats," \
    "verdict,throughput,acquire_p50,acquire_p99,handoff_p50,release_p99,client_cpu_net,server_cpu_net,commands\n"

static char *path_of(const char *name) {
    char *path = NULL;
    assert_true(asprintf(&path, "%s/%s", folder, name) > 0);
    return path;
}

static void store(const char *path, const char *text) {
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static void has(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("'%s' is not in: %s", part, text);
}

/* What differs of a line from the usual one. */
struct made {
    const char *lock, *environment, *kernel, *verdict, *load;
    double rate;
};

static void put_line(FILE *out, int day, const struct made *made) {
    double rate = made->rate;
    fprintf(out,
            "2026-%02d-%02dT12:00:00Z,c%03d,2026-run-%03d,%s,h1,%s,redis 7.0.15,%s,16,\"%s\",redis,"
            "\"in memory, not \"\"durable\"\"\",1 x 2,3,%s,%.6g,%.6g,%.6g,,%.6g,20000,,3\n",
            1 + day / 28, 1 + day % 28, day, day, made->environment ? made->environment : "e1",
            made->kernel ? made->kernel : "6.1", made->lock ? made->lock : "redis-setnx",
            made->load ? made->load : "one key, closed loop",
            made->verdict ? made->verdict : "clean", rate, 1e9 / rate, 3e9 / rate, 1e8 / rate);
}

static double around(struct lb_rng *rng, double noise) {
    double normal = sqrt(-2 * log(1 - rng_unit(rng))) * cos(2 * M_PI * rng_unit(rng));
    return exp(noise * normal);
}

/* 40 runs that scatter by 2 %; from the 30th on they are slower by 12 %, with another kernel. */
static char *slower_text(void) {
    char *text = NULL;
    size_t size;
    struct lb_rng rng;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    rng_seed(&rng, 4, 1);
    fputs(HEADER, out);
    for (int day = 0; day < 40; day++) {
        struct made made = {.rate = 20000 * around(&rng, 0.02)};
        if (day >= 30) {
            made.rate *= 0.88;
            made.kernel = "6.2";
        }
        put_line(out, day, &made);
        if (day == 3) put_line(out, day, &(struct made){.rate = 5000, .environment = "e2"});
        if (day % 10 == 5) put_line(out, day, &(struct made){.rate = 900, .lock = "zk-lock"});
    }
    assert_int_equal(fclose(out), 0);
    return text;
}

static struct trend_view *look(struct trend *trend, int metric, int gate) {
    struct lb_err err = {0};
    const struct trend_ask ask = {.metric = metric, .last = 10, .gate = gate, .min_effect = 0.03};
    struct trend_view *view = trend_look(trend, &ask, &err);
    assert_string_equal(err.text, "");
    return view;
}

enum form { FORM_TABLE, FORM_LINES, FORM_MD, FORM_JSON };

/* What the command prints. The caller frees. */
static char *text_of(const struct trend_view *view, enum form form) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct doc doc = {0};
    assert_non_null(out);
    if (form == FORM_JSON) {
        assert_int_equal(trend_write_json(view, out, NULL), 0);
    } else {
        trend_doc(view, form != FORM_TABLE, &doc);
        assert_int_equal(doc_write_and_free(&doc, form == FORM_MD ? DOC_MARKDOWN : DOC_TERMINAL,
                                            false, out, NULL),
                         0);
    }
    assert_int_equal(fclose(out), 0);
    return text;
}

static int metric_of(const char *name) {
    for (int m = 0; m < compare_metric_count(); m++) {
        if (strcmp(compare_metric(m)->compared, name) == 0) return m;
    }
    fail_msg("nothing compared is called %s", name);
    return -1;
}

static struct trend *slower(void) {
    struct lb_err err = {0};
    struct trend *trend = trend_parse(slower_text(), "history.csv", &err);
    assert_string_equal(err.text, "");
    assert_non_null(trend);
    return trend;
}

TEST(a_change_is_found_where_it_was) {
    struct trend *trend = slower();
    struct trend_view *view = look(trend, -1, 15);
    assert_int_equal(trend->count, 45);
    assert_int_equal(view->count, 3); /* redis-setnx on two kinds of machine, zk-lock */
    const struct trend_series *series = &view->series[0];
    const struct trend_figure *figure = &series->figure[0];
    char also[100];
    assert_string_equal(series->lines[0]->text[TREND_DURABILITY], "in memory, not \"durable\"");
    assert_int_equal(series->count, 40);
    assert_int_equal(figure->change_count, 1);
    assert_int_equal(figure->changes[0].index, 30);
    assert_true(figure->shift < -0.09 && figure->shift > -0.15 && figure->worse);
    assert_string_equal(trend_also(series, figure, &figure->changes[0], also, sizeof also),
                        "kernel");
    assert_true(series->figure[1].worse); /* acquire p50: greater is worse */
    assert_int_equal(series->figure[3].count, 0);
    assert_int_equal(view->series[1].count, 1);
    assert_int_equal(trend_exit(view), LB_EXIT_REGRESSION);
    trend_view_free(view);
    trend_free(trend);
}

/* Longer ago than the gate looks, or not asked for: no failure. */
TEST(a_gate_sees_new_changes_only) {
    struct trend *trend = slower();
    struct trend_view *view = look(trend, -1, 8);
    assert_int_equal(trend_exit(view), LB_EXIT_OK);
    assert_int_equal(view->worse, 0);
    trend_view_free(view);
    view = look(trend, 0, 0);
    assert_int_equal(trend_exit(view), LB_EXIT_OK);
    assert_int_equal(view->series[0].figure[1].count, 0); /* only what was asked for */
    trend_view_free(view);
    trend_free(trend);
}

static struct trend *steps(double middle, double end, const char *verdict) {
    char *text = NULL;
    size_t size;
    struct lb_rng rng;
    struct lb_err err = {0};
    FILE *out = open_memstream(&text, &size);
    rng_seed(&rng, 9, 1);
    fputs(HEADER, out);
    for (int day = 0; day < 36; day++) {
        double level = day < 12 ? 1000 : day < 24 ? middle : end;
        put_line(out, day,
                 &(struct made){.rate = level * around(&rng, 0.01),
                                .verdict = day == 35 ? verdict : NULL});
    }
    fclose(out);
    struct trend *trend = trend_parse(text, "steps.csv", &err);
    assert_non_null(trend);
    return trend;
}

/* A lock that got stuck or starved its clients in the newest run shuts the gate, whatever its
 * figures; one that let two in is told without a gate. */
TEST(a_lock_that_failed_in_the_newest_run_shuts_the_gate) {
    const struct {
        const char *verdict, *said;
        int gated, asked;
    } cases[] = {
        {"clean", NULL, 0, 0},
        {"expired", NULL, 0, 0},
        {"STARVED", "CLIENTS STARVED in the newest run", LB_EXIT_REGRESSION, 0},
        {"STUCK", "A LOCK STUCK in the newest run", LB_EXIT_REGRESSION, 0},
        {"TOKENS", "FENCING TOKENS WRONG in the newest run", LB_EXIT_VIOLATED, LB_EXIT_VIOLATED},
        {"VIOLATED", "EXCLUSION VIOLATED in the newest run", LB_EXIT_VIOLATED, LB_EXIT_VIOLATED}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trend *trend = steps(1000, 1000, cases[i].verdict);
        for (int gate = 0; gate <= 24; gate += 24) {
            struct trend_view *view = look(trend, -1, gate);
            int code = trend_exit(view), wanted = gate ? cases[i].gated : cases[i].asked;
            char *text = text_of(view, FORM_TABLE);
            if (code != wanted) fail_msg("%s, gate %d: exit code %d", cases[i].verdict, gate, code);
            if (cases[i].said) has(text, cases[i].said);
            free(text);
            trend_view_free(view);
        }
        trend_free(trend);
    }
}

/* What was undone is no regression; what got better neither; what was undone in part is one. */
TEST(what_counts_is_the_level_now) {
    static const struct {
        double middle, end;
        const char *verdict;
        int code;
    } cases[] = {{800, 1000, NULL, 0},  {1000, 1300, NULL, 0},       {700, 850, NULL, 4},
                 {1300, 1000, NULL, 0}, {1000, 1000, "VIOLATED", 3}, {700, 700, "VIOLATED", 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trend *trend = steps(cases[i].middle, cases[i].end, cases[i].verdict);
        struct trend_view *view = look(trend, 0, 30);
        if (trend_exit(view) != cases[i].code) fail_msg("case %zu: %d", i, trend_exit(view));
        trend_view_free(view);
        view = look(trend, 0, 0); /* no gate: that two were let in is told all the same */
        assert_int_equal(trend_exit(view), cases[i].verdict ? LB_EXIT_VIOLATED : LB_EXIT_OK);
        trend_view_free(view);
        trend_free(trend);
    }
}

/* Twenty runs that scatter by 1 %, then these: one that fell out, and two, shut no gate; three that
 * stay there are a level. */
TEST(outliers_shut_no_gate) {
    static const struct {
        double then[6]; /* parts of the level, up to 0 */
        int changes;    /* at the least, so that there was something to shut it */
        int code;
    } cases[] = {
        {{0.88}, 1, 0},
        {{0.88, 0.88}, 1, 0},
        {{0.88, 0.88, 0.88}, 1, 4},
        {{0.88, 1}, 0, 0},
        {{0.88, 1, 1}, 0, 0},
        {{0.88, 0.88, 1, 1}, 0, 0},
        {{0.88, 0.88, 0.88, 1}, 0, 4},
        {{1, 1, 1, 1, 0.88}, 1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = NULL;
        size_t size;
        struct lb_rng rng;
        struct lb_err err = {0};
        FILE *out = open_memstream(&text, &size);
        rng_seed(&rng, 5, 1);
        fputs(HEADER, out);
        for (int day = 0; day < 20 || (day < 26 && cases[i].then[day - 20] > 0); day++) {
            double level = day < 20 ? 100 : 100 * cases[i].then[day - 20];
            put_line(out, day, &(struct made){.rate = level * around(&rng, 0.01)});
        }
        fclose(out);
        struct trend *trend = trend_parse(text, "outliers.csv", &err);
        struct trend_view *view = look(trend, 0, 10);
        int changes = view->series[0].figure[0].change_count;
        if (trend_exit(view) != cases[i].code || changes < cases[i].changes)
            fail_msg("case %zu: exit code %d, %d changes", i, trend_exit(view), changes);
        trend_view_free(view);
        trend_free(trend);
    }
}

/* 100 histories of 40 runs that only scatter: eight figures each, and the gate shuts in at most
 * 5. */
TEST(scatter_shuts_no_gate) {
    int alarms = 0;
    for (uint64_t trial = 0; trial < 100; trial++) {
        char *text = NULL;
        size_t size;
        struct lb_rng rng;
        struct lb_err err = {0};
        FILE *out = open_memstream(&text, &size);
        rng_seed(&rng, trial, 21);
        fputs(HEADER, out);
        for (int day = 0; day < 40; day++)
            put_line(out, day, &(struct made){.rate = 1000 * around(&rng, 0.05)});
        fclose(out);
        struct trend *trend = trend_parse(text, "scatter.csv", &err);
        struct trend_view *view = look(trend, -1, 10);
        alarms += trend_exit(view) != 0;
        trend_view_free(view);
        trend_free(trend);
    }
    if (alarms > 5) fail_msg("%d of 100", alarms);
}

static struct trend_view *look_with(struct trend *trend, const struct trend_acks *acks) {
    struct lb_err err = {0};
    const struct trend_ask ask = {
        .metric = -1, .last = 10, .gate = 15, .min_effect = 0.03, .acks = acks};
    struct trend_view *view = trend_look(trend, &ask, &err);
    assert_string_equal(err.text, "");
    return view;
}

/* Four figures became worse at the run of commit c030. */
TEST(an_acknowledged_change_shuts_no_gate) {
    static const struct {
        const char *acks;
        int worse, known;
    } cases[] = {
        {"", 4, 0},
        {"# where lock figure why\n\nc030 redis-setnx * fsync is on now\n", 0, 4},
        {"2026-run-030\t* throughput  wanted\r\n", 3, 1},
        {"c031 * * a run later, since places move\n", 0, 4},
        {"c010 * * another change\n", 4, 0},
        {"c030 zk-lock * another lock\n", 4, 0},
        {"c030 * throughput a\nc030 * acquire_p50 b", 2, 2},
    };
    struct trend *trend = slower();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lb_err err = {0};
        struct trend_acks *acks = trend_acks_parse(strdup(cases[i].acks), "x.acks", &err);
        assert_string_equal(err.text, "");
        struct trend_view *view = look_with(trend, acks);
        if (view->worse != cases[i].worse || view->acknowledged != cases[i].known)
            fail_msg("case %zu: %d worse, %d acknowledged", i, view->worse, view->acknowledged);
        assert_int_equal(trend_exit(view), cases[i].worse ? LB_EXIT_REGRESSION : LB_EXIT_OK);
        if (i == 1) {
            struct doc doc = {0};
            char *text = NULL;
            size_t size;
            FILE *out = open_memstream(&text, &size);
            trend_doc(view, false, &doc);
            assert_int_equal(doc_write_and_free(&doc, DOC_TERMINAL, false, out, NULL), 0);
            fclose(out);
            has(text,
                "0 figures WORSE by 3 % or more within the last 15 runs, 4 more\n  acknowledged");
            has(text, "acknowledged: fsync is on now");
            free(text);
        }
        trend_view_free(view);
        trend_acks_free(acks);
    }
    trend_free(trend);
}

TEST(wrong_acknowledgements_are_one_clear_line) {
    static const char *const cases[][2] = {
        {"c1 redis-setnx throughput\n", "x.acks:1: expected COMMIT-OR-RUN LOCK FIGURE and why"},
        {"# a\nc1 * speed because\n", "x.acks:2: no figure is called 'speed'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lb_err err = {0};
        assert_null(trend_acks_parse(strdup(cases[i][0]), "x.acks", &err));
        assert_int_equal(err.code, LB_EXIT_USAGE);
        has(err.text, cases[i][1]);
    }
}

/* 240 series that only scatter: the gate is about all of them together. */
static struct trend *many_series(uint64_t seed, int days) {
    char *text = NULL, lock[20];
    size_t size;
    struct lb_rng rng;
    struct lb_err err = {0};
    FILE *out = open_memstream(&text, &size);
    rng_seed(&rng, seed, 22);
    fputs(HEADER, out);
    for (int i = 0; i < 240; i++) {
        snprintf(lock, sizeof lock, "lock-%03d", i);
        for (int day = 0; day < days; day++)
            put_line(out, day, &(struct made){.rate = 1000 * around(&rng, 0.05), .lock = lock});
    }
    fclose(out);
    struct trend *trend = trend_parse(text, "many.csv", &err);
    assert_string_equal(err.text, "");
    return trend;
}

TEST(a_gate_over_many_series_is_one_test) {
    int alarms = 0;
    for (uint64_t trial = 0; trial < 10; trial++) {
        struct trend *trend = many_series(trial, 25);
        struct trend_view *view = look(trend, 0, 10);
        assert_int_equal(view->count, 240);
        alarms += trend_exit(view) != 0;
        trend_view_free(view);
        trend_free(trend);
    }
    if (alarms > 1) fail_msg("%d of 10", alarms); /* a half on the average, at the most */
}

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

/* What could not be read again is refused, and the file stays as it was. */
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

/* Three repeats are one line with their median; a control, and what was cut off, have none; twice
 * is once. */
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

/* A history of a version that had fewer figures: they get columns, and no line is lost. */
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

/* Generator-limited stages are in no median, and counted; a gate without others is inconclusive. */
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

/* From 10 ms to never: a change for the worse, found and told. */
TEST(never_is_worse_than_any_number) {
    struct lb_err err = {0};
    char *text = NULL;
    size_t size;
    struct lb_rng rng;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    rng_seed(&rng, 4, 1);
    fputs("time,commit,run,environment,host,kernel,server,lock,clients,load,topology,durability,"
          "executor,repeats,verdict,acquire_p99,acquire_due_p99\n",
          out);
    for (int day = 0; day < 28; day++) {
        fprintf(out, "2026-01-%02dT12:00:00Z,,r%d,e,h,k,s,a,4,load,t,d,1 x 1,1,clean,1000,",
                day + 1, day);
        if (day < 20) fprintf(out, "%.6g\n", 1e7 * around(&rng, 0.05));
        if (day >= 20) fputs("never\n", out);
    }
    assert_int_equal(fclose(out), 0);
    struct trend *trend = trend_parse(text, "x.csv", &err);
    assert_string_equal(err.text, "");
    struct trend_view *view = look(trend, -1, 10);
    const struct trend_figure *figure = &view->series[0].figure[metric_of("acquire_due_p99")];
    assert_int_equal(figure->change_count, 1);
    assert_int_equal(figure->changes[0].index, 20);
    assert_true(figure->changes[0].after == INFINITY && figure->latest == INFINITY);
    assert_true(figure->worse);
    assert_int_equal(view->series[0].figure[metric_of("acquire_p99")].count, 0);
    assert_int_equal(trend_exit(view), LB_EXIT_REGRESSION);
    text = NULL;
    out = open_memstream(&text, &size);
    assert_int_equal(trend_write_json(view, out, NULL), 0);
    fclose(out);
    has(text, "\"after\": \"never\"");
    free(text);
    struct doc doc = {0};
    text = NULL;
    trend_doc(view, true, &doc);
    out = open_memstream(&text, &size);
    assert_int_equal(doc_write_and_free(&doc, DOC_TERMINAL, false, out, NULL), 0);
    fclose(out);
    has(text, "-> never");
    free(text);
    trend_view_free(view);
    trend_free(trend);
}

/* A lock that polls ten times as rarely did not become slower: it is another series. */
TEST(other_options_are_another_series) {
    static const struct {
        const char *options;
        bool same; /* as the first */
    } cases[] = {
        {"\"a\":{\"poll_max_ns\":1,\"poll_min_ns\":1},\"r\":{\"t\":1}", true},
        {"\"a\":{\"poll_min_ns\":1,\"poll_max_ns\":1},\"b\":{\"x\":1},\"r\":{\"t\":1}", true},
        {"\"a\":{\"poll_max_ns\":2,\"poll_min_ns\":1},\"r\":{\"t\":1}", false},
        {"\"a\":{\"poll_max_ns\":1,\"poll_min_ns\":1},\"r\":{\"t\":2}", false}};
    struct lb_err err = {0};
    char *file = path_of("options.csv"), *run = path_of("options.json");
    const char *const runs[] = {run};
    struct trend_added added = {0};
    for (int i = 0; i < 4; i++) {
        char start[32];
        snprintf(start, sizeof start, "2026-01-0%dT00:00:00Z", i + 1);
        run_file(run, start, cases[i].options, STAGE("a", 0, 100, ",\"backend\":\"r\""));
        assert_int_equal(trend_append(file, runs, 1, NULL, &added, &err), 0);
    }
    struct trend *trend = trend_read(file, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(trend->count, 4);
    for (int i = 0; i < 4; i++) {
        bool same = strcmp(trend->lines[i].text[TREND_ENVIRONMENT],
                           trend->lines[0].text[TREND_ENVIRONMENT]) == 0;
        if (same != cases[i].same)
            fail_msg("options %s: %s series", cases[i].options, same ? "one" : "another");
    }
    trend_free(trend);
    free(file);
    free(run);
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
        {HEADER "\"2026\n", "x.csv:2: has a quoted field without its end"},
        {HEADER "\"a\"b,c\n", "x.csv:2: has a quoted field without its end"},
        {HEADER "2026-01-01T00:00:00Z,,,,,,,a,1,,,,,1,clean,fast,,,,,,,\n",
         "throughput 'fast' is neither a number"},
        {HEADER "2026-01-01T00:00:00Z,,,,,,,a,1,,,,,1,clean,nan,,,,,,,\n",
         "throughput 'nan' is neither a number"},
        {HEADER "2026-01-01T00:00:00Z,,,,,,,a,1,,,,,1,clean,-1,,,,,,,\n",
         "throughput '-1' is neither a number"},
        {HEADER "yesterday,,,,,,,a,1,,,,,1,clean,1,,,,,,,\n", "time is not like"},
        {HEADER "2026-01-01T00:00:00Z,,,,,,,,1,,,,,1,clean,1,,,,,,,\n", "names no lock"},
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
    assert_null(trend_look(trend, &(struct trend_ask){.metric = -1, .last = 10}, &err));
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

static void same_as_stored(const char *name, const char *text) {
    char path[256];
    snprintf(path, sizeof path, GOLDEN "%s", name);
    if (getenv("UPDATE_GOLDEN")) store(path, text);
    char *expected = read_whole(path);
    if (!expected) fail_msg("%s is missing; UPDATE_GOLDEN=1 writes it", path);
    assert_string_equal(text, expected);
    free(expected);
}

TEST(outputs_are_as_stored) {
    struct trend *trend = slower();
    struct trend_view *view = look(trend, -1, 15);
    static const char *const names[] = {"slower.table", "slower.lines", "slower.md", "slower.json"};
    for (enum form i = 0; i <= FORM_JSON; i++) {
        char *text = text_of(view, i);
        same_as_stored(names[i], text);
        free(text);
    }
    trend_view_free(view);
    trend_free(trend);
}

/* Otava's CSV wants a number in each cell, and one series a file. */
TEST(otava_gets_a_file_a_series) {
    struct lb_err err = {0};
    struct trend *trend = slower();
    struct trend_view *view = look(trend, -1, 0);
    char *otava = path_of("otava"), *yaml = path_of("otava/otava.yaml"),
         *series = path_of("otava/redis-setnx.c16.1.csv");
    assert_int_equal(trend_write_otava(view, otava, &err), 0);
    char *text = read_whole(yaml);
    has(text, "  redis-setnx.c16.1:\n    type: csv\n");
    has(text, "      throughput: {column: throughput, direction: 1}\n");
    has(text, "      acquire_p99: {column: acquire_p99, direction: -1}\n");
    assert_null(strstr(text, "handoff_p50"));
    free(text);
    text = read_whole(series);
    has(text,
        "time,commit,run,throughput,acquire_p50,acquire_p99,release_p99,client_cpu_net,commands\n"
        "2026-01-01T12:00:00Z,c000,2026-run-000,");
    assert_null(strstr(text, ",,"));
    free(text);
    trend_view_free(view);
    trend_free(trend);
    free(otava);
    free(yaml);
    free(series);
}

/* Names and loads from elsewhere stay what they are: a comment of one line, a path. */
TEST(otavas_yaml_is_not_written_by_a_name) {
    struct lb_err err = {0};
    char *csv = NULL, *folder_of = path_of("a: b #c"), *yaml = path_of("a: b #c/otava.yaml"),
         *file = NULL;
    size_t size;
    FILE *out = open_memstream(&csv, &size);
    fputs(HEADER, out);
    put_line(out, 0, &(struct made){.rate = 5, .load = "one\nevil: \"\"yes\"\""});
    fclose(out);
    struct trend *trend = trend_parse(csv, "x.csv", &err);
    assert_string_equal(err.text, "");
    struct trend_view *view = look(trend, -1, 0);
    assert_int_equal(trend_write_otava(view, folder_of, &err), 0);
    char *text = read_whole(yaml);
    has(text, "  # \"16 clients, one\\nevil: \\\"yes\\\"\"\n");
    assert_true(asprintf(&file, "    file: \"%s/redis-setnx.c16.1.csv\"\n", folder_of) > 0);
    has(text, file);
    free(text);
    free(file);
    free(yaml);
    yaml = path_of("\xff");
    assert_int_equal(trend_write_otava(view, yaml, &err), -1);
    has(err.text, "is no UTF-8");
    trend_view_free(view);
    trend_free(trend);
    free(folder_of);
    free(yaml);
}

/* `lockbench history <words>`: its exit code; what it wrote into the folder's out and err. */
static int history_command(const char *words) {
    const char *program = getenv("LOCKBENCH_PROGRAM");
    char command[1024];
    if (!program) {
        printf("SKIP: LOCKBENCH_PROGRAM is not set; `make test` sets it\n");
        skip();
    }
    snprintf(command, sizeof command, "D=%s; G=report/tests/golden; %s history %s >$D/out 2>$D/err",
             folder, program, words);
    const char *const argv[] = {"sh", "-c", command, NULL};
    return run_command(argv, NULL);
}

TEST(the_command) {
    static const struct {
        const char *words;
        int code;
        const char *says;
    } cases[] = {
        {"$D/none.csv", LB_EXIT_USAGE, "cannot be read as a history"},
        {"report", LB_EXIT_USAGE, "is not a regular file"},
        {"$G/mixed/run.json", LB_EXIT_USAGE, "is no history of lockbench"},
        {"$D/slower.csv --lock nope", LB_EXIT_USAGE, "has no line of lock 'nope'"},
        {"$D/slower.csv --metric acquire_p9", LB_EXIT_USAGE, "acquire_p99"},
        {"$D/slower.csv --gate 0", LB_EXIT_USAGE, "history: --gate"},
        {"$D/slower.csv --gate 2", LB_EXIT_USAGE, "history: --gate"},
        {"$D/slower.csv --last ten", LB_EXIT_USAGE, "history: --last"},
        {"$D/slower.csv --min-effect x", LB_EXIT_USAGE, "history: --min-effect"},
        {"$D/slower.csv $D/other.csv", LB_EXIT_USAGE, "shows one file"},
        {"$D/slower.csv --commit a", LB_EXIT_USAGE, "add --append"},
        {"--append", LB_EXIT_USAGE, "history RUN... --append"},
        {"--append --file $D/x.csv /nonexistent", LB_EXIT_USAGE, "/nonexistent"},
        {"--append --file $D/x.csv $D/slower.csv", LB_EXIT_USAGE, "is not sound JSON"},
        {"--append --file $D/run.json $G/mixed", LB_EXIT_USAGE, "run.json:1: has a quoted field"},
        {"--append --file /nonexistent/x $G/mixed", LB_EXIT_MACHINE, "/nonexistent/x"},
        {"--append --file /dev/full $G/mixed", LB_EXIT_USAGE, "/dev/full"},
    };
    char *file = path_of("slower.csv"), *text = slower_text(), *out = path_of("out"),
         *err = path_of("err"), *run = path_of("run.json");
    store(file, text);
    free(text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int code = history_command(cases[i].words);
        char *said = read_whole(err), *wrote = read_whole(out);
        if (code != cases[i].code || !strstr(said, cases[i].says))
            fail_msg("history %s: exit code %d, \"%s\"", cases[i].words, code, said);
        assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
        assert_string_equal(wrote, "");
        free(said);
        free(wrote);
    }
    assert_int_equal(history_command("$D/slower.csv"), 0);
    assert_int_equal(history_command("$D/slower.csv --gate 15 --json"), LB_EXIT_REGRESSION);
    assert_int_equal(history_command("$D/slower.csv --gate 15 --lock zk-lock --md"), 0);
    assert_int_equal(history_command("$D/slower.csv --gate 15 --metric commands"), 0);
    assert_int_equal(
        history_command("--append $G/mixed $G/clean --file $D/golden.csv --commit abc"), 0);
    text = read_whole(out);
    has(text, "golden.csv: ");
    has(text, "added");
    free(text);
    free(file);
    free(out);
    free(err);
    free(run);
}

TEST_MAIN(make_folder, remove_folder)
