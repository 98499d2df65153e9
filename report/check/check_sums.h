/* check_sums: the cells of a check added up, for the summary. There are only sums and extremes,
 * because percentiles can't be added up. Controls are left out, because they are broken on
 * purpose. */
#ifndef REPORT_CHECK_CHECK_SUMS_H
#define REPORT_CHECK_CHECK_SUMS_H

#include "report/check/check_view.h"

struct check_sums {
    int judged, safe, broke; /* cells: those with a verdict; broke: expired, stuck or violated */
    int broke_without_token; /* numbers of locks, not of cells */
    /* NAN: no cell has the figure; stale_rejected: no lock has a token */
    double grants, overlaps;
    double stale_attempted, stale_accepted, stale_rejected;
    double unavailable_max;
    /* grants that tested the lock, in the safe cells of columns without a fault that have a bound; NAN: there is no
     * such cell. unbounded: the number of those that have none */
    double safe_tested_min;
    int unbounded;
    /* faults that hit a client or a server, in the safe cells; NAN: there is none */
    double safe_hits_min;
};

void check_sum_fault(const struct check_view *view, int fault, struct check_sums *sums);
void check_sum_all(const struct check_view *view, struct check_sums *sums);

/* All trials of a backend's locks under a fault; times in ns, NAN if there is none. */
struct check_recovery {
    double trials, min, max, theory_min, theory_max;
    int never; /* cells that did not recover */
};

void check_recovery_of(const struct check_view *view, const char *backend, int fault,
                       struct check_recovery *recovery);

/* List the backends of real locks that have cells, and the faults that have recoveries, with
 * crashes and failovers first. Both fill an array with at most `most` and return how many. */
int check_backends(const struct check_view *view, const char **ret_backends, int most);
int check_recovery_faults(const struct check_view *view, int *ret_faults, int most);

bool check_same_server(const struct check_cell *a, const struct check_cell *b);

#endif
