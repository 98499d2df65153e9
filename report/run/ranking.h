/* ranking: which lock to choose, as far as the figures show: the best of a figure, the best of each
 * kind of durability, and the lock that leads each class. */
#ifndef REPORT_RUN_RANKING_H
#define REPORT_RUN_RANKING_H

#include "report/run/column.h"
#include "report/run/words.h"

/* ---- the best of a figure ---- */

/* Which row has the best value of a figure, and how far the others are from it, as far as the
 * noise of the figure allows.
 *
 * A row is level with the best if it is within BEST_TIE of it, or if the spreads of their repeats
 * overlap. Tails (p99, p99.9, maximum) move by more than that from run to run, so no tail of a row
 * without repeats is called best. Rows are compared only within a durability, because a lock in
 * memory and a lock on disk promise different things. */

#define BEST_TIE 0.05 /* one run can't show a smaller difference than this */

/* Jain's index below which a lock is called unfair: 0.8 is what remains when a fifth of the clients
 * gets nothing. */
#define BEST_FAIR 0.8

/* True if a row is the best of its durability or level with it, and another row is worse. False for
 * the tails of single runs. */
bool best_is_marked(const struct column *column, const struct report_group *group, int row);

/* How many times worse the row is than the best of its durability, by this figure: 1 = the best, or
 * level with it. NAN if the figure has no better and worse in this group, if the row is no candidate, if the
 * figures do not show it (best_why_untold), or if the best is 0. INFINITY if the row's figure is
 * "never" and the best is not. */
double best_ratio(const struct column *column, const struct report_group *group, int row);

/* The geometric mean of a row's ratios over the figures of the comparison, without those of special
 * kinds. NAN if there is no ratio, INFINITY if one of the figures is "never". */
double best_ratio_mean(const struct report_group *group, int row);

/* The same mean with every figure at the better end of its spread, and with every figure at the
 * worse end: a range that is wider than that of one figure, and that contains the mean. The best
 * row counts with its median, and a figure that is level with the best counts as at least 1.
 * Returns false, and leaves the ends untouched, if no figure has a spread or there is no mean. */
bool best_ratio_range(const struct report_group *group, int row, double *ret_low, double *ret_high);

/* True if two such means are too close to show a difference. */
bool best_mean_is_level(double a, double b);

/* True if few clients got most of the grants (BEST_FAIR); false if fairness was not measured, or if faults on clients
 * explain it. */
bool best_is_unfair(const struct report_row *row);

/* The reason why the row is unfair, in words: "few clients got most of the grants". */
const char *best_unfair_text(const struct report_row *row);

/* ---- the best of each durability ---- */

/* Which lock to choose, as far as the figures show: the best of each kind of durability,
 * side by side. A lock in memory and a lock that waits for the disk are never ranked against each
 * other, because they promise different things. Locks that failed to exclude, controls and
 * baselines are not candidates. */

enum question {
    /* In an open loop the times count from when a request was due. */
    FASTEST_ALONE, /* acquire p50 of one client */
    MOST_GRANTS,   /* throughput, contended */
    SHORTEST_TAIL, /* acquire p99, contended; a lock that has "never" there is no answer */
    SHORTEST_HANDOFF,
    FAIREST,
    QUESTIONS
};

#define ANSWER_TIES 3

struct answer {
    const struct report_row *best; /* NULL: no lock has the figure */
    /* Why the figures don't show which lock is best (best_why_untold): then best is NULL. NULL: they do. */
    const char *untold;
    /* Why the best had no rival, in words: no other lock of its durability may be chosen, or none of
     * them has the figure. NULL: it was compared. */
    const char *unrivalled;
    /* level with the best: see best.h */
    const struct report_row *ties[ANSWER_TIES];
    int tie_count; /* may be greater than the room in names */
};

struct answers {
    /* the group of the answers; NULL if no stage fits the question; borrowed */
    const struct report_group *alone, *contended;
    /* the figure that answers; NULL if no figure was measured that could */
    const struct column *column[QUESTIONS];
    struct answer cell[DURABILITIES][QUESTIONS];
    bool has[DURABILITIES]; /* a lock of this durability answers some question */
};

void answer_make(const struct report *report, struct answers *ret_answers);

/* "fastest alone", with the name of the figure if it is not the usual one. */
const char *answer_title(const struct answers *answers, enum question question);

/* The figure of the best lock with its own unit, "45.1 us"; text holds NUMBER_TEXT_MAX.
 * answer->best must not be NULL. */
char *answer_text(const struct answer *answer, const struct column *column, char *text);

/* The group that answers a question; NULL if there is none. */
const struct report_group *answer_group(const struct answers *answers, enum question question);

/* ---- who leads ---- */

/* Which lock leads each class of durability and guarantee under one load. Nothing is ranked
 * here: the figures are those of the comparison (best.h). An unfair lock leads only if no lock of its
 * class is fair, since the times of an unfair lock are those of the few clients that were served. */

/* A row with its distance from the best. */
struct lead_bar {
    int row;
    double ratio;     /* NAN: not ranked */
    double low, high; /* its range over the repeats; NAN: none */
};

/* The load whose leaders are named: the one with the most clients that meet, or with one client.
 * NULL: no real lock ran. */
const struct report_group *lead_group(const struct answers *answers);

/* The next row after `after` that is the first real lock of a class, in the order of durabilities;
 * after = -1 gives the first. Returns -1 if there is none. */
int lead_next_class(const struct report_group *group, int after);

struct lead_bar lead_bar_of(const struct report_group *group, int row);

/* The rows of the class that `first` opens, the nearest to the best first; ret_bars has room for all
 * rows. Returns how many. */
int lead_bars(const struct report_group *group, int first, struct lead_bar *ret_bars);

/* True if at most one lock of the class is ranked, so that nobody was compared. */
bool lead_is_alone(const struct lead_bar *bars, int count);

/* The index of the leader among the bars of a class; -1: no lock is ranked. */
int lead_leader(const struct report_group *group, const struct lead_bar *bars, int count);
/* The leader of each class, in a sentence; not for the page, whose first screen says it. Nothing if
 * no class has two locks that are ranked. */
void run_lead(const struct report *report, const struct answers *answers, struct doc *doc);

#endif
