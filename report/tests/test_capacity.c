/* test_capacity: which locks carry a load, from hand-made capacities, and the command that says it; what the document of
 * a search says of answers without an end. */
#define _GNU_SOURCE
#include <math.h>

#include "report/capacity/capacity_doc.h"
#include "report/capacity/carry.h"
#include "report/tests/report_help.h"

/* A lock's capacity; a member that is NULL or 0 has its usual value. */
struct made {
    const char *lock, *guarantee, *topology, *class, *hold, *limit, *note;
    double low, high; /* low < 0: no answer */
    int limit_ms, clients;
    bool violated, by_clients;
    const char *day; /* when it was measured */
    bool cut, refused;
};

static const char * or (const char *text, const char *usual) {
    return text ? text : usual;
}

static char *text_of(const struct made *made) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    const char *metric = made->by_clients ? "acquire" : "acquire_due";
    int limit_ms = made->limit_ms ? made->limit_ms : 20;
    double low = made->low > 0 ? made->low : 400, high = made->high > 0 ? made->high : 440;
    assert_non_null(out);
    fprintf(out,
            "{\"schema\":\"" CAPACITY_SCHEMA "\",\"started_at\":\"2026-01-0%sT00:00:00Z\","
            "\"partial\":%s,\"locks\":[{\"lock\":\"%s\",\"violated\":%s,\"guarantee\":\"%s\","
            "\"topology\":\"%s\",\"durability\":\"its files\",\"durability_class\":\"%s\","
            "\"server\":\"redis 7.0.15\",\"slo\":{\"text\":\"%s.p99<=%dms\",\"metric\":\"%s\","
            "\"quantile\":0.99,\"limit_ns\":%de6},\"by\":\"%s\",\"hold\":\"%s\",\"keys\":\"1\","
            "\"clients\":%d,",
            or (made->day, "1"), made->cut ? "true" : "false", or (made->lock, "redis-setnx"),
            made->violated ? "true" : "false", or (made->guarantee, "node"),
            or (made->topology, "redis"), or (made->class, "memory"), metric, limit_ms, metric,
            limit_ms, made->by_clients ? "clients" : "rate", or (made->hold, "1ms"),
            made->clients ? made->clients : 64);
    if (made->note) fprintf(out, "\"durability_note\":\"%s\",", made->note);
    if (made->low >= 0)
        fprintf(out,
                "\"answer\":{\"value\":%g,\"low\":%g,\"high\":%g,\"level\":0.95},"
                "\"limited_by\":\"%s\",",
                (low + high) / 2, low, high, or (made->limit, "slo"));
    else
        fprintf(out, "\"answer\":null,\"limited_by\":null,\"why\":\"its server was lost\",");
    fprintf(out, "\"probes\":[%s]}]}",
            made->refused ? "" : "{\"value\":100,\"verdict\":\"broken\"}");
    assert_int_equal(fclose(out), 0);
    return text;
}

static struct capacity *file_of(const struct made *made) {
    struct lb_err err = {0};
    char *text = text_of(made);
    struct capacity *file = capacity_parse(text, strlen(text), "results/one/capacity.json", &err);
    assert_string_equal(err.text, "");
    free(text);
    return file;
}

#define ASK .by_rate = true, .clients = NAN, .slo = "acquire_due.p99<=20ms"
#define FILES_MAX 9

/* The answers of files; the caller frees the files. */
static struct carry *carry_of(const struct made *made, int count, const struct carry_ask *ask,
                              struct capacity **files) {
    struct lb_err err = {0};
    for (int i = 0; i < count; i++) files[i] = file_of(&made[i]);
    struct carry *carry = carry_new(files, count, ask, &err);
    assert_string_equal(err.text, "");
    return carry;
}

static void free_all(struct carry *carry, struct capacity **files, int count) {
    carry_free(carry);
    for (int i = 0; i < count; i++) capacity_free(files[i]);
}

static const struct made none = {.low = -1};

/* What one measurement answers, and the exit code if there is no other. */
TEST(one_measurement_answers_only_its_own_question) {
    static const struct {
        struct made made;
        struct carry_ask ask;
        enum carry_verdict verdict;
        double margin;
        const char *differs;
        int code;
    } cases[] = {
        {{0}, {ASK, .load = 200}, CARRY_YES, 2, "", 0},
        {{0}, {ASK, .load = 420}, CARRY_CLOSE, NAN, "", 5},
        {{0}, {ASK, .load = 880}, CARRY_NO, 0.5, "", 4},
        {{.limit = "range"}, {ASK, .load = 880}, CARRY_UNKNOWN, NAN, "", 5},
        {{.limit = "generator"}, {ASK, .load = 420}, CARRY_UNKNOWN, NAN, "", 5},
        {{.low = -1}, {ASK, .load = 1}, CARRY_UNKNOWN, NAN, "", 5},
        {{.violated = true}, {ASK, .load = 1}, CARRY_VIOLATED, NAN, "", 4},
        {{.limit_ms = 10}, {ASK, .load = 1}, CARRY_OTHER, NAN, "promise", 5},
        {{.by_clients = true}, {ASK, .load = 1}, CARRY_OTHER, NAN, "arrivals", 5},
        {{.by_clients = true},
         {.clients = NAN, .slo = "acquire.p99<=20ms", .load = 100},
         CARRY_YES,
         4,
         "",
         0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct capacity *file;
        struct carry *carry = carry_of(&cases[i].made, 1, &cases[i].ask, &file);
        const struct carry_row *row = &carry->rows[0];
        assert_int_equal(carry->count, 1);
        if (row->verdict != cases[i].verdict) fail_msg("case %zu: verdict %d", i, row->verdict);
        assert_string_equal(row->differs, cases[i].differs);
        assert_true(isnan(cases[i].margin) ? isnan(row->margin) : row->margin == cases[i].margin);
        assert_int_equal(carry_exit(carry), cases[i].code);
        free_all(carry, &file, 1);
    }
    struct capacity *file;
    struct carry_ask ask = {ASK, .load = 200};
    ask.clients = 100; /* another pool of clients */
    struct carry *carry = carry_of(&(struct made){0}, 1, &ask, &file);
    assert_string_equal(carry->rows[0].differs, "clients");
    free_all(carry, &file, 1);
}

/* Of searches for one lock under the same conditions the newest one counts; one that saw two holders is never hidden. */
TEST(the_newest_search_of_a_kind_counts) {
    static const struct made old = {.low = 300}, close = {.low = 190, .high = 210, .day = "2"},
                             other = {.hold = "9ms", .day = "3"}, violated = {.violated = true},
                             refused = {.low = -1, .cut = true, .refused = true, .day = "4"};
    const struct {
        struct made made[2];
        int count;
        enum carry_verdict first;
    } cases[] = {{{old, close}, 1, CARRY_CLOSE},
                 {{close, old}, 1, CARRY_CLOSE},
                 {{close, other}, 2, CARRY_YES},
                 {{violated, close}, 2, CARRY_CLOSE},
                 {{refused, close}, 1, CARRY_CLOSE}};
    const struct carry_ask ask = {ASK, .load = 200};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct capacity *files[2];
        struct carry *carry = carry_of(cases[i].made, 2, &ask, files);
        if (carry->count != cases[i].count || carry->rows[0].verdict != cases[i].first)
            fail_msg("case %zu: %d rows, verdict %d", i, carry->count, carry->rows[0].verdict);
        free_all(carry, files, 2);
    }
}

static const struct made many[] = {
    {.low = 900, .high = 950},
    {.lock = "etcd-mutex",
     .guarantee = "majority",
     .topology = "etcd-3",
     .class = "disk",
     .low = 210,
     .high = 230},
    {.lock = "redis-redlock",
     .guarantee = "majority",
     .topology = "redis-5",
     .low = 800,
     .high = 850},
    {.lock = "pg-advisory", .topology = "pg", .note = "in its memory", .low = 150, .high = 170},
    {.lock = "zk-lock", .guarantee = "majority", .topology = "zk", .low = -1},
    {.lock = "mem-mutex", .guarantee = "host", .topology = "embedded", .low = 5000, .high = 6000},
    {.lock = "mysql-lock", .low = 190, .high = 260},
    {.lock = "pg-row", .hold = "2ms", .limit_ms = 30, .cut = true},
    {.lock = "unsafe-no-lock", .guarantee = "none", .low = 9000, .high = 9999},
};

TEST(the_table_has_the_verdicts_and_the_conditions) {
    static const char *const order[] = {"etcd-mutex", "mem-mutex", "redis-redlock", "redis-setnx",
                                        "mysql-lock", "zk-lock",   "pg-advisory",   "pg-row"};
    static const char *const rows[] = {
        "| etcd-mutex | ✅ carries | 1.05x |",
        "| redis-setnx | ✅ carries | 4.50x |",
        "| mysql-lock | ⚠️ close | – |",
        "| zk-lock | ⚠️ unknown |",
        "| pg-row | other promise |",
        "| pg-advisory | ❌ too much | 0.850x |",
        "in memory: in its memory (the server: its files)",
        "no answer (its server was lost) for",
        "420/s (400 .. 440) for acquire\\_due.p99&lt;=30ms, hold 2ms",
        "Z, cut off |"};
    const struct carry_ask ask = {ASK, .load = 200};
    struct capacity *files[FILES_MAX];
    struct carry *carry = carry_of(many, FILES_MAX, &ask, files);
    struct doc doc = {0};
    assert_int_equal(carry->count, 8);
    for (int i = 0; i < 8; i++) assert_string_equal(carry->rows[i].lock->lock, order[i]);
    assert_int_equal(carry_exit(carry), 0);
    carry_doc(carry, &doc);
    char *text = written(&doc, DOC_MARKDOWN);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) has(text, rows[i]);
    free(text);
    free_all(carry, files, FILES_MAX);
}

/* An interval without an upper end is no missing figure; without an answer the least load that broke
 * the promise is a bound. */
TEST(a_search_without_an_end_is_told_in_words) {
    const struct made cases[] = {{.limit = "range"}, none};
    static const char *const says[] = {"400 and more", "< 100/s"};
    for (int i = 0; i < 2; i++) {
        struct capacity *file = file_of(&cases[i]);
        struct doc doc = {0};
        if (i == 0) file->locks[0].high = NAN;
        capacity_doc(file, &doc);
        char *text = written(&doc, DOC_TERMINAL);
        has(text, says[i]);
        lacks(text, "nan");
        free(text);
        capacity_free(file);
    }
}

TEST(the_command) {
    static const struct mistake mistakes[] = {
        {"$D/nothing --rate 40/s", LB_EXIT_USAGE, "nothing"},
        {"report/src --rate 40/s", LB_EXIT_USAGE, "there is no capacity.json in it"},
        {"report/tests/golden/mixed/run.json --rate 40/s", LB_EXIT_USAGE,
         "is not a result of lockbench capacity"},
        {"$D --slo 'speed.p99<=20ms' --rate 3", LB_EXIT_USAGE, "plan: --slo"},
        {"$D", LB_EXIT_USAGE, "neither a rate nor clients"},
    };
    static const struct {
        const char *words;
        int code;
    } fine[] = {{"$D/runs --rate 200/s", 0},
                {"$D/runs/one --rate 200/s --json", 0},
                {"$D/runs/one/capacity.json --rate 2000 --md", 4},
                {"$D/runs --rate 200 --clients 3", 5},
                {"$D/runs --clients 8 --slo 'acquire.p99<=20ms'", 5}};
    char *text = text_of(&many[0]), *one = path_of("runs/one/capacity.json");
    const char *const make[] = {"sh", "-c", "mkdir -p \"$0/runs/one\"", folder, NULL};
    assert_int_equal(run_command(make, NULL), 0);
    store(one, text);
    assert_one_line("plan", mistakes, sizeof mistakes / sizeof *mistakes);
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        bool own = strstr(fine[i].words, "--slo");
        int code =
            run_lockbench(own ? "plan" : "plan --slo 'acquire_due.p99<=20ms'", fine[i].words);
        char *said = content_of("err");
        if (code != fine[i].code || *said)
            fail_msg("plan %s: exit code %d, \"%s\"", fine[i].words, code, said);
        free(said);
    }
    free(text);
    free(one);
}

TEST_MAIN(make_folder, remove_folder)
