/* Clients at a distance (servers.rtt): each stage is at its own, its figures say so, and no round trip is shorter than
 * was asked for. A longer round trip may be the machine's, so no test asserts an upper bound.
 * Needs: servers. */
#define _GNU_SOURCE
#include "bench/tests/cli_help.h"

#define SMALL "--set", "run.duration=300ms", "--set", "run.warmup=0", "--set", "load.clients=1"

/* The round trip that a stage states; -1 = none. */
static double rtt_of(const json_t *stage) {
    const json_t *rtt = cli_get(stage, "rtt_ns");
    return json_is_null(rtt) ? -1 : json_number_value(rtt);
}

/* Acquire, release and ping are a round trip at the least. */
static void assert_far(const json_t *stage, double rtt_ns) {
    static const char *const figures[] = {"latency_ns.acquire.min", "latency_ns.release.min",
                                          "latency_ns.ping.min"};
    assert_true(rtt_of(stage) == rtt_ns);
    assert_true(cli_number_at(stage, "outcomes.ok") > 0);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        double ns = cli_number_at(stage, figures[i]);
        if (ns < rtt_ns) fail_msg("%s is %g ns", figures[i], ns);
    }
}

TEST(each_stage_is_at_its_distance) {
    static const double rtts_ns[] = {-1, 0, 5e6};
    cli_need("redis");
    char *out = cli_path("own");
    struct cli cli =
        cli_run(NULL, ARGS("run", "smoke", "--lock", "redis-setnx,mem-mutex", SMALL, "--set",
                           "servers.rtt=none, 0, 5ms", "--slo", "acquire.p50<=1m", "--out", out));
    assert_code(&cli, 5); /* the window is too short to tell */
    json_t *run = cli_result(out), *stage;
    size_t index;
    int seen = 0;
    json_array_foreach(cli_get(run, "stages"), index, stage) {
        if (strcmp(cli_text_at(stage, "lock"), "mem-mutex") == 0) {
            assert_true(rtt_of(stage) == -1);
        } else {
            assert_true(seen < 3);
            assert_far(stage, rtts_ns[seen++]);
        }
    }
    assert_int_equal(seen, 3);
    assert_int_equal(json_array_size(cli_get(run, "stages")), 4);
    /* A promise is kept or broken at each of them. */
    assert_int_equal(json_array_size(cli_get(run, "slo")), 4);
}

/* A server of the user's own is as far away as ours; all distances are run, not only the first. */
TEST(a_server_at_a_url_is_at_its_distance) {
    struct cli up;
    char url[400];
    cli_up(&up, "redis", "redis", url, sizeof url);
    char *out = cli_path("url");
    cli_ends(0, ARGS("run", "smoke", "--lock", "redis-setnx", "--url", url, SMALL, "--set",
                     "servers.rtt=none,2ms", "--out", out));
    json_t *run = cli_result(out);
    assert_int_equal(json_array_size(cli_get(run, "stages")), 2);
    assert_far(cli_get(run, "stages.0"), -1);
    assert_far(cli_get(run, "stages.1"), 2e6);
    cli_down(&up);
}

TEST(tls_goes_through_the_wire) {
    cli_need("redis");
    char *out = cli_path("tls");
    cli_ends(0, ARGS("run", "smoke", "--lock", "redis-setnx", SMALL, "--set", "servers.rtt=2ms",
                     "--set", "servers.tls=yes", "--out", out));
    json_t *run = cli_result(out);
    assert_far(cli_get(run, "stages.0"), 2e6);
    assert_has(cli_text_at(run, "stages.0.encryption"), "TLSv1.");
}

TEST_MAIN(cli_setup, cli_teardown)
