/* answer: which lock to take, as far as the figures tell: the best of each kind of durability, side
 * by side.
 *
 * An in-memory lock and one that waits for the disk are never ranked against each other: they give
 * different things. Locks that failed to exclude, controls and baselines are not candidates. */
#ifndef REPORT_RUN_ANSWER_H
#define REPORT_RUN_ANSWER_H

#include "report/run/column.h"
#include "report/run/words.h"

enum question {
    /* Of an open loop the times are from when a request was due. */
    FASTEST_ALONE, /* acquire p50 of one client */
    MOST_GRANTS,   /* throughput, contended */
    SHORTEST_TAIL, /* acquire p99, contended; a lock for which it is never gives no answer */
    SHORTEST_HANDOFF,
    FAIREST,
    QUESTIONS
};

#define ANSWER_TIES 3

struct answer {
    const struct report_row *best; /* NULL: nobody can answer */
    /* Several have the figure, and one run of each can't tell who is best: best is NULL. */
    bool untold;
    /* level with the best: see best.h */
    const struct report_row *ties[ANSWER_TIES];
    int tie_count; /* may be more than there is room for */
};

struct answers {
    const struct report_group *alone, *contended; /* NULL when no stage was so; borrowed */
    /* The figure that answers; NULL where nothing was measured that could. */
    const struct column *column[QUESTIONS];
    struct answer cell[DURABILITIES][QUESTIONS];
    bool has[DURABILITIES]; /* some lock of this durability can answer something */
};

void answer_make(const struct report *report, struct answers *ret_answers);

/* "fastest alone", with a word on the figure where that is not the usual one. */
const char *answer_title(const struct answers *answers, enum question question);

/* The best one's figure with its own unit, "45.1 us"; text holds NUMBER_TEXT_MAX. answer->best must
 * be there. */
char *answer_text(const struct answer *answer, const struct column *column, char *text);

/* The group a question is asked of; NULL when there is none. */
const struct report_group *answer_group(const struct answers *answers, enum question question);

#endif
