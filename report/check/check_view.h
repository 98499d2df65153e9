/* check_view: a check with the facts that all its outputs need, worked out once. Only for report/.
 *
 * A view has: which locks and faults have cells, the cells as a matrix, counts, and the findings in
 * the order in which they are to be read. */
#ifndef REPORT_CHECK_CHECK_VIEW_H
#define REPORT_CHECK_CHECK_VIEW_H

#include <stdbool.h>

#include "report/doc/doc.h"
#include "report/run/words.h"
#include "results/format/check_read.h"

struct check_counts {
    int cells, verdict[CHECK_VERDICTS], better;
};

struct check_view {
    const struct check *check; /* borrowed */
    /* locks that have a cell, or were to have one, by family, and within a family in the file's order */
    int *row, row_count;
    int *column, column_count; /* faults that have a cell, or were to have one */
    /* cells[lock * fault_count + fault]; NULL: the cell was not run */
    const struct check_cell **matrix;
    /* cells that are worse than their driver states, the gravest first; without controls */
    const struct check_cell **finding;
    int finding_count;
    const struct check_cell **silent; /* cells that failed or were inconclusive */
    int silent_count;
    struct check_counts real; /* numbers of cells of real locks */
    int control_count;        /* locks that are broken on purpose and have a cell */
    /* controls that were not caught in the run that had to catch them */
    const struct check_lock **missed;
    /* controls without a verdict in the run that had to catch them */
    const struct check_lock **unshown;
    int missed_count, unshown_count;
    /* controls that broke in CHECK_EXPOSED, or anywhere if they have no cell there */
    int caught_count;
};

/* NULL with err when out of memory. */
struct check_view *check_view_make(const struct check *check, struct lb_err *err);
void check_view_free(struct check_view *view);

const struct check_cell *check_view_cell(const struct check_view *view, int lock, int fault);
const struct check_lock *check_lock_of(const struct check_view *view,
                                       const struct check_cell *cell);
const struct check_fault *check_fault_of(const struct check_view *view,
                                         const struct check_cell *cell);
bool check_silent(const struct check_cell *cell); /* inconclusive or failed: no verdict */

/* The tone for the verdict, whatever the driver states; TONE_PLAIN for a control and for a cell without a
 * verdict. */
enum tone check_tone(const struct check_view *view, const struct check_cell *cell);

/* Adds to the cell's name its findings, their numbers, and the verdict that its driver states; as details how it
 * recovered, and the stale writes. */
void check_add_seen(const struct check_cell *cell, struct doc *doc);

/* Adds the first sentences of all outputs: verdicts that are worse than stated, controls, missing
 * cells. */
void check_verdict(const struct check_view *view, struct doc *doc);

#endif
