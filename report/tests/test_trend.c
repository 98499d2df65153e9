/* test_trend: histories: the lines that runs append, and the gate. The command is test_cli's, wrong files are
 * test_refused's. */
#define _GNU_SOURCE
#include "bench/tools/history/append.h"
#include "report/trend/trend.h"

#include <sys/stat.h>

#include "report/tests/compare_help.h"

#define HEADER                                                                                     \
    "time,run,lock,clients,load,topology,durability,executor,environment,kernel,server,commit,"    \
    "verdict,repeats,throughput,acquire_p50,acquire_p99,acquire_due_p50,acquire_due_p99,"          \
    "not_granted,handoff_p50,release_p99,client_cpu_net,server_cpu_net,commands\n"

/* The members that differ from a usual line; NULL = as usual. */
struct day {
    const char *environment, *verdict;
    double rate; /* 0: the load generator was the limit, and the line has no figures */
};

static void put_day(FILE *out, int day, const struct day *as) {
    fprintf(
        out,
        "2026-%02d-%02dT12:00:00Z,run-%03d,a,16,one key,redis,in memory,1 x 2,%s,6.1,redis 7.0.15,,",
        1 + day / 28, 1 + day % 28, day, as->environment ? as->environment : "e1");
    if (as->rate > 0)
        fprintf(out, "%s,3,%.6g,%.6g,never,,,,,,20000,,3\n", as->verdict ? as->verdict : "clean",
                as->rate, 1e9 / as->rate);
    else
        fputs("clean,0,,,,,,,,,,,\n", out);
}

/* Frees the text. */
static struct trend *parsed(char *text, int gate) {
    struct lb_err err = {0};
    char *file = path_of("read.csv");
    store(file, text);
    struct trend *trend =
        trend_read(file, &(struct trend_ask){.gate = gate, .min_effect = COMPARE_MIN_EFFECT}, &err);
    assert_string_equal(err.text, "");
    free(file);
    free(text);
    return trend;
}

/* The lines of a run are appended, and how many is as expected. */
static void append(const char *file, const char *const *runs, int count, const char *commit,
                   int lines) {
    struct lb_err err = {0};
    int added = history_append(file, runs, count, commit, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(added, lines);
}

/* ---- the gate ---- */

/* Runs in the order of time, in a history and on the two sides of a comparison: the same test, the same answer. */
TEST(the_gate_is_the_test_of_compare) {
    enum { RUNS = 12 };
    struct made made = {.repeats = 2, .noise = 0.03}, slower = made;
    slower.slower = 1.2;
    slower.faster = 0.95;
    char *paths[2 * RUNS], *file = path_of("same.csv"), root[60];
    for (int i = 0; i < 2 * RUNS; i++) {
        struct made *of = i < RUNS ? &made : &slower;
        snprintf(root, sizeof root, "\"started_at\":\"2026-01-%02dT00:00:00Z\",", i + 1);
        of->root = root;
        paths[i] = make_run(of, (uint64_t)i);
    }
    const char *const *runs = (const char *const *)paths;
    append(file, runs, 2 * RUNS, NULL, 2 * RUNS);
    struct trend *trend = parsed(content_of("same.csv"), RUNS);
    struct compare *compare = compare_paths(runs, runs + RUNS, RUNS);
    assert_int_equal(trend->gate->row_count, 1);
    assert_int_equal(compare_exit(trend->gate), compare_exit(compare));
    for (int m = 0; m < compare_metric_count(); m++) {
        const struct compare_figure *gate = &trend->gate->rows[0].figure[m],
                                    *whole = &compare->rows[0].figure[m];
        assert_int_equal(gate->verdict, whole->verdict);
        if (whole->verdict == COMPARE_UNKNOWN) continue;
        near(gate->p, whole->p, 1e-6);
        near(gate->shift, whole->shift, 1e-6);
    }
    assert_int_equal(trend->gate->rows[0].figure[0].verdict, COMPARE_WORSE);
    compare_free(compare);
    trend_free(trend);
    for (int i = 0; i < 2 * RUNS; i++) free(paths[i]);
    free(file);
}

/* What the newest runs decide. A history of `days` runs whose last ones differ; the gate is of ten. */
TEST(what_the_gate_decides) {
    static const struct {
        const char *what;
        int days, differ; /* the number of newest runs that differ, as follows */
        struct day as;
        int code;
    } cases[] = {
        {"nothing changed", 20, 0, {.rate = 0}, LB_EXIT_OK},
        {"slower by 12 %", 20, 10, {.rate = 880}, LB_EXIT_REGRESSION},
        {"faster by 12 %", 20, 10, {.rate = 1120}, LB_EXIT_OK},
        {"slower, but as long as the base reaches", 40, 20, {.rate = 880}, LB_EXIT_OK},
        {"two holders in the newest run",
         20,
         1,
         {.rate = 1000, .verdict = "VIOLATED"},
         LB_EXIT_VIOLATED},
        {"a stuck lock", 20, 1, {.rate = 1000, .verdict = "stuck"}, LB_EXIT_REGRESSION},
        {"too few runs", 7, 0, {.rate = 0}, LB_EXIT_INCONCLUSIVE},
        {"no run before them", 10, 0, {.rate = 0}, LB_EXIT_INCONCLUSIVE},
        {"the load generator was the limit", 20, 10, {.rate = 0}, LB_EXIT_INCONCLUSIVE},
        {"a new machine is compared with nothing",
         30,
         3,
         {.rate = 1000, .environment = "e2"},
         LB_EXIT_INCONCLUSIVE},
        {"the old machine is no news", 60, 40, {.rate = 700, .environment = "e2"}, LB_EXIT_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        fputs(HEADER, out);
        for (int day = 0; day < cases[i].days; day++) {
            bool differs = day >= cases[i].days - cases[i].differ;
            struct day as = differs ? cases[i].as : (struct day){.rate = 1000};
            as.rate *= 1 + day % 7 * 0.001;
            put_day(out, day, &as);
        }
        assert_int_equal(fclose(out), 0);
        struct trend *trend = parsed(text, 10);
        if (compare_exit(trend->gate) != cases[i].code)
            fail_msg("%s: the exit code is not %d", cases[i].what, cases[i].code);
        trend_free(trend);
    }
}

/* ---- the file ---- */

static void run_file(const char *path, const char *start, const char *options, const char *stages) {
    char *text = NULL;
    assert_true(asprintf(&text,
                         "{\"schema\":\"lockbench.run/2\",\"started_at\":\"%s\",\"environment\":{"
                         "\"cpus\":2,\"cpu_model\":\"x\",\"kernel\":\"k\"},\"plan\":{"
                         "\"options\":{%s}},\"stages\":[%s]}",
                         start, options, stages) > 0);
    store(path, text);
    free(text);
}

#define REPEAT(lock, rate, more)                                                                   \
    "{\"lock\":\"" lock                                                                            \
    "\",\"clients\":4,\"keys\":1,\"arrival\":\"closed\",\"status\":\"complete\",\"processes\":1,"  \
    "\"threads\":2,\"topology\":\"redis\",\"durability\":\"d\",\"throughput_per_s\":" #rate        \
    ",\"exclusion\":{\"verdict\":\"clean\",\"grants\":9}" more "}"

/* Repeats are one line with their median, without generator-limited ones; a control and an incomplete stage have none;
 * a run that is appended twice is in the file once. */
TEST(runs_are_appended_once) {
    char *file = path_of("a.csv"), *dir = path_of("20260101-some"),
         *batch = path_of("20260101-some/05");
    char *run = path_of("20260101-some/05/run.json"), *later = path_of("later.json");
    const char *const runs[] = {run, later, run};
    assert_true(mkdir(dir, 0777) == 0 && mkdir(batch, 0777) == 0);
    run_file(
        run, "2026-01-01T00:00:00Z", "",
        REPEAT("a", 100, "") "," REPEAT("a", 300, "") "," REPEAT("a", 120, "") "," REPEAT(
            "a", 20,
            ",\"limited_by\":\"generator\"") "," REPEAT("bad", 5,
                                                        ",\"control\":true") ","
                                                                             "{\"lock\":\"cut\",\"clients\":4,\"status\":\"partial\"}");
    run_file(later, "2026-01-02T00:00:00Z", "", REPEAT("a", 110, "") "," REPEAT("b", 7, ""));
    append(file, runs, 1, "v1", 1);
    append(file, runs, 3, "v2", 2);
    struct trend *trend = parsed(content_of("a.csv"), 4);
    assert_int_equal(trend->count, 3);
    const struct trend_line *line = &trend->lines[0];
    assert_true(line->number[TREND_FIGURES] == 120 && isnan(line->number[TREND_FIGURES + 1]));
    assert_true(line->number[TREND_REPEATS] == 3);
    assert_string_equal(line->text[TREND_COMMIT], "v1");
    assert_string_equal(line->text[TREND_RUN], "20260101-some/05");
    trend_free(trend);
    free(file);
    free(dir);
    free(batch);
    free(run);
    free(later);
}

/* If a lock polls less often, or on a slower machine, it has not become slower. The program under test (exec.program) is
 * what changes from run to run. */
TEST(what_makes_another_series) {
#define TIMED(ns) "},\"acquire\":{\"timeout_ns\":" ns
#define HOST(cpus)                                                                                 \
    REPEAT("a", 9, "") "],\"hosts\":[{\"environment\":{\"cpus\":" cpus ",\"kernel\":\"k\"}}"
    static const char one[] = REPEAT("a", 9, ",\"backend\":\"r\""),
                      timed[] = REPEAT("a", 9, ",\"mode\":\"timed\"");
    static const struct {
        const char *options, *stages, *other_options, *other_stages;
        bool same;
    } cases[] = {
        {"\"a\":{\"x\":1,\"y\":2}", one, "\"a\":{\"y\":2,\"x\":1},\"b\":{\"x\":1}", one, true},
        {"\"a\":{\"x\":1}", one, "\"a\":{\"x\":2}", one, false},
        {"\"r\":{\"x\":1}", one, "\"r\":{\"x\":2}", one, false},
        {"\"a\":{\"program\":\"v1\"}", one, "\"a\":{\"program\":\"v2\"}", one, true},
        {TIMED("5"), timed, TIMED("6"), timed, false},
        {TIMED("5"), one, TIMED("6"), one, true},
        {"", HOST("8"), "", HOST("8"), true},
        {"", HOST("8"), "", HOST("2"), false},
    };
    char *file = path_of("series.csv"), *run = path_of("run.json");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unlink(file);
        run_file(run, "2026-01-01T00:00:00Z", cases[i].options, cases[i].stages);
        append(file, (const char *[]){run}, 1, NULL, 1);
        run_file(run, "2026-01-02T00:00:00Z", cases[i].other_options, cases[i].other_stages);
        append(file, (const char *[]){run}, 1, NULL, 1);
        struct trend *trend = parsed(content_of("series.csv"), 4);
        if (trend->series_count != (cases[i].same ? 1 : 2))
            fail_msg("case %zu: %d series", i, trend->series_count);
        trend_free(trend);
    }
    free(file);
    free(run);
}

TEST_MAIN(make_folder, remove_folder)
