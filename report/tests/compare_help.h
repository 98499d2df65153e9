/* compare_help: what the tests of comparisons share: runs made from a seed with a spread of their own. Header only,
 * since each test is one program. */
#ifndef REPORT_TESTS_COMPARE_HELP_H
#define REPORT_TESTS_COMPARE_HELP_H

#include <math.h>

#include "bench/tests/hdr_texts.h"
#include "report/compare/compare.h"
#include "report/tests/report_help.h"
#include "results/stats/tests/stats_help.h"

/* A run's stages: one lock, so many repeats. */
struct made {
    const char *root; /* more of the run, with a comma after each */
    int repeats;
    double faster; /* throughput, against 1000/s; 0 = 1 */
    double slower; /* latencies; 0 = 1 */
    double noise;  /* relative standard deviation of each run */
};

static inline void write_stage(FILE *out, const struct made *made, struct lb_rng *rng, int repeat) {
    double faster = made->faster > 0 ? made->faster : 1,
           slower = made->slower > 0 ? made->slower : 1;
    fprintf(
        out,
        "%s{\"lock\":\"a\",\"clients\":4,\"keys\":1,\"arrival\":\"closed\",\"status\":\"complete\","
        "\"repeat\":%d,\"processes\":1,\"threads\":1,\"topology\":\"redis\",\"throughput_per_s\":%.9g,"
        "\"exclusion\":{\"verdict\":\"clean\",\"grants\":1000},\"latency_ns\":{",
        repeat ? "," : "", repeat, 1000 * faster * around(rng, made->noise));
    fprintf(out, "\"acquire\":{\"count\":5000,\"hdr\":\"" HDR_5000 "\",\"p50\":%.9g,\"p99\":%.9g},",
            1e5 * slower * around(rng, made->noise), 1e6 * slower * around(rng, 2 * made->noise));
    fprintf(out,
            "\"handoff\":{\"count\":5000,\"hdr\":\"" HDR_5000
            "\",\"p50\":%.9g},\"release\":{\"count\":5000,\"hdr\":\"" HDR_5000 "\",\"p99\":%.9g}},",
            5e4 * slower * around(rng, made->noise), 4e5 * slower * around(rng, 2 * made->noise));
    fprintf(out, "\"cost\":{\"commands_per_grant\":%.9g,\"client_cpu_net_ns_per_grant\":%.9g}}",
            3 * around(rng, made->noise / 4), 2e4 * around(rng, made->noise));
}

/* A run's file; malloced path. */
static inline char *make_run(const struct made *made, uint64_t seed) {
    static int files;
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
    fputs("]}", out);
    assert_int_equal(fclose(out), 0);
    return path;
}

static inline struct compare *compare_paths(const char *const *base, const char *const *new,
                                            int count) {
    struct lb_err err = {0};
    struct compare *compare = compare_make(&(struct compare_ask){.base = base,
                                                                 .new = new,
                                                                 .base_count = count,
                                                                 .new_count = count,
                                                                 .min_effect = COMPARE_MIN_EFFECT},
                                           &err);
    assert_string_equal(err.text, "");
    assert_non_null(compare);
    return compare;
}

#endif
