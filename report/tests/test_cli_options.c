/* test_cli_options: each option of `compare`, and `conform` of one lock, as people call them: the exit
 * code and a piece of what they print, on stored runs. No server.
 *
 * Needs the program: LOCKBENCH_PROGRAM, which the test runner sets. Without it the test is skipped. */
#include "bench/tests/hdr_texts.h"
#include "report/tests/report_help.h"
#include "results/stats/tests/stats_help.h"

/* A run of two locks, a and b, so many repeats each, with this rate of lock a; b is a tenth faster than 1000/s. */
static void store_run(const char *name, const char *topology, double rate, int repeats) {
    char *path = path_of(name);
    struct lb_rng rng;
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    rng_seed(&rng, strlen(name) + (uint64_t)name[0], 3);
    fputs("{\"schema\":\"lockbench.run/1\",\"plan\":{\"acquire\":{\"lease_ns\":5}},\"stages\":[",
          out);
    for (int i = 0; i < 2 * repeats; i++) {
        double faster = (i % 2 ? 1100 : rate) * around(&rng, 0.01);
        fprintf(
            out,
            "%s{\"lock\":\"%s\",\"clients\":4,\"keys\":1,\"arrival\":\"closed\","
            "\"status\":\"complete\",\"repeat\":%d,\"processes\":1,\"threads\":1,"
            "\"topology\":\"%s\",\"throughput_per_s\":%.9g,\"exclusion\":{"
            "\"verdict\":\"clean\",\"grants\":1000},\"latency_ns\":{\"acquire\":{\"count\":5000,"
            "\"hdr\":\"" HDR_5000 "\",\"p50\":%.9g}}}",
            i ? "," : "", i % 2 ? "b" : "a", i / 2, topology, faster, 1e8 / faster);
    }
    fputs("]}", out);
    assert_int_equal(fclose(out), 0);
    free(path);
}

FIXTURE(store_all) {
    if (make_folder(state)) return -1;
    store_run("base.json", "redis", 1000, 12);
    store_run("like.json", "redis", 1000, 12);
    store_run("slow.json", "redis", 900, 12);
    store_run("other.json", "redis-sentinel", 900, 12);
    return 0;
}

#define BOTH "$D/base.json -- $D/slow.json"

TEST(what_each_option_does) {
    static const struct {
        const char *command, *words;
        int code;
        const char *out, *err; /* NULL = nothing in particular */
    } cases[] = {
        {"compare", "$D/base.json -- $D/like.json", LB_EXIT_OK,
         "no regression shown. 0 figures worse", NULL},
        {"compare", BOTH, LB_EXIT_REGRESSION, "WORSE. 2 figures worse, 0 better, 2 without", NULL},
        {"compare", BOTH " --min-effect 30", LB_EXIT_OK, "0 figures worse, 0 better, 4 without",
         NULL},
        {"compare", BOTH " --lock b=b", LB_EXIT_OK, "0 figures worse, 0 better, 2 without", NULL},
        {"compare", BOTH " --lock b=a", LB_EXIT_REGRESSION, "-- b -> a, 4 clients", NULL},
        {"compare", "$D/base.json -- $D/other.json", LB_EXIT_USAGE, NULL, "--anyway"},
        {"compare", "$D/base.json -- $D/other.json --anyway", LB_EXIT_REGRESSION,
         "new: truth: not stated; redis-sentinel", NULL},
        {"compare", BOTH " --json", LB_EXIT_REGRESSION, "\"schema\": \"lockbench.compare/1\"",
         NULL},
        {"compare", BOTH " --md", LB_EXIT_REGRESSION, "\n| grants/s | ", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int code = run_lockbench(cases[i].command, cases[i].words);
        char *out = content_of("out"), *err = content_of("err");
        if (code != cases[i].code)
            fail_msg("%s %s: exit code %d, not %d; \"%s\"", cases[i].command, cases[i].words, code,
                     cases[i].code, err);
        if (cases[i].out) has(out, cases[i].out);
        if (cases[i].err) has(err, cases[i].err);
        free(out);
        free(err);
    }
}

TEST_MAIN(store_all, remove_folder)
