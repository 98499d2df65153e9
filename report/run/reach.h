/* reach: the groups of a report that differ only in the round trip to their servers (servers.rtt): the same load with
 * as many clients, from the nearest to the farthest. */
#ifndef REPORT_RUN_REACH_H
#define REPORT_RUN_REACH_H

#include "report/run/best.h"

/* Several groups; .rtt_ns of the first is NAN where it has no wire. */
struct reach {
    const struct report_group **groups; /* owned */
    int count;                          /* at least 2 */
};

/* One of two locks passes the other: it is worse in the earlier group, and never again from the later one on. */
struct passing {
    int winner, loser; /* locks */
    const struct report_group *before, *after;
};

/* The index-th reach, in the order of the report; false: there are no more (then .groups is NULL), or no memory (err).
 * The caller frees its groups. */
bool reach_find(const struct report *report, int index, struct reach *ret, struct lb_err *err);

/* The lock's row there, or -1. */
int reach_row(const struct report_group *group, int lock);

/* How many times the added round trip the lock's figure grew by, from the nearest group with a wire to the farthest;
 * NAN where it was not measured there. */
double reach_trips(const struct reach *reach, const struct column *column, int lock);

/* Whether of two locks of the same durability the better one among the nearest servers is the worse one among the
 * farthest. Groups without a wire do not count, nor those where the two are level. */
bool reach_passing(const struct reach *reach, const struct column *column, int a, int b,
                   struct passing *ret);

#endif
