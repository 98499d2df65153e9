/* test_hlog_read: logs of our writer and of HdrHistogram's writers are read back; a damaged line
 * gives one line of error, and the lines after it can still be read. */

#include <sys/stat.h>

#include "bench/base/clock.h"
#include "bench/base/rng.h"
#include "bench/tests/unit.h"
#include "results/format/hlog.h"

#define START_NS INT64_C(1795218481253000000)
#define LEGEND                                                                                     \
    "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n"
/* One value, 1, in a histogram of three digits up to an hour: from HistogramLogWriter of
 * HdrHistogram 2.1.11. */
#define ONE "HISTFAAAACJ42pNpmSzMwMDAxAABzFCaEch0M9ixgMH+A1SECQBXFwRP"

static struct hlog_reader *open_text(const char *text) {
    struct lb_err err = {0};
    FILE *stream = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    assert_non_null(stream);
    struct hlog_reader *reader = hlog_open_stream(stream, "a.hlog", &err);
    assert_non_null(reader);
    return reader;
}

/* What one call gives. */
static int next(struct hlog_reader *reader, struct hlog_line *line, struct lb_err *err) {
    *err = (struct lb_err){0};
    return hlog_next(reader, line, err);
}

TEST(what_was_written_comes_back) {
    static const char *const tags[] = {"acquire", "lock:a/b=c", "x"};
    struct lb_err err = {0};
    struct hist *written[12];
    struct lb_rng rng;
    char *text = NULL;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);
    rng_seed(&rng, 5, 0);
    assert_int_equal(hlog_begin(file, START_NS, "0.1", &err), 0);
    for (int i = 0; i < 12; i++) {
        written[i] = hist_new(HIST_DIGITS, HIST_HIGHEST_NS);
        for (int v = 0; v < 300 * (i % 4); v++)
            hist_record(written[i], (int64_t)(rng_u64(&rng) >> (22 + rng_below(&rng, 42))));
        assert_int_equal(
            hlog_write(file, tags[i % 3], START_NS + i / 3 * LB_S_NS, LB_S_NS, written[i], &err),
            0);
    }
    fclose(file);
    struct hlog_reader *reader = open_text(text);
    for (int i = 0; i < 12; i++) {
        struct hlog_line line;
        assert_int_equal(next(reader, &line, &err), 1);
        assert_string_equal(line.tag, tags[i % 3]);
        assert_int_equal(line.start_ns, START_NS + i / 3 * LB_S_NS);
        assert_int_equal(line.length_ns, LB_S_NS);
        assert_int_equal(line.number, 6 + i);
        assert_int_equal(line.hist->count, written[i]->count);
        assert_memory_equal(line.hist->counts, written[i]->counts,
                            (size_t)written[i]->length * sizeof *written[i]->counts);
        hist_free(written[i]);
    }
    struct hlog_line line;
    assert_int_equal(next(reader, &line, &err), 0);
    assert_int_equal(next(reader, &line, &err), 0);
    hlog_close(reader);
    free(text);
}

/* HistogramLogReader's rule, and logs that do not state when they began. */
TEST(times_are_absolute_or_count_from_a_base) {
    static const struct {
        const char *text;
        int64_t start_ns;
    } cases[] = {
        {"1795218481.253,1.0,0.0," ONE "\n", START_NS},
        {"#[StartTime: 1795218481.253 (seconds since epoch), x]\n0.000,1.0,0.0," ONE "\n",
         START_NS},
        {"#[StartTime: 1795218481.253 (seconds since epoch), x]\n1795218481.253,1.0,0.0," ONE "\n",
         START_NS},
        {"#[StartTime: 1.0 (seconds since epoch), x]\n#[BaseTime: 1795218480.253 (seconds since "
         "epoch)]\n" LEGEND "1,1.0,0.0," ONE,
         START_NS},
        {"\r\n" LEGEND "2.5,1.0,0.0," ONE "\r\n", 2500000000},
        {"0.0000000019,1.0,0.0," ONE "\n", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lb_err err;
        struct hlog_line line = {0};
        struct hlog_reader *reader = open_text(cases[i].text);
        if (next(reader, &line, &err) != 1) fail_msg("case %zu: %s", i, err.text);
        assert_int_equal(line.start_ns, cases[i].start_ns);
        assert_int_equal(line.length_ns, LB_S_NS);
        assert_string_equal(line.tag, "");
        assert_int_equal(line.hist->count, 1);
        assert_int_equal(next(reader, &line, &err), 0);
        hlog_close(reader);
    }
}

/* Whole logs as HdrHistogram's Java library 2.1.11 and hdr-histogram-js 3.0.1 wrote them. */
TEST(logs_of_others_are_read) {
    static const char java[] =
        "#[Logged with jHiccup 2.0.10]\n"
        "#[Histogram log format version 1.3]\n"
        "#[StartTime: 1795218481.253 (seconds since epoch), Fri Nov 20 23:48:01 UTC 2026]\n"
        "#[BaseTime: 1795218481.253 (seconds since epoch)]\n" LEGEND "0.000,1.000,0.000," ONE "\n"
        "Tag=A,1.000,1.501,1.004,"
        "HISTFAAAAHd42pNpmSzMwMBUxQABTFCakYGB2c1gxwIG+w8Qgc/sTH8ZmeqZqpkcmayB0JZJkUmWSRqI"
        "YaQgEy8UcmNh8TJxMrFiQGYsYrhFmZkYiIJEKiNBIVQpcYCFiYlGKlnQARsLFkA7QQ4I4OLgwGARL0ii"
        "HiYAsNoS2g==\n"
        "Tag=empty,2.501,1.000,0.000,HISTFAAAACF42pNpmSzMwMDAyAABzFAayGd2M9ixgMH+A1QEAFKmBEw=\n";
    static const char js[] =
        "#js\n"
        "#[Histogram log format version 1.3]\n"
        "#[StartTime: 1795218481.253 (seconds since epoch), Fri Nov 20 2026 23:48:01 GMT+0000]\n"
        "\n" LEGEND "Tag=js,1795218481.253,1.000,5.000,"
        "HISTFAAAADZ4nJNpmSzMwMBQycDAwMjAwMDMAAGMDAzMbgY7FjDA+McZmY6SiyYyMiUSBeOZ9DEgAA/nHUA=\n";
    struct hlog_line line;
    struct lb_err err;
    struct hlog_reader *reader = open_text(java);
    assert_int_equal(next(reader, &line, &err), 1);
    assert_string_equal(line.tag, "");
    assert_int_equal(line.start_ns, START_NS);
    assert_int_equal(line.hist->count, 1);
    assert_int_equal(next(reader, &line, &err), 1);
    assert_string_equal(line.tag, "A");
    assert_int_equal(line.start_ns, START_NS + LB_S_NS);
    assert_int_equal(line.length_ns, 1501 * LB_MS_NS);
    assert_int_equal(line.hist->digits, 2);
    assert_int_equal(line.hist->count, 1000); /* 1 us to 1 ms */
    assert_int_equal(hist_slot(line.hist, hist_quantile(line.hist, 0.5)),
                     hist_slot(line.hist, 500000));
    assert_int_equal(next(reader, &line, &err), 1);
    assert_int_equal(line.hist->count, 0);
    assert_int_equal(next(reader, &line, &err), 0);
    hlog_close(reader);

    reader = open_text(js);
    assert_int_equal(next(reader, &line, &err), 1);
    assert_string_equal(line.tag, "js");
    assert_int_equal(line.start_ns, START_NS);
    assert_int_equal(line.hist->count, 50);
    assert_int_equal(hist_slot(line.hist, hist_quantile(line.hist, 1)), hist_slot(line.hist, 5000));
    assert_int_equal(next(reader, &line, &err), 0);
    hlog_close(reader);
}

TEST(a_bad_line_is_named_and_the_next_one_read) {
    static const struct {
        const char *bad, *says;
    } cases[] = {
        {"#[Histogram log format version 2.0]", "says log format version 2.0]: 1.0 to 1.3"},
        {"#[StartTime: never (seconds since epoch)]", "has no time in seconds"},
        {"#[BaseTime: 99999999999999999999 (seconds since epoch)]", "has no time in seconds"},
        {"Tag=,1.0,1.0,0.0," ONE, "has a tag that is empty"},
        {"Tag=a b,1.0,1.0,0.0," ONE, "has a tag that is empty or not printable"},
        {"Tag=a", "has a tag that is empty or not printable"},
        {"hello", "does not begin with a time in seconds: hello"},
        {"-1.0,1.0,0.0," ONE, "does not begin with a time"},
        {"nan,1.0,0.0," ONE, "does not begin with a time"},
        {"1e999,1.0,0.0," ONE, "does not begin with a time"},
        {"9223372037.0,1.0,0.0," ONE, "does not begin with a time"}, /* more ns than there are */
        {"99999999999999999999,1.0,0.0," ONE, "does not begin with a time"},
        {"1.0", "does not begin with a time"},
        {"1.0,,0.0," ONE, "has no interval's length"},
        {"1.0,-1,0.0," ONE, "has no interval's length"},
        {"9000000000.000,9000000000.000,0.0," ONE, "ends beyond all time"},
        {"1.0,1.0,," ONE, "has no interval's maximum"},
        {"1.0,1.0,inf," ONE, "has no interval's maximum"},
        {"1.0,1.0,0.0", "has no interval's maximum"},
        {"1.0,1.0,0.0,", "is not sound"},
        {"1.0,1.0,0.0,HISTFAAA", "is not sound"},
        {"1.0,1.0,0.0," ONE "=", "is not sound"},
        {"1.0,1.0,0.0,HISTiQAA", "is not sound"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[600];
        struct lb_err err;
        struct hlog_line line = {.number = 77};
        snprintf(text, sizeof text, "#x\n%s\nTag=good,5.0,1.0,0.0," ONE "\n", cases[i].bad);
        struct hlog_reader *reader = open_text(text);
        assert_int_equal(next(reader, &line, &err), -1);
        assert_int_equal(err.code, LB_EXIT_USAGE);
        assert_int_equal(line.number, 77);
        if (strncmp(err.text, "a.hlog: line 2 ", 15) != 0 || !strstr(err.text, cases[i].says))
            fail_msg("case %zu: '%s' does not say '%s'", i, err.text, cases[i].says);
        assert_null(strchr(err.text, '\n'));
        assert_int_equal(next(reader, &line, &err), 1);
        assert_string_equal(line.tag, "good");
        hlog_close(reader);
    }
}

TEST(lines_without_end_and_without_sense) {
    struct lb_err err;
    struct hlog_line line;
    size_t room = HLOG_LINE_MAX + 1000;
    char *text = malloc(room);
    assert_non_null(text);
    memset(text, 'a', room);
    memcpy(text + HLOG_LINE_MAX + 10, "\n1.0,1.0,0.0," ONE, sizeof "\n1.0,1.0,0.0," ONE);
    struct hlog_reader *reader = open_text(text);
    assert_int_equal(next(reader, &line, &err), -1);
    assert_non_null(strstr(err.text, "is longer than 4194304 bytes"));
    assert_int_equal(next(reader, &line, &err), 1);
    hlog_close(reader);
    free(text);

    FILE *stream = fmemopen((char[]){"1.0\0,1\n"}, 7, "r");
    reader = hlog_open_stream(stream, "a.hlog", &err);
    assert_int_equal(next(reader, &line, &err), -1);
    assert_non_null(strstr(err.text, "NUL"));
    assert_int_equal(next(reader, &line, &err), 0);
    hlog_close(reader);

    reader = open_text("\n");
    assert_int_equal(next(reader, &line, &err), 0);
    hlog_close(reader);
    hlog_close(NULL);
}

TEST(files_that_are_none) {
    struct lb_err err = {0};
    assert_null(hlog_open("/nowhere/a.hlog", &err));
    assert_int_equal(err.code, LB_EXIT_USAGE);
    assert_non_null(
        strstr(err.text, "/nowhere/a.hlog: cannot be read as a histogram log: No such file"));
    err = (struct lb_err){0};
    assert_null(hlog_open("/dev/zero", &err));
    assert_non_null(strstr(err.text, "not a regular file"));
    char pipe_path[] = "/tmp/test_hlog_read.XXXXXX";
    assert_non_null(mkdtemp(pipe_path));
    char path[100];
    snprintf(path, sizeof path, "%s/pipe", pipe_path);
    assert_int_equal(mkfifo(path, 0600), 0);
    err = (struct lb_err){0};
    assert_null(hlog_open(path, &err)); /* and does not wait for a writer */
    unlink(path);
    rmdir(pipe_path);
}

TEST_MAIN(NULL, NULL)
