/* spread: how sure a figure of a row is: over the repeats where there are some, else of the one
 * run's samples.
 *
 * What a spread stands on is always said: an interval over repeats tells of the next run, the range
 * of a few repeats promises nothing, and order statistics of one run's samples say nothing of other
 * runs at all. They take samples for independent, which waits in one queue are not, so they are
 * narrow at best. */
#ifndef REPORT_RUN_SPREAD_H
#define REPORT_RUN_SPREAD_H

#include "report/run/column.h"
#include "report/run/model.h"

#define SPREAD_LEVEL 0.95

enum spread_kind {
    SPREAD_NONE,    /* one run, and a figure that has no samples of its own */
    SPREAD_REPEATS, /* interval of the median over repeats, order statistics (6 and more) */
    SPREAD_RANGE,   /* least and greatest of 2 to 5 repeats */
    SPREAD_SAMPLES  /* order statistics of one run's samples */
};

struct spread {
    enum spread_kind kind;
    double low, high; /* NAN for SPREAD_NONE */
    double count;     /* of repeats, or of samples */
};

/* Of a column's figure. 0, or -1 with err: a histogram that is not sound, or no memory. */
int spread_of(const struct report *report, const struct report_row *row,
              const struct column *column, struct spread *ret, struct lb_err *err);

/* The interval of a quantile of a histogram's values, by order statistics. 0, or -1 where so few
 * samples do not support it; then nothing is written. */
int spread_quantile(const struct hist *hist, double quantile, double *ret_low, double *ret_high);

/* "repeats", "range", "samples" or NULL: for the page. */
const char *spread_name(enum spread_kind kind);

#endif
