/* compare_help: what the tests of comparisons share: runs made from a seed with a spread of their own. Header only,
 * since each test is one program. */
#ifndef REPORT_TESTS_COMPARE_HELP_H
#define REPORT_TESTS_COMPARE_HELP_H

#include <math.h>

#include "bench/tests/hdr_texts.h"
#include "report/compare/compare.h"
#include "report/tests/report_help.h"
#include "results/stats/tests/stats_help.h"

#define OTHER(lock, verdict, rate) STAGE(lock, "complete", verdict, #rate, "")
/* more: further members, each with a comma before it */
#define STAGE(lock, status, verdict, rate, more)                                                   \
    "{\"lock\":\"" lock "\",\"clients\":4,\"keys\":1,\"arrival\":\"closed\",\"status\":\"" status  \
    "\",\"processes\":1,"                                                                          \
    "\"threads\":1,\"topology\":\"redis\",\"throughput_per_s\":" rate                              \
    ",\"exclusion\":{\"verdict\":\"" verdict "\",\"grants\":9}" more "}"

/* A run's stages: one lock, so many repeats. */
struct made {
    const char *lock, *topology, *verdict, *more;
    const char *others; /* stages of other locks, with commas between */
    const char *root;   /* more of the run, with a comma after each */
    int repeats;
    double faster; /* throughput, against 1000/s */
    double slower; /* latencies */
    double noise;  /* relative standard deviation of each run */
    int threads;
};

static int files;

static inline void write_stage(FILE *out, const struct made *made, struct lb_rng *rng, int repeat) {
    double faster = made->faster > 0 ? made->faster : 1,
           slower = made->slower > 0 ? made->slower : 1;
    fprintf(
        out,
        "%s{\"lock\":\"%s\",\"clients\":4,\"keys\":1,\"arrival\":\"closed\",\"status\":\"complete\","
        "\"repeat\":%d,\"processes\":1,\"threads\":%d,\"topology\":\"%s\",\"throughput_per_s\":%.9g,"
        "\"exclusion\":{\"verdict\":\"%s\",\"grants\":1000},\"latency_ns\":{",
        repeat ? "," : "", made->lock, repeat, made->threads ? made->threads : 1,
        made->topology ? made->topology : "redis", 1000 * faster * around(rng, made->noise),
        made->verdict ? made->verdict : "clean");
    fprintf(out, "\"acquire\":{\"count\":5000,\"hdr\":\"" HDR_5000 "\",\"p50\":%.9g,\"p99\":%.9g},",
            1e5 * slower * around(rng, made->noise), 1e6 * slower * around(rng, 2 * made->noise));
    fprintf(out,
            "\"handoff\":{\"count\":5000,\"hdr\":\"" HDR_5000
            "\",\"p50\":%.9g},\"release\":{\"count\":5000,\"hdr\":\"" HDR_5000 "\",\"p99\":%.9g}},",
            5e4 * slower * around(rng, made->noise), 4e5 * slower * around(rng, 2 * made->noise));
    fprintf(out, "\"cost\":{\"commands_per_grant\":%.9g,\"client_cpu_net_ns_per_grant\":%.9g}%s}",
            3 * around(rng, made->noise / 4), 2e4 * around(rng, made->noise),
            made->more ? made->more : "");
}

/* A run's file; malloced path. */
static inline char *make_run(const struct made *made, uint64_t seed) {
    char *path = NULL;
    assert_true(asprintf(&path, "%s/%d.json", folder, files++) > 0);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    struct lb_rng rng;
    rng_seed(&rng, seed, 7);
    fprintf(
        out,
        "{\"schema\":\"lockbench.run/2\",%s\"plan\":{\"acquire\":{\"lease_ns\":5}},\"stages\":[",
        made->root ? made->root : "");
    for (int i = 0; i < made->repeats; i++) write_stage(out, made, &rng, i);
    if (made->others) fprintf(out, "%s%s", made->repeats ? "," : "", made->others);
    fputs("]}", out);
    assert_int_equal(fclose(out), 0);
    return path;
}

static inline struct compare *try_compare(const char *base, const char *new,
                                          const struct compare_ask *more, struct lb_err *err) {
    struct compare_ask ask = more ? *more : (struct compare_ask){0};
    ask.base = &base;
    ask.new = &new;
    ask.base_count = ask.new_count = 1;
    if (!(ask.min_effect > 0)) ask.min_effect = 0.03;
    return compare_make(&ask, err);
}

static inline struct compare *compare_with(const struct made *base, const struct made *new,
                                           uint64_t seed, const struct compare_ask *ask) {
    struct lb_err err = {0};
    char *a = make_run(base, seed), *b = make_run(new, seed + 1000003);
    struct compare *compare = try_compare(a, b, ask, &err);
    assert_string_equal(err.text, "");
    assert_non_null(compare);
    unlink(a);
    unlink(b);
    free(a);
    free(b);
    return compare;
}

static inline struct compare *compare_of(const struct made *base, const struct made *new,
                                         uint64_t seed) {
    return compare_with(base, new, seed, NULL);
}

/* Inlined, gcc 12 takes the text of open_memstream for a dangling pointer. */
__attribute__((noinline, unused)) static char *text_as(const struct compare *compare,
                                                       enum compare_format format, bool brief) {
    struct lb_err err = {0};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(compare_write(compare, format, brief, false, out, &err), 0);
    fclose(out);
    return text;
}

static inline char *text_of(const struct compare *compare, enum compare_format format) {
    return text_as(compare, format, true);
}

/* Of the only row. */
static inline const struct compare_figure *figure_of(const struct compare *compare,
                                                     const char *name) {
    for (int m = 0; m < compare_metric_count(); m++) {
        if (strcmp(compare_metric(m)->compared, name) == 0) return &compare->rows[0].figure[m];
    }
    fail_msg("nothing compared is called %s", name);
    return NULL;
}

#endif
