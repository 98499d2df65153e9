/* lead: which lock leads each class of durability and guarantee under one load. Nothing is ranked
 * here: the figures are those of the comparison (best.h). An unfair lock leads only if no lock of its
 * class is fair, since the times of an unfair lock are those of the few clients that were served. */
#ifndef REPORT_RUN_LEAD_H
#define REPORT_RUN_LEAD_H

#include "report/run/answer.h"

/* Follows the leaders where run_machine_changed. */
#define LEAD_VOID "The machine changed: void, see above."

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

#endif
