/* test_outputs: what no output may do, whatever the run holds: outgrow 100 columns, pass on control
 * characters or markup, run as a formula, show an unknown figure as a number. */
#include "bench/base/rng.h"
#include "bench/tests/hdr_texts.h"
#include "report/doc/screen.h"
#include "report/tests/report_help.h"

#define EVIL                                                                                       \
    "\\u001b]0;owned\\u0007<img src=x "                                                            \
    "onerror=alert(1)></script><script>alert(2)</script>|`*\\\"'&\\u009b31m=cmd()\\u202e"

static const char evil_stages[] =
    "{\"lock\":\"" EVIL "\",\"backend\":\"" EVIL "\",\"topology\":\"" EVIL
    "\",\"durability\":\"" EVIL "\",\"waits\":\"" EVIL "\",\"claims\":[\"" EVIL
    "\"],\"clients\":3,\"keys\":\"" EVIL "\",\"arrival\":\"" EVIL "\",\"hold\":\"" EVIL
    "\",\"status\":\"partial\",\"error\":\"" EVIL "\",\"id\":\"" EVIL "\",\"warnings\":[\"" EVIL
    "\"],\"exclusion\":{\"verdict\":\"violated\",\"grants\":5}}";
static const char evil_root[] =
    ",\"command\":\"" EVIL "\",\"started_at\":\"" EVIL "\",\"partial_reason\":\"" EVIL
    "\",\"plan\":{\"workload\":{\"name\":\"" EVIL "\",\"summary\":\"" EVIL "\"},\"" EVIL
    "\":[\"" EVIL "\"]},\"environment\":{\"cpu_model\":\"" EVIL "\"},\"warnings\":[\"" EVIL
    "\",7],\"servers\":[{\"backend\":\"" EVIL "\",\"facts\":{\"" EVIL "\":\"" EVIL
    "\"}}],\"skipped\":[{\"lock\":\"" EVIL "\",\"reason\":\"" EVIL "\",\"install\":\"" EVIL "\"}]";

static void assert_no_controls(const char *text) {
    for (const char *c = text; *c; c++) {
        bool allowed = *c == '\n' || *c == '\r';
        if (((unsigned char)*c < 0x20 && !allowed) || *c == 0x7F)
            fail_msg("control character %d in: %.80s", *c, c);
        if ((unsigned char)c[0] == 0xC2 && (unsigned char)c[1] < 0xA0)
            fail_msg("a C1 control in: %.80s", c);
    }
}

TEST(test_evil_names_in_a_terminal) {
    struct report *report = report_of(evil_stages, evil_root);
    char *text = render(report, REPORT_FULL, false);
    assert_no_controls(text);
    assert_lines_fit(text);
    free(text);
    report_free(report);
}

TEST(test_evil_names_in_a_page) {
    struct report *report = report_of(evil_stages, evil_root);
    char *text = render(report, REPORT_HTML, false);
    assert_int_equal(count_of(text, "<img"), 0);
    assert_int_equal(count_of(text, "<script>alert"), 0);
    /* The data and the bundle, when there is one; nothing else opens or ends a script. */
    int scripts = *asset_bundle ? 2 : 0;
    assert_int_equal(count_of(text, "<script"), scripts + count_of(asset_bundle, "<script"));
    assert_int_equal(count_of(text, "</script"), scripts);
    assert_true(count_of(text, "&lt;img") > 10);
    free(text);
    report_free(report);
}

/* Takes code out of Markdown, in place: nothing in it is read as markup. */
static void remove_code(char *md) {
    char *to = md;
    for (char *at = md; *at;) {
        size_t run = strspn(at, "`");
        char *end = run ? at + run : NULL;
        while (end && *end && strspn(end, "`") != run) end += strspn(end, "`") + strcspn(end, "`");
        bool escaped = at > md && at[-1] == '\\';
        bool is_line = (at == md || at[-1] == '\n') && strncmp(at, "    ", 4) == 0;
        if (is_line) {
            at += strcspn(at, "\n");
        } else if (end && *end && !escaped) {
            at = end + run;
        } else {
            *to++ = *at++;
        }
    }
    *to = '\0';
}

/* No cell begins as a formula: a spreadsheet would run it. */
static void assert_no_formulas(const char *csv) {
    bool quoted = false, begins = true;
    for (const char *at = csv; *at; at++) {
        if (*at == '"') {
            quoted = !quoted;
            continue; /* the cell's text, if it begins, is behind the quote */
        }
        if (begins && strchr("=+-@", *at)) fail_msg("a formula: %.80s", at);
        begins = !quoted && (*at == ',' || *at == '\n');
    }
}

TEST(test_evil_names_in_markdown_and_csv) {
    struct report *report = report_of(evil_stages, evil_root);
    char *md = render(report, REPORT_MD, false), *csv = render(report, REPORT_CSV, false);
    assert_no_controls(md);
    remove_code(md);
    assert_int_equal(count_of(md, "<img"), 0);
    assert_int_equal(count_of(md, "<script"), 0);
    assert_int_equal(count_of(md, "<"), 4); /* our own <details><summary> */
    assert_no_controls(csv);
    assert_no_formulas(csv);
    free(md);
    free(csv);
    report_free(report);

    for (const char *evil = "=+-@"; *evil; evil++) {
        char stages[100], cell[20];
        snprintf(stages, sizeof stages, "{\"lock\":\"%c1\\u001b\\t\",\"clients\":1}", *evil);
        snprintf(cell, sizeof cell, ",\"'%c1  \",", *evil);
        report = report_of(stages, "");
        csv = render(report, REPORT_CSV, false);
        has(csv, cell);
        assert_no_formulas(csv);
        free(csv);
        report_free(report);
    }

    report = report_of("{\"lock\":\"=cmd()\",\"clients\":1,\"error\":\"a,\\\"b\\\"\\nc\"}", "");
    csv = render(report, REPORT_CSV, false);
    has(csv, ",\"'=cmd()\",");
    has(csv, ",\"a,\"\"b\"\"\nc\",");
    free(csv);
    report_free(report);
}

/* JSON must be JSON again, with the texts as they were. */
/* What an object that is null would hold is unknown, its flags too. */
TEST(test_a_flag_of_a_null_object_is_empty) {
    struct report *report =
        report_of("{\"lock\":\"a\",\"clients\":1,\"keys\":7,\"store\":{\"where\":\"memory\","
                  "\"fenced\":false}},{\"lock\":\"b\",\"clients\":1,\"store\":null}",
                  "");
    char *text = render(report, REPORT_JSON, false);
    json_t *root = json_loads(text, 0, NULL);
    const json_t *rows = json_object_get(root, "rows"), *row = json_array_get(rows, 0);
    const json_t *none = json_object_get(json_array_get(rows, 1), "store"),
                 *store = json_object_get(row, "store");
    assert_true(json_is_null(json_object_get(none, "fenced")));
    assert_true(json_is_false(json_object_get(store, "fenced")));
    assert_int_equal(json_integer_value(json_object_get(row, "keys")), 7); /* as in run.json */
    json_decref(root);
    free(text);
    text = render(report, REPORT_CSV, false);
    has(text, ",memory,false,");
    free(text);
    report_free(report);
}

TEST(test_evil_names_in_json) {
    struct report *report = report_of(evil_stages, evil_root);
    char *text = render(report, REPORT_JSON, false);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    const json_t *row = json_array_get(json_object_get(root, "rows"), 0);
    assert_string_equal(json_string_value(json_object_get(row, "lock")),
                        report->runs[0]->stages[0].lock);
    assert_true(json_is_null(json_object_get(row, "throughput_per_s")));
    assert_true(json_is_null(
        json_object_get(json_object_get(json_object_get(row, "latency_ns"), "acquire"), "p50")));
    json_decref(root);
    free(text);
    report_free(report);
}

/* Every figure as wide as it can be, a name of 300 characters, every text missing. */
TEST(test_extremes_fit) {
    char name[301], stages[4000];
    memset(name, 'n', 300);
    name[300] = '\0';
    snprintf(
        stages, sizeof stages,
        "{\"lock\":\"%s\",\"clients\":1e7,\"throughput_per_s\":9e15,\"latency_ns\":{\"acquire\":{\"p50\":1,"
        "\"p99\":"
        "3.6e15},\"release\":{\"p50\":9e15},\"handoff\":{\"p50\":0.00001},\"ping\":{\"p50\":9e15}},"
        "\"fairness\":{"
        "\"jain\":0.00001},\"cost\":{\"commands_per_grant\":9e15,\"server_cpu_ns_per_grant\":9e15}},{"
        "\"lock\":\"b\","
        "\"clients\":1e7,\"throughput_per_s\":9e15,\"latency_ns\":{\"acquire\":{\"p50\":9e15,\"p99\":1},"
        "\"release\":{"
        "\"p50\":1},\"handoff\":{\"p50\":9e15},\"ping\":{\"p50\":1}},\"cost\":{\"commands_per_grant\":9e15,"
        "\"server_cpu_ns_per_grant\":1}}",
        name);
    struct report *report = report_of(stages, "");
    for (int format = 0; format < REPORT_FORMATS; format++) {
        char *text = render(report, (enum report_format)format, false);
        if (format == REPORT_FULL || format == REPORT_TABLE) assert_lines_fit(text);
        free(text);
    }
    report_free(report);
}

/* A figure that a stage does not have is a dash, and the page says why. */
TEST(test_why_the_commands_of_a_program_are_not_known) {
    struct report *report =
        report_of("{\"lock\":\"exec\",\"backend\":\"exec\",\"clients\":2,\"throughput_per_s\":5,"
                  "\"grants\":100,\"cost\":{\"commands_per_grant\":null}},"
                  "{\"lock\":\"b\",\"backend\":\"redis\",\"clients\":2,\"throughput_per_s\":5,"
                  "\"grants\":100,\"cost\":{\"commands_per_grant\":2}}",
                  "");
    char *md = render(report, REPORT_MD, false);
    has(md, "commands a grant \xe2\x80\x93: a program sends its requests itself");
    free(md);
    report_free(report);
}

#define DASH "| " NUMBER_NONE " "
#define DASHES                                                                                     \
    DASH DASH DASH DASH DASH DASH "| " /* grants, n, inside, lost updates, second holders, bound */

/* The least that a run can hold, in every format; what is unknown is a dash or nothing, never a
 * number. */
TEST(test_an_empty_stage) {
    struct report *report = report_of("{\"lock\":\"a\",\"clients\":2,\"status\":\"failed\"}", "");
    for (int format = 0; format < REPORT_FORMATS; format++) {
        char *text = render(report, (enum report_format)format, false);
        char *bundle = strstr(text, "<script");
        if (bundle) *bundle = '\0';
        lacks(text, "nan");
        lacks(text, "(null)");
        free(text);
    }
    char *table = render(report, REPORT_FULL, false);
    has(table, "a!");
    has(table, "no request of the measured window was granted");
    free(table);
    /* Nothing was checked, so it is not known that there were no findings. */
    char *md = render(report, REPORT_MD, false), *json = render(report, REPORT_JSON, false);
    has(md, DASHES "topology not stated");
    has(json, "\"lost_updates\": null,\n   \"double_holders\": null");
    has(json, "\"grants\": null,\n   \"competing_grants\": null");
    free(md);
    free(json);
    report_free(report);
}

TEST(test_a_full_disk_is_said) {
    struct report *report = report_of("{\"lock\":\"a\",\"clients\":2}", "");
    for (int format = 0; format < REPORT_FORMATS; format++) {
        struct lb_err err = {0};
        FILE *out = fopen("/dev/full", "w");
        assert_non_null(out);
        setvbuf(out, NULL, _IONBF, 0);
        assert_int_equal(report_write(report, (enum report_format)format, false, out, &err), -1);
        assert_int_equal(err.code, LB_EXIT_MACHINE);
        fclose(out);
    }
    report_free(report);
}

/* A stored run with bytes changed, cut out or doubled: each is refused with a line or rendered,
 * never worse. Under AddressSanitizer this is where a reader that trusts shows. */
TEST(test_damaged_runs) {
    char *sound = read_whole("report/tests/golden/clean/run.json");
    struct lb_rng rng;
    int refused = 0, rendered = 0;
    assert_non_null(sound);
    size_t length = strlen(sound);
    char *text = malloc(2 * length + 1);
    assert_non_null(text);
    rng_seed(&rng, 11, 0);
    for (int i = 0; i < 1500; i++) {
        struct lb_err err = {0};
        size_t from = rng_below(&rng, length), to = from + rng_below(&rng, 1 + rng_below(&rng, 40)),
               size = length;
        if (to > length) to = length;
        memcpy(text, sound, length + 1);
        switch (rng_below(&rng, 4)) {
        case 0: /* a digit, so that most stay JSON */
            text[from] = (char)('0' + rng_below(&rng, 10));
            break;
        case 1:
            text[from] = (char)rng_below(&rng, 256);
            break;
        case 2:
            memmove(text + from, text + to, length - to);
            size = length - (to - from);
            break;
        case 3:
            memcpy(text + to, sound + from, length - from);
            size = to + length - from;
            break;
        }
        struct run **runs = calloc(1, sizeof(struct run *));
        assert_non_null(runs);
        runs[0] = run_parse(text, size, "run.json", &err);
        if (!runs[0]) {
            assert_int_equal(err.code, LB_EXIT_USAGE);
            free(runs);
            refused++;
            continue;
        }
        struct report *report = report_make(runs, 1, &err);
        assert_non_null(report);
        free(render(report, REPORT_FULL, true));
        FILE *out = fopen("/dev/null", "w");
        assert_non_null(out);
        if (report_write(report, REPORT_HTML, false, out, &err))
            assert_int_equal(err.code, LB_EXIT_USAGE);
        fclose(out);
        report_free(report);
        rendered++;
    }
    assert_true(refused > 100 && rendered > 100);
    free(text);
    free(sound);
}

/* One of two repeats is partial; the other one, the typical repeat of the row, has no status. */
TEST(test_a_repeat_without_a_status) {
    struct report *report =
        report_of("{\"lock\":\"a\",\"clients\":2,\"throughput_per_s\":5},"
                  "{\"lock\":\"a\",\"clients\":2,\"throughput_per_s\":1,\"status\":\"partial\"}",
                  "");
    char *text = render(report, REPORT_HTML, false);
    has(text, ">partial</span>");
    free(text);
    report_free(report);
}

/* One finding blames the lock or the clock, never both. */
TEST(test_a_step_of_the_wall_clock_is_no_mistake_of_the_lock) {
#define STEPPED(lock, ns, lease)                                                                   \
    "{\"lock\":\"" lock "\",\"clients\":2,\"lease_ns\":" #lease                                    \
    ",\"executor\":{\"wall_step_ns\":" #ns                                                         \
    "},\"exclusion\":{\"verdict\":\"violated\",\"grants\":50,\"tested\":40,\"double_holders\":3}}"
    struct report *report = report_of(
        STEPPED("a", 3600000000000, 10000000000) "," STEPPED(
            "b", 20000000,
            10000000000) "," STEPPED("c", -3600000000000,
                                     10000000000) "," STEPPED("d", 3600000000000,
                                                              10000000000) "," STEPPED("d", 0,
                                                                                       10000000000),
        "");
    char *text = one_line(render(report, REPORT_MD, false));
    has(text, "b, c and d admitted two clients at once: not a lock here.");
    has(text, "a lost grants when this machine's wall clock jumped forward");
    lacks(text, "a, b");
    free(text);
    report_free(report);
}

/* A reader/writer lock whose readers fail has rows that are clean, and one that is not. */
TEST(test_each_row_has_the_verdict_of_its_own_stages) {
    struct report *report = report_of(
        "{\"lock\":\"a\",\"clients\":2,\"readers\":0,\"exclusion\":{\"verdict\":\"clean\","
        "\"grants\":50,\"tested\":40}},"
        "{\"lock\":\"a\",\"clients\":2,\"readers\":50,\"exclusion\":{\"verdict\":\"violated\","
        "\"grants\":50,\"tested\":40,\"double_holders\":3}},"
        "{\"lock\":\"b\",\"clients\":2,\"readers\":50,\"exclusion\":{\"verdict\":\"violated\","
        "\"grants\":50,\"tested\":40,\"double_holders\":3}}",
        "");
    char *table = render(report, REPORT_FULL, false);
    assert_int_equal(report->locks[0].state, LOCK_VIOLATED);
    const char *clean = strstr(table, "\na     clean "),
               *violated = strstr(table, "\na     violated ");
    if (!clean || !violated) fail_msg("not a row of each: %s", table);
    has(table, "a and b admitted two clients at once: not a lock here");
    free(table);
    report_free(report);
}

/* Guarded stores, histories and recoveries are shown if the run has them, and have no section if it
 * has none. */
TEST(test_faults_are_shown_where_there_are_any) {
    static const char stage[] =
        "{\"lock\":\"a\",\"id\":\"000-a\",\"clients\":4,\"keys\":1,\"exclusion\":{"
        "\"verdict\":\"violated\",\"double_holders\":3,\"grants\":50},"
        "\"store\":{\"where\":\"memory\",\"fenced\":true,\"stale_attempted\":17,"
        "\"stale_accepted_unfenced\":16,"
        "\"stale_rejected_fenced\":15},\"history\":{\"ops\":1234,\"model\":\"mutex\","
        "\"counterexample\":[{\"client\":1,\"key\":0,\"op\":\"acquire\",\"begin_s\":"
        "1.25,\"end_s\":1.5,\"outcome\":\"ok\",\"token\":0,"
        "\"note\":\"" EVIL "\"},{\"op\":\"release\",\"token\":1152921504606846977}]},"
        "\"recovery\":{\"count\":20,\"p50_ns\":1700000000,\"theory_max_ns\":"
        "2000000000,\"detect\":{\"never\":2}}}";
    struct report *report = report_of(stage, "");
    char *html = render(report, REPORT_HTML, false), *csv = render(report, REPORT_CSV, false);
    char *table = render(report, REPORT_FULL, false);
    has(html, "id=\"faults\"");
    has(html, ">1,234<");
    has(html, "1152921504606846977");
    has(html, "violated as a mutex");
    assert_int_equal(count_of(html, "<img"), 0);
    has(csv, ",store.stale_rejected_fenced,");
    has(csv, ",17,16,15,");
    has(table, "3 second holders in 50");
    free(html);
    free(csv);
    free(table);
    report_free(report);

    report = report_of(
        "{\"lock\":\"a\",\"clients\":4,\"store\":null,\"history\":null,\"recovery\":null}", "");
    html = render(report, REPORT_HTML, false);
    lacks(html, "#faults");
    lacks(html, "id=\"faults\"");
    free(html);
    report_free(report);
}

/* How long the recovery took is in all formats. */
TEST(test_recovery_is_in_all_formats) {
#define RESTARTED(lock, recovered, gap)                                                            \
    "{\"lock\":\"" lock "\",\"clients\":4,\"keys\":2,\"arrival\":\"closed\",\"hold\":\"3s\","      \
    "\"latency_ns\":{\"hold\":{\"count\":9,\"hdr\":\"" HDR_9 "\",\"max\":3000000000}},"            \
    "\"recovery\":{\"count\":1,\"p50_ns\":" #recovered ",\"max_ns\":" #recovered                   \
    ",\"unavailable_ns\":" #gap "}}"
    struct report *report = report_of(
        RESTARTED("a", 232000000, 5000000000) "," RESTARTED("b", 328000000, 300000000), "");
    char *table = render(report, REPORT_FULL, false), *md = render(report, REPORT_MD, false);
    has(table, "Recovery, 4 clients: ");
    has(table, "1  232  232   5,000");
    has(table, "1  328  328     300");
    has(md, "| 1 | 232 | 232 | 5,000 |");
    lacks(md, "Which lock?"); /* a section without anything to say */
    free(table);
    free(md);
    report_free(report);
    report = report_of("{\"lock\":\"a\",\"clients\":4}", "");
    table = render(report, REPORT_FULL, false);
    assert_int_equal(count_of(table, "Recovery"), 0);
    free(table);
    report_free(report);
#undef RESTARTED
}

/* The section of a chart, and its link, are marked, so that a page without scripts hides them; a
 * page without charts leaves them out. */
TEST(test_sections_that_only_scripts_fill) {
    struct report *report =
        report_of("{\"lock\":\"a\",\"clients\":4,\"fairness\":{\"jain\":1}}", "");
    char *html = render(report, REPORT_HTML, false);
    has(html, "Fairness as tables");
    if (*asset_bundle) {
        has(html, "<a href=\"#series\" class=\"alone\">");
        has(html, "<div class=\"view\" data-view=\"series\"");
        has(html, "section:has(> .view)");
    } else {
        assert_int_equal(count_of(html, "#series"), 0);
        assert_int_equal(count_of(html, "id=\"series\""), 0);
    }
    free(html);
    report_free(report);
}

/* Attempts and their outcomes are shown so that they add up, over several repeats too. */
TEST(test_counts_are_shown_in_full) {
#define REPEAT(attempts, ok, lost, broken)                                                         \
    "{\"lock\":\"a\",\"clients\":4,\"keys\":1,\"attempts\":" #attempts                             \
    ",\"outcomes\":{\"ok\":" #ok ",\"lost\":" #lost ",\"broken\":" #broken "}}"
    struct report *report = report_of(REPEAT(2030, 2006, 2, 22), "");
    char *html = render(report, REPORT_HTML, false);
    has(html, "data-v=\"2030\">2,030<");
    has(html, "data-v=\"2006\">2,006<");
    has(html, "data-v=\"2\">2<");
    has(html, "data-v=\"22\">22<");
    free(html);
    report_free(report);

    report = report_of(REPEAT(2030, 2006, 2, 22) "," REPEAT(1001, 1001, 0, 0), "");
    html = render(report, REPORT_HTML, false);
    has(html, "counts of all repeats together");
    has(html, ">3,031<"); /* attempts */
    has(html, ">3,007<"); /* ok */
    has(html, ">22<");
    free(html);
    report_free(report);
#undef REPEAT
}

TEST_MAIN(NULL, NULL)
