/* trend: how the figures of locks went from run to run: a CSV file that medians are appended to,
 * and what changed in it, when, by how much.
 *
 * A line is one lock under one load in one run, its figures medians over the run's repeats. A
 * series is all lines of one lock, load, topology, durability, executor and environment: what ran
 * on another kind of machine is a series of its own, never a change. Change points are
 * results/stats/change's. The file is read as one that came from anywhere. It asks no server, and
 * prints nothing. */
#ifndef REPORT_TREND_TREND_H
#define REPORT_TREND_TREND_H

#include <stdbool.h>
#include <stdio.h>

#include "bench/base/err.h"
#include "report/compare/compare.h"
#include "report/doc/doc.h"
#include "results/stats/change.h"

/* The columns of text, in the file's order; the figures of the compared figures follow. */
enum trend_text {
    TREND_TIME,   /* ISO 8601, when the run began */
    TREND_COMMIT, /* what was measured, as whoever ran it named it; may be empty */
    TREND_RUN,    /* the name of its folder */
    /* hash of processors, clock, governor, build, the lock's options; not of the host */
    TREND_ENVIRONMENT,
    TREND_HOST, /* hash of its name */
    TREND_KERNEL,
    TREND_SERVER, /* "redis 7.0.15" */
    TREND_LOCK,
    TREND_CLIENTS,
    TREND_LOAD, /* in words, all but the clients */
    TREND_TOPOLOGY,
    TREND_DURABILITY,
    TREND_EXECUTOR, /* "1 x 2": processes by threads */
    TREND_REPEATS,  /* that the medians are of */
    TREND_VERDICT,  /* the worst of all: "clean", "VIOLATED", ... */
    /* The columns below are empty in lines of files that have them not. */
    TREND_LIMITED, /* stages that the medians leave out: their limit was the load generator */
    TREND_TEXTS
};
#define TREND_NEEDED TREND_LIMITED /* columns that a file must have: those before this one */

struct trend_line {
    const char *text[TREND_TEXTS];      /* borrowed from the trend; never NULL */
    double figure[COMPARE_METRICS_MAX]; /* NAN: not measured; INFINITY: never */
};

#define TREND_COLUMNS_MAX 100

struct trend {
    char *path, *buffer;
    struct trend_line *lines; /* in the order of their times */
    int count;
    /* The columns of the file: an enum trend_text, TREND_TEXTS + a compared figure, or -1 for one
     * that this program does not know. */
    int column[TREND_COLUMNS_MAX], columns;
};

/* Reads a file. NULL with err (LB_EXIT_USAGE): the line that is wrong and how. */
struct trend *trend_read(const char *path, struct lb_err *err);
/* The same from text, which it takes over; path is for messages. */
struct trend *trend_parse(char *text, const char *path, struct lb_err *err);
void trend_free(struct trend *trend);

struct trend_added {
    int lines; /* added */
    int there; /* that were there already */
    int limited; /* stages of the added lines that were left out: the load generator was their limit */
};

/* Appends a line for each lock and load of the runs, but for those that are there. Makes the file
 * if there is none, and adds the columns that it lacks. Locks that are broken on purpose and stages
 * that did not come to their end have no line. A lock all of whose stages were generator-limited has
 * a line without figures. commit may be NULL. All lines or none are written. 0, or -1 with err. */
int trend_append(const char *path, const char *const *runs, int run_count, const char *commit,
                 struct trend_added *ret, struct lb_err *err);

/* Runs that a new level must have before a gate takes it for one: fewer may be outliers. */
#define TREND_LEVEL 3

/* The chance that a gate is shut when nothing has changed. */
#define TREND_GATE_RATE 0.05

/* Changes that people have seen and accept: a text file that is kept beside the history, in git. */
struct trend_ack {
    const char *where;         /* the commit, or the run's name, with which the change came */
    const char *lock, *figure; /* "*" = any */
    const char *why;
};

struct trend_acks {
    char *path, *buffer;
    struct trend_ack *items;
    int count;
};

/* Reads them: a line each, "WHERE LOCK FIGURE WHY ...", after # a comment. NULL with err
 * (LB_EXIT_USAGE): the line that is wrong and how. */
struct trend_acks *trend_acks_read(const char *path, struct lb_err *err);
/* The same from text, which it takes over; path is for messages. */
struct trend_acks *trend_acks_parse(char *text, const char *path, struct lb_err *err);
void trend_acks_free(struct trend_acks *acks);

struct trend_figure {
    double *values; /* those that were measured, INFINITY = never; owned */
    double never;   /* what a value of never counts as: ten times the greatest of the others */
    int *lines;     /* index in the series of each */
    int count;
    struct change_point *changes; /* index: in values; owned */
    int change_count;
    double latest, median; /* the median of the last `last` */
    /* from before the last `gate` runs' changes until now, 0.05 = 5 % more; 0 = no change */
    double shift;
    bool worse; /* ... is one for the worse that the gate counts */
    /* How sure that change is: corrected over all figures of all series of the gate. NAN: no gate */
    double p;
    const char *acknowledged; /* ... is known: why, borrowed from ask.acks; NULL = it is not */
};

struct trend_series {
    const struct trend_line **lines; /* in the order of time; owned */
    int count;
    struct trend_figure figure[COMPARE_METRICS_MAX];
    enum lock_state state; /* of its newest run; LOCK_UNCHECKED for a word that is none */
    /* With ask.gate: among so many newest runs some have no figures, since the load generator was
     * their limit, and fewer than TREND_LEVEL have any. */
    bool inconclusive;
    int limited; /* stages that were left out of its newest ask.gate runs */
};

struct trend_ask {
    const char *lock; /* NULL: all */
    int metric;       /* of the compared figures; -1: all */
    int last;         /* runs that the median is of */
    int gate; /* a change for the worse in so many newest runs counts, at least TREND_LEVEL; 0: none
                        * is asked for */
    double min_effect;             /* 0.03 */
    const struct trend_acks *acks; /* borrowed; NULL = none */
};

struct trend_view {
    const struct trend *trend; /* borrowed */
    struct trend_ask ask;
    struct trend_series *series;
    int count;
    int worse;        /* figures */
    int acknowledged; /* figures that would be worse */
    int inconclusive; /* series */
    int limited;      /* stages that were left out of the gate's runs */
};

/* NULL with err: no such lock, or out of memory. The trend must outlive it. */
struct trend_view *trend_look(const struct trend *trend, const struct trend_ask *ask,
                              struct lb_err *err);
void trend_view_free(struct trend_view *view);

/* 3 when the newest run of a series let two in; with ask.gate 4 when figures became worse or the
 * newest run of a series got stuck or starved its clients, 5 when a series is inconclusive; else 0. */
int trend_exit(const struct trend_view *view);

/* What else is not the same at a change as at the line before it: "kernel, server", "" for
 * nothing. */
char *trend_also(const struct trend_series *series, const struct trend_figure *figure,
                 const struct change_point *change, char *text, size_t size);

/* Whether it is one for the worse. */
bool trend_is_worse(int metric, double before, double after);

/* Adds the history to a document. lines: with a line of blocks (UTF-8) for each figure. */
void trend_doc(const struct trend_view *view, bool lines, struct doc *doc);
/* 0, or -1 when out of memory. */
int trend_write_json(const struct trend_view *view, FILE *out, struct lb_err *err);
/* Writes the history as a page: what the gate says, the changes on charts, then the document. 0, or
 * -1 with err. */
int trend_page(const struct trend_view *view, FILE *out, struct lb_err *err);
/* A CSV file a series and otava.yaml, for `otava analyze`, into a folder that it makes. 0, or -1
 * with err. */
int trend_write_otava(const struct trend_view *view, const char *folder, struct lb_err *err);

#endif
