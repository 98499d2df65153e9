/* spread: how sure a figure of a row is, from its repeats.
 *
 * A spread always names its basis: an interval over repeats is about the next run, while the range
 * of a few repeats promises nothing. One run has no spread. The samples of one run wait in one
 * queue, so they depend on each other, and an interval that takes them for independent is too
 * narrow; and an interval from one run says nothing about the next run. */
#ifndef REPORT_RUN_SPREAD_H
#define REPORT_RUN_SPREAD_H

#include "report/run/column.h"
#include "report/run/model.h"

#define SPREAD_LEVEL 0.95

enum spread_kind {
    SPREAD_NONE, /* one run has no spread, nor has the sum of the repeats */
    /* an interval of the median over repeats, by order statistics (6 repeats and more) */
    SPREAD_REPEATS,
    SPREAD_RANGE /* the least and the greatest of 2 to 5 repeats */
};

struct spread {
    enum spread_kind kind;
    double low, high; /* NAN for SPREAD_NONE */
    double count;     /* number of repeats; NAN for SPREAD_NONE */
};

/* The spread of the figure of a column. SPREAD_NONE, too, when memory runs out. */
struct spread spread_of(const struct report_row *row, const struct column *column);

/* "repeats", "range" or NULL: for the page. */
const char *spread_name(enum spread_kind kind);

#endif
