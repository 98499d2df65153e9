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

/* The name of the figure that ranks in the load: "cost of a grant", or of a column ("acquire p50"). */
const char *ranking_figure(const struct report_group *group);
/* The grants a second over those that one key gives without a lock at this hold; NAN where the cost does not rank, or nobody
 * holds. */
double ranking_share(const struct report_group *group, const struct report_row *row);

/* What a reader must know before he takes the lock: unfair, waits missing, requests failed. Returns text,
 * which holds RANKING_NOTE_MAX; "" for nothing. */
char *ranking_note(const struct report_row *row, char *text);

/* Adds the sentence that names the first of each class and those level with it; nothing where nobody was compared.
 * notes: and what takes away from them. */
void ranking_say(const struct report *report, bool notes, struct doc *doc);
/* The ranking for machines: a list of classes. NULL only when out of memory. */
json_t *ranking_json(const struct report *report);

#endif
