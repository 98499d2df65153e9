/* test_planner: the order of the locks and the exit code, from several hand-made capacities; the outputs against stored
 * ones (UPDATE_GOLDEN=1 writes them; read the diff); the command with bad input. test_planner_answer tests the answer
 * of one measurement. */
#define _GNU_SOURCE
#include "report/capacity/capacity_doc.h"
#include "report/tests/planner_help.h"

static const struct made many[] = {
    {.lock = "redis-setnx", .low = 900, .high = 950},
    {.lock = "etcd-mutex",
     .guarantee = "majority",
     .topology = "etcd-3",
     .durability = "on disk before each answer",
     .durability_class = "disk",
     .low = 210,
     .high = 230},
    {.lock = "redis-redlock",
     .guarantee = "majority",
     .topology = "redis-5",
     .low = 800,
     .high = 850},
    {.lock = "pg-advisory",
     .topology = "pg",
     .durability = "write-ahead log, on disk before each commit returns",
     .note = "in the server's memory: nothing is written",
     .low = 150,
     .high = 170},
    {.lock = "zk-lock", .guarantee = "majority", .topology = "zk", .low = -1},
    {.lock = "mem-mutex", .guarantee = "host", .topology = "embedded", .low = 5000, .high = 6000},
    {.lock = "mysql-lock", .low = 190, .high = 260},
    {.lock = "pg-row", .hold = "2ms", .low = 400, .high = 430},
    {.lock = "unsafe-no-lock", .guarantee = "none", .low = 9000, .high = 9999},
};
#define MANY ((int)(sizeof many / sizeof *many))

static char *json_of(const struct planner *planner) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(planner_write_json(planner, out, NULL), 0);
    fclose(out);
    return text;
}

TEST(order_is_that_of_fitness) {
    static const char *const order[] = {"etcd-mutex", "redis-redlock", "redis-setnx",
                                        "mem-mutex",  "pg-row",        "mysql-lock",
                                        "zk-lock",    "pg-advisory"};
    const struct planner_ask ask = {ASK, .rate = 200, .hold_ns = 1e6};
    struct capacity *file = file_of(many, MANY, "2026-01-01T00:00:00Z");
    struct planner *planner = plan_of(&file, 1, &ask);
    assert_int_equal(planner->count, 8);
    assert_int_equal(planner->unsafe, 1);
    for (int i = 0; i < 8; i++) assert_string_equal(planner->answers[i].lock->lock, order[i]);
    assert_int_equal(planner_exit(planner), 0);
    planner_free(planner);
    capacity_free(file);
}

/* Answers for one lock from three measurements, from old to new. Returns the index of the
 * measurement that was used. */
static int taken_of(const struct made *made, int *ret_exit) {
    static const char *const days[] = {"2026-01-01T00:00:00Z", "2026-01-03T00:00:00Z",
                                       "2026-01-05T00:00:00Z"};
    const struct planner_ask ask = {ASK, .rate = 200, .hold_ns = 1e6};
    struct capacity *files[3];
    int taken = -1;
    for (int i = 0; i < 3; i++) files[i] = file_of(&made[i], 1, days[i]);
    struct planner *planner = plan_of(files, 3, &ask);
    assert_int_equal(planner->count, 1);
    for (int i = 0; i < 3; i++) taken = planner->answers[0].from == files[i] ? i : taken;
    *ret_exit = planner_exit(planner);
    planner_free(planner);
    for (int i = 0; i < 3; i++) capacity_free(files[i]);
    return taken;
}

/* The newest measurement of the load is used, even if an older one or the model gives a better
 * answer. But a search that was cut off or found no answer comes after a whole one, and a measurement
 * in which two clients held at once before all others. */
TEST(what_was_measured_last_answers) {
    static const struct made close = {.low = 190, .high = 210}, good = {.low = 400},
                             model = {.hold = "2ms"}, far = {.hold = "100ms", .low = 5, .high = 6},
                             violated = {.violated = true}, less = {.low = 100, .high = 110},
                             other = {.limit_ms = 15}, lost = {.limit_ms = 15, .low = -1},
                             cut = {.low = 190, .high = 210, .cut = true},
                             cut_far = {.hold = "100ms", .low = 5, .high = 6, .cut = true};
    const struct {
        struct made made[3];
        int taken, code;
    } cases[] = {
        {{good, close, far}, 1, LB_EXIT_INCONCLUSIVE},
        {{close, good, far}, 1, LB_EXIT_OK},
        {{good, close, model}, 1, LB_EXIT_INCONCLUSIVE},
        {{close, less, model}, 1, LB_EXIT_REGRESSION},
        {{far, model, far}, 1, LB_EXIT_OK},
        {{close, other, far}, 0, LB_EXIT_INCONCLUSIVE}, /* used: it is of the same promise */
        {{far, other, model}, 1, LB_EXIT_OK},
        {{violated, good, far}, 0, LB_EXIT_INCONCLUSIVE},
        {{good, violated, good}, 1, LB_EXIT_INCONCLUSIVE},
        {{good, cut, far}, 0, LB_EXIT_OK},
        {{other, lost, far}, 0, LB_EXIT_OK},
        {{far, cut, far}, 1, LB_EXIT_INCONCLUSIVE}, /* a little is more than nothing */
        {{far, cut_far, cut_far}, 0, LB_EXIT_INCONCLUSIVE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int code, taken = taken_of(cases[i].made, &code);
        if (taken != cases[i].taken || code != cases[i].code)
            fail_msg("case %zu: measurement %d, exit code %d", i, taken, code);
    }
    struct planner_ask ask = {ASK, .rate = 200, .hold_ns = 1e6};
    judged(&violated, ask, PLANNER_UNKNOWN, false, "exclusion was violated in this search", NULL);
}

/* Whoever reads the answers learns that a search was cut off, and that locks may be missing; once for each file. */
TEST(a_search_that_was_cut_off_is_named) {
    static const struct made whole[] = {{.low = 400}, {.lock = "pg-row"}},
                             cut[] = {{.low = 400}, {.lock = "pg-row", .cut = true}};
    static const char sentence[] =
        "PARTIAL: results/one/capacity.json: interrupted. Locks may be missing in it, and the "
        "answer of pg-row, its last lock, may be of fewer probes than usual.";
    const struct planner_ask ask = {ASK, .rate = 200, .hold_ns = 1e6};
    for (int is_cut = 0; is_cut <= 1; is_cut++) {
        struct capacity *file = file_of(is_cut ? cut : whole, 2, "2026-01-01T00:00:00Z");
        struct planner *planner = plan_of(&file, 1, &ask);
        struct doc doc = {0};
        planner_doc(planner, &doc);
        char *text = written(&doc, DOC_MARKDOWN), *json = json_of(planner);
        int said = 0;
        for (const char *at = text; (at = strstr(at, sentence)); at++) said++;
        if (said != is_cut) fail_msg("%d times: %s", said, text);
        has(json, is_cut ? "\"partial\": true" : "\"partial\": false");
        has(json, is_cut ? "\"partial_reason\": \"interrupted\"" : "\"partial_reason\": null");
        free(text);
        free(json);
        planner_free(planner);
        capacity_free(file);
    }
}

/* The answer of an older method would be another one today: it is named but not used, and the
 * command would measure it again. */
TEST(a_file_of_an_older_method_is_not_used) {
    struct planner_ask ask = {ASK, .rate = 100, .hold_ns = 1e6};
    for (int older = 0; older <= 1; older++) {
        struct capacity *file = file_of(&(struct made){0}, 1, "2026-01-01T00:00:00Z");
        file->method = older ? CAPACITY_METHOD - 1 : NAN;
        struct planner *planner = plan_of(&file, 1, &ask);
        assert_int_equal(planner_exit(planner), LB_EXIT_INCONCLUSIVE);
        const struct planner_answer *answer = &planner->answers[0];
        assert_int_equal(answer->verdict, PLANNER_UNKNOWN);
        assert_non_null(strstr(answer->why, "results/one/capacity.json is of an older method"));
        assert_non_null(strstr(answer->settle, "lockbench capacity "));
        planner_free(planner);
        capacity_free(file);
    }
}

TEST(exit_codes) {
    struct planner_ask ask = {ASK, .rate = 460, .hold_ns = 1e6};
    struct capacity *file = file_of(&(struct made){0}, 1, "2026-01-01T00:00:00Z");
    struct planner *planner = plan_of(&file, 1, &ask);
    assert_int_equal(planner_exit(planner), LB_EXIT_REGRESSION);
    planner_free(planner);
    ask.rate = 420;
    planner = plan_of(&file, 1, &ask);
    assert_int_equal(planner_exit(planner), LB_EXIT_INCONCLUSIVE);
    planner_free(planner);
    ask.hold_ns = 12e6; /* 5 holders at once on one key */
    planner = plan_of(&file, 1, &ask);
    assert_true(planner->impossible);
    assert_int_equal(planner_exit(planner), LB_EXIT_REGRESSION);
    planner_free(planner);
    const struct made semaphore = {.lock = "redis-semaphore", .primitive = "semaphore"};
    struct capacity *mixed[] = {file, file_of(&semaphore, 1, "2026-01-01T00:00:00Z")};
    planner = plan_of(mixed, 2, &ask); /* 5 holders at once are what a semaphore is for */
    assert_int_equal(planner->count, 2);
    assert_false(planner->impossible);
    assert_int_equal(planner_exit(planner), LB_EXIT_INCONCLUSIVE);
    planner_free(planner);
    capacity_free(mixed[1]);
    for (int holders = 1; holders <= 8; holders += 7) { /* eight segments have eight holders */
        const struct made segmented = {.lock = "redis-segmented", .holders = holders};
        mixed[1] = file_of(&segmented, 1, "2026-01-01T00:00:00Z");
        planner = plan_of(mixed, 2, &ask);
        assert_int_equal(planner->impossible, holders == 1);
        planner_free(planner);
        capacity_free(mixed[1]);
    }
    ask = (struct planner_ask){ASK, .rate = 100, .hold_ns = 1e6};
    ask.topology = "nowhere";
    planner = plan_of(&file, 1, &ask);
    has(planner->answers[0].why, "measured on another topology, redis");
    assert_int_equal(planner_exit(planner), LB_EXIT_INCONCLUSIVE);
    planner_free(planner);
    static const struct {
        double rate, clients;
        const char *metric, *says;
    } bad[] = {{NAN, NAN, "acquire", "neither a rate nor clients"},
               {NAN, 5, "acquire_due", "nothing falls due"},
               {5, 5, "acquire", "promise acquire_due"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct lb_err err = {0};
        ask = (struct planner_ask){ASK, .rate = bad[i].rate, .hold_ns = NAN};
        ask.clients = bad[i].clients;
        ask.metric = bad[i].metric;
        assert_null(planner_make(&file, 1, &ask, &err));
        assert_int_equal(err.code, LB_EXIT_USAGE);
        has(err.text, bad[i].says);
    }
    capacity_free(file);
}

/* Where nothing was measured, or not that lock, the answer is the whole command that would measure it. */
TEST(nothing_measured_is_unknown_with_the_command) {
    struct capacity *file = file_of(&(struct made){0}, 1, "2026-01-01T00:00:00Z");
    struct planner_ask ask = {ASK, .rate = 500, .hold_ns = 12e6};
    ask.clients = 100;
    for (int i = 0; i < 2; i++) {
        ask.lock = i == 0 ? NULL : "pg-advisory";
        ask.topology = i == 0 ? NULL : "postgres-2";
        struct planner *planner = plan_of(i == 0 ? NULL : &file, i, &ask);
        struct doc doc = {0};
        assert_int_equal(planner_exit(planner), LB_EXIT_INCONCLUSIVE);
        assert_false(planner->impossible);
        planner_doc(planner, &doc);
        char *text = written(&doc, DOC_MARKDOWN), *json = json_of(planner);
        has(text, i == 0 ? "No capacity of any lock was measured"
                         : "No capacity of pg-advisory was measured");
        const char *command =
            i == 0 ? "lockbench capacity LOCK --slo 'acquire_due.p99<=20ms' --hold 12ms --keys 1 "
                     "--set load.clients=100"
                   : "lockbench capacity pg-advisory --slo 'acquire_due.p99<=20ms' --hold 12ms "
                     "--keys 1 --set load.clients=100 --set servers.topology=postgres-2";
        has(text, command);
        has(json, command);
        free(json);
        free(text);
        planner_free(planner);
    }
    capacity_free(file);
}

/* Holds that fill more than all the time are too much for every mutex, however the question names the
 * hold, and no search would settle that. */
TEST(what_no_mutex_can_is_too_much) {
    static const struct {
        double rate, hold_ns, keys;
        bool impossible;
        const char *says;
    } cases[] = {
        {300, 12e6, 1, true, "each key would be held for 360 % of the time"},
        {5000, 1e6, 1, true, "each key would be held for 500 % of the time"},
        {5000, NAN, 1, true, "each key would be held for 500 % of the time"},
        {5000, NAN, 4, true, "each key would be held for 125 % of the time"},
        {5000, NAN, 8, false, NULL},
    };
    static const struct made usual = {0}, open = {.guarantee = "none"},
                             odd = {.hold = "lognormal:1ms:0.5"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct planner_ask ask = {ASK, .rate = cases[i].rate, .hold_ns = cases[i].hold_ns};
        ask.keys = cases[i].keys;
        struct capacity *file = file_of(&usual, 1, "2026-01-01T00:00:00Z");
        struct planner *planner = plan_of(&file, 1, &ask);
        assert_int_equal(planner->impossible, cases[i].impossible);
        if (cases[i].impossible) {
            judged(&usual, ask, PLANNER_TOO_MUCH, false, cases[i].says, NULL);
            assert_int_equal(planner_exit(planner), LB_EXIT_REGRESSION);
            struct doc doc = {0};
            planner_doc(planner, &doc);
            char *text = written(&doc, DOC_MARKDOWN);
            has(text, "No mutex can: ");
            has(text, i == 0 ? "300/s on 1 key, each held for 12.0 ms" : "5,000/s on ");
            free(text);
        }
        planner_free(planner);
        capacity_free(file);
    }
    struct planner_ask ask = {ASK, .rate = 5000, .hold_ns = NAN};
    judged(&odd, ask, PLANNER_TOO_MUCH, false, "broken from 440/s on", NULL);
    judged(&open, ask, PLANNER_TOO_MUCH, false, "broken from 440/s on", NULL);
}

/* A lock in the memory of a server whose tables are on disk: what the lock itself survives comes
 * first, in all documents, in the words of `run`. */
TEST(the_locks_own_durability_comes_before_its_servers) {
    static const char words[] =
        "in memory: in the server's memory: nothing is written (the server: "
        "write-ahead log, on disk before each commit returns)";
    const struct planner_ask ask = {ASK, .rate = 200, .hold_ns = 1e6};
    struct capacity *file = file_of(many, MANY, "2026-01-01T00:00:00Z");
    struct planner *planner = plan_of(&file, 1, &ask);
    for (int i = 0; i < 2; i++) {
        struct doc doc = {0};
        if (i == 0)
            planner_doc(planner, &doc);
        else
            capacity_doc(file, &doc);
        char *text = written(&doc, DOC_MARKDOWN);
        has(text, words);
        has(text, "| on disk first: on disk before each answer |"); /* a lock without a note */
        free(text);
    }
    planner_free(planner);
    capacity_free(file);
}

/* An interval without an upper end is no missing figure, and a missing number of clients is none. */
TEST(an_open_interval_is_told_in_words) {
    static const enum doc_format formats[] = {DOC_TERMINAL, DOC_MARKDOWN, DOC_HTML};
    const struct planner_ask ask = {ASK, .rate = 200, .hold_ns = 1e6};
    const struct made made = {.limit = "range"};
    struct capacity *file = file_of(&made, 1, "2026-01-01T00:00:00Z");
    file->locks[0].high = file->locks[0].clients = NAN;
    struct planner *planner = plan_of(&file, 1, &ask);
    for (size_t i = 0; i < 2 * sizeof formats / sizeof *formats; i++) {
        struct doc doc = {0};
        i % 2 ? planner_doc(planner, &doc) : capacity_doc(file, &doc);
        char *text = one_line(written(&doc, formats[i / 2]));
        has(text, "400 and more");
        has(text, NUMBER_NONE " clients");
        lacks(text, ".. " NUMBER_NONE);
        lacks(text, "nan");
        free(text);
    }
    planner_free(planner);
    capacity_free(file);
}

/* A spreadsheet takes plain numbers, each in the unit of its name, and nothing for what is not known. */
TEST(a_capacity_as_csv_has_the_figures_of_the_file) {
    const struct made made[] = {{.low = 1200, .high = 1440}, {.lock = "b", .low = -1}};
    struct capacity *file = file_of(made, 2, "2026-01-01T00:00:00Z");
    struct lb_err err = {0};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(capacity_write(file, REPORT_CSV, false, out, &err), 0);
    assert_int_equal(fclose(out), 0);
    has(text, "search,started_at,partial,lock,backend,");
    has(text, ",answer.value,answer.low,answer.high,answer.level,limited_by,");
    has(text, ",1320,1200,1440,0.95,slo,");
    has(text, ",,,,,,its server was lost,");
    assert_int_equal(count_of(text, "\r\n"), 3);
    free(text);
    capacity_free(file);
}

static char *capacity_text(const struct capacity *file) {
    struct doc doc = {0};
    capacity_doc(file, &doc);
    return written(&doc, DOC_MARKDOWN);
}

/* Without an answer the least load that broke the promise is a bound, if no probe kept it at a greater
 * one. */
TEST(a_kept_probe_contradicts_a_bound) {
    const struct made made = {.low = -1, .more = PROBE(100, "broken", 50e6, 80e6)};
    struct capacity *file = file_of(&made, 1, "2026-01-01T00:00:00Z");
    char *text = capacity_text(file);
    if (strstr(text, "100/s")) fail_msg("%s", text);
    free(text);
    for (int i = 0; i < file->locks[0].probe_count; i++)
        file->locks[0].probes[i].verdict = PROMISE_BROKEN;
    text = capacity_text(file);
    has(text, "100/s");
    free(text);
    capacity_free(file);
}

TEST(outputs_are_as_stored) {
    static const char *const names[] = {"many.table", "many.md", "many.json"};
    struct planner_ask ask = {ASK, .rate = 200, .hold_ns = 1e6};
    ask.clients = 100;
    struct capacity *file = file_of(many, MANY, "2026-01-01T00:00:00Z");
    struct planner *planner = plan_of(&file, 1, &ask);
    for (int i = 0; i < 3; i++) {
        char path[256];
        struct doc doc = {0};
        if (i < 2) planner_doc(planner, &doc);
        char *text =
            i == 2 ? json_of(planner) : written(&doc, i == 0 ? DOC_TERMINAL : DOC_MARKDOWN);
        snprintf(path, sizeof path, GOLDEN "%s", names[i]);
        same_as_stored(path, text);
        free(text);
    }
    planner_free(planner);
    capacity_free(file);
}

TEST(the_command) {
    static const struct mistake mistakes[] = {
        {"$D/nothing --rate 40/s", LB_EXIT_USAGE, "nothing"},
        {"report/src --rate 40/s", LB_EXIT_USAGE, "there is no capacity.json in it or below"},
        {"results/schema --rate 40/s", LB_EXIT_USAGE, "there is no capacity.json in it or below"},
        {"$D/cut.json --rate 40/s", LB_EXIT_USAGE, "the file ends too early"},
        {"$D/other.json --rate 40/s", LB_EXIT_USAGE, "lockbench.capacity/9"},
        {"report/tests/golden/mixed/run.json --rate 40/s", LB_EXIT_USAGE,
         "is not a result of lockbench capacity"},
        {"$D --slo 'acquire_due.p99'", LB_EXIT_USAGE, "plan: --slo"},
        {"$D --slo 'speed.p99<=20ms' --rate 3", LB_EXIT_USAGE, "plan: --slo"},
        {"$D --slo 'acquire_due.p101<=20ms' --rate 3", LB_EXIT_USAGE, "plan: --slo"},
        {"$D --slo 'acquire_due.p99<=soon' --rate 3", LB_EXIT_USAGE, "plan: --slo"},
        {"$D --slo 'acquire.p99<=20ms' --rate 3", LB_EXIT_USAGE, "promise acquire_due"},
        {"$D", LB_EXIT_USAGE, "neither a rate nor clients"},
        {"$D --rate 40/fortnight", LB_EXIT_USAGE, "plan: --rate: '40/fortnight'"},
        {"$D --rate -4", LB_EXIT_USAGE, "plan: --rate"},
        {"$D --rate nan", LB_EXIT_USAGE, "plan: --rate"},
        {"$D --rate 4 --clients 0", LB_EXIT_USAGE, "plan: --clients"},
        {"$D --rate 4 --hold 12", LB_EXIT_USAGE, "plan: --hold"},
        {"$D --rate 4 --keys many", LB_EXIT_USAGE, "plan: --keys"},
        {"$D --rate 4 --lock pg-advisry", LB_EXIT_USAGE,
         "plan: --lock: no lock 'pg-advisry', did you mean 'pg-advisory'"},
        {"$D --rate 4 --topology reddis", LB_EXIT_USAGE,
         "plan: --topology: no lock runs on a topology 'reddis', did you mean 'redis'"},
        {"$D --rate 4 --lokc a", LB_EXIT_USAGE, "--lock"},
    };
    char *text = file_text(many, MANY, "2026-01-01T00:00:00Z"), *cut = path_of("cut.json"),
         *one = path_of("runs/one/capacity.json"), *other = path_of("other.json");
    const char *const make[] = {"sh", "-c", "mkdir -p \"$0/runs/one\"", folder, NULL};
    assert_int_equal(run_command(make, NULL), 0);
    store(one, text);
    text[strlen(text) / 2] = '\0';
    store(cut, text);
    store(other, "{\"schema\":\"lockbench.capacity/9\",\"locks\":[]}");
    assert_one_line("plan", mistakes, sizeof mistakes / sizeof *mistakes);
    static const struct {
        const char *words;
        int code;
    } fine[] = {{"$D --rate 200/s --hold 1ms", 0},
                {"$D/runs/one --rate 12000/min --hold 1ms --json", 0},
                {"$D/runs/one/capacity.json --rate 200 --lock pg-advisory --md", 4},
                {"$D --rate 200 --lock zk-lock", 5},
                /* a lock or a topology that this build may not know, as long as a file has it */
                {"$D --rate 200 --lock mysql-lock", 5},
                {"$D --rate 200 --lock redis-semaphore", 5}, /* known, and not measured */
                {"$D --rate 200 --topology pg", 5},
                {"$D --rate 200 --topology redis-cluster", 5},
                {"$D --clients 8 --lock pg-advisory --slo 'acquire.p99<=20ms'", 5}};
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        int code = run_lockbench("plan --slo 'acquire_due.p99<=20ms'", fine[i].words);
        char *said = content_of("err");
        if (code != fine[i].code || *said)
            fail_msg("plan %s: exit code %d, \"%s\"", fine[i].words, code, said);
        free(said);
    }
    free(text);
    free(cut);
    free(one);
    free(other);
}

TEST_MAIN(make_folder, remove_folder)
