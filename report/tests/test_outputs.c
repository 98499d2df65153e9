/* test_outputs: what no output may do, whatever the run or the check holds: outgrow 100 columns, pass on control characters or
 * markup, run as a formula, show an unknown figure as a number. */
#include "bench/base/rng.h"
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

static const char evil_check[] =
    "{\"schema\":\"lockbench.check/2\",\"tool\":{\"name\":\"" EVIL "\",\"version\":\"" EVIL
    "\"},\"command\":\"" EVIL "\",\"started_at\":\"" EVIL "\",\"ended_at\":\"" EVIL
    "\",\"tour\":\"" EVIL "\",\"partial\":true,\"partial_reason\":\"" EVIL
    "\",\"environment\":{\"cpu_model\":\"" EVIL "\",\"kernel\":\"" EVIL "\",\"" EVIL
    "\":1},\"faults\":[{\"name\":\"" EVIL "\",\"summary\":\"" EVIL
    "\"}],\"locks\":[{\"name\":\"" EVIL "\",\"backend\":\"" EVIL "\",\"primitive\":\"" EVIL
    "\",\"guarantee\":\"" EVIL "\",\"crash\":\"" EVIL "\"}],\"cells\":[{\"lock\":\"" EVIL
    "\",\"fault\":\"" EVIL "\",\"verdict\":\"violated\",\"compared\":\"worse\",\"expected\":\"" EVIL
    "\",\"expected_why\":\"" EVIL "\",\"why\":\"" EVIL "\",\"topology\":\"" EVIL
    "\",\"durability\":\"" EVIL "\",\"server\":\"" EVIL "\",\"command\":\"" EVIL
    "\",\"run\":\"" EVIL "\",\"residue\":{\"count\":2,\"example\":\"" EVIL
    "\"},\"recovery_ns\":{\"count\":1,\"p50\":1,\"max\":2,\"theory_max\":3,\"theory\":\"" EVIL
    "\",\"trials\":[1]},\"faults\":[{\"kind\":\"" EVIL "\",\"target\":\"" EVIL
    "\",\"from_s\":1,\"sign\":\"" EVIL "\"}],\"counterexample\":[{\"op\":\"" EVIL
    "\",\"outcome\":\"" EVIL "\",\"note\":\"" EVIL "\",\"client\":\"" EVIL
    "\",\"token\":1152921504606846977}]}]}";

static struct check *check_of(const char *text) {
    struct lb_err err = {0};
    struct check *check = check_parse(text, strlen(text), "check.json", &err);
    assert_string_equal(err.text, "");
    assert_non_null(check);
    return check;
}

static void assert_harmless(const char *text) {
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if ((*c < 0x20 && *c != '\n' && *c != '\r') || *c == 0x7F)
            fail_msg("control character %d in: %.80s", *c, c);
        if (c[0] == 0xC2 && c[1] < 0xA0) fail_msg("a C1 control in: %.80s", c);
        if (c[0] == 0xE2 && c[1] == 0x80 && c[2] == 0xAE)
            fail_msg("a turn of the writing's direction");
    }
}

/* Only the page's own scripts, of which each has this code, open or end a script. */
static void assert_harmless_page(const char *page, const char *code, int scripts, int shown) {
    assert_int_equal(count_of(page, "<img"), 0);
    assert_int_equal(count_of(page, "<script>alert"), 0);
    assert_int_equal(count_of(page, "<script"), (*code ? scripts : 0) + count_of(code, "<script"));
    assert_int_equal(count_of(page, "</script"), *code ? scripts : 0);
    assert_true(count_of(page, "&lt;img") > shown);
    assert_null(strchr(page, '\033'));
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

TEST(test_evil_names) {
    struct report *report = report_of(evil_stages, evil_root);
    char *full = render(report, REPORT_FULL, false), *md = render(report, REPORT_MD, false),
         *csv = render(report, REPORT_CSV, false), *page = render(report, REPORT_HTML, false);
    assert_harmless(full);
    assert_lines_fit(full);
    assert_harmless_page(page, asset_bundle, 2, 10); /* the data and the bundle */
    assert_harmless(md);
    remove_code(md);
    assert_int_equal(count_of(md, "<"), 4); /* our own <details><summary> */
    assert_harmless(csv);
    assert_no_formulas(csv);
    free(full);
    free(md);
    free(csv);
    free(page);
    report_free(report);
}

TEST(test_evil_names_in_a_check) {
    struct check *check = check_of(evil_check);
    char *table = render_check(check, REPORT_TABLE),
         *md = render_check(check, REPORT_MD),
         *page = render_check(check, REPORT_HTML);
    assert_harmless(table);
    assert_lines_fit(table);
    assert_harmless(md);
    remove_code(md);
    for (const char *at = md; (at = strchr(at, '<')); at++)
        if (at == md || at[-1] != '\\') fail_msg("a tag: %.80s", at);
    assert_harmless_page(page, asset_check, 1, 20);
    free(table);
    free(md);
    free(page);
    check_free(check);
}

/* A full disk is an error, not a short report. */
TEST(test_a_full_disk_is_said) {
    struct report *report = report_of("{\"lock\":\"a\",\"clients\":2}", "");
    struct check *check = check_of("{\"schema\":\"lockbench.check/2\",\"cells\":[]}");
    for (int i = 0; i < 2 * REPORT_FORMATS; i++) {
        struct lb_err err = {0};
        enum report_format format = (enum report_format)(i / 2);
        if (i % 2 && format == REPORT_CSV) continue; /* is for runs */
        FILE *out = fopen("/dev/full", "w");
        assert_non_null(out);
        setvbuf(out, NULL, _IONBF, 0);
        assert_int_equal(i % 2 ? report_check_write(check, format, false, out, &err)
                               : report_write(report, format, false, out, &err),
                         -1);
        assert_int_equal(err.code, LB_EXIT_MACHINE);
        fclose(out);
    }
    report_free(report);
    check_free(check);
}

/* More faults than a terminal is wide, names without end. */
TEST(test_a_huge_matrix) {
    enum { LOCKS = 40, FAULTS = 100 };
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fputs("{\"schema\":\"lockbench.check/2\",\"faults\":[", out);
    for (int f = 0; f < FAULTS; f++)
        fprintf(out, "%s{\"name\":\"fault-%0*d\"}", f ? "," : "", f % 60 + 1, f);
    fputs("],\"locks\":[", out);
    for (int l = 0; l < LOCKS; l++) {
        fprintf(out, "%s{\"name\":\"lock-%0*d\",\"backend\":\"b%d\",\"guarantee\":\"node\"}",
                l ? "," : "", l * 5 + 2, l, l);
    }
    fputs("],\"cells\":[", out);
    for (int i = 0; i < LOCKS * FAULTS; i++) {
        fprintf(
            out,
            "%s{\"lock\":\"lock-%0*d\",\"fault\":\"fault-%0*d\",\"verdict\":\"%s\",\"compared\":\"%s\","
            "\"grants\":9e15,"
            "\"overlaps\":9e15,\"stale_attempted\":9e15,\"unavailable_ns\":9e15}",
            i ? "," : "", i / FAULTS * 5 + 2, i / FAULTS, i % FAULTS % 60 + 1, i % FAULTS,
            i % 7 ? "safe" : "violated", i % 7 ? "better" : "worse");
    }
    fputs("]}", out);
    fclose(out);
    struct check *check = check_of(text);
    char *table = render_check(check, REPORT_TABLE),
         *html = render_check(check, REPORT_HTML);
    assert_harmless(table);
    assert_lines_fit(table);
    assert_in_range(count_of(table, "\n"), 5, 40);
    assert_int_equal(count_of(html, "<article "), LOCKS * FAULTS);
    assert_int_equal(count_of(html, "data-verdict="),
                     LOCKS * FAULTS + count_of(asset_check, "data-verdict="));
    free(table);
    free(html);
    free(text);
    check_free(check);
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

TEST_MAIN(NULL, NULL)
