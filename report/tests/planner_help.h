/* planner_help: what the tests of the planner share: hand-made capacities. Header only, since each test is one
 * program. */
#ifndef REPORT_TESTS_PLANNER_HELP_H
#define REPORT_TESTS_PLANNER_HELP_H

#include <math.h>

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
    int holders;      /* of a key at the same time; 0: an older file, which has none */
};

static inline const char * or (const char *text, const char *usual) {
    return text ? text : usual;
}

/* Probes of a promise of 20 ms: kept with 3 ms at half the answer and 10 ms at the answer's low
 * end, broken with 60 ms at its high one. The model: 1 ms held, 0.5 ms to hand over. */
static inline void put_lock(FILE *out, const struct made *made) {
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
    if (made->holders > 0) fprintf(out, "\"holders\":%d,", made->holders);
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

static inline char *file_text(const struct made *made, int count, const char *started_at) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fprintf(out,
            "{\"schema\":\"lockbench.capacity/1\",\"method\":%d,\"started_at\":\"%s\","
            "\"partial\":%s,\"partial_reason\":%s,\"locks\":[",
            CAPACITY_METHOD, started_at, made[count - 1].cut ? "true" : "false",
            made[count - 1].cut ? "\"interrupted\"" : "null");
    for (int i = 0; i < count; i++) {
        if (i > 0) fputc(',', out);
        put_lock(out, &made[i]);
    }
    fputs("]}", out);
    assert_int_equal(fclose(out), 0);
    return text;
}

static inline struct capacity *file_of(const struct made *made, int count, const char *started_at) {
    struct lb_err err = {0};
    char *text = file_text(made, count, started_at);
    struct capacity *file = capacity_parse(text, strlen(text), "results/one/capacity.json", &err);
    assert_string_equal(err.text, "");
    free(text);
    return file;
}

/* A probe more of a lock: made.more. */
#define PROBE(value, verdict, low, high)                                                           \
    ",{\"value\":" #value ",\"verdict\":\"" verdict "\",\"quantile_ns\":" #low ",\"low_ns\":" #low \
    ",\"high_ns\":" #high ",\"samples\":1000,\"missed\":0}"

#define ASK                                                                                        \
    .clients = NAN, .keys = 1, .metric = "acquire_due", .quantile = 0.99, .limit_ns = 20e6,        \
    .slo = "acquire_due.p99<=20ms"

/* Checks the answer of one measurement. */
static inline void judged(const struct made *made, struct planner_ask ask,
                          enum planner_verdict verdict, bool model, const char *why,
                          const char *settle) {
    struct planner_answer answer;
    struct capacity *file = file_of(made, 1, "2026-01-01T00:00:00Z");
    assert_int_equal(planner_answer(&ask, file, &file->locks[0], &answer), 0);
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

static inline struct planner *plan_of(struct capacity **files, int count,
                                      const struct planner_ask *ask) {
    struct lb_err err = {0};
    struct planner *planner = planner_make(files, count, ask, &err);
    assert_string_equal(err.text, "");
    assert_non_null(planner);
    return planner;
}

#endif
