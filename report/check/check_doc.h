/* check_doc: the report of `lockbench check`: the matrix of locks and faults, what held, and what broke. It reads
 * check.json only, with results/format/check_read.h. The evidence of a cell is its run. */
#ifndef REPORT_CHECK_CHECK_DOC_H
#define REPORT_CHECK_CHECK_DOC_H

#include "report/doc/doc.h"
#include "report/run/run_doc.h"
#include "results/format/check_read.h"

/* Renders the check in a format, like report_write for runs, but not as a page. color: for a terminal; only the
 * table has colours. 0, or -1 with err. */
int report_check_write(const struct check *check, enum report_format format, bool color, FILE *out,
                       struct lb_err *err);

/* --- a check with the facts that all its outputs need, worked out once: only for report/check --- */

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
    int judged, better; /* cells of real locks with a verdict; those better than stated */
    int control_count;  /* locks that are broken on purpose and have a cell */
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

/* --- its parts --- */

/* One screen of a terminal; quiet: its sentences only. */
void check_summary(const struct check_view *view, bool quiet, struct doc *doc);

/* Adds the matrix of at most `rows` real locks, in Markdown of all controls, too; in a terminal the counts of verdicts
 * if there are many faults. */
void check_add_table(const struct check_view *view, int rows, struct doc *doc);
/* Adds a sentence with the servers and their versions, each once; with their durability unless brief. */
void check_add_servers(const struct check *check, bool brief, struct doc *doc);

#endif
