/* test_hlog_read: logs of our writer are read back; a damaged line gives one line of error, and the lines after it can
 * still be read. */

#include <unistd.h>

#include "bench/base/clock.h"
#include "bench/tests/unit.h"
#include "results/format/hlog.h"

#define START_NS INT64_C(1795218481253000000)
/* One value, 1, in a histogram of three digits up to an hour: from HistogramLogWriter of
 * HdrHistogram 2.1.11. */
#define ONE "HISTFAAAACJ42pNpmSzMwMDAxAABzFCaEch0M9ixgMH+A1SECQBXFwRP"

/* Of a file with this text. */
static struct hlog_reader *open_text(const char *text) {
    struct lb_err err = {0};
    char path[] = "/tmp/test_hlog_read-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    struct hlog_reader *reader = hlog_open(path, &err);
    assert_non_null(reader);
    unlink(path);
    return reader;
}

/* What one call gives. */
static int next(struct hlog_reader *reader, struct hlog_line *line, struct lb_err *err) {
    *err = (struct lb_err){0};
    return hlog_next(reader, line, err);
}

TEST(lines_are_read_and_comments_passed) {
    static const char *const tags[] = {"acquire", "lock:a/b=c"};
    struct hlog_line line;
    struct lb_err err;
    struct hlog_reader *reader = open_text(
        "#[lockbench 0.1]\n\"StartTimestamp\",\"Interval_Length\"\nTag=acquire,1795218481.253,1.000,0.000," ONE
        "\nTag=lock:a/b=c,1795218482.253,60.000,0.000," ONE "\n");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(next(reader, &line, &err), 1);
        assert_string_equal(line.tag, tags[i]);
        assert_int_equal(line.start_ns, START_NS + i * LB_S_NS);
        assert_int_equal(line.length_ns, i ? 60 * LB_S_NS : LB_S_NS);
        assert_int_equal(line.hist->count, 1);
        assert_int_equal(line.hist->counts[1], 1);
    }
    assert_int_equal(next(reader, &line, &err), 0);
    assert_int_equal(next(reader, &line, &err), 0);
    hlog_close(reader);
}

TEST(a_bad_line_is_named_and_the_next_one_read) {
    static const struct {
        const char *bad, *says;
    } cases[] = {
        {"Tag=a", "is no interval"},
        {"Tag=a,-1.000,1.000,0.000," ONE, "is no interval"},
        {"Tag=a,nan,1.000,0.000," ONE, "is no interval"},
        {"Tag=a,1,1.000,0.000," ONE, "is no interval"},
        {"Tag=a,99999999999999999999.000,1.000,0.000," ONE, "is no interval"},
        {"Tag=a,1.000,,0.000," ONE, "is no interval"},
        {"Tag=a,1.000,1.000,0.000", "is no interval"},
        {"Tag=a,1.000,1.000,0.000,", "is not sound"},
        {"Tag=a,1.000,1.000,0.000,HISTFAAA", "is not sound"},
        {"Tag=a,1.000,1.000,0.000," ONE "=", "is not sound"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[600];
        struct lb_err err;
        struct hlog_line line = {.length_ns = 77};
        snprintf(text, sizeof text, "#x\n%s\nTag=good,5.000,1.000,0.000," ONE "\n", cases[i].bad);
        struct hlog_reader *reader = open_text(text);
        assert_int_equal(next(reader, &line, &err), -1);
        assert_int_equal(err.code, LB_EXIT_USAGE);
        assert_int_equal(line.length_ns, 77);
        if (!strstr(err.text, ": line 2 ") || !strstr(err.text, cases[i].says))
            fail_msg("case %zu: '%s' does not say '%s'", i, err.text, cases[i].says);
        assert_null(strchr(err.text, '\n'));
        assert_int_equal(next(reader, &line, &err), 1);
        assert_string_equal(line.tag, "good");
        hlog_close(reader);
    }
}

TEST(files_that_are_none) {
    struct lb_err err = {0};
    assert_null(hlog_open("/nowhere/a.hlog", &err));
    assert_int_equal(err.code, LB_EXIT_USAGE);
    assert_non_null(
        strstr(err.text, "/nowhere/a.hlog: cannot be read as a histogram log: No such file"));
}

TEST_MAIN(NULL, NULL)
