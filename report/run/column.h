/* column: the columns of a report's tables, for the terminal, Markdown and the page.
 *
 * They are the rows of results/format/stage.def that name a group. Units are chosen once for each
 * column, so that a column can be read downwards. */
#ifndef REPORT_RUN_COLUMN_H
#define REPORT_RUN_COLUMN_H

#include "report/doc/number.h"
#include "report/run/model.h"

enum column_kind { COLUMN_NUMBER, COLUMN_TIME };

struct column {
    const char *key;   /* its path in run.json */
    const char *title; /* "acquire p50" */
    const char *brief; /* for 100 columns of terminal: at most 9 characters */
    const char *help;  /* what it is, one sentence */
    enum column_kind kind;
    int better;    /* 1: more is better, -1: less, 0: neither */
    size_t offset; /* of its double in struct run_stage */
    /* Shown only where some row has more than 0 of it; on a narrow screen in place of the column of
     * this key, for which it tells more. NULL = always shown. */
    const char *replaces;
    int place; /* in the comparison, from the left */
};

/* The columns of a group (IN_COMPARISON, ... of results/format/field.h), ended by a NULL key. The
 * same pointer for the same group, always; any thread may ask. */
const struct column *columns_of(unsigned group);

double column_stage_value(const struct column *column, const struct run_stage *stage);
double column_value(const struct column *column, const struct report_row *row);

/* The unit that all rows of a group share. */
const struct number_unit *column_unit(const struct column *column,
                                      const struct report_group *group);

/* True when a row has the best value among the locks of its own durability, and there are two to
 * compare: a lock in memory is not better than one on disk, it is another thing. */
bool column_is_best(const struct column *column, const struct report_group *group, int row);

/* How many times worse than the best of its durability, by this figure: 1 = it is the best. NAN
 * where nothing is better or worse, the row is no lock to choose, or the best of its durability is
 * 0. */
double column_ratio(const struct column *column, const struct report_group *group, int row);

/* The geometric mean of a row's ratios over the comparison's figures, those of special kinds apart;
 * NAN without any. */
double column_ratio_mean(const struct report_group *group, int row);

/* Whether the comparison of a group has the column; narrow: there is no room for all. */
bool column_shown(const struct column *column, const struct report_group *group, bool narrow);

/* True when any row has a value: empty columns need not be shown. */
bool column_used(const struct column *column, const struct report_group *group);

#endif
