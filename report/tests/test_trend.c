/* test_trend: histories: the lines that runs append, wrong files, the gate, the outputs against stored ones
 * (UPDATE_GOLDEN=1 writes them; read the diff), and `lockbench history` as people call it. */
#define _GNU_SOURCE
#include "bench/tools/history/append.h"
#include "report/trend/trend.h"

#include <sys/stat.h>

#include "report/tests/compare_help.h"

#define GOLDEN "report/tests/golden/trend/"

#define HEADER                                                                                     \
    "time,run,lock,clients,load,topology,durability,executor,environment,kernel,server,commit,"    \
    "verdict,repeats,throughput,acquire_p50,acquire_p99,acquire_due_p50,acquire_due_p99,"          \
    "not_granted,handoff_p50,release_p99,client_cpu_net,server_cpu_net,commands\n"
/* A line of day 1 up to its verdict. */
#define FIRST "2026-01-01T00:00:00Z,r,a,1,l,t,d,1 x 1,e,k,s,,"

/* The members that differ from a usual line; NULL = as usual. */
struct day {
    const char *lock, *environment, *verdict;
    double rate; /* 0: the load generator was the limit, and the line has no figures */
};

static void put_day(FILE *out, int day, const struct day *as) {
    fprintf(
        out,
        "2026-%02d-%02dT12:00:00Z,run-%03d,%s,16,\"one key, closed loop\",redis,\"in memory, not "
        "\"\"durable\"\"\",1 x 2,%s,6.1,redis 7.0.15,c%03d,",
        1 + day / 28, 1 + day % 28, day, as->lock ? as->lock : "redis-setnx",
        as->environment ? as->environment : "e1", day);
    if (as->rate > 0)
        fprintf(out, "%s,3,%.6g,%.6g,never,,,,,,20000,,3\n", as->verdict ? as->verdict : "clean",
                as->rate, 1e9 / as->rate);
    else
        fputs("clean,0,,,,,,,,,,,\n", out);
}

/* 24 runs that scatter by 2 %; the newest ten are slower by 12 %. */
static char *slower_text(void) {
    char *text = NULL;
    size_t size;
    struct lb_rng rng;
    FILE *out = open_memstream(&text, &size);
    rng_seed(&rng, 4, 1);
    fputs(HEADER, out);
    for (int day = 0; day < 24; day++) {
        struct day as = {.rate = 20000 * around(&rng, 0.02) * (day < 14 ? 1 : 0.88)};
        put_day(out, day, &as);
        if (day == 3) put_day(out, day, &(struct day){.rate = 5000, .environment = "e0"});
    }
    assert_int_equal(fclose(out), 0);
    return text;
}

/* NULL with err. */
static struct trend *try_read(const char *text, int gate, struct lb_err *err) {
    char *file = path_of("read.csv");
    store(file, text);
    struct trend *trend =
        trend_read(file, &(struct trend_ask){.gate = gate, .min_effect = COMPARE_MIN_EFFECT}, err);
    free(file);
    return trend;
}

/* Frees the text. */
static struct trend *parsed(char *text, int gate) {
    struct lb_err err = {0};
    struct trend *trend = try_read(text, gate, &err);
    assert_string_equal(err.text, "");
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
    struct made made = {.lock = "a", .repeats = 2, .noise = 0.03}, slower = made;
    slower.slower = 1.2;
    slower.faster = 0.95;
    char *paths[2 * RUNS], *file = path_of("same.csv"), root[60];
    struct lb_err err = {0};
    for (int i = 0; i < 2 * RUNS; i++) {
        struct made *of = i < RUNS ? &made : &slower;
        snprintf(root, sizeof root, "\"started_at\":\"2026-01-%02dT00:00:00Z\",", i + 1);
        of->root = root;
        paths[i] = make_run(of, (uint64_t)i);
    }
    const char *const *runs = (const char *const *)paths;
    append(file, runs, 2 * RUNS, NULL, 2 * RUNS);
    struct trend *trend = parsed(content_of("same.csv"), RUNS);
    struct compare *compare = compare_make(&(struct compare_ask){.base = runs,
                                                                 .new = runs + RUNS,
                                                                 .base_count = RUNS,
                                                                 .new_count = RUNS,
                                                                 .min_effect = COMPARE_MIN_EFFECT},
                                           &err);
    assert_string_equal(err.text, "");
    assert_int_equal(trend->gate->row_count, 1);
    assert_int_equal(trend_exit(trend), compare_exit(compare));
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
        if (trend_exit(trend) != cases[i].code)
            fail_msg("%s: exit code %d, not %d", cases[i].what, trend_exit(trend), cases[i].code);
        trend_free(trend);
    }
}

/* ---- outputs ---- */

TEST(outputs_are_as_stored) {
    struct lb_err err = {0};
    struct trend *trends[] = {parsed(slower_text(), 10), parsed(slower_text(), 0)};
    static const enum doc_format formats[] = {DOC_TERMINAL, DOC_MARKDOWN};
    static const char *const names[] = {GOLDEN "gate.table", GOLDEN "gate.md", GOLDEN "plain.table",
                                        GOLDEN "plain.md"};
    assert_string_equal(trends[0]->lines[0].text[TREND_DURABILITY], "in memory, not \"durable\"");
    for (int i = 0; i < 4; i++) {
        struct doc doc = {0};
        trend_doc(trends[i / 2], i % 2 == 0, &doc);
        char *text = written(&doc, formats[i % 2]);
        same_as_stored(names[i], text);
        free(text);
    }
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(trend_json(trends[0], out, &err), 0);
    assert_int_equal(fclose(out), 0);
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    const json_t *comparison = json_object_get(json, "comparison");
    assert_string_equal(json_string_value(json_object_get(comparison, "schema")),
                        "lockbench.compare/2");
    const json_t *line = json_array_get(json_object_get(json, "lines"), 24);
    assert_string_equal(json_string_value(json_object_get(line, "commit")), "c023");
    assert_true(json_number_value(json_object_get(line, "commands")) == 3);
    assert_string_equal(json_string_value(json_object_get(line, "acquire_p99")), "never");
    json_decref(json);
    free(text);
    for (int i = 0; i < 2; i++) trend_free(trends[i]);
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
    struct trend *trend = parsed(content_of("a.csv"), 0);
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
        struct trend *trend = parsed(content_of("series.csv"), 0);
        if (trend->series_count != (cases[i].same ? 1 : 2))
            fail_msg("case %zu: %d series", i, trend->series_count);
        trend_free(trend);
    }
    free(file);
    free(run);
}

TEST(wrong_files_are_one_clear_line) {
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "read.csv: is no history of this version of lockbench"},
        {"time,commit,run\n", "append to another file (--file)"},
        {HEADER "2026-01-01T00:00:00Z,a\n", "read.csv:2: is wrong at 'a' in the column 'run'"},
        {HEADER FIRST "clean,1,7", "read.csv:2: is wrong at '7' in the column 'throughput'"},
        {HEADER "\"2026\n", "in the column 'time'"},
        {HEADER FIRST "clean,1,,,,,,,,,,,\n<<<<<<< HEAD\n",
         "read.csv:3: is wrong at '<<<<<<< HEAD'"},
        {HEADER FIRST "clean,1,fast,,,,,,,,,,\n", "at 'fast' in the column 'throughput'"},
        {HEADER FIRST "clean,1,-1,,,,,,,,,,\n", "at '-1' in the column 'throughput'"},
        {HEADER FIRST "clean,1,,,,,,,,,,,,\n", "in the column 'commands'"},
        {HEADER FIRST "caf\xe9,1,,,,,,,,,,,\n", "or no text"},
        /* A word that is not known may be one for a lock that failed. */
        {HEADER FIRST "broken,1,1,,,,,,,,,,\n", "at 'broken' in the column 'verdict'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lb_err err = {0};
        if (try_read(cases[i].text, 0, &err)) fail_msg("case %zu was read", i);
        assert_int_equal(err.code, LB_EXIT_USAGE);
        has(err.text, cases[i].says);
        assert_null(strchr(err.text, '\n'));
    }
}

/* ---- the command ---- */

TEST(mistakes_are_one_line) {
    static const struct mistake mistakes[] = {
        {"--file $D/none.csv", LB_EXIT_USAGE, "cannot be read as a history"},
        {"--file $G/mixed/run.json", LB_EXIT_USAGE, "is no history of"},
        {"--file $D/slower.csv --metric acquire_p9", LB_EXIT_USAGE, "acquire_p99"},
        {"--file $D/slower.csv --gate 3", LB_EXIT_USAGE, "history: --gate"},
        {"--file $D/slower.csv --out $D/slower.csv", LB_EXIT_USAGE, "would replace"},
        {"--file $D/empty.csv", LB_EXIT_USAGE, "has no line yet"},
        {"--file $D/slower.csv --commit a", LB_EXIT_USAGE, "add --append"},
        {"--file $D/slower.csv --otava $D/otava", LB_EXIT_USAGE, "removed in 0.2.0"},
        {"$D/slower.csv", LB_EXIT_USAGE, "--file FILE"},
        {"$G/mixed --append --gate 10", LB_EXIT_USAGE, "then history --gate N"},
        {"--append", LB_EXIT_USAGE, "history RUN... --append"},
        {"--append --file $D/x.csv /nonexistent", LB_EXIT_USAGE, "/nonexistent"},
        {"--append --file $G/mixed/run.json $G/mixed", LB_EXIT_USAGE, "is no history of"},
        {"--append --file /nonexistent/x $G/mixed", LB_EXIT_MACHINE, "/nonexistent/x"},
        {"--append --file /dev/full $G/mixed", LB_EXIT_MACHINE, "/dev/full"},
    };
    char *file = path_of("slower.csv"), *text = slower_text(), *empty = path_of("empty.csv");
    store(file, text);
    store(empty, HEADER);
    assert_one_line("history", mistakes, sizeof mistakes / sizeof *mistakes);
    free(file);
    free(empty);
    free(text);
}

/* The exit code is the gate's, and --out adds a page. */
TEST(the_command) {
    static const struct {
        const char *words;
        int code;
        const char *says;
    } cases[] = {
        {"--file $D/run.csv --gate 10 --md", LB_EXIT_REGRESSION, "worse. 2 figures worse"},
        {"--file $D/run.csv --gate 10 --min-effect 30", LB_EXIT_OK, "no regression shown"},
        {"--file $D/run.csv --gate 10 --json --metric commands", LB_EXIT_OK, "\"exit_code\": 0"},
        {"--file $D/run.csv --out $D/other.html", LB_EXIT_OK, "medians of runs"},
        {"--append $G/mixed $G/clean --file $D/golden.csv --commit abc", LB_EXIT_OK,
         "18 lines added"},
    };
    char *file = path_of("run.csv"), *text = slower_text();
    store(file, text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(run_lockbench("history", cases[i].words), cases[i].code);
        char *out = content_of("out");
        has(out, cases[i].says);
        free(out);
    }
    char *page = content_of("other.html");
    has(page, "\xe2\x96\x88"); /* a line of blocks */
    has(page, "</html>");
    lacks(page, "<script"); /* it needs none */
    free(page);
    free(file);
    free(text);
}

TEST_MAIN(make_folder, remove_folder)
