/* answer: which lock to choose, as far as the figures show: the best of each kind of durability,
 * side by side. A lock in memory and a lock that waits for the disk are never ranked against each
 * other, because they promise different things. Locks that failed to exclude, controls and
 * baselines are not candidates. */
#ifndef REPORT_RUN_ANSWER_H
#define REPORT_RUN_ANSWER_H

#include "report/run/column.h"
#include "report/run/words.h"

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

#endif
