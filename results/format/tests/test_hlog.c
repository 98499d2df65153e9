/* test_hlog: the lines of a log byte by byte, tags that would break a line, and full disks. */
#include "bench/base/clock.h"
#include "bench/tests/unit.h"
#include "results/format/hdr.h"
#include "results/format/hlog.h"

#define START_NS INT64_C(1795218481253400000)

static struct hist *new_hist(void) {
    struct hist *h = hist_new(HIST_DIGITS, HIST_HIGHEST_NS);
    assert_non_null(h);
    return h;
}

TEST(test_opening_lines) {
    struct lb_err err = {0};
    char *text = NULL;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);
    assert_int_equal(hlog_begin(file, START_NS, "0.1", &err), 0);
    fclose(file);
    assert_string_equal(
        text,
        "#[lockbench 0.1]\n"
        "#[Histogram log format version 1.3]\n"
        "#[StartTime: 1795218481.253 (seconds since epoch), Fri Nov 20 23:48:01 UTC 2026]\n"
        "#UNITS: StartTimestamp s, Interval_Length s, Interval_Max ms, histogram values ns\n"
        "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n");
    free(text);
}

/* HdrHistogram_c reads header lines into 128 bytes. */
TEST(test_no_comment_is_too_long) {
    struct lb_err err = {0};
    char *text = NULL, version[1000];
    size_t bytes;
    memset(version, 'v', sizeof version - 1);
    version[sizeof version - 1] = '\0';
    FILE *file = open_memstream(&text, &bytes);
    assert_int_equal(hlog_begin(file, INT64_MAX, version, &err), 0);
    fclose(file);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        assert_true(strlen(line) < 127);
    free(text);
}

TEST(test_lines) {
    static const struct {
        int64_t start_ns, length_ns, max_ns;
        const char *fields;
    } cases[] = {
        {START_NS, LB_S_NS, 8398332100, "1795218481.253,1.000,8398.332,"},
        {1999999999999499999, 999499999, 1, "1999999999.999,0.999,0.000,"},
        {1999999999999500000, 999500000, 999500, "2000000000.000,1.000,1.000,"},
        {0, 0, 0, "0.000,0.000,0.000,"},
        {5 * LB_MS_NS, 60 * LB_S_NS, HIST_HIGHEST_NS + 1,
         "0.005,60.000,3600000.000,"}, /* over: the true maximum */
    };
    struct hist *h = new_hist();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lb_err err = {0};
        char *text = NULL;
        size_t bytes;
        hist_reset(h);
        hist_record(h, cases[i].max_ns);
        FILE *file = open_memstream(&text, &bytes);
        assert_int_equal(
            hlog_write(file, "acquire.due", cases[i].start_ns, cases[i].length_ns, h, &err), 0);
        fclose(file);

        char *histogram = hdr_encode(h, &err), expected[1000];
        assert_non_null(histogram);
        snprintf(expected, sizeof expected, "Tag=acquire.due,%s%s\n", cases[i].fields, histogram);
        assert_string_equal(text, expected);
        free(histogram);
        free(text);
    }
    hist_free(h);
}

TEST(test_silence_is_written) {
    struct lb_err err = {0};
    char *text = NULL;
    size_t bytes;
    struct hist *h = new_hist();
    FILE *file = open_memstream(&text, &bytes);
    assert_int_equal(hlog_write(file, "x", START_NS, LB_S_NS, h, &err), 0);
    fclose(file);
    assert_memory_equal(text, "Tag=x,1795218481.253,1.000,0.000,HISTFAAA", 41);
    free(text);
    hist_free(h);
}

TEST(test_tags_that_would_break_a_line) {
    static const char *const bad[] = {"", "a,b", "a b", " ", "a\n", "\ta", "a\x7f", "\xc3\xbc"};
    struct hist *h = new_hist();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct lb_err err = {0};
        char *text = NULL;
        size_t bytes;
        FILE *file = open_memstream(&text, &bytes);
        assert_int_equal(hlog_write(file, bad[i], START_NS, LB_S_NS, h, &err), -1);
        assert_int_equal(err.code, LB_EXIT_USAGE);
        assert_non_null(strstr(err.text, "tag"));
        fclose(file);
        assert_int_equal(bytes, 0);
        free(text);
    }
    hist_free(h);
}

TEST(test_full_disk) {
    struct hist *h = new_hist();
    FILE *file = fopen("/dev/full", "w");
    if (!file) skip();
    setvbuf(file, NULL, _IONBF, 0);
    struct lb_err err = {0};
    assert_int_equal(hlog_begin(file, START_NS, "0.1", &err), -1);
    assert_int_equal(err.code, LB_EXIT_MACHINE);
    assert_non_null(strstr(err.text, "No space left"));
    struct lb_err second = {0};
    assert_int_equal(hlog_write(file, "x", START_NS, LB_S_NS, h, &second), -1);
    assert_int_equal(second.code, LB_EXIT_MACHINE);
    fclose(file);

    /* With a buffered stream the flush between two lines fails; writing the next line must then
     * report an error. */
    file = fopen("/dev/full", "w");
    assert_non_null(file);
    struct lb_err first = {0}, later = {0};
    assert_int_equal(hlog_write(file, "x", START_NS, LB_S_NS, h, &first), 0);
    assert_int_equal(fflush(file), EOF);
    assert_int_equal(hlog_write(file, "x", START_NS, LB_S_NS, h, &later), -1);
    assert_non_null(strstr(later.text, "earlier write"));
    fclose(file);
    hist_free(h);
}

TEST_MAIN(NULL, NULL)
