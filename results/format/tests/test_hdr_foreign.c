/* test_hdr_foreign: HdrHistogram's own reader finds in our logs what we put there.
 *
 * Runs the HistogramLogProcessor of the Java library on a log of several tags and intervals and
 * compares counts, percentiles and whole distributions, tag by tag. A Java runtime is enough;
 * nothing is compiled. Without the library the test is skipped, and says so; with CI=true it
 * fails. */

#include <math.h>
#include <spawn.h>
#include <sys/wait.h>

#include "bench/base/clock.h"
#include "bench/base/rng.h"
#include "bench/tests/unit.h"
#include "results/format/hlog.h"

#define TAGS 5
#define INTERVALS 4
#define START_NS INT64_C(1795218481253000000)
#define PACKAGES "libhdrhistogram-java and default-jre-headless"

extern char **environ;

/* What was written: each interval's histogram, and all of a tag's intervals in one. */
struct written {
    char folder[256], log[300], out[300], table[300];
    struct hist *interval[TAGS][INTERVALS];
    struct hist *total[TAGS];
};

static const char *const tags[TAGS] = {"acquire", "acquire.due", "wait.failed", "ping",
                                       "lock:a/b=c"};

/* Each tag has a shape of its own: round counts, on which ranks fall exactly; all magnitudes; a
 * silent interval; one value over and over; the edges of the range and values beyond them. */
static void fill(struct hist *h, int tag, int interval, struct lb_rng *rng) {
    switch (tag) {
    case 0:
        for (int i = 1; i <= 10000; i++) hist_record(h, (interval + 1) * i);
        break;
    case 1:
        for (int i = 0; i < 5000; i++)
            hist_record(h, (int64_t)(rng_u64(rng) >> (22 + rng_below(rng, 42))));
        break;
    case 2:
        for (int i = 0; interval != 1 && i < 37; i++)
            hist_record(h, 1000000 + (int64_t)rng_below(rng, 9000000));
        break;
    case 3:
        for (int i = 0; i < 300000; i++) hist_record(h, 45678);
        break;
    default:
        hist_record(h, 0);
        hist_record(h, 1);
        hist_record(h, 2047);
        hist_record(h, 2048);
        hist_record(h, HIST_HIGHEST_NS);
        hist_record(h, HIST_HIGHEST_NS + 1);
        hist_record(h, -1);
    }
}

static void write_log(struct written *w) {
    struct lb_err err = {0};
    struct lb_rng rng;
    rng_seed(&rng, 42, 0);
    FILE *file = fopen(w->log, "w");
    assert_non_null(file);
    assert_int_equal(hlog_begin(file, START_NS, "test", &err), 0);
    for (int i = 0; i < INTERVALS; i++) {
        for (int t = 0; t < TAGS; t++) {
            struct hist *h = w->interval[t][i] = hist_new(HIST_DIGITS, HIST_HIGHEST_NS);
            assert_non_null(h);
            fill(h, t, i, &rng);
            if (hlog_write(file, tags[t], START_NS + i * LB_S_NS, LB_S_NS, h, &err) != 0)
                fail_msg("%s", err.text);
            if (i == 0) w->total[t] = hist_new(HIST_DIGITS, HIST_HIGHEST_NS);
            assert_int_equal(hist_add(w->total[t], h), 0);
        }
    }
    assert_int_equal(fclose(file), 0);
}

static int run(const char *const argv[]) {
    pid_t pid;
    int status;
    if (posix_spawnp(&pid, argv[0], NULL, NULL, (char *const *)argv, environ) != 0) return -1;
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) return -1;
    return WEXITSTATUS(status);
}

/* The reader's jar, or NULL. Debian's name, then the one that others use. */
static const char *find_jar(void) {
    static const char *const jars[] = {"/usr/share/java/hdrhistogram.jar",
                                       "/usr/share/java/HdrHistogram.jar"};
    for (size_t i = 0; i < sizeof jars / sizeof *jars; i++) {
        if (access(jars[i], R_OK) == 0) return jars[i];
    }
    return NULL;
}

static int have_java(void) {
    return run((const char *const[]){"sh", "-c", "java -version >/dev/null 2>&1", NULL}) == 0;
}

/* The value that HdrHistogram prints for a quantile: the top of its slot. Our own quantile is cut
 * at the exact maximum. */
static int64_t theirs(const struct hist *h, double quantile) {
    return h->count ? hist_slot_high(h, hist_slot(h, hist_quantile(h, quantile))) : 0;
}

static int64_t their_max(const struct hist *h) {
    return h->count ? hist_slot_high(h, h->last) : 0;
}

static void assert_figure(const char *tag, const char *line, int column, double read,
                          int64_t ours) {
    if (read != (double)ours)
        fail_msg("%s, column %d: we wrote %lld: %s", tag, column, (long long)ours, line);
}

/* The reader prints a line for each interval: the interval's end, its figures, and the figures of
 * all intervals so far. */
static void check_intervals(const struct written *w, int tag) {
    enum { COLUMNS = 11 };
    char line[512];
    FILE *file = fopen(w->out, "r");
    assert_non_null(file);
    struct hist *all = hist_new(HIST_DIGITS, HIST_HIGHEST_NS);
    assert_non_null(all);
    int i = 0;
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#' || line[0] == '"') continue;
        assert_true(i < INTERVALS);
        const struct hist *h = w->interval[tag][i++];
        hist_add(all, h);
        const int64_t ours[COLUMNS] = {
            h->count,           theirs(h, 0.5),      theirs(h, 0.9),   their_max(h),
            all->count,         theirs(all, 0.5),    theirs(all, 0.9), theirs(all, 0.99),
            theirs(all, 0.999), theirs(all, 0.9999), their_max(all)};
        char *at;
        assert_true(fabs(strtod(line, &at) - i) < 0.0005);
        for (int c = 0; c < COLUMNS; c++) {
            assert_int_equal(*at, ',');
            assert_figure(tags[tag], line, c + 1, strtod(at + 1, &at), ours[c]);
        }
    }
    assert_int_equal(i, INTERVALS);
    hist_free(all);
    fclose(file);
}

/* The percentile table: the number of values up to each row's value is ours, and so is that rank's
 * value. */
static void check_distribution(const struct written *w, int tag) {
    char line[512];
    const struct hist *h = w->total[tag];
    FILE *file = fopen(w->table, "r");
    assert_non_null(file);
    int rows = 0;
    double value = 0, percentile = 0, count = 0;
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#' || line[0] == '"' || line[0] == '\n') continue;
        assert_int_equal(sscanf(line, "%lf,%lf,%lf", &value, &percentile, &count), 3);
        int64_t ours = 0;
        for (int32_t slot = 0; slot < h->length && hist_slot_high(h, slot) <= (int64_t)value;
             slot++)
            ours += h->counts[slot];
        assert_figure(tags[tag], line, 2, count, ours);
        assert_figure(tags[tag], line, 0, value, theirs(h, count / (double)h->count));
        rows++;
    }
    assert_true(rows >= 2);
    assert_true(percentile == 1 && count == (double)h->count && value == (double)their_max(h));
    fclose(file);
}

TEST(test_their_reader_agrees) {
    const struct written *w = *state;
    const char *jar = find_jar();
    if (!jar || !have_java())
        skip_for("%s is missing, so nobody but us has read our histograms: install " PACKAGES,
                 jar ? "java" : "HdrHistogram's Java library");
    for (int t = 0; t < TAGS; t++) {
        /* ratio 1: nanoseconds as they are; 16 rows for each halving of the distance to 100 % */
        const char *const argv[] = {"java",  "-cp",
                                    jar,     "org.HdrHistogram.HistogramLogProcessor",
                                    "-csv",  "-outputValueUnitRatio",
                                    "1",     "-tag",
                                    tags[t], "-i",
                                    w->log,  "-o",
                                    w->out,  NULL};
        assert_int_equal(run(argv), 0);
        check_intervals(w, t);
        check_distribution(w, t);
    }
}

static int setup(void **state) {
    static struct written w;
    const char *tmp = getenv("TMPDIR");
    setenv("LC_ALL", "C", 1); /* the reader prints numbers as its locale does */
    snprintf(w.folder, sizeof w.folder, "%.200s/test_hdr_foreign.XXXXXX",
             tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(w.folder)) return -1;
    snprintf(w.log, sizeof w.log, "%s/stage.hlog", w.folder);
    snprintf(w.out, sizeof w.out, "%s/read", w.folder);
    /* the name that the reader makes of it */
    snprintf(w.table, sizeof w.table, "%s/read.hgrm", w.folder);
    write_log(&w);
    *state = &w;
    return 0;
}

static int teardown(void **state) {
    struct written *w = *state;
    for (int t = 0; t < TAGS; t++) {
        for (int i = 0; i < INTERVALS; i++) hist_free(w->interval[t][i]);
        hist_free(w->total[t]);
    }
    unlink(w->log);
    unlink(w->out);
    unlink(w->table);
    return rmdir(w->folder);
}

TEST_MAIN(setup, teardown)
