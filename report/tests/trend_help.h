/* trend_help: what the tests of histories share: lines made from a seed, and the output for them. Header only, since
 * each test is one program. */
#ifndef REPORT_TESTS_TREND_HELP_H
#define REPORT_TESTS_TREND_HELP_H

#include <math.h>
#include <sys/stat.h>

#include "report/tests/report_help.h"
#include "report/trend/trend.h"
#include "results/stats/tests/stats_help.h"

/* The columns that every line has; those of figures follow. */
#define COLUMNS                                                                                              \
    "time,commit,run,environment,host,kernel,server,lock,clients,load,topology,durability,executor,repeats," \
    "verdict,"
#define HEADER                                                                                     \
    COLUMNS                                                                                        \
    "throughput,acquire_p50,acquire_p99,handoff_p50,release_p99,client_cpu_net,server_cpu_net,commands\n"

/* The members that differ from a usual line; NULL = as usual. */
struct made {
    const char *lock, *environment, *kernel, *verdict, *load, *topology;
    double rate;
};

static inline void put_line(FILE *out, int day, const struct made *made) {
    double rate = made->rate;
    fprintf(out,
            "2026-%02d-%02dT12:00:00Z,c%03d,2026-run-%03d,%s,h1,%s,redis 7.0.15,%s,16,\"%s\",%s,"
            "\"in memory, not \"\"durable\"\"\",1 x 2,3,%s,%.6g,%.6g,%.6g,,%.6g,20000,,3\n",
            1 + day / 28, 1 + day % 28, day, day, made->environment ? made->environment : "e1",
            made->kernel ? made->kernel : "6.1", made->lock ? made->lock : "redis-setnx",
            made->load ? made->load : "one key, closed loop",
            made->topology ? made->topology : "redis", made->verdict ? made->verdict : "clean",
            rate, 1e9 / rate, 3e9 / rate, 1e8 / rate);
}

/* A history while it is written. */
struct lines {
    FILE *out;
    char *text;
    size_t size;
};

static inline void lines_begin(struct lines *lines, const char *header) {
    lines->out = open_memstream(&lines->text, &lines->size);
    assert_non_null(lines->out);
    fputs(header, lines->out);
}

/* What comes before the figures of a run, whatever they are. */
static inline void put_day(FILE *out, int day) {
    fprintf(out, "2026-%02d-%02dT12:00:00Z,,r%d,e,h,k,s,a,4,load,t,d,1 x 1,1,clean,", 1 + day / 28,
            1 + day % 28, day);
}

static inline struct trend *lines_parse(struct lines *lines) {
    struct lb_err err = {0};
    assert_int_equal(fclose(lines->out), 0);
    struct trend *trend = trend_parse(lines->text, "x.csv", &err);
    assert_string_equal(err.text, "");
    return trend;
}

/* 40 runs that scatter by 2 %; from the 30th on they are slower by 12 %, with another kernel. */
static inline char *slower_text(void) {
    char *text = NULL;
    size_t size;
    struct lb_rng rng;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    rng_seed(&rng, 4, 1);
    fputs(HEADER, out);
    for (int day = 0; day < 40; day++) {
        struct made made = {.rate = 20000 * around(&rng, 0.02)};
        if (day >= 30) {
            made.rate *= 0.88;
            made.kernel = "6.2";
        }
        put_line(out, day, &made);
        if (day == 3) put_line(out, day, &(struct made){.rate = 5000, .environment = "e2"});
        if (day % 10 == 5) put_line(out, day, &(struct made){.rate = 900, .lock = "zk-lock"});
    }
    assert_int_equal(fclose(out), 0);
    return text;
}

/* metric: -1 = all */
static inline struct trend_view *look(struct trend *trend, int metric, int gate) {
    struct lb_err err = {0};
    const struct trend_ask ask = {.metrics = metric < 0 ? 0 : choice_with(0, metric),
                                  .last = 10,
                                  .gate = gate,
                                  .min_effect = 0.03};
    struct trend_view *view = trend_look(trend, &ask, &err);
    assert_string_equal(err.text, "");
    return view;
}

enum form { FORM_TABLE, FORM_LINES, FORM_MD, FORM_JSON };

/* What the command prints. The caller frees. */
static inline char *text_of(const struct trend_view *view, enum form form) {
    char *text = NULL;
    size_t size;
    struct doc doc = {0};
    if (form != FORM_JSON) {
        trend_doc(view, form != FORM_TABLE, &doc);
        return written(&doc, form == FORM_MD ? DOC_MARKDOWN : DOC_TERMINAL);
    }
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(trend_write_json(view, out, NULL), 0);
    assert_int_equal(fclose(out), 0);
    return text;
}

static inline int metric_of(const char *name) {
    for (int m = 0; m < compare_metric_count(); m++) {
        if (strcmp(compare_metric(m)->compared, name) == 0) return m;
    }
    fail_msg("nothing compared is called %s", name);
    return -1;
}

static inline struct trend *slower(void) {
    struct lb_err err = {0};
    struct trend *trend = trend_parse(slower_text(), "history.csv", &err);
    assert_string_equal(err.text, "");
    assert_non_null(trend);
    return trend;
}

#endif
