/* test_doc: one document through all writers: what each keeps, what each leaves out (golden/doc.terminal, doc.markdown, doc.html:
 * after a wanted change UPDATE_GOLDEN=1, then read the diff), and that no text from elsewhere steers a format. */
#include <math.h>

#include "report/tests/report_help.h"

#define GOLDEN "report/tests/golden/doc."
#define EVIL "<b>a</b>|`x` \"q\", *\033[31m"

static const enum doc_format formats[] = {DOC_TERMINAL, DOC_MARKDOWN, DOC_HTML};

static char *text_in(struct doc *doc, enum doc_format format) {
    struct lb_err err = {0};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(doc_write(doc, format, false, out, &err), 0);
    fclose(out);
    return text;
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
static void add_long_names(struct doc *doc) {
    doc_table(doc, NULL, NULL);
    doc_columns(doc, columns);
    for (int i = 0; i < 2; i++) {
        doc_row(doc, DOC_ROW);
        doc_cell(doc, "a-l\xc3\xb6ng-name-of-a-lock-indeed @redis-%s",
                 i == 0 ? "sentinel" : "replica");
        if (i == 1) doc_chip(doc, DOC_MARK, TONE_WARN, "!", "partial", NULL);
        for (int c = 0; c < 4; c++) doc_figure(doc, 1);
        doc_cell(doc, "%s", "");
    }
    doc_end(doc);
}

static void add_blocks(struct doc *doc) {
    doc_section(doc, "verdict", "Does it?");
    doc_box(doc);
    doc_say(doc, TONE_GOOD, "It does");
    doc_set_headline(doc);
    doc_say(doc, TONE_WARN, "Perhaps");
    doc_end(doc);
    doc_fold(doc, true, "More");
    doc_terms(doc);
    doc_term(doc, "kernel", "6.1");
    doc_end(doc);
    doc_end(doc);
    doc_say(doc, TONE_PLAIN, "Only in a terminal");
    doc_set_only(doc, DOC_TERMINAL);
    doc_html(doc, "<hr>");
    doc_end(doc);
}

/* Names are cut, columns that tell least go, figures lose digits: 100 columns hold it all. */
static void add_wide_table(struct doc *doc) {
    doc_table(doc, NULL, "A caption");
    doc_column(doc, &(struct doc_column){.title = "lock"});
    for (int c = 0; c < 9; c++)
        doc_column(doc, &(struct doc_column){.title = c == 4 ? "dropped" : "a figure",
                                             .figure = DOC_NUMBER,
                                             .drop = c == 4});
    doc_row(doc, DOC_ROW);
    doc_cell(doc, "%s", "a-lock-with-a-name-that-is-far-too-long-for-any-table");
    for (int c = 0; c < 9; c++) doc_figure(doc, 14800000);
    doc_end(doc);
}

static void add_table_of_signs(struct doc *doc) {
    doc_table(doc, NULL, NULL);
    doc_column(doc, &(struct doc_column){.title = "lock"});
    doc_column(doc, &(struct doc_column){.title = "kill"});
    doc_column(doc, &(struct doc_column){.title = "cut"});
    doc_group(doc, TONE_BEST, "on one server");
    doc_row(doc, DOC_ROW);
    doc_cell(doc, "redis");
    doc_cell(doc, "V");
    doc_set_title(doc, "re\"dis");
    doc_cell(doc, ".");
    doc_end(doc);
}

TEST(each_format_has_what_it_can_show) {
    static const char *const names[] = {GOLDEN "terminal", GOLDEN "markdown", GOLDEN "html"};
    struct doc doc = {0};
    add_table(&doc, "redis");
    add_long_names(&doc);
    add_blocks(&doc);
    add_wide_table(&doc);
    add_table_of_signs(&doc);
    for (int i = 0; i < 3; i++) {
        char *text = text_in(&doc, formats[i]);
        if (formats[i] == DOC_TERMINAL) assert_lines_fit(text);
        same_as_stored(names[i], text);
        free(text);
    }
    doc_free(&doc);
}

TEST(no_text_steers_a_format) {
    struct doc doc = {0};
    char *texts[3];
    doc_section(&doc, "one", EVIL);
    doc_say(&doc, TONE_BAD, "%s", EVIL);
    doc_span(&doc, DOC_STRONG, "%s", EVIL);
    doc_list(&doc);
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
    for (int i = 0; i < 3; i++) {
        texts[i] = text_in(&doc, formats[i]);
        lacks(texts[i], "\033");
    }
    has(texts[1], "| &lt;b>a&lt;/b>\\|\\`x\\` \"q\", \\* \\[31m |");
    lacks(texts[1], "\n| <");
    lacks(texts[2], "<b>a");
    lacks(texts[2], "\"q\"");
    for (int i = 0; i < 3; i++) free(texts[i]);
    doc_free(&doc);
}

TEST(a_failed_document_is_an_error) {
    struct lb_err err = {0};
    struct doc doc = {.failed = true};
    doc_section(&doc, "one", "One");
    doc_say(&doc, TONE_PLAIN, "two");
    add_table(&doc, "three");
    doc_end(&doc);
    assert_int_equal(doc_write_and_free(&doc, DOC_HTML, false, stdout, &err), -1);
    assert_string_equal(err.text, "out of memory");
}

TEST_MAIN(NULL, NULL)
