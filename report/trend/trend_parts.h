/* trend_parts: what the files of trend share. */
#ifndef REPORT_TREND_TREND_PARTS_H
#define REPORT_TREND_TREND_PARTS_H

#include "report/trend/trend.h"

/* "time", "commit", ...: the column's name in the file. */
extern const char *const trend_columns[TREND_TEXTS];

/* Order of two lines by what makes a series. */
int trend_by_series(const struct trend_line *a, const struct trend_line *b);

#endif
