/* trend_parts: the functions that the files of report/trend share. */
#ifndef REPORT_TREND_TREND_PARTS_H
#define REPORT_TREND_TREND_PARTS_H

#include <jansson.h>

#include "report/trend/trend.h"

/* "time", "commit", ...: the column's name in the file. */
extern const char *const trend_columns[TREND_TEXTS];

/* trend_file: true if a text is a time in UTC in the file's format, in which texts sort like
 * times. */
#define TREND_TIME_EXAMPLE "2026-11-21T20:12:23Z"
bool trend_is_time(const char *text);

/* trend_store: opens a history's file, which it makes if there is none, and waits until no other
 * process writes to it. Returns the descriptor, whose closing lets others write; -1 with err. */
int trend_store_open(const char *path, struct lb_err *err);
/* Appends text to an open file. 0, or -1 with err, and then the file is unchanged. */
int trend_store_append(int fd, const char *path, const char *text, struct lb_err *err);
/* Writes the file anew with `count` more columns, whose `names` have a comma before each, and with
 * more lines at its end. The caller has the file open. 0, or -1 with err, and then the file is
 * unchanged. */
int trend_store_widen(const char *path, const char *names, int count, const char *lines,
                      struct lb_err *err);

/* trend: the index of the first value of a figure that is of the series' newest `runs` runs: some of
 * those may not have measured it. */
int trend_newest(const struct trend_series *series, int metric, int runs);

/* trend: the values from .. to of a figure as numbers, without each lone "never". Fills values, which has room for to - from,
 * and returns their number. */
int trend_level(const struct trend_figure *figure, int from, int to, double *values);

/* trend_gate: the number of values of the level before a change, from the change before it on. */
int trend_runs_before(const struct trend_figure *figure, int change);

/* trend_gate: decides for each figure of a view whether it became worse within the newest runs. 0,
 * or -1 when out of memory. */
int trend_gate(struct trend_view *view);

/* trend_ack: why a change of a series' figure is accepted, or NULL. */
const char *trend_acks_why(const struct trend_acks *acks, const struct trend_series *series,
                           int metric, const struct change_point *change);

/* trend_machine: the whole history for programs; the caller owns it. NULL when out of memory. */
json_t *trend_json(const struct trend_view *view);

/* Compares two lines by the columns that make a series. */
int trend_by_series(const struct trend_line *a, const struct trend_line *b);

#endif
