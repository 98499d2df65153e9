/* column: the columns of a report's tables, for the terminal, Markdown and the page: the rows of
 * results/format/stage.def that name a group. Units are chosen once for each column, so that a column can be
 * read downwards. */
#ifndef REPORT_RUN_COLUMN_H
#define REPORT_RUN_COLUMN_H

#include "report/doc/doc.h"
#include "report/run/model.h"

/* The column of a group (IN_COMPARISON, ... of results/format/field.h) that follows another one, or the first one after
 * NULL. NULL behind the last. */
const struct result_field *column_next(unsigned group, const struct result_field *after);

/* The column of the comparison that has this path, or the column that replaces it in this group. The
 * comparison must have the path. */
const struct result_field *column_compared(const char *key, const struct report_group *group);

/* True if another column takes this one's place in the comparison of this group. */
bool column_gives_way(const struct result_field *column, const struct report_group *group);

double column_value(const struct result_field *column, const struct report_row *row);
/* Whether the row's figure of this path is a lower bound, since long waits are missing. */
bool column_is_least(const struct report_row *row, const char *key);

/* The form in which a table shows the figures of the column. Counts are shown in full, so that a reader can add
 * them up. */
enum doc_figure column_figure(const struct result_field *column);

/* The unit that all rows of a group share. */
const struct number_unit *column_unit(const struct result_field *column,
                                      const struct report_group *group);

/* True if any row has a value: empty columns need not be shown. */
bool column_used(const struct result_field *column, const struct report_group *group);

/* Writes a figure for a sentence: a time in its own best unit, a share as per cent. text holds NUMBER_TEXT_MAX. Returns
 * text. */
char *field_figure_text(const struct result_field *field, double figure, char *text);

/* ---- spreads ---- */

/* How sure a figure of a row is, from its repeats.
 *
 * A spread always names its basis: an interval over repeats is about the next run, while the range
 * of a few repeats promises nothing. One run has no spread. The samples of one run wait in one
 * queue, so they depend on each other, and an interval that takes them for independent is too
 * narrow; and an interval from one run says nothing about the next run. */

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

/* The spread of values of repeats; sorts them. */
struct spread spread_of_values(double *values, int count);
#endif
