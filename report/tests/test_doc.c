/* test_doc: one document through all four writers: what each keeps, what each leaves out, and that
 * no text from elsewhere steers a format. */

#include <math.h>

#include "bench/tests/unit.h"
#include "report/doc/doc.h"
#include "report/doc/screen.h"

#define EVIL "<b>a</b>|`x` \"q\", *\033[31m"

static char *written(struct doc *doc, enum doc_format format) {
    struct lb_err err = {0};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(doc_write(doc, format, false, out, &err), 0);
    fclose(out);
    return text;
}

static void has(struct doc *doc, enum doc_format format, const char *part) {
    char *text = written(doc, format);
    if (!strstr(text, part)) fail_msg("format %d has no \"%s\": %s", format, part, text);
    free(text);
}

static void lacks(struct doc *doc, enum doc_format format, const char *part) {
    char *text = written(doc, format);
    if (strstr(text, part)) fail_msg("format %d has \"%s\": %s", format, part, text);
    free(text);
}

static const struct doc_column columns[] = {
    {.title = "lock"},
    {.title = "rate", .help = "grants", .figure = DOC_NUMBER},
    {.title = "wait", .figure = DOC_NUMBER, .unit = &(const struct number_unit){"us", 1000}},
    {.title = "n", .figure = DOC_COUNT},
    {.title = "longest", .figure = DOC_TIME},
    {.title = "why", .brief = "", .words = true, .below = true},
    {.title = NULL},
};

static void add_table(struct doc *doc, const char *name) {
    doc_table(doc, NULL, NULL);
    doc_columns(doc, columns);
    doc_row(doc, DOC_ROW);
    doc_cell(doc, "%s", name);
    doc_figure(doc, 21345);
    doc_figure(doc, 45100);
    doc_figure(doc, 1234567);
    doc_figure(doc, NAN);
    doc_cell(doc, "%s", name);
    doc_command(doc, "again", "lockbench run 'a|b'");
    doc_end(doc);
}

/* Two rows of one lock differ in what stands at the end of their names: a topology, or the mark of a row that is
 * not whole. */
TEST(a_long_name_keeps_its_end) {
    struct doc doc = {0};
    doc_table(&doc, NULL, NULL);
    doc_columns(&doc, columns);
    for (int i = 0; i < 2; i++) {
        doc_row(&doc, DOC_ROW);
        doc_cell(&doc, "a-l\xc3\xb6ng-name-of-a-lock-indeed @redis-%s",
                 i == 0 ? "sentinel" : "replica");
        if (i == 1) doc_chip(&doc, DOC_MARK, TONE_WARN, "!", "partial", NULL);
        for (int c = 0; c < 4; c++) doc_figure(&doc, 1);
        doc_cell(&doc, "%s", "");
    }
    doc_end(&doc);
    has(&doc, DOC_TERMINAL,
        "a-l\xc3\xb6ng-name-of-a\xe2\x80\xa6"
        "d @redis-sentinel ");
    has(&doc, DOC_TERMINAL,
        "\xe2\x80\xa6"
        "d @redis-replica! ");
    has(&doc, DOC_MARKDOWN, "a-l\xc3\xb6ng-name-of-a-lock-indeed \\@redis-replica (partial)");
    doc_free(&doc);
}

TEST(a_table_is_the_same_everywhere) {
    struct doc doc = {0};
    add_table(&doc, "redis");
    has(&doc, DOC_TERMINAL,
        "lock     rate  wait          n  longest\n"
        "                 us\n"
        "redis  21,300  45.1  1,234,567        –\n"
        "    redis\n"
        "    again: lockbench run 'a|b'\n");
    has(&doc, DOC_MARKDOWN,
        "| lock | rate | wait (us) | n | longest | why |\n"
        "|---|--:|--:|--:|--:|---|\n"
        "| redis | 21,300 | 45.1 | 1,234,567 | – | redis; again: `lockbench run 'a\\|b'` |\n");
    has(&doc, DOC_HTML, "<th scope=\"col\" class=\"num\">wait <span class=\"unit\">us</span></th>");
    has(&doc, DOC_HTML,
        "<tr><th scope=\"row\">redis</th><td class=\"num\" data-v=\"21345\">21,300</td>"
        "<td class=\"num\" data-v=\"45100\">45.1</td><td class=\"num\" data-v=\"1234567\">1,234,567</td>"
        "<td class=\"num\">–</td>");
    doc_free(&doc);
}

TEST(no_text_steers_a_format) {
    struct doc doc = {0};
    doc_section(&doc, "one", EVIL);
    doc_say(&doc, TONE_BAD, "%s", EVIL);
    doc_span(&doc, DOC_STRONG, "%s", EVIL);
    doc_list(&doc, NULL);
    doc_item(&doc, TONE_PLAIN, "%s", EVIL);
    doc_end(&doc);
    add_table(&doc, EVIL);
    doc_fold(&doc, false, "%s", EVIL);
    doc_terms(&doc);
    doc_term(&doc, EVIL, "%s", EVIL);
    doc_end(&doc);
    doc_code(&doc, EVIL);
    doc_end(&doc);
    doc_end(&doc);
    static const enum doc_format printed[] = {DOC_TERMINAL, DOC_MARKDOWN, DOC_HTML};
    for (size_t i = 0; i < sizeof printed / sizeof *printed; i++) lacks(&doc, printed[i], "\033");
    lacks(&doc, DOC_HTML, "<b>a");
    lacks(&doc, DOC_HTML, "\"q\"");
    has(&doc, DOC_MARKDOWN, "| &lt;b>a&lt;/b>\\|\\`x\\` \"q\", \\* \\[31m |");
    lacks(&doc, DOC_MARKDOWN, "\n| <");
    doc_free(&doc);
}

TEST(blocks_are_what_each_format_has_for_them) {
    struct doc doc = {0};
    doc_section(&doc, "verdict", "Does it?");
    doc_box(&doc);
    doc_say(&doc, TONE_GOOD, "It does");
    doc_set_headline(&doc);
    doc_say(&doc, TONE_WARN, "Perhaps");
    doc_end(&doc);
    doc_fold(&doc, true, "More");
    doc_terms(&doc);
    doc_term(&doc, "kernel", "6.1");
    doc_end(&doc);
    doc_end(&doc);
    doc_say(&doc, TONE_PLAIN, "Only here");
    doc_set_only(&doc, DOC_TERMINAL);
    doc_html(&doc, "<hr>");
    doc_end(&doc);
    has(&doc, DOC_TERMINAL, "It does\nPerhaps\n\nMore\n  kernel                 6.1\nOnly here\n");
    has(&doc, DOC_MARKDOWN,
        "## Does it?\n\n**✅ It does**\n\n⚠️ Perhaps\n\n<details><summary>More</summary>\n\n"
        "- kernel: 6.1\n\n</details>\n");
    has(&doc, DOC_HTML,
        "<section id=\"verdict\" aria-labelledby=\"verdict-title\">\n"
        "<h2 id=\"verdict-title\">Does it?</h2>\n<div class=\"verdict warn\">\n"
        "<p class=\"good headline\">It does</p>\n");
    has(&doc, DOC_HTML, "<details class=\"fold\" open><summary>More</summary>\n");
    has(&doc, DOC_HTML, "<hr></section>\n");
    lacks(&doc, DOC_HTML, "Only here");
    lacks(&doc, DOC_MARKDOWN, "Only here");
    doc_free(&doc);
}

/* Names are cut, columns that tell least go, figures lose digits: 100 columns hold it all. */
TEST(a_wide_table_fits) {
    struct doc doc = {0};
    doc_table(&doc, NULL, "A caption");
    doc_column(&doc, &(struct doc_column){.title = "lock"});
    for (int c = 0; c < 9; c++)
        doc_column(&doc, &(struct doc_column){.title = c == 4 ? "dropped" : "a figure",
                                              .figure = DOC_NUMBER,
                                              .drop = c == 4});
    doc_row(&doc, DOC_ROW);
    doc_cell(&doc, "%s", "a-lock-with-a-name-that-is-far-too-long-for-any-table");
    for (int c = 0; c < 9; c++) doc_figure(&doc, 14800000);
    doc_end(&doc);
    char *text = written(&doc, DOC_TERMINAL);
    assert_null(strstr(text, "dropped"));
    assert_non_null(strstr(text, "1.5e+07"));
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        if (screen_width(line) > SCREEN_WIDTH) fail_msg("%d: %s", screen_width(line), line);
    free(text);
    doc_free(&doc);
}

TEST(a_table_of_signs_names_each_cell) {
    struct doc doc = {0};
    doc_table(&doc, "matrix", NULL);
    doc_column(&doc, &(struct doc_column){.title = "lock"});
    doc_column(&doc, &(struct doc_column){.title = "kill", .upright = true});
    doc_column(&doc, &(struct doc_column){.title = "cut", .upright = true});
    doc_group(&doc, TONE_BEST, "on one server");
    doc_row(&doc, DOC_ROW);
    doc_set_data(&doc, "backend", "re\"dis");
    doc_cell(&doc, "redis");
    doc_cell(&doc, "%s", "");
    doc_link(&doc, "#one", "V", "violated");
    doc_cell(&doc, ".");
    doc_end(&doc);
    has(&doc, DOC_HTML, "<tr data-backend=\"re&quot;dis\"><th scope=\"row\">redis</th>");
    has(&doc, DOC_HTML, "<a href=\"#one\" title=\"violated\" aria-label=\"violated\">V</a>");
    has(&doc, DOC_MARKDOWN, "**on one server**\n\n| lock | kill | cut |\n");
    doc_free(&doc);
}

TEST(a_tree_of_json_is_nested_terms) {
    struct doc doc = {0};
    json_t *tree = json_pack("{s:i, s:b, s:[f,n], s:{s:s}}", "cpus", 2, "pinned", 1, "list", 1.5,
                             "inner", "name", "<b>");
    doc_tree(&doc, "The machine", tree);
    json_decref(tree);
    has(&doc, DOC_HTML, "<div><dt>cpus</dt><dd>2</dd></div><div><dt>pinned</dt><dd>yes</dd></div>");
    has(&doc, DOC_HTML, "<dd>1.5, –</dd>");
    has(&doc, DOC_HTML, "<dt>inner</dt><dd><dl><div><dt>name</dt><dd>&lt;b&gt;</dd></div></dl>");
    lacks(&doc, DOC_TERMINAL, "cpus");
    doc_free(&doc);
}

TEST(a_failed_document_is_an_error) {
    struct lb_err err = {0};
    struct doc doc = {.failed = true};
    doc_section(&doc, "one", "One");
    doc_say(&doc, TONE_PLAIN, "two");
    add_table(&doc, "three");
    doc_tree(&doc, "four", NULL);
    doc_end(&doc);
    assert_int_equal(doc_write_and_free(&doc, DOC_HTML, false, stdout, &err), -1);
    assert_string_equal(err.text, "out of memory");
}

TEST_MAIN(NULL, NULL)
