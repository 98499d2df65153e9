/* test_planner: answers from hand-made capacities, which follow from the figures in them; the
 * outputs against stored ones (UPDATE_GOLDEN=1 writes them; read the diff); the command with bad
 * input. */
#define _GNU_SOURCE
#include <math.h>

#include "report/capacity/capacity_doc.h"
#include "report/planner/planner.h"
#include "report/tests/report_help.h"

#define GOLDEN "report/tests/golden/planner/"

/* A lock's capacity; a member that is NULL or 0 has its usual value. */
struct made {
    const char *lock, *guarantee, *topology, *durability, *durability_class, *by, *metric, *hold,
        *keys, *limit, *primitive;
    double low, high;         /* 0: the usual; low < 0: no answer */
    double clients, foretold; /* foretold: measured waits divided by predicted ones */
    int limit_ms;             /* of the promise */
    const char *more;         /* probes: ",{...}" */
    bool endless;             /* the broken probe was so bad that it has no figures */
    bool violated;
    bool cut;         /* the last lock of a file: the search was cut off */
    const char *note; /* where the lock's own state lives */
};

static const char * or (const char *text, const char *usual) {
    return text ? text : usual;
}

/* Probes of a promise of 20 ms: kept with 3 ms at half the answer and 10 ms at the answer's low
 * end, broken with 60 ms at its high one. The model: 1 ms held, 0.5 ms to hand over. */
static void put_lock(FILE *out, const struct made *made) {
    double low = made->low > 0 ? made->low : 400, high = made->high > 0 ? made->high : 440;
    bool answered = made->low >= 0;
    int limit_ms = made->limit_ms > 0 ? made->limit_ms : 20;
    const char *metric = or (made->metric, "acquire_due");
    fprintf(
        out,
        "{\"lock\":\"%s\",\"primitive\":\"%s\",\"violated\":%s,\"backend\":\"redis\",\"guarantee\":\"%s\","
        "\"topology\":\"%s\",\"durability\":\"%s\",\"durability_class\":\"%s\","
        "\"durability_note\":%s%s%s,\"server\":\"redis 7.0.15\",\"slo\":{\"text\":\"%s.p99<=%dms\",\"metric\":\"%s\",\"quantile\":0.99,"
        "\"limit_ns\":%de6},\"by\":\"%s\",\"hold\":\"%s\",\"think\":\"0\",\"keys\":\"%s\","
        "\"key_distribution\":\"uniform\",\"clients\":%g,",
        or (made->lock, "redis-setnx"), or (made->primitive, "mutex"),
        made->violated ? "true" : "false", or (made->guarantee, "node"),
        or (made->topology, "redis"), or (made->durability, "in memory"),
        or (made->durability_class, "memory"), made->note ? "\"" : "", or (made->note, "null"),
        made->note ? "\"" : "", metric, limit_ms, metric, limit_ms, or (made->by, "rate"),
        or (made->hold, "1ms"), or (made->keys, "1"), made->clients > 0 ? made->clients : 64);
    if (answered) {
        fprintf(
            out,
            "\"answer\":{\"value\":%g,\"low\":%g,\"high\":%g,\"level\":0.95},\"limited_by\":\"%s\",",
            (low + high) / 2, low, high, or (made->limit, "slo"));
    } else {
        fprintf(out, "\"answer\":null,\"limited_by\":null,\"why\":\"its server was lost\",");
    }
    /* Each probe is there twice, because one probe alone decides nothing. */
    for (int i = 0; i < 2; i++) {
        fprintf(
            out,
            "%s{\"value\":%g,\"verdict\":\"kept\",\"quantile_ns\":3e6,\"low_ns\":7e6,\"high_ns\":"
            "9e6,\"samples\":1000,\"missed\":0},{\"value\":%g,\"verdict\":\"kept\","
            "\"quantile_ns\":10e6,\"low_ns\":13e6,\"high_ns\":18e6,\"samples\":1000,\"missed\":0},"
            "{\"value\":%g,\"verdict\":\"broken\",%s\"samples\":1000,\"missed\":40}",
            i > 0 ? "," : "\"probes\":[", low / 2, low, high,
            made->endless ? "\"quantile_ns\":null,\"low_ns\":null,\"high_ns\":null,"
                          : "\"quantile_ns\":60e6,\"low_ns\":50e6,\"high_ns\":80e6,");
    }
    fprintf(out, "%s],", or (made->more, ""));
    fprintf(
        out,
        "\"model\":{\"handoff_ns\":500000,\"hold_ns\":1000000,\"capacity_per_s\":666.7,\"wait_predicted_"
        "ns\":1e6,"
        "\"wait_measured_ns\":%g,\"at_per_s\":400}}",
        1e6 * (made->foretold > 0 ? made->foretold : 1.1));
}

static char *file_text(const struct made *made, int count, const char *started_at) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fprintf(out,
            "{\"schema\":\"lockbench.capacity/1\",\"method\":%d,\"started_at\":\"%s\","
            "\"partial\":%s,\"locks\":[",
            CAPACITY_METHOD, started_at, made[count - 1].cut ? "true" : "false");
    for (int i = 0; i < count; i++) {
        if (i > 0) fputc(',', out);
        put_lock(out, &made[i]);
    }
    fputs("]}", out);
    assert_int_equal(fclose(out), 0);
    return text;
}

static struct capacity *file_of(const struct made *made, int count, const char *started_at) {
    struct lb_err err = {0};
    char *text = file_text(made, count, started_at);
    struct capacity *file = capacity_parse(text, strlen(text), "results/one/capacity.json", &err);
    assert_string_equal(err.text, "");
    free(text);
    return file;
}

#define ASK                                                                                        \
    .clients = NAN, .keys = 1, .metric = "acquire_due", .quantile = 0.99, .limit_ns = 20e6,        \
    .slo = "acquire_due.p99<=20ms"

/* Checks the answer of one measurement. */
static void judged(const struct made *made, struct planner_ask ask, enum planner_verdict verdict,
                   bool model, const char *why, const char *settle) {
    struct planner_answer answer;
    struct capacity *file = file_of(made, 1, "2026-01-01T00:00:00Z");
    assert_int_equal(planner_judge(&ask, file, &file->locks[0], &answer), 0);
    if (answer.verdict != verdict || answer.model != model)
        fail_msg("%s%s: %s", planner_word(answer.verdict), answer.model ? " (model)" : "",
                 answer.why);
    has(answer.why, why);
    if (settle) {
        has(answer.settle, settle);
    } else if (answer.settle) {
        fail_msg("not to be settled: %s", answer.settle);
    }
    free(answer.why);
    free(answer.settle);
    capacity_free(file);
}

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
        assert_int_equal(planner_judge(&ask, file, &file->locks[0], &answer), 0);
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
        assert_int_equal(planner_judge(&ask, file, &file->locks[0], &answer), 0);
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
        assert_int_equal(planner_judge(&ask, file, &file->locks[0], &answer), 0);
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
#define PROBE(value, verdict, low, high)                                                           \
    ",{\"value\":" #value ",\"verdict\":\"" verdict "\",\"quantile_ns\":" #low ",\"low_ns\":" #low \
    ",\"high_ns\":" #high ",\"samples\":1000,\"missed\":0}"
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
    assert_int_equal(planner_judge(&ask, file, &file->locks[0], &answer), 0);
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
    assert_int_equal(planner_judge(&ask, file, &file->locks[0], &answer), 0);
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

static const struct made many[] = {
    {.lock = "redis-setnx", .low = 900, .high = 950},
    {.lock = "etcd-mutex",
     .guarantee = "majority",
     .topology = "etcd-3",
     .durability = "on disk before each answer",
     .durability_class = "disk",
     .low = 210,
     .high = 230},
    {.lock = "redis-redlock",
     .guarantee = "majority",
     .topology = "redis-5",
     .low = 800,
     .high = 850},
    {.lock = "pg-advisory",
     .topology = "pg",
     .durability = "write-ahead log, on disk before each commit returns",
     .note = "in the server's memory: nothing is written",
     .low = 150,
     .high = 170},
    {.lock = "zk-lock", .guarantee = "majority", .topology = "zk", .low = -1},
    {.lock = "mem-mutex", .guarantee = "host", .topology = "embedded", .low = 5000, .high = 6000},
    {.lock = "mysql-lock", .low = 190, .high = 260},
    {.lock = "pg-row", .hold = "2ms", .low = 400, .high = 430},
    {.lock = "unsafe-no-lock", .guarantee = "none", .low = 9000, .high = 9999},
};
#define MANY ((int)(sizeof many / sizeof *many))

static struct planner *plan_of(struct capacity **files, int count, const struct planner_ask *ask) {
    struct lb_err err = {0};
    struct planner *planner = planner_make(files, count, ask, &err);
    assert_string_equal(err.text, "");
    assert_non_null(planner);
    return planner;
}

TEST(order_is_that_of_fitness) {
    static const char *const order[] = {"etcd-mutex", "redis-redlock", "redis-setnx",
                                        "mem-mutex",  "pg-row",        "mysql-lock",
                                        "zk-lock",    "pg-advisory"};
    const struct planner_ask ask = {ASK, .rate = 200, .hold_ns = 1e6};
    struct capacity *file = file_of(many, MANY, "2026-01-01T00:00:00Z");
    struct planner *planner = plan_of(&file, 1, &ask);
    assert_int_equal(planner->count, 8);
    assert_int_equal(planner->unsafe, 1);
    for (int i = 0; i < 8; i++) assert_string_equal(planner->answers[i].lock->lock, order[i]);
    assert_int_equal(planner_exit(planner), 0);
    planner_free(planner);
    capacity_free(file);
}

/* Answers for one lock from three measurements, from old to new. Returns the index of the
 * measurement that was used. */
static int taken_of(const struct made *made, int *ret_exit) {
    static const char *const days[] = {"2026-01-01T00:00:00Z", "2026-01-03T00:00:00Z",
                                       "2026-01-05T00:00:00Z"};
    const struct planner_ask ask = {ASK, .rate = 200, .hold_ns = 1e6};
    struct capacity *files[3];
    int taken = -1;
    for (int i = 0; i < 3; i++) files[i] = file_of(&made[i], 1, days[i]);
    struct planner *planner = plan_of(files, 3, &ask);
    assert_int_equal(planner->count, 1);
    for (int i = 0; i < 3; i++) taken = planner->answers[0].from == files[i] ? i : taken;
    *ret_exit = planner_exit(planner);
    planner_free(planner);
    for (int i = 0; i < 3; i++) capacity_free(files[i]);
    return taken;
}

/* The newest measurement of the load is used, even if an older one or the model gives a better
 * answer. But a search that was cut off or found no answer comes after a whole one, and a measurement
 * in which two clients held at once before all others. */
TEST(what_was_measured_last_answers) {
    static const struct made close = {.low = 190, .high = 210}, good = {.low = 400},
                             model = {.hold = "2ms"}, far = {.hold = "100ms", .low = 5, .high = 6},
                             violated = {.violated = true}, less = {.low = 100, .high = 110},
                             other = {.limit_ms = 15}, lost = {.limit_ms = 15, .low = -1},
                             cut = {.low = 190, .high = 210, .cut = true},
                             cut_far = {.hold = "100ms", .low = 5, .high = 6, .cut = true};
    const struct {
        struct made made[3];
        int taken, code;
    } cases[] = {
        {{good, close, far}, 1, LB_EXIT_INCONCLUSIVE},
        {{close, good, far}, 1, LB_EXIT_OK},
        {{good, close, model}, 1, LB_EXIT_INCONCLUSIVE},
        {{close, less, model}, 1, LB_EXIT_REGRESSION},
        {{far, model, far}, 1, LB_EXIT_OK},
        {{close, other, far}, 0, LB_EXIT_INCONCLUSIVE}, /* used: it is of the same promise */
        {{far, other, model}, 1, LB_EXIT_OK},
        {{violated, good, far}, 0, LB_EXIT_INCONCLUSIVE},
        {{good, violated, good}, 1, LB_EXIT_INCONCLUSIVE},
        {{good, cut, far}, 0, LB_EXIT_OK},
        {{other, lost, far}, 0, LB_EXIT_OK},
        {{far, cut, far}, 1, LB_EXIT_INCONCLUSIVE}, /* a little is more than nothing */
        {{far, cut_far, cut_far}, 0, LB_EXIT_INCONCLUSIVE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int code, taken = taken_of(cases[i].made, &code);
        if (taken != cases[i].taken || code != cases[i].code)
            fail_msg("case %zu: measurement %d, exit code %d", i, taken, code);
    }
    struct planner_ask ask = {ASK, .rate = 200, .hold_ns = 1e6};
    judged(&violated, ask, PLANNER_UNKNOWN, false, "exclusion was violated in this search", NULL);
}

/* The answer of an older method would be another one today: it is named but not used, and the
 * command would measure it again. */
TEST(a_file_of_an_older_method_is_not_used) {
    struct planner_ask ask = {ASK, .rate = 100, .hold_ns = 1e6};
    for (int older = 0; older <= 1; older++) {
        struct capacity *file = file_of(&(struct made){0}, 1, "2026-01-01T00:00:00Z");
        file->method = older ? CAPACITY_METHOD - 1 : NAN;
        struct planner *planner = plan_of(&file, 1, &ask);
        assert_int_equal(planner_exit(planner), LB_EXIT_INCONCLUSIVE);
        const struct planner_answer *answer = &planner->answers[0];
        assert_int_equal(answer->verdict, PLANNER_UNKNOWN);
        assert_non_null(strstr(answer->why, "results/one/capacity.json is of an older method"));
        assert_non_null(strstr(answer->settle, "lockbench capacity "));
        planner_free(planner);
        capacity_free(file);
    }
}

TEST(exit_codes) {
    struct planner_ask ask = {ASK, .rate = 460, .hold_ns = 1e6};
    struct capacity *file = file_of(&(struct made){0}, 1, "2026-01-01T00:00:00Z");
    struct planner *planner = plan_of(&file, 1, &ask);
    assert_int_equal(planner_exit(planner), LB_EXIT_REGRESSION);
    planner_free(planner);
    ask.rate = 420;
    planner = plan_of(&file, 1, &ask);
    assert_int_equal(planner_exit(planner), LB_EXIT_INCONCLUSIVE);
    planner_free(planner);
    ask.hold_ns = 12e6; /* 5 holders at once on one key */
    planner = plan_of(&file, 1, &ask);
    assert_true(planner->impossible);
    assert_int_equal(planner_exit(planner), LB_EXIT_REGRESSION);
    planner_free(planner);
    const struct made semaphore = {.lock = "redis-semaphore", .primitive = "semaphore"};
    struct capacity *mixed[] = {file, file_of(&semaphore, 1, "2026-01-01T00:00:00Z")};
    planner = plan_of(mixed, 2, &ask); /* 5 holders at once are what a semaphore is for */
    assert_int_equal(planner->count, 2);
    assert_false(planner->impossible);
    assert_int_equal(planner_exit(planner), LB_EXIT_INCONCLUSIVE);
    planner_free(planner);
    capacity_free(mixed[1]);
    ask = (struct planner_ask){ASK, .rate = 100, .hold_ns = 1e6};
    ask.topology = "nowhere";
    planner = plan_of(&file, 1, &ask);
    has(planner->answers[0].why, "measured on another topology, redis");
    assert_int_equal(planner_exit(planner), LB_EXIT_INCONCLUSIVE);
    planner_free(planner);
    static const struct {
        double rate, clients;
        const char *metric, *says;
    } bad[] = {{NAN, NAN, "acquire", "neither a rate nor clients"},
               {NAN, 5, "acquire_due", "nothing falls due"},
               {5, 5, "acquire", "promise acquire_due"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct lb_err err = {0};
        ask = (struct planner_ask){ASK, .rate = bad[i].rate, .hold_ns = NAN};
        ask.clients = bad[i].clients;
        ask.metric = bad[i].metric;
        assert_null(planner_make(&file, 1, &ask, &err));
        assert_int_equal(err.code, LB_EXIT_USAGE);
        has(err.text, bad[i].says);
    }
    capacity_free(file);
}

/* Where nothing was measured, or not that lock, the answer is the whole command that would measure it. */
TEST(nothing_measured_is_unknown_with_the_command) {
    struct capacity *file = file_of(&(struct made){0}, 1, "2026-01-01T00:00:00Z");
    struct planner_ask ask = {ASK, .rate = 500, .hold_ns = 12e6};
    ask.clients = 100;
    for (int i = 0; i < 2; i++) {
        ask.lock = i == 0 ? NULL : "pg-advisory";
        ask.topology = i == 0 ? NULL : "postgres-2";
        struct planner *planner = plan_of(i == 0 ? NULL : &file, i, &ask);
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        struct doc doc = {0};
        assert_int_equal(planner_exit(planner), LB_EXIT_INCONCLUSIVE);
        assert_false(planner->impossible);
        planner_doc(planner, &doc);
        assert_int_equal(doc_write_and_free(&doc, DOC_MARKDOWN, false, out, NULL), 0);
        assert_int_equal(planner_write_json(planner, out, NULL), 0);
        fclose(out);
        has(text, i == 0 ? "No capacity of any lock was measured"
                         : "No capacity of pg-advisory was measured");
        const char *command =
            i == 0 ? "lockbench capacity LOCK --slo 'acquire_due.p99<=20ms' --hold 12ms --keys 1 "
                     "--set load.clients=100"
                   : "lockbench capacity pg-advisory --slo 'acquire_due.p99<=20ms' --hold 12ms "
                     "--keys 1 --set load.clients=100 --set servers.topology=postgres-2";
        has(text, command);
        has(strstr(text, "lockbench.plan/1"), command);
        free(text);
        planner_free(planner);
    }
    capacity_free(file);
}

/* Holds that fill more than all the time are too much for every mutex, however the question names the
 * hold, and no search would settle that. */
TEST(what_no_mutex_can_is_too_much) {
    static const struct {
        double rate, hold_ns, keys;
        bool impossible;
        const char *says;
    } cases[] = {
        {300, 12e6, 1, true, "each key would be held for 360 % of the time"},
        {5000, 1e6, 1, true, "each key would be held for 500 % of the time"},
        {5000, NAN, 1, true, "each key would be held for 500 % of the time"},
        {5000, NAN, 4, true, "each key would be held for 125 % of the time"},
        {5000, NAN, 8, false, NULL},
    };
    static const struct made usual = {0}, open = {.guarantee = "none"},
                             odd = {.hold = "lognormal:1ms:0.5"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct planner_ask ask = {ASK, .rate = cases[i].rate, .hold_ns = cases[i].hold_ns};
        ask.keys = cases[i].keys;
        struct capacity *file = file_of(&usual, 1, "2026-01-01T00:00:00Z");
        struct planner *planner = plan_of(&file, 1, &ask);
        assert_int_equal(planner->impossible, cases[i].impossible);
        if (cases[i].impossible) {
            judged(&usual, ask, PLANNER_TOO_MUCH, false, cases[i].says, NULL);
            assert_int_equal(planner_exit(planner), LB_EXIT_REGRESSION);
            char *text = NULL;
            size_t size;
            FILE *out = open_memstream(&text, &size);
            struct doc doc = {0};
            planner_doc(planner, &doc);
            assert_int_equal(doc_write_and_free(&doc, DOC_MARKDOWN, false, out, NULL), 0);
            fclose(out);
            has(text, "No mutex can: ");
            has(text, i == 0 ? "300/s on 1 key, each held for 12.0 ms" : "5,000/s on ");
            free(text);
        }
        planner_free(planner);
        capacity_free(file);
    }
    struct planner_ask ask = {ASK, .rate = 5000, .hold_ns = NAN};
    judged(&odd, ask, PLANNER_TOO_MUCH, false, "broken from 440/s on", NULL);
    judged(&open, ask, PLANNER_TOO_MUCH, false, "broken from 440/s on", NULL);
}

/* A lock in the memory of a server whose tables are on disk: what the lock itself survives comes
 * first, in all documents, in the words of `run`. */
TEST(the_locks_own_durability_comes_before_its_servers) {
    static const char words[] =
        "in memory: in the server's memory: nothing is written (the server: "
        "write-ahead log, on disk before each commit returns)";
    const struct planner_ask ask = {ASK, .rate = 200, .hold_ns = 1e6};
    struct capacity *file = file_of(many, MANY, "2026-01-01T00:00:00Z");
    struct planner *planner = plan_of(&file, 1, &ask);
    for (int i = 0; i < 2; i++) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        struct doc doc = {0};
        if (i == 0)
            planner_doc(planner, &doc);
        else
            capacity_doc(file, &doc);
        assert_int_equal(doc_write_and_free(&doc, DOC_MARKDOWN, false, out, NULL), 0);
        fclose(out);
        has(text, words);
        has(text, "| on disk first: on disk before each answer |"); /* a lock without a note */
        free(text);
    }
    planner_free(planner);
    capacity_free(file);
}

static char *capacity_text(const struct capacity *file) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct doc doc = {0};
    capacity_doc(file, &doc);
    assert_int_equal(doc_write_and_free(&doc, DOC_MARKDOWN, false, out, NULL), 0);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* Without an answer the least load that broke the promise is a bound, if no probe kept it at a greater
 * one. */
TEST(a_kept_probe_contradicts_a_bound) {
    const struct made made = {.low = -1, .more = PROBE(100, "broken", 50e6, 80e6)};
    struct capacity *file = file_of(&made, 1, "2026-01-01T00:00:00Z");
    char *text = capacity_text(file);
    if (strstr(text, "100/s")) fail_msg("%s", text);
    free(text);
    for (int i = 0; i < file->locks[0].probe_count; i++)
        file->locks[0].probes[i].verdict = PROMISE_BROKEN;
    text = capacity_text(file);
    has(text, "100/s");
    free(text);
    capacity_free(file);
}

TEST(outputs_are_as_stored) {
    static const char *const names[] = {"many.table", "many.md", "many.json"};
    struct planner_ask ask = {ASK, .rate = 200, .hold_ns = 1e6};
    ask.clients = 100;
    struct capacity *file = file_of(many, MANY, "2026-01-01T00:00:00Z");
    struct planner *planner = plan_of(&file, 1, &ask);
    for (int i = 0; i < 3; i++) {
        char *text = NULL, path[256];
        size_t size;
        FILE *out = open_memstream(&text, &size);
        struct doc doc = {0};
        if (i < 2) planner_doc(planner, &doc);
        assert_int_equal(i == 2 ? planner_write_json(planner, out, NULL)
                                : doc_write_and_free(&doc, i == 0 ? DOC_TERMINAL : DOC_MARKDOWN,
                                                     false, out, NULL),
                         0);
        fclose(out);
        snprintf(path, sizeof path, GOLDEN "%s", names[i]);
        same_as_stored(path, text);
        free(text);
    }
    planner_free(planner);
    capacity_free(file);
}

TEST(the_command) {
    static const struct mistake mistakes[] = {
        {"$D/nothing --rate 40/s", LB_EXIT_USAGE, "nothing"},
        {"report/src --rate 40/s", LB_EXIT_USAGE, "there is no capacity.json in it or below"},
        {"results/schema --rate 40/s", LB_EXIT_USAGE, "there is no capacity.json in it or below"},
        {"$D/cut.json --rate 40/s", LB_EXIT_USAGE, "the file ends too early"},
        {"$D/other.json --rate 40/s", LB_EXIT_USAGE, "lockbench.capacity/9"},
        {"report/tests/golden/mixed/run.json --rate 40/s", LB_EXIT_USAGE,
         "is not a result of lockbench capacity"},
        {"$D --slo 'acquire_due.p99'", LB_EXIT_USAGE, "plan: --slo"},
        {"$D --slo 'speed.p99<=20ms' --rate 3", LB_EXIT_USAGE, "plan: --slo"},
        {"$D --slo 'acquire_due.p101<=20ms' --rate 3", LB_EXIT_USAGE, "plan: --slo"},
        {"$D --slo 'acquire_due.p99<=soon' --rate 3", LB_EXIT_USAGE, "plan: --slo"},
        {"$D --slo 'acquire.p99<=20ms' --rate 3", LB_EXIT_USAGE, "promise acquire_due"},
        {"$D", LB_EXIT_USAGE, "neither a rate nor clients"},
        {"$D --rate 40/fortnight", LB_EXIT_USAGE, "plan: --rate: '40/fortnight'"},
        {"$D --rate -4", LB_EXIT_USAGE, "plan: --rate"},
        {"$D --rate nan", LB_EXIT_USAGE, "plan: --rate"},
        {"$D --rate 4 --clients 0", LB_EXIT_USAGE, "plan: --clients"},
        {"$D --rate 4 --hold 12", LB_EXIT_USAGE, "plan: --hold"},
        {"$D --rate 4 --keys many", LB_EXIT_USAGE, "plan: --keys"},
        {"$D --rate 4 --lock pg-advisry", LB_EXIT_USAGE,
         "plan: --lock: no lock 'pg-advisry', did you mean 'pg-advisory'"},
        {"$D --rate 4 --topology reddis", LB_EXIT_USAGE,
         "plan: --topology: no lock runs on a topology 'reddis', did you mean 'redis'"},
        {"$D --rate 4 --lokc a", LB_EXIT_USAGE, "--lock"},
    };
    char *text = file_text(many, MANY, "2026-01-01T00:00:00Z"), *cut = path_of("cut.json"),
         *one = path_of("runs/one/capacity.json"), *other = path_of("other.json");
    const char *const make[] = {"sh", "-c", "mkdir -p \"$0/runs/one\"", folder, NULL};
    assert_int_equal(run_command(make, NULL), 0);
    store(one, text);
    text[strlen(text) / 2] = '\0';
    store(cut, text);
    store(other, "{\"schema\":\"lockbench.capacity/9\",\"locks\":[]}");
    assert_one_line("plan", mistakes, sizeof mistakes / sizeof *mistakes);
    static const struct {
        const char *words;
        int code;
    } fine[] = {{"$D --rate 200/s --hold 1ms", 0},
                {"$D/runs/one --rate 12000/min --hold 1ms --json", 0},
                {"$D/runs/one/capacity.json --rate 200 --lock pg-advisory --md", 4},
                {"$D --rate 200 --lock zk-lock", 5},
                /* a lock or a topology that this build may not know, as long as a file has it */
                {"$D --rate 200 --lock mysql-lock", 5},
                {"$D --rate 200 --lock redis-semaphore", 5}, /* known, and not measured */
                {"$D --rate 200 --topology pg", 5},
                {"$D --rate 200 --topology redis-cluster", 5},
                {"$D --clients 8 --lock pg-advisory --slo 'acquire.p99<=20ms'", 5}};
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        int code = run_lockbench("plan --slo 'acquire_due.p99<=20ms'", fine[i].words);
        char *said = content_of("err");
        if (code != fine[i].code || *said)
            fail_msg("plan %s: exit code %d, \"%s\"", fine[i].words, code, said);
        free(said);
    }
    free(text);
    free(cut);
    free(one);
    free(other);
}

TEST_MAIN(make_folder, remove_folder)
