/* trend: the figures of locks from run to run: a CSV file to which medians are appended, and a gate.
 *
 * A line is one lock under one load in one run, its figures medians over the run's repeats. A series is all lines of one
 * lock, load, topology, durability, executor and environment: a run on another kind of machine begins a new one. The
 * gate is the test of report/compare. This code asks no server and prints nothing. */
#ifndef REPORT_TREND_TREND_H
#define REPORT_TREND_TREND_H

#include "report/compare/compare.h"

/* The columns, in the file's order: texts, then numbers. */
enum trend_text {
    TREND_TIME, /* when the run began, ISO 8601 */
    TREND_RUN,  /* the name of the run's folder; "new/05" for one of `run --against` */
    TREND_LOCK,
    TREND_CLIENTS,
    TREND_LOAD, /* the load in words, without the number of clients */
    TREND_TOPOLOGY,
    TREND_DURABILITY,
    TREND_EXECUTOR, /* "1 x 2": processes by threads */
    TREND_ENVIRONMENT, /* hash of the machine, the build, the lock's options and what its attempts ask for */
    TREND_KERNEL,
    TREND_SERVER,  /* "redis 7.0.15" */
    TREND_COMMIT,  /* the tested version, as the person who ran it named it; may be empty */
    TREND_VERDICT, /* the worst state of all repeats: "clean", "VIOLATED", ... */
    TREND_TEXTS
};
enum trend_number {
    TREND_REPEATS, /* the stages that the median of the grants is of */
    TREND_FIGURES, /* the first compared figure; NAN: not measured; INFINITY: never */
    TREND_NUMBERS_MAX = TREND_FIGURES + COMPARE_METRICS_MAX
};

struct trend_line {
    const char *text[TREND_TEXTS]; /* borrowed from the trend; never NULL */
    double number[TREND_NUMBERS_MAX];
    enum lock_state state; /* what its verdict says */
};

struct trend_series {
    const struct trend_line *lines; /* borrowed; in the order of time */
    int count;
    bool judged; /* no other series of its lock and load has a newer run */
};

/* With fewer runs a side, nothing shows a change. */
#define TREND_GATE_LEAST 4

struct trend_ask {
    uint32_t metrics;  /* only these compared figures, a choice */
    int gate;          /* the number of runs that the gate holds against as many before them */
    double min_effect; /* the smallest change that counts: 0.03 */
};

struct trend {
    struct trend_ask ask;
    char *path, *text;
    struct trend_line *lines; /* series by series, each in the order of time */
    int count;
    struct trend_series *series;
    int series_count;
    /* the newest runs of each judged series ("new") against those before them ("base") */
    struct compare *gate;
};

/* Reads a file, and judges it. NULL with err (LB_EXIT_USAGE): it has no line, or a wrong one, which err names. */
struct trend *trend_read(const char *path, const struct trend_ask *ask, struct lb_err *err);
void trend_free(struct trend *trend);

/* For bench/tools/history: the first line of a file, malloced; NULL when out of memory. And a file whose lines are read, and not
 * yet judged; NULL with err. */
char *trend_header(void);
struct trend *trend_file(const char *path, struct lb_err *err);

#endif
