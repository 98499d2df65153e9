/* check_sums: the cells of a check added up, for the summary. Sums and extremes only: no percentile
 * is put together from others. Controls are left out: they are broken on purpose. */
#ifndef REPORT_CHECK_CHECK_SUMS_H
#define REPORT_CHECK_CHECK_SUMS_H

#include "report/check/check_view.h"

struct check_sums {
    int judged, safe, broke; /* cells: with a verdict; safe; expired, stuck or violated */
    int broke_without_token; /* locks, not cells */
    double grants, overlaps;
    double stale_attempted, stale_accepted, stale_rejected;
    double unavailable_max; /* NAN: not measured */
    double safe_grants_min; /* of the safe cells without a fault; NAN: none */
    double safe_hits_min;   /* faults that hit somebody, of the safe cells; NAN: none */
};

void check_sum_fault(const struct check_view *view, int fault, struct check_sums *sums);
void check_sum_all(const struct check_view *view, struct check_sums *sums);

/* All trials of a backend's locks under a fault; times in ns, NAN where there is none. */
struct check_recovery {
    double trials, min, max, theory_min, theory_max;
    int never; /* cells that did not recover */
};

void check_recovery_of(const struct check_view *view, const char *backend, int fault,
                       struct check_recovery *recovery);

/* The backends of real locks with cells, and the faults with recoveries, crashes and failovers
 * first. Both fill an array with at most `most` and return how many. */
int check_backends(const struct check_view *view, const char **ret_backends, int most);
int check_recovery_faults(const struct check_view *view, int *ret_faults, int most);

bool check_same_server(const struct check_cell *a, const struct check_cell *b);

#endif
