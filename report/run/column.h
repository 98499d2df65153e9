/* column: the columns of a report's tables, for the terminal, Markdown and the page.
 *
 * They are the rows of results/format/stage.def that name a group. Units are chosen once for each
 * column, so that a column can be read downwards. */
#ifndef REPORT_RUN_COLUMN_H
#define REPORT_RUN_COLUMN_H

#include "report/doc/doc.h"
#include "report/run/model.h"

enum column_kind { COLUMN_NUMBER, COLUMN_COUNT, COLUMN_TIME };

struct column {
    const char *key;   /* the path of the figure in run.json */
    const char *title; /* "acquire p50" */
    const char *brief; /* the title in a terminal of 100 columns: at most 9 characters */
    const char *help;  /* the meaning, in one sentence */
    enum column_kind kind;
    bool is_share; /* 0 to 1, shown as per cent */
    bool sums;     /* a row has the sum over its repeats, not their median */
    int better;    /* 1: more is better, -1: less, 0: neither */
    size_t offset; /* the offset of its double in struct run_stage */
    /* The column is shown only if some row has more than 0 of it. On a narrow screen it replaces
     * the column of this key, because it shows more. NULL = always shown. */
    const char *replaces;
    /* The key of the column that this one replaces in the comparison of a group in which any row
     * has this figure; NULL = none. */
    const char *instead_of;
    int place; /* the place in the comparison, from the left */
};

/* The columns of a group (IN_COMPARISON, ... of results/format/field.h), ended by a NULL key. The
 * same group always gives the same pointer; any thread may call this. */
const struct column *columns_of(unsigned group);

/* The column of the comparison that has this key, or the column that replaces it in this group. The
 * comparison must have the key. */
const struct column *column_compared(const char *key, const struct report_group *group);

/* True if another column takes this one's place in the comparison of this group. */
bool column_gives_way(const struct column *column, const struct report_group *group);

double column_value(const struct column *column, const struct report_row *row);
/* The same of one stage. */
double column_stage_value(const struct column *column, const struct run_stage *stage);

/* The form in which a table shows the figures of the column. Counts are shown in full, so that a reader can add
 * them up. */
enum doc_figure column_figure(const struct column *column);

/* Writes a value of the column for a sentence, a time with its own unit; text holds
 * NUMBER_TEXT_MAX. Returns text. */
char *column_text(const struct column *column, double value, char *text);

/* The unit that all rows of a group share. */
const struct number_unit *column_unit(const struct column *column,
                                      const struct report_group *group);

/* True if the comparison of a group has the column; narrow: there is no room for all columns. */
bool column_shown(const struct column *column, const struct report_group *group, bool narrow);

/* True if any row has a value: empty columns need not be shown. */
bool column_used(const struct column *column, const struct report_group *group);

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
/* The spread of the figure of a column. SPREAD_NONE, too, when memory runs out. */
struct spread spread_of(const struct report_row *row, const struct column *column);

/* "repeats", "range" or NULL: for the page. */
const char *spread_name(enum spread_kind kind);

#endif
