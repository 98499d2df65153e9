/* test_check: stored checks rendered, compared with what is stored beside them; and what no output
 * of a check may do, whatever the file holds. The checks are made by make_check.mjs.
 *
 * After a wanted change: UPDATE_GOLDEN=1 <this program>, then read the diff before it is kept. Runs
 * from the project's folder. */
#define _GNU_SOURCE

#include "report/check/check.h"
#include "report/doc/screen.h"
#include "report/tests/report_help.h"

#define GOLDEN "report/tests/golden/check/"

#define EVIL                                                                                       \
    "\\u001b]0;owned\\u0007<img src=x "                                                            \
    "onerror=alert(1)></script><script>alert(2)</script>|`*\\\"'&\\u009b31m=cmd()"                 \
    "\\u202e"

static const char evil[] =
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

static char *render_check(const struct check *check, enum report_format format, bool color) {
    struct lb_err err = {0};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(report_check_write(check, format, color, out, &err), 0);
    fclose(out);
    return text;
}

static struct check *load(const char *path) {
    struct lb_err err = {0};
    struct check *check = check_read(path, &err);
    assert_string_equal(err.text, "");
    assert_non_null(check);
    return check;
}

static void assert_screen(const char *text) {
    assert_in_range(count_of(text, "\n"), 5, 40);
}

/* memmem, since a sanitizer's strstr measures the whole text each time. */
TEST(test_stored_checks) {
    static const struct {
        const char *file, *check;
        enum report_format format;
    } cases[] = {
        {"faults.table", GOLDEN "faults", REPORT_TABLE},
        {"faults.full", GOLDEN "faults", REPORT_FULL},
        {"faults.md", GOLDEN "faults/", REPORT_MD},
        {"kept.table", GOLDEN "kept", REPORT_TABLE},
        {"kept.md", GOLDEN "kept", REPORT_MD},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[256];
        struct check *check = load(cases[i].check);
        char *text = render_check(check, cases[i].format, false);
        snprintf(path, sizeof path, GOLDEN "%s", cases[i].file);
        same_as_stored(path, text);
        if (cases[i].format == REPORT_TABLE) assert_screen(text);
        free(text);
        check_free(check);
    }
}

#define UNFAULTED(lock, fault, grants, tested, bound)                                              \
    "{\"lock\":\"" lock "\",\"fault\":\"" fault "\",\"verdict\":\"safe\",\"grants\":" #grants      \
    ",\"tested\":" #tested ",\"bound95\":" #bound "}"
#define TWO_LOCKS                                                                                  \
    "{\"schema\":\"lockbench.check/2\",\"faults\":[{\"name\":\"none\"},{\"name\":\"pooled\"}],"    \
    "\"locks\":[{\"name\":\"a\"},{\"name\":\"b\"}],\"cells\":["

/* The bound stands on the grants that tested a lock, and a cell that they give none is told apart. */
TEST(test_the_summary_counts_what_tested) {
    struct check *check = check_of(TWO_LOCKS UNFAULTED("a", "none", 900, 300, 0.01) "," UNFAULTED(
        "b", "none", 800, 700, null) "]}");
    char *text = render_check(check, REPORT_MD, false);
    has(text,
        "With 95 % confidence fewer than 1 % of the faults go wrong, and of the grants where nothing was");
    has(text, " 1 safe cell has no bound, since hardly anything was tested there.");
    free(text);
    check_free(check);
}

/* Nothing is injected in "pooled" either. */
TEST(test_grants_are_trials_wherever_nothing_is_injected) {
    struct check *check = check_of(TWO_LOCKS UNFAULTED("a", "pooled", 900, 300, 0.01) "]}");
    char *text = render_check(check, REPORT_MD, false),
         *html = render_check(check, REPORT_HTML, false);
    has(text, "With 95 % confidence fewer than 1 % of the faults go wrong");
    has(html, "during 300 of them another client waited");
    free(text);
    free(html);
    check_free(check);
}

/* A cell that tested nothing may have had a fault that acted. */
TEST(test_the_title_of_a_cell_that_tested_nothing_is_true_of_each) {
    struct check *check = check_of(
        "{\"schema\":\"lockbench.check/2\",\"faults\":[{\"name\":\"f\"}],\"locks\":[{\"name\":\"l\"}],"
        "\"cells\":[{\"lock\":\"l\",\"fault\":\"f\",\"verdict\":\"inconclusive\",\"faults_hit\":0,"
        "\"faults_untested\":1,\"faults\":[{\"kind\":\"server-kill\",\"from_s\":1,\"acted\":true,"
        "\"held\":2,\"tested\":0,\"sign\":\"gone\"}]}]}");
    char *html = render_check(check, REPORT_HTML, false);
    has(html, "nothing put the lock to the test: ");
    has(html, ", held 2, tested 0; acted: gone");
    free(html);
    check_free(check);
}

/* The form that programs rely on, with the figures of check.json itself, read here without the
 * reader. */
TEST(test_json_has_every_cell) {
    static const char *const members[] = {"lock",
                                          "fault",
                                          "verdict",
                                          "expected",
                                          "compared",
                                          "grants",
                                          "stale_accepted_unfenced",
                                          "stale_rejected_fenced",
                                          "recovery_ns",
                                          "recovered",
                                          "seed",
                                          "seeds",
                                          "command",
                                          "why",
                                          "counterexample",
                                          "faults"};
    struct check *check = load(GOLDEN "faults");
    char *text = render_check(check, REPORT_JSON, false);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    json_t *file = json_load_file(GOLDEN "faults/check.json", 0, NULL);
    const json_t *cells = json_object_get(root, "cells"), *wanted = json_object_get(file, "cells");
    assert_int_equal(json_array_size(cells), json_array_size(wanted));
    assert_true(json_array_size(cells) > 60);
    for (size_t i = 0; i < json_array_size(cells); i++) {
        const json_t *cell = json_array_get(cells, i);
        for (size_t m = 0; m < sizeof members / sizeof *members; m++) {
            const json_t *a = json_object_get(cell, members[m]);
            const json_t *b = json_object_get(json_array_get(wanted, i), members[m]);
            if (!json_equal(a, b)) fail_msg("cell %zu: %s is another", i, members[m]);
        }
    }
    json_decref(root);
    json_decref(file);
    free(text);
    check_free(check);
}

TEST(test_colour_is_only_colour) {
    struct check *check = load(GOLDEN "faults");
    char *plain = render_check(check, REPORT_TABLE, false),
         *coloured = render_check(check, REPORT_TABLE, true);
    has(coloured, "\033[1;31m4 of 60 cells");
    assert_colour_alone(coloured, plain);
    free(plain);
    free(coloured);
    check_free(check);
}

static void assert_harmless_text(const char *text, bool narrow) {
    char line[8192];
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if ((*c < 0x20 && *c != '\n') || *c == 0x7F)
            fail_msg("control character %d in: %.80s", *c, c);
        if (c[0] == 0xC2 && c[1] < 0xA0) fail_msg("a C1 control in: %.80s", c);
        if (c[0] == 0xE2 && c[1] == 0x80 && c[2] == 0xAE)
            fail_msg("a turn of the writing's direction");
    }
    for (const char *at = text; narrow && *at;
         at += strcspn(at, "\n") + (strchr(at, '\n') != NULL)) {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        if (screen_width(line) > SCREEN_WIDTH) fail_msg("%d columns: %s", screen_width(line), line);
    }
}

/* What opens a tag in Markdown: "<" outside of code, which begins and ends with a run of equally
 * many backticks. */
static int tags_in_markdown(const char *text) {
    size_t code = 0;
    int tags = 0;
    for (; *text; text++) {
        size_t run = strspn(text, "`");
        if (!code && *text == '\\' && text[1]) {
            text++;
        } else if (run > 0) {
            code = code == 0 ? run : code == run ? 0 : code;
            text += run - 1;
        } else {
            tags += !code && *text == '<';
        }
    }
    return tags;
}

TEST(test_evil_texts) {
    struct check *check = check_of(evil);
    char *table = render_check(check, REPORT_TABLE, false),
         *md = render_check(check, REPORT_MD, false);
    char *html = render_check(check, REPORT_HTML, false);
    assert_harmless_text(table, true);
    assert_harmless_text(md, false);
    assert_int_equal(tags_in_markdown(md), 0);
    assert_int_equal(count_of(html, "<img"), 0);
    assert_int_equal(count_of(html, "<script>alert"), 0);
    /* The page's own code; nothing else opens or ends a script. */
    int scripts = *asset_check ? 1 : 0;
    assert_int_equal(count_of(html, "<script"), scripts + count_of(asset_check, "<script"));
    assert_int_equal(count_of(html, "</script"), scripts);
    assert_true(count_of(html, "&lt;img") > 20);
    assert_null(strchr(html, '\033'));
    free(table);
    free(md);
    free(html);
    check_free(check);
}

/* Files with half of their members, or without any cell. */
TEST(test_little_and_nothing) {
    static const char *const texts[] = {
        "{\"schema\":\"lockbench.check/2\",\"cells\":[]}",
        "{\"schema\":\"lockbench.check/"
        "2\",\"partial\":true,\"faults\":[{\"name\":\"f\"}],\"locks\":[{\"name\":\"l\"}],"
        "\"cells\":[{\"lock\":\"l\",\"fault\":\"f\",\"verdict\":\"failed\"}]}",
        "{\"schema\":\"lockbench.check/"
        "2\",\"faults\":[{\"name\":\"f\"}],\"locks\":[{\"name\":\"l\"}],\"cells\":[{"
        "\"lock\":\"l\",\"fault\":\"f\",\"verdict\":\"stuck\",\"recovered\":false,\"faults\":[{}],"
        "\"counterexample\":[{},{\"client\":\"x\"}]}]}",
    };
    static const char *const headlines[] = {"Nothing was judged", "Nothing was judged",
                                            "No lock did worse"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct check *check = check_of(texts[i]);
        for (int format = 0; format < REPORT_FORMATS; format++) {
            if (format == REPORT_CSV) continue; /* is for runs */
            char *text = render_check(check, (enum report_format)format, false);
            assert_true(*text != '\0');
            lacks(text, "nan");
            lacks(text, "(null)");
            has(text, headlines[i]);
            free(text);
        }
        check_free(check);
    }
}

/* Ctrl-C after one of four cells: what was not run is shown as such, and said first. */
TEST(test_a_check_that_was_cut_short) {
    struct check *check = check_of(
        "{\"schema\":\"lockbench.check/2\",\"partial\":true,\"partial_reason\":\"interrupted\","
        "\"planned\":4,\"faults\":[{\"name\":\"cut\"},{\"name\":\"kill\"}],\"locks\":["
        "{\"name\":\"one\",\"guarantee\":\"node\"},{\"name\":\"two\",\"guarantee\":\"node\"}],"
        "\"cells\":[{\"lock\":\"one\",\"fault\":\"kill\",\"verdict\":\"safe\","
        "\"compared\":\"as expected\"}]}");
    char *table = render_check(check, REPORT_TABLE, false),
         *md = render_check(check, REPORT_MD, false),
         *html = render_check(check, REPORT_HTML, false);
    assert_int_equal(strncmp(table, "Not finished: interrupted; 1 of 4 cells was run\n", 48), 0);
    has(table, "\none   ok\n");
    has(table, "so far: 1 cell, 1 lock, 1 scenario\n");
    assert_true(strstr(md, "Not finished") < strstr(md, "No lock did worse"));
    lacks(md, "\xe2\x9c\x85 No lock"); /* not green before the end */
    has(html, ">two<");
    free(table);
    free(md);
    free(html);
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
    char *table = render_check(check, REPORT_TABLE, false),
         *html = render_check(check, REPORT_HTML, false);
    assert_harmless_text(table, true);
    assert_screen(table);
    assert_int_equal(count_of(html, "<article "), LOCKS * FAULTS);
    assert_int_equal(count_of(html, "data-verdict="),
                     LOCKS * FAULTS + count_of(asset_check, "data-verdict="));
    free(table);
    free(html);
    free(text);
    check_free(check);
}

/* What a design review gets is one page: some 70 lines, whatever there is to say. */
TEST(test_the_summary_is_one_page) {
    static const char *const files[] = {GOLDEN "faults.md", GOLDEN "kept.md"};
    static const char *const all[] = {"driver states", "| lock | ",  "seeds ",     "Machine",
                                      "Servers",       "durability", "more trials"};
    for (size_t i = 0; i < 2; i++) {
        char *text = read_whole(files[i]);
        assert_non_null(text);
        assert_in_range(count_of(text, "\n"), 20, 90);
        for (size_t a = 0; a < sizeof all / sizeof *all; a++)
            if (!strstr(text, all[a])) fail_msg("%s says nothing of %s", files[i], all[a]);
        free(text);
    }
}

/* A lock in the memory of a server whose tables are on disk does not get the durability of the tables. */
TEST(test_the_durability_is_the_locks_own) {
    struct check *check = check_of(
        "{\"schema\":\"lockbench.check/2\",\"faults\":[{\"name\":\"f\"}],\"locks\":[{\"name\":\"l\"}],"
        "\"cells\":[{\"lock\":\"l\",\"fault\":\"f\",\"verdict\":\"safe\",\"durability\":\"on disk first\","
        "\"durability_note\":\"kept in memory\"}]}");
    char *html = render_check(check, REPORT_HTML, false);
    has(html, "kept in memory (the server: on disk first)");
    free(html);
    check_free(check);
}

/* A control that nothing exposed means that the check cannot be trusted, whatever else is green. */
TEST(test_a_missed_control_is_said) {
    struct check *check = check_of(
        "{\"schema\":\"lockbench.check/"
        "2\",\"faults\":[{\"name\":\"f\"}],\"locks\":[{\"name\":\"unsafe-x\",\"control\":true},"
        "{\"name\":\"l\"}],\"cells\":[{\"lock\":\"unsafe-x\",\"fault\":\"f\",\"verdict\":\"safe\","
        "\"expected\":\"violated\",\"missed\":true,"
        "\"compared\":\"better\"},{\"lock\":\"l\",\"fault\":\"f\",\"verdict\":\"safe\",\"compared\":"
        "\"as expected\"}]}");
    char *text = render_check(check, REPORT_MD, false);
    has(text, "Broken on purpose, and not caught, so do not trust this check: unsafe-x");
    free(text);
    check_free(check);
}

/* A control that broke under a fault is not thereby caught: only the run that is made to expose it
 * says so. */
TEST(test_only_the_exposing_run_catches_a_control) {
    static const struct {
        const char *verdict, *missed, *said, *not_said;
    } cases[] = {
        {"failed", "false", "Broken on purpose, and its run failed or was inconclusive: unsafe-x",
         "purpose was caught"},
        {"inconclusive", "false", "Of 1 lock broken on purpose 0 were caught",
         "purpose was caught"},
        {"safe", "true", "and not caught, so do not trust this check: unsafe-x",
         "purpose was caught"},
        {"violated", "false", "Every lock broken on purpose was caught: 1", "its run failed"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        snprintf(
            text, sizeof text,
            "{\"schema\":\"lockbench.check/2\",\"faults\":[{\"name\":\"pause\"},{\"name\":\"exposed\"}],"
            "\"locks\":[{\"name\":\"unsafe-x\",\"control\":true}],\"cells\":["
            "{\"lock\":\"unsafe-x\",\"fault\":\"pause\",\"verdict\":\"violated\"},"
            "{\"lock\":\"unsafe-x\",\"fault\":\"exposed\",\"verdict\":\"%s\",\"missed\":%s}]}",
            cases[i].verdict, cases[i].missed);
        struct check *check = check_of(text);
        char *md = render_check(check, REPORT_MD, false),
             *html = render_check(check, REPORT_HTML, false);
        has(md, cases[i].said);
        lacks(md, cases[i].not_said);
        has(html, cases[i].said);
        free(md);
        free(html);
        check_free(check);
    }
}

/* Controls are broken on purpose: under a fault they are shown, and are neither headline nor
 * finding. */
TEST(test_a_control_under_a_fault_is_no_finding) {
    struct check *check = check_of(
        "{\"schema\":\"lockbench.check/2\",\"faults\":[{\"name\":\"pause\"}],\"locks\":[{\"name\":\"l\"},"
        "{\"name\":\"unsafe-x\",\"control\":true}],\"cells\":[{\"lock\":\"l\",\"fault\":\"pause\","
        "\"verdict\":\"safe\",\"compared\":\"as expected\"},{\"lock\":\"unsafe-x\",\"fault\":\"pause\","
        "\"verdict\":\"violated\",\"expected\":\"expired\",\"compared\":\"worse\"}]}");
    char *table = render_check(check, REPORT_TABLE, false),
         *md = render_check(check, REPORT_MD, false),
         *html = render_check(check, REPORT_HTML, false);
    has(md, "No lock did worse than its driver states: 1 cell, 1 lock, 1 scenario");
    has(md, "**broken on purpose**");
    lacks(md, "unsafe-x under pause");
    has(table, "Is it a lock? 1 of 1 survived all that was judged: l\nNo lock did worse");
    lacks(table, "unsafe-x under");
    has(html, "<p class=\"plain\">None.</p>");
    has(html, "unsafe-x under pause: violated, worse than stated");
    free(table);
    free(md);
    free(html);
    check_free(check);
}

/* What has no verdict is in no sum: neither its lock nor its fault was judged, nor that it never
 * recovers. */
TEST(test_what_has_no_verdict_is_in_no_sum) {
    static const char *const silent[] = {"failed", "inconclusive"};
    for (size_t i = 0; i < 2; i++) {
        char text[1400];
        snprintf(
            text, sizeof text,
            "{\"schema\":\"lockbench.check/2\",\"faults\":[{\"name\":\"pause\"},{\"name\":\"holder-kill\"},"
            "{\"name\":\"exposed\"}],\"locks\":[{\"name\":\"l\",\"backend\":\"b\"},"
            "{\"name\":\"m\",\"backend\":\"b\"},{\"name\":\"unsafe-x\",\"control\":true}],\"cells\":["
            "{\"lock\":\"l\",\"fault\":\"pause\",\"verdict\":\"safe\",\"compared\":\"as expected\","
            "\"failed_runs\":1},"
            "{\"lock\":\"m\",\"fault\":\"holder-kill\",\"verdict\":\"%s\",\"recovered\":false,"
            "\"recovery_ns\":{\"count\":0,\"theory_min\":0,\"theory_max\":2000000000}},"
            "{\"lock\":\"unsafe-x\",\"fault\":\"exposed\",\"verdict\":\"violated\"}]}",
            silent[i]);
        struct check *check = check_of(text);
        char *md = render_check(check, REPORT_MD, false),
             *html = render_check(check, REPORT_HTML, false);
        has(md, "No lock did worse than its driver states: 1 cell, 1 lock, 1 scenario");
        has(md, "1 cell rests on a part of its runs");
        lacks(md, "did not recover");
        lacks(html, "did not recover");
        free(md);
        free(html);
        check_free(check);
    }
}

/* A full disk is an error, not a short report. */
TEST(test_a_full_disk) {
    struct check *check = load(GOLDEN "faults");
    for (int format = 0; format < REPORT_FORMATS; format++) {
        struct lb_err err = {0};
        if (format == REPORT_CSV) continue; /* is for runs */
        FILE *out = fopen("/dev/full", "w");
        assert_non_null(out);
        assert_int_equal(report_check_write(check, (enum report_format)format, false, out, &err),
                         -1);
        assert_int_equal(err.code, LB_EXIT_MACHINE);
        fclose(out);
    }
    check_free(check);
}

TEST_MAIN(NULL, NULL)
