/* test_check: stored checks rendered, compared with what is stored beside them. The checks are made by make_check.mjs.
 *
 * After a wanted change: UPDATE_GOLDEN=1 <this program>, then read the diff before it is kept. Runs
 * from the project's folder. */
#define _GNU_SOURCE

#include "report/check/check.h"
#include "report/tests/report_help.h"

#define GOLDEN "report/tests/golden/check/"

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

/* Programs get check.json itself. */
TEST(test_json_is_the_file) {
    struct check *check = load(GOLDEN "faults");
    char *text = render_check(check, REPORT_JSON, false);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    json_t *file = json_load_file(GOLDEN "faults/check.json", 0, NULL);
    assert_true(json_equal(root, file));
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

TEST_MAIN(NULL, NULL)
