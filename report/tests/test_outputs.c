/* test_outputs: full disks, damaged runs, a check of more than a screen. What no output may do is in sound_help.h. */
#include "bench/base/rng.h"
#include "report/tests/sound_help.h"

static struct check *check_of(const char *text) {
    struct lb_err err = {0};
    struct check *check = check_parse(text, strlen(text), "check.json", &err);
    assert_string_equal(err.text, "");
    assert_non_null(check);
    return check;
}

/* A full disk is an error, not a short report. */
TEST(test_a_full_disk_is_said) {
    struct report *report = report_of("{\"lock\":\"a\",\"clients\":2}", "");
    struct check *check = check_of("{\"schema\":\"lockbench.check/2\",\"cells\":[]}");
    for (int i = 0; i < 2 * REPORT_FORMATS; i++) {
        struct lb_err err = {0};
        enum report_format format = (enum report_format)(i / 2);
        if (i % 2 && format == REPORT_HTML) continue; /* is for runs */
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
            "\"overlaps\":9e15,\"stale_attempted\":9e15}",
            i ? "," : "", i / FAULTS * 5 + 2, i / FAULTS, i % FAULTS % 60 + 1, i % FAULTS,
            i % 7 ? "safe" : "violated", i % 7 ? "better" : "worse");
    }
    fputs("]}", out);
    fclose(out);
    struct check *check = check_of(text);
    char *table = render_check(check, REPORT_TABLE);
    assert_sound_text(table, REPORT_TABLE, "", 0);
    free(table);
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
    for (int i = 0; i < 500; i++) {
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
        struct run *run = run_parse(text, size, "run.json", &err);
        if (!run) {
            assert_int_equal(err.code, LB_EXIT_USAGE);
            refused++;
            continue;
        }
        struct report *report = report_make(run, &err);
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
    assert_true(refused > 30 && rendered > 100);
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
