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
    /* Key of the column in whose place this one stands in the comparison of a group where any row
     * has this figure; NULL = none. */
    const char *instead_of;
    int place; /* in the comparison, from the left */
};

/* The columns of a group (IN_COMPARISON, ... of results/format/field.h), ended by a NULL key. The
 * same pointer for the same group, always; any thread may ask. */
const struct column *columns_of(unsigned group);

/* The column of the comparison that has this key, or the one that stands in its place in this group.
 * The key must be one of the comparison's. */
const struct column *column_compared(const char *key, const struct report_group *group);

/* Whether another column stands in this one's place in the comparison of this group. */
bool column_gives_way(const struct column *column, const struct report_group *group);

double column_stage_value(const struct column *column, const struct run_stage *stage);
double column_value(const struct column *column, const struct report_row *row);

/* The unit that all rows of a group share. */
const struct number_unit *column_unit(const struct column *column,
                                      const struct report_group *group);

/* Whether the comparison ranks locks by it: a figure of which less or more is better, of no special
 * kind, and without another one in its place in this group. */
bool column_is_ranked(const struct column *column, const struct report_group *group);

/* Whether the comparison of a group has the column; narrow: there is no room for all. */
bool column_shown(const struct column *column, const struct report_group *group, bool narrow);

/* True when any row has a value: empty columns need not be shown. */
bool column_used(const struct column *column, const struct report_group *group);

#endif
