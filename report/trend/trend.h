/* trend: the figures of locks from run to run: a CSV file that medians are appended to, and which
 * of them changed, when, and by how much.
 *
 * A line is one lock under one load in one run, its figures medians over the run's repeats. A
 * series is all lines of one lock, load, topology, durability, executor and environment: a run on
 * another kind of machine begins a new series and is never a change. results/stats/change finds the
 * change points. The file is read like one from a stranger. This code asks no server and prints
 * nothing. */
#ifndef REPORT_TREND_TREND_H
#define REPORT_TREND_TREND_H

#include <stdbool.h>
#include <stdio.h>

#include "bench/base/err.h"
#include "report/compare/compare.h"
#include "report/doc/doc.h"
#include "results/stats/change.h"

/* The columns of text, in the file's order; the compared figures follow. */
enum trend_text {
    TREND_TIME,   /* when the run began, ISO 8601 */
    TREND_COMMIT, /* the tested version, as the person who ran it named it; may be empty */
    TREND_RUN,    /* the name of the run's folder; "BATCH/05" for a repeat */
    /* hash of processors, clock, governor, build, the lock's options and what its attempts ask for, without the host and
     * the program under test */
    TREND_ENVIRONMENT,
    TREND_HOST, /* hash of the host's name */
    TREND_KERNEL,
    TREND_SERVER, /* "redis 7.0.15" */
    TREND_LOCK,
    TREND_CLIENTS,
    TREND_LOAD, /* the load in words, without the number of clients */
    TREND_TOPOLOGY,
    TREND_DURABILITY,
    TREND_EXECUTOR, /* "1 x 2": processes by threads */
    TREND_REPEATS,  /* the number of repeats that the medians are of */
    TREND_VERDICT,  /* the worst state of all repeats: "clean", "VIOLATED", ... */
    /* The columns below are empty in lines of files that lack them. */
    /* stages that the medians leave out, because the load generator was their limit */
    TREND_LIMITED,
    TREND_TEXTS
};
/* the number of columns that a file must have: those before this one */
#define TREND_NEEDED TREND_LIMITED

struct trend_line {
    const char *text[TREND_TEXTS];      /* borrowed from the trend; never NULL */
    enum lock_state state;              /* what its verdict says */
    double figure[COMPARE_METRICS_MAX]; /* NAN: not measured; INFINITY: never */
};

#define TREND_COLUMNS_MAX 100

struct trend {
    char *path, *buffer;
    struct trend_line *lines; /* in the order of time */
    int count;
    int copies; /* lines that are there again, left out of count */
    /* The columns of the file: an enum trend_text, or TREND_TEXTS + the index of a compared figure,
     * or -1 for a column that this program does not know. */
    int column[TREND_COLUMNS_MAX], columns;
};

/* Reads a file. NULL with err (LB_EXIT_USAGE), which says which line is wrong and why. */
struct trend *trend_read(const char *path, struct lb_err *err);
/* The same from text, which it takes over; path is for messages. */
struct trend *trend_parse(char *text, const char *path, struct lb_err *err);
void trend_free(struct trend *trend);

struct trend_added {
    int lines; /* lines that were added */
    int there; /* lines that were there already, or came from a run that is named twice */
    /* stages of the added lines that were left out, because the load generator was their limit */
    int limited;
    int partial; /* runs that are partial: only their stages that came to their end have lines */
};

/* paths: runs, or folders of runs. Appends a line for each lock and load of the runs that has none in the file yet:
 * one of the same time, host, folder's name, series, repeats and figures. Makes the file
 * if there is none, and adds missing columns. Locks that are broken on purpose and incomplete
 * stages have no line. A lock all of whose stages were generator-limited has a line without
 * figures. commit may be NULL. All lines or none are written. 0, or -1 with err. */
int trend_append(const char *path, const char *const *paths, int path_count, const char *commit,
                 struct trend_added *ret, struct lb_err *err);

/* The number of runs that the levels before and after a change must have before a gate counts it: fewer may be
 * outliers. */
#define TREND_LEVEL 3
/* The runs of the two levels: with fewer, nothing shows a change. */
#define TREND_RUNS (2 * TREND_LEVEL)

/* A series has ended when another series of its lock has so many newer runs, or as many as the gate looks at
 * if that is more: the machine or the load is not used any more. Its last state is no news. A series with more
 * runs is not young any more. */
#define TREND_ENDED 10

/* The chance that a gate fails although neither a lock nor the machine's load has changed, if the runs are
 * independent. */
#define TREND_GATE_RATE 0.05

/* Changes that people have seen and accept: a text file that is kept beside the history, in git. */
struct trend_ack {
    /* the commit, or the name of the run, in which the change appeared */
    const char *where;
    const char *lock, *figure; /* "*" = any */
    const char *why;
};

struct trend_acks {
    char *path, *buffer;
    struct trend_ack *items;
    int count;
};

/* Reads the acknowledgements: lines "WHERE LOCK FIGURE WHY ...", with comments after #. NULL with
 * err (LB_EXIT_USAGE), which says which line is wrong and why. */
struct trend_acks *trend_acks_read(const char *path, struct lb_err *err);
/* The same from text, which it takes over; path is for messages. */
struct trend_acks *trend_acks_parse(char *text, const char *path, struct lb_err *err);
void trend_acks_free(struct trend_acks *acks);

struct trend_figure {
    double *values; /* the measured values, INFINITY = never; owned */
    double never;   /* the number for a value of never: a little above the greatest of the others */
    int *lines;     /* the index in the series of each value */
    int count;
    struct change_point *changes; /* the change points; their index is one in values; owned */
    int change_count;
    double latest; /* the newest value */
    double median; /* over the newest `last` runs; NAN: none of those has the figure */
    /* the change from the level before the newest `gate` runs to the level now, 0.05 = 5 % more; 0
     * = none */
    double shift;
    bool worse; /* that change is one for the worse, and the gate counts it */
    /* the p of that change, corrected over all figures of all series of the gate; NAN: there is no
     * gate, or it has too few runs */
    double p;
    /* why that change is accepted, borrowed from ask.acks; NULL = it is not */
    const char *acknowledged;
};

struct trend_series {
    const struct trend_line **lines; /* in the order of time; owned */
    int count;
    struct trend_figure figure[COMPARE_METRICS_MAX];
    enum lock_state state; /* the state in its newest run */
    bool ended;            /* it is shown, and counts for neither the gate nor the exit code */
    /* With ask.gate: fewer than TREND_LEVEL of the newest `gate` runs have any figure, because the load generator was
     * the limit of others, or have a figure of ask.metrics that older runs have. */
    bool inconclusive;
    /* With ask.gate: it has no figure with TREND_RUNS values, so the gate can't judge it, and it has not ended. */
    bool few;
    int limited; /* stages that were left out of its newest ask.gate runs */
    /* For a young series with the newest run of its lock and load: the last line, before it began, of an older
     * series of that lock and load. Nothing compares the two. NULL: there is none. */
    const struct trend_line *before;
    bool uncompared; /* `before` is set, and the series began within the newest ask.gate runs */
};

struct trend_ask {
    const char *lock; /* only this lock; NULL: all */
    uint32_t metrics; /* only these compared figures, a choice */
    int last;         /* the number of runs that the median is of */
    /* the gate: a change for the worse within so many newest runs counts, at least TREND_LEVEL; 0:
     * there is no gate */
    int gate;
    double min_effect;             /* the smallest change that counts: 0.03 */
    const struct trend_acks *acks; /* acknowledged changes; borrowed; NULL = none */
};

struct trend_view {
    const struct trend *trend; /* borrowed */
    struct trend_ask ask;
    struct trend_series *series;
    int count;
    int worse;        /* the number of figures that became worse */
    int acknowledged; /* the number of figures that would be worse without an acknowledgement */
    int inconclusive; /* the number of series that are inconclusive */
    int uncompared;   /* the number of series that are uncompared */
    int few;          /* the number of series that have too few runs */
    int judged;       /* the number of figures that the gate judged */
    int limited;      /* the number of stages that were left out of the gate's runs */
};

/* NULL with err: no such lock, or out of memory. The trend must outlive it. */
struct trend_view *trend_look(const struct trend *trend, const struct trend_ask *ask,
                              struct lb_err *err);
void trend_view_free(struct trend_view *view);

/* The exit code: 3 if two clients held at once in the newest run of a series that has not ended; with ask.gate 4 if
 * figures became worse, or the newest run of a series got stuck or starved its clients, and 5 if a
 * series is inconclusive or uncompared, or the gate had nothing to judge; else 0. */
int trend_exit(const struct trend_view *view);

/* The other differences between the line of a change and the line before it: "kernel, server"; ""
 * for nothing. */
char *trend_also(const struct trend_series *series, const struct trend_figure *figure,
                 const struct change_point *change, char *text, size_t size);

/* Writes the names of the columns in which a series differs from the series before it: "topology,
 * environment"; "" if there is no series before it. */
char *trend_differs(const struct trend_series *series, char *text, size_t size);

/* True if the change is one for the worse. */
bool trend_is_worse(int metric, double before, double after);

/* Adds the history to a document. lines: adds a line of block characters (UTF-8) for each
 * figure. */
void trend_doc(const struct trend_view *view, bool lines, struct doc *doc);
/* Writes the history as JSON. 0, or -1 when out of memory. */
int trend_write_json(const struct trend_view *view, FILE *out, struct lb_err *err);
/* Writes the history as a page: the verdict of the gate, the changes on charts, then the document.
 * 0, or -1 with err. */
int trend_page(const struct trend_view *view, FILE *out, struct lb_err *err);

struct trend_otava {
    int tests;
    /* the runs and figures that are left out, because Otava needs a number in each cell: "a.c4.1: 2 runs without
     * figures, handoff_p50; b.c4.2: all of it"; "" = none; owned by the caller */
    char *left_out;
};

/* Writes a CSV file for each series and an otava.yaml, for `otava analyze`, into a folder that it
 * makes. 0, or -1 with err; the history itself is never written over. */
int trend_write_otava(const struct trend_view *view, const char *folder, struct trend_otava *ret,
                      struct lb_err *err);

#endif
