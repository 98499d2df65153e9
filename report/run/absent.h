/* absent: why a figure that a reader looks for was not measured: a cell with a dash says it when a
 * pointer rests on it, and a note below the table says it once. */
#ifndef REPORT_RUN_ABSENT_H
#define REPORT_RUN_ABSENT_H

#include "report/run/column.h"

/* One sentence without a full stop, a constant; NULL where the figure is there, or where the lock or
 * the load has none of its kind and no reader would miss it. */
const char *absent_why(const struct column *column, const struct report_row *row);

#endif
