/* spread: how sure a figure of a row is, over its repeats.
 *
 * What a spread stands on is always said: an interval over repeats tells of the next run, the range
 * of a few repeats promises nothing. One run has no spread. The samples of one run wait in one queue,
 * so they depend on each other, and an interval that takes them for independent is too narrow; and no
 * interval from one run says anything of the next one. */
#ifndef REPORT_RUN_SPREAD_H
#define REPORT_RUN_SPREAD_H

#include "report/run/column.h"
#include "report/run/model.h"

#define SPREAD_LEVEL 0.95

enum spread_kind {
    SPREAD_NONE,    /* one run */
    SPREAD_REPEATS, /* interval of the median over repeats, order statistics (6 and more) */
    SPREAD_RANGE    /* least and greatest of 2 to 5 repeats */
};

struct spread {
    enum spread_kind kind;
    double low, high; /* NAN for SPREAD_NONE */
    double count;     /* of repeats; NAN for SPREAD_NONE */
};

/* Of a column's figure. SPREAD_NONE, too, when memory runs out. */
struct spread spread_of(const struct report_row *row, const struct column *column);

/* "repeats", "range" or NULL: for the page. */
const char *spread_name(enum spread_kind kind);

#endif
