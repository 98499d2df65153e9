/* reach: the groups of a report that differ only in the round trip to their servers (servers.rtt): the same load with
 * as many clients, from the nearest to the farthest. */
#ifndef REPORT_RUN_REACH_H
#define REPORT_RUN_REACH_H

#include "report/run/best.h"

/* Several groups. .rtt_ns of the first one is NAN if it has no wire. */
struct reach {
    const struct report_group **groups; /* owned */
    int count;                          /* at least 2 */
};

/* One lock passes another: it is worse in the earlier group, and not worse any more from the later
 * group on. */
struct passing {
    int winner, loser; /* locks */
    const struct report_group *before, *after;
};

/* Finds the index-th reach, in the order of the report. False: there are no more (then .groups is
 * NULL), or out of memory (err). The caller frees its groups. */
bool reach_find(const struct report *report, int index, struct reach *ret, struct lb_err *err);

/* The index of the lock's row in that group, or -1. */
int reach_row(const struct report_group *group, int lock);

/* The growth of the lock's figure, as a multiple of the added round trip, from the nearest group
 * with a wire to the farthest; NAN if it was not measured in both, or is "never" in one. */
double reach_trips(const struct reach *reach, const struct column *column, int lock);

/* True if two locks may be ranked by the figure at two distances or more, those without a wire left out. */
bool reach_ranks(const struct reach *reach, const struct column *column, int a, int b);

/* True if, of two locks with the same durability, the better one at the nearest servers is the
 * worse one at the farthest. Groups without a wire do not count, nor do groups in which the two are
 * level. */
bool reach_passing(const struct reach *reach, const struct column *column, int a, int b,
                   struct passing *ret);

#endif
