/* ranking: which lock to choose: the one ranking, for the terminal, the page, Markdown and JSON.
 *
 * The rule: within a class (durability and guarantee), the lock comes first whose grant costs least under contention. The
 * cost of a grant is the time between two grants of a key without the time that holders were inside, so that a long hold
 * does not make slow locks look alike. Where clients do not always wait (one client, an open loop, pauses), it is the
 * median wait instead. A lock that costs more leads where its p99 is shorter by a multiple of that, or where it is level and
 * fairer. Lost requests and waits that are missing take nothing from the rank: they are a note. */
#ifndef REPORT_RUN_RANKING_H
#define REPORT_RUN_RANKING_H

#include "report/run/column.h"
#include "report/run/words.h"

#define RANKING_TIE 0.05 /* one run shows no smaller difference than this */
/* Below this index of Jain a lock is called unfair: it remains if a fifth of the clients gets nothing. */
#define RANKING_FAIR 0.8
#define RANKING_MULTIPLE 2 /* so much longer a p99 does not lead */
#define RANKING_ROUNDS 6   /* fewer give no interval */
#define RANKING_NOTE_MAX 400

struct ranked {
    int row;
    double cost_ns;         /* NAN: not ranked; INFINITY: nothing was granted, or less than half */
    double low_ns, high_ns; /* the interval of the cost, from repeats; NAN: none */
    /* with the first: within RANKING_TIE of a round; or the interval of their ratio, round by round, does not show that
     * the dearer one costs more, or where there are no rounds their intervals overlap; all are where the rounds prove
     * nothing */
    bool level;
};

/* The load that decides: the one with the most clients that meet, or with the fewest if none meet; NULL: nothing ran. */
const struct report_group *ranking_load(const struct report *report);
/* The same, if its rows can be ranked. NULL: no lock for use ran. */
const struct report_group *ranking_group(const struct report *report);
/* The load with the fewest clients in which no two meet; NULL: there is none. */
const struct report_group *ranking_alone(const struct report *report);

/* True if the cost of a grant ranks in the load, and not the median wait. */
bool ranking_by_cost(const struct report_group *group);
/* The name of the figure that ranks in the load: "cost of a grant", or of a column ("acquire p50"). */
const char *ranking_figure(const struct report_group *group);
/* The cost of a grant of the row; NAN where it does not rank. */
double ranking_cost_ns(const struct report_group *group, int row);
/* The grants a second over those that one key gives without a lock at this hold; NAN where the cost does not rank, or nobody
 * holds. */
double ranking_share(const struct report_group *group, int row);

/* The greatest difference that the run shows between a lock and the same lock once more, as a share: smaller ones can't be
 * told from it. INFINITY: it was not level with itself. NAN: no lock ran twice in a round, or there are fewer than six
 * rounds. */
double ranking_resolution(const struct report_group *group);

/* The next row after `after` that is the first real lock of a class, in the order of durabilities; after = -1 gives the
 * first. Returns -1 if there is none. */
int ranking_next_class(const struct report_group *group, int after);
/* True if a row is of a lock for use, in the class that `first` opens. */
bool ranking_is_in_class(const struct report_group *group, int row, int first);
/* "in memory, one server": the class of a row. Returns text, which holds RANKING_NOTE_MAX. */
char *ranking_class_text(const struct report_group *group, int row, char *text);
/* The rows of the class that `first` opens, the best first; ret has room for all rows. Returns how many. */
int ranking_class(const struct report_group *group, int first, struct ranked *ret);
/* True if the first two of a class are ranked, so that somebody was compared. */
bool ranking_is_contest(const struct ranked *ranks, int count);
/* The lock of a class that costs least, which is the first one unless p99 or fairness decides. */
const struct ranked *ranking_cheapest(const struct ranked *ranks, int count);

/* What a reader must know before he takes the lock: unfair, waits missing, requests failed. Returns text,
 * which holds RANKING_NOTE_MAX; "" for nothing. */
char *ranking_note(const struct report_row *row, char *text);

/* Adds the sentence that names the first of each class and those level with it; nothing where nobody was compared.
 * notes: and what takes away from them. */
void ranking_say(const struct report *report, bool notes, struct doc *doc);
/* The ranking for machines: a list of classes. NULL only when out of memory. */
json_t *ranking_json(const struct report *report);

#endif
