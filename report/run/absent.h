/* absent: the reason why a figure that a reader expects was not measured. A cell with a dash shows
 * the reason when a pointer rests on it, and a note below the table says it once. */
#ifndef REPORT_RUN_ABSENT_H
#define REPORT_RUN_ABSENT_H

#include "report/run/column.h"

/* One sentence without a full stop, a constant. NULL if the figure was measured, or if such a lock
 * or load has no figure of this kind, so that no reader expects it. */
const char *absent_why(const struct column *column, const struct report_row *row);

#endif
