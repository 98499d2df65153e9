/* test_planner_answer: what one measurement of capacity answers, by its probes and by its model; the answers follow
 * from the figures of hand-made measurements. */
#define _GNU_SOURCE
#include "report/tests/planner_help.h"

TEST(what_was_measured_answers) {
    const struct made usual = {0}, limited = {.limit = "generator"}, ranged = {.limit = "range"},
                      none = {.low = -1};
    struct planner_ask ask = {ASK, .rate = 200, .hold_ns = 1e6};
    judged(&usual, ask, PLANNER_CARRIES, false, "kept up to 400/s", NULL);
    ask.hold_ns = NAN; /* as it was measured */
    judged(&usual, ask, PLANNER_CARRIES, false, "kept up to 400/s", NULL);
    ask.rate = 500;
    judged(&usual, ask, PLANNER_TOO_MUCH, false, "broken from 440/s on", NULL);
    judged(
        &limited, ask, PLANNER_UNKNOWN, false,
        "the promise is kept up to 400/s, and nothing is known about a greater load, since the load generator",
        " --most 1000");
    judged(&ranged, ask, PLANNER_UNKNOWN, false,
           "the promise is kept up to 400/s, and nothing is known", " --most 1000");
    ask.rate = 420;
    judged(
        &usual, ask, PLANNER_CLOSE, false, "between 400/s, where the promise is kept, and 440/s",
        "lockbench capacity redis-setnx --slo 'acquire_due.p99<=20ms' --hold 1ms --keys 1 --time 10m");
    judged(&none, ask, PLANNER_UNKNOWN, false, "found no answer: its server was lost",
           "lockbench capacity");
}

/* The command that would answer names the same server, with the same words as the command of the
 * search. */
TEST(what_would_settle_it_goes_to_the_same_server) {
    static const struct {
        const char *command, *url;
    } cases[] = {
        {"lockbench capacity redis-setnx --url redis=@/etc/redis-url --hold 1ms",
         " --url redis=@/etc/redis-url"},
        {"lockbench capacity redis-setnx --url etcd=http://a:1 --url 'redis=redis://b:2/?x=1'",
         " --url 'redis=redis://b:2/?x=1'"},
        {"lockbench capacity redis-setnx --url=redis=env:REDIS", " --url redis=env:REDIS"},
        {"lockbench capacity redis-setnx --url redis=@redis.url # redis.url: redis://me:***@a:1",
         " --url redis=@redis.url"},
        {"lockbench capacity redis-setnx --url redis=$(reboot)", " --url redis=URL"},
        {"lockbench capacity redis-setnx --url 'redis=unclosed", " --url redis=URL"},
        /* of the environment, by an older build: without a URL the command would measure another server */
        {"lockbench capacity redis-setnx --url etcd=http://a:1", " --url redis=URL"},
        {"lockbench capacity redis-setnx --url 'redis=redis://me:***@a:1'", " --url redis=URL"},
        {NULL, " --url redis=URL"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct made made = {.by = "clients", .topology = "url"};
        struct planner_ask ask = {ASK, .rate = 200, .hold_ns = 1e6};
        struct planner_answer answer;
        struct capacity *file = file_of(&made, 1, "2026-01-01T00:00:00Z");
        file->command = cases[i].command;
        assert_int_equal(planner_answer(&ask, file, &file->locks[0], &answer), 0);
        assert_int_equal(answer.verdict, PLANNER_UNKNOWN);
        has(answer.settle, "lockbench capacity redis-setnx");
        const char *url = strstr(answer.settle, " --url");
        if (!url || strcmp(url, cases[i].url) != 0)
            fail_msg("not '%s': %s", cases[i].url, answer.settle);
        free(answer.why);
        free(answer.settle);
        capacity_free(file);
    }
}

/* Without the settings of its backend (TLS, accounts) the command could not reach the server; without
 * those of its lock it would measure another one. Settings of the load are those of the question. */
TEST(what_would_settle_it_keeps_the_settings_of_its_place) {
    static const struct {
        const char *command, *topology, *settings; /* topology: of the question */
    } cases[] = {
        {"lockbench capacity redis-setnx,pg-advisory --url=redis=env:R --set redis.tls_ca=/etc/ca.pem "
         "--set postgres.tls_ca=/etc/pg.pem --set pg-advisory.space=2 --set=redis-setnx.poll=2ms "
         "--set 'redis.tls_cert=/my certs/a' --set redis.x=$(reboot) --set load.think=1ms "
         "--set load.key_prefix=lock: --set servers.rtt=1ms --set 'redis.x=unclosed",
         NULL,
         " --url redis=env:R --set redis.tls_ca=/etc/ca.pem --set redis-setnx.poll=2ms "
         "--set 'redis.tls_cert=/my certs/a' --set load.key_prefix=lock: --set servers.rtt=1ms"},
        {"lockbench capacity redis-setnx --url redis=env:R --set servers.rtt=1ms "
         "--set redis-setnx.poll=2ms",
         "redis-5", " --set servers.topology=redis-5 --set redis-setnx.poll=2ms"},
        {"lockbench capacity redis-setnx --set servers.topology=redis-5 --set servers.rtt=1ms",
         "url", " --keys 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct made made = {.by = "clients", .topology = i == 2 ? "redis-5" : "url"};
        struct planner_ask ask = {ASK, .rate = 200, .hold_ns = 1e6};
        struct planner_answer answer;
        struct capacity *file = file_of(&made, 1, "2026-01-01T00:00:00Z");
        ask.topology = cases[i].topology;
        file->command = cases[i].command;
        assert_int_equal(planner_answer(&ask, file, &file->locks[0], &answer), 0);
        has(answer.settle, cases[i].settings);
        const char *end = strstr(answer.settle, cases[i].settings) + strlen(cases[i].settings);
        if (*end) fail_msg("case %zu: more than these settings: %s", i, answer.settle);
        free(answer.why);
        free(answer.settle);
        capacity_free(file);
    }
}

/* Another limit is read from the probes: 9 ms was kept at 200/s, 18 ms at 400/s, 50 ms exceeded at
 * 440/s. */
TEST(another_limit_is_read_from_the_probes) {
    const struct made usual = {0};
    struct planner_ask ask = {ASK, .rate = 200, .hold_ns = 1e6};
    ask.limit_ns = 10e6;
    judged(&usual, ask, PLANNER_CARRIES, false, "probes of a search for acquire_due.p99<=20ms",
           NULL);
    ask.rate = 300;
    judged(&usual, ask, PLANNER_CLOSE, false, "between 200/s", "lockbench capacity");
    ask.rate = 400;
    judged(&usual, ask, PLANNER_TOO_MUCH, false, "broken from 400/s on", NULL);
    ask.limit_ns = 1e6;
    ask.rate = 10;
    judged(&usual, ask, PLANNER_CLOSE, false, "between 0/s", "lockbench capacity");
    ask.limit_ns = 40e6; /* looser: no less than what was found for 20 ms */
    ask.rate = 400;
    judged(&usual, ask, PLANNER_CARRIES, false, "kept up to 400/s", NULL);
    ask.limit_ns = 1e9;
    ask.rate = 440; /* its quantile would be within a second, but 40 of 1000 never started */
    judged(&usual, ask, PLANNER_UNKNOWN, false,
           "the promise is kept up to 400/s, and nothing is known", "--most 880");
}

/* A search as it was measured (golden/planner/searched) answers for stricter limits, too, as long as
 * two of its probes kept them; never with a greater load than for its own limit of 200 ms. */
TEST(a_measured_search_answers_for_stricter_limits) {
    static const struct {
        double limit_ns, rate;
        enum planner_verdict verdict;
        const char *why;
    } cases[] = {{200e6, 600, PLANNER_CARRIES, "kept up to 658/s"},
                 {199e6, 600, PLANNER_CARRIES, "kept up to 658/s"},
                 {25e6, 600, PLANNER_CLOSE, "between 0/s"},
                 {35e6, 600, PLANNER_CARRIES, "kept up to 658/s"},
                 {5e6, 700, PLANNER_TOO_MUCH, "broken from 665/s on"}};
    struct lb_err err = {0};
    struct capacity *file = capacity_read(GOLDEN "searched", &err);
    assert_string_equal(err.text, "");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct planner_ask ask = {ASK, .rate = cases[i].rate, .hold_ns = NAN};
        struct planner_answer answer;
        ask.limit_ns = cases[i].limit_ns;
        assert_int_equal(planner_answer(&ask, file, &file->locks[0], &answer), 0);
        if (answer.verdict != cases[i].verdict || !strstr(answer.why, cases[i].why))
            fail_msg("case %zu: %s: %s", i, planner_word(answer.verdict), answer.why);
        free(answer.why);
        free(answer.settle);
    }
    capacity_free(file);
}

/* Far below the limit a search of an older build stored no interval: a stricter limit is then unknown,
 * where another probe does not decide it. A load that is too much stays too much. */
TEST(a_stricter_limit_needs_the_intervals) {
    const struct made old = {.more = ",{\"value\":399,\"verdict\":\"kept\",\"quantile_ns\":4e6,"
                                     "\"low_ns\":null,\"high_ns\":null,\"samples\":1000,"
                                     "\"missed\":0}"};
    struct planner_ask ask = {ASK, .rate = 300, .hold_ns = 1e6};
    ask.limit_ns = 16e6;
    ask.slo = "acquire_due.p99<=16ms";
    judged(&old, ask, PLANNER_UNKNOWN, false, "by an older lockbench", "lockbench capacity");
    ask.rate = 200;
    judged(&old, ask, PLANNER_CARRIES, false, "kept up to 200/s", NULL);
    ask.rate = 440;
    judged(&old, ask, PLANNER_TOO_MUCH, false, "broken from 440/s on", NULL);
}

/* A probe that was so bad that it has no figures broke its promise and all stricter ones. One lucky
 * probe above the answer of the search shows nothing. Probes that contradict each other decide
 * nothing. */
TEST(bad_and_lucky_probes_mislead_nobody) {
    const struct made lost = {.low = -1, .endless = true},
                      lucky = {.endless = true, .more = PROBE(460, "kept", 8e6, 9e6)},
                      single = {.more =
                                    PROBE(430, "kept", 5e6, 9e6) PROBE(380, "broken", 50e6, 80e6)},
                      odd = {.more =
                                 PROBE(300, "broken", 50e6, 80e6) PROBE(300, "broken", 50e6, 80e6)};
    struct planner_ask ask = {ASK, .rate = 450, .hold_ns = 1e6};
    ask.limit_ns = 19e6;
    judged(&lost, ask, PLANNER_TOO_MUCH, false, "broken from 440/s on", NULL);
    judged(&lucky, ask, PLANNER_TOO_MUCH, false, "broken from 440/s on", NULL);
    ask.limit_ns = 10e6; /* one probe alone shows neither "kept" nor "broken" */
    ask.rate = 385;
    judged(&single, ask, PLANNER_CLOSE, false,
           "between 200/s, where the promise is kept, and 400/s", "lockbench capacity");
    ask.rate = 450;
    ask.limit_ns = 21e6; /* about a looser promise the probe without figures says nothing */
    judged(&lost, ask, PLANNER_UNKNOWN, false,
           "the promise is kept up to 400/s, and nothing is known", "lockbench capacity");
    ask.limit_ns = 40e6;
    ask.rate = 100;
    judged(&odd, ask, PLANNER_CLOSE, false, "contradict each other: kept at 400/s, broken at 300/s",
           "lockbench capacity");
}

/* A hold of 2 ms and a handoff of 0.5 ms: at most 400/s. By the model the wait must stay below 20 -
 * 3 ms, with an uncertainty of 47 %, because the measured tail was 1.47 times that of M/D/1. */
TEST(the_model_answers_near_what_was_measured) {
    const struct made usual = {0}, wrong = {.foretold = 2.5}, few = {.foretold = 0.4},
                      odd = {.hold = "lognormal:1ms:0.5"};
    struct planner_ask ask = {ASK, .rate = 100, .hold_ns = 2e6};
    judged(&usual, ask, PLANNER_CARRIES, true,
           "its waits were 1.10 times those that M/D/1 predicts with a handoff of 500 us", NULL);
    ask.rate = 390;
    judged(&usual, ask, PLANNER_TOO_MUCH, true, "by the model the promise is broken from", NULL);
    ask.rate = 100;
    judged(&wrong, ask, PLANNER_UNKNOWN, false,
           "1 key, and the model does not describe this lock: its waits were 2.50 times",
           "--hold 2ms");
    judged(&few, ask, PLANNER_UNKNOWN, false, "0.400 times", "--hold 2ms");
    judged(&odd, ask, PLANNER_UNKNOWN, false, "of which the model of a hot key says nothing",
           "--hold 2ms");
    ask.hold_ns = 2.1e6;
    judged(&usual, ask, PLANNER_UNKNOWN, false, "more than a factor of 2 from what was asked",
           "--hold 2.1ms");
    ask.hold_ns = 0.4e6;
    judged(&usual, ask, PLANNER_UNKNOWN, false, "more than a factor of 2 from what was asked",
           "--hold 0.4ms");
    ask.hold_ns = 1e6;
    ask.keys = 2;
    judged(&usual, ask, PLANNER_CARRIES, true, "measured with hold 1ms and 1 key;", NULL);
    ask.rate = 820; /* two keys might carry it, but no rate above 400/s was measured */
    judged(&usual, ask, PLANNER_UNKNOWN, false, "no rate above 400/s was measured",
           "--keys 2 --most 1640");
    ask.keys = 3;
    judged(&usual, ask, PLANNER_UNKNOWN, false, "more than a factor of 2 from what was asked",
           "--keys 3");
}

/* The answers of the model are those of M/D/1: at the load that it gives, the p99 of the wait is
 * what is left of the promise. But a key must not be busier than at the measured answer: 400/s *
 * 1.5 ms = 0.6. */
TEST(the_models_bounds_are_those_of_the_queue) {
    const struct made usual = {0};
    struct planner_answer answer;
    struct planner_ask ask = {ASK, .rate = 100, .hold_ns = 2e6};
    struct capacity *file = file_of(&usual, 1, "2026-01-01T00:00:00Z");
    assert_int_equal(planner_answer(&ask, file, &file->locks[0], &answer), 0);
    /* Erlang's formula in R: 1.4718 * q99(rho) * 2.5 ms = 17 ms at rho = 0.60603, which is above
     * 0.6; q99(rho)
     * * 2.5 ms = 20 ms at rho = 0.74899. */
    assert_true(fabs(answer.carries - 0.6 / 2.5e-3) < 1e-6);
    assert_true(fabs(answer.breaks - 299.596) < 0.1);
    assert_true(fabs(answer.margin - answer.carries / 100) < 1e-9);
    free(answer.why);
    free(answer.settle);
    /* By the same formula: 1.4718 * q99(rho) * 2.5 ms = 15 - 3 ms at rho = 0.49209. */
    ask.limit_ns = 15e6;
    assert_int_equal(planner_answer(&ask, file, &file->locks[0], &answer), 0);
    assert_true(fabs(answer.carries - 196.8367) < 0.1);
    free(answer.why);
    free(answer.settle);
    capacity_free(file);
}

TEST(clients_answer_within_twice) {
    const struct made usual = {0};
    struct planner_ask ask = {ASK, .rate = 200, .hold_ns = 1e6};
    ask.clients = 128;
    judged(&usual, ask, PLANNER_CARRIES, false, "measured with 64 clients; the promise", NULL);
    ask.clients = 129;
    judged(&usual, ask, PLANNER_UNKNOWN, false, "more than twice as many",
           "--set load.clients=129");
    ask.clients = 5; /* at most 200/s * (1 + 20 ms) = 4.2 of them are busy */
    judged(&usual, ask, PLANNER_CARRIES, false, "measured with 64 clients", NULL);
    ask.clients = 4;
    judged(&usual, ask, PLANNER_UNKNOWN, false, "4 may all be busy", "--set load.clients=4");
}

static bool runs_nowhere(const char *lock, const char *topology) {
    (void)lock;
    (void)topology;
    return false;
}

TEST(other_questions_are_refused) {
    const struct made usual = {0},
                      closed = {.by = "clients", .metric = "acquire", .low = 30, .high = 40};
    struct planner_ask ask = {ASK, .rate = 200, .hold_ns = 1e6};
    judged(&closed, ask, PLANNER_UNKNOWN, false, "searched by the clients of a closed loop only",
           "--keys 1");
    ask.quantile = 0.999;
    judged(&usual, ask, PLANNER_UNKNOWN, false, "another promise", "lockbench capacity");
    ask.quantile = 0.99;
    ask.topology = "redis-cluster";
    judged(&usual, ask, PLANNER_UNKNOWN, false, "another topology, redis",
           "--set servers.topology=redis-cluster");
    /* A lock that can't run there gets no command, which would only be refused. */
    ask.runs_on = runs_nowhere;
    judged(&usual, ask, PLANNER_UNKNOWN, false, "does not run on redis-cluster", NULL);
    ask = (struct planner_ask){ASK, .rate = NAN, .hold_ns = 1e6};
    ask.metric = "acquire";
    ask.slo = "acquire.p99<=20ms";
    ask.clients = 25;
    judged(&closed, ask, PLANNER_CARRIES, false, "kept up to 30.0 clients", NULL);
    ask.clients = 50;
    judged(&closed, ask, PLANNER_TOO_MUCH, false, "broken from 40.0 clients on", NULL);
    ask.hold_ns = 2e6;
    judged(&closed, ask, PLANNER_UNKNOWN, false, "a closed loop with another hold",
           "--clients --slo");
    /* A name that a shell would run is in no command. */
    const struct made evil = {.lock = "a;reboot"};
    ask = (struct planner_ask){ASK, .rate = 5, .hold_ns = 100e6};
    judged(&evil, ask, PLANNER_UNKNOWN, false, "more than a factor of 2", NULL);
}

TEST_MAIN(make_folder, remove_folder)
