/* trend: the figures of locks from run to run: a CSV file to which medians are appended, what it shows, and a gate.
 *
 * A line is one lock under one load in one run, its figures medians over the run's repeats. A series is all lines of one
 * lock, load, topology, durability, executor and environment: a run on another kind of machine begins a new one. The
 * gate is the test of report/compare. The file is read like one from a stranger. This code asks no server and prints
 * nothing. */
#ifndef REPORT_TREND_TREND_H
#define REPORT_TREND_TREND_H

#include "report/compare/compare.h"

/* The columns of text, in the file's order; the compared figures follow. */
enum trend_text {
    TREND_TIME, /* when the run began, ISO 8601 */
    TREND_RUN,  /* the name of the run's folder; "BATCH/05" for a repeat */
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
    TREND_REPEATS, /* the number of stages that the medians are of */
    TREND_LIMITED, /* stages that the medians leave out, because the load generator was their limit */
    TREND_VERDICT, /* the worst state of all repeats: "clean", "VIOLATED", ... */
    TREND_TEXTS
};

struct trend_line {
    const char *text[TREND_TEXTS];      /* borrowed from the trend; never NULL */
    enum lock_state state;              /* what its verdict says */
    double figure[COMPARE_METRICS_MAX]; /* NAN: not measured; INFINITY: never */
};

struct trend {
    char *path, *buffer;
    struct trend_line *
        lines; /* series by series, each in the order of time; a run that is there twice is there once */
    int count;
};

/* Reads a file. NULL with err (LB_EXIT_USAGE), which says which line is wrong and why. */
struct trend *trend_read(const char *path, struct lb_err *err);
/* The same from text, which it takes over; path is for messages. */
struct trend *trend_parse(char *text, const char *path, struct lb_err *err);
void trend_free(struct trend *trend);

struct trend_added {
    int lines; /* lines that were added */
    int there; /* lines that were there already */
    int limited; /* stages that the added lines leave out, because the load generator was their limit */
};

/* paths: runs, or folders of runs. Appends a line for each lock and load of a run that the file does not have yet, and
 * makes the file if there is none. Locks that are broken on purpose and incomplete stages have no line. A lock all of
 * whose stages were generator-limited has a line without figures. commit may be NULL. All lines or none are written.
 * 0, or -1 with err. */
int trend_append(const char *path, const char *const *paths, int path_count, const char *commit,
                 struct trend_added *ret, struct lb_err *err);

/* With fewer runs a side, nothing shows a change. */
#define TREND_GATE_LEAST 4

struct trend_ask {
    const char *lock; /* only this lock; NULL: all */
    uint32_t metrics; /* only these compared figures, a choice */
    int gate; /* the number of runs that the gate holds against as many before them; 0: no gate */
    double min_effect; /* the smallest change that counts: 0.03 */
};

struct trend_series {
    const struct trend_line *lines; /* borrowed; in the order of time */
    int count;
    bool judged; /* no other series of its lock and load has a newer run */
};

struct trend_view {
    const struct trend *trend; /* borrowed */
    struct trend_ask ask;
    struct trend_series *series;
    int count;
    /* with ask.gate: the newest runs of each judged series ("new") against those before them ("base"), else NULL */
    struct compare *gate;
};

/* NULL with err: no such lock, no line, or out of memory. The trend must outlive it. */
struct trend_view *trend_look(const struct trend *trend, const struct trend_ask *ask,
                              struct lb_err *err);
void trend_view_free(struct trend_view *view);

/* The exit code: that of the gate's comparison; 0 without one. */
int trend_exit(const struct trend_view *view);

/* Compares two lines by the columns that make a series; of_load: by lock, clients and load alone. */
int trend_by_series(const struct trend_line *a, const struct trend_line *b, bool of_load);

/* Adds the history to a document, after the gate's comparison. blocks: with a line of block characters (UTF-8) for
 * each figure. */
void trend_doc(const struct trend_view *view, bool blocks, struct doc *doc);
/* Writes the history as JSON. 0, or -1 when out of memory. */
int trend_write_json(const struct trend_view *view, FILE *out, struct lb_err *err);
/* Writes the document as a page. 0, or -1 with err. */
int trend_page(const struct trend_view *view, FILE *out, struct lb_err *err);

#endif
