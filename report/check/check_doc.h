/* check_doc: the report of `lockbench check`: the matrix of locks and faults, what held, and what broke. It reads
 * check.json only, with results/format/check_read.h. The evidence of a cell is its run. */
#ifndef REPORT_CHECK_CHECK_DOC_H
#define REPORT_CHECK_CHECK_DOC_H

#include "report/check/check_view.h"
#include "report/doc/doc.h"
#include "report/run/run_doc.h"

/* Renders the check in a format, like report_write for runs, but not as a page. color: for a terminal; only the
 * table has colours. 0, or -1 with err. */
int report_check_write(const struct check *check, enum report_format format, bool color, FILE *out,
                       struct lb_err *err);

/* Its parts: */
/* One screen of a terminal; quiet: its sentences only. */
void check_summary(const struct check_view *view, bool quiet, struct doc *doc);

/* Adds the matrix of at most `rows` real locks, in Markdown of all controls, too; in a terminal the counts of verdicts
 * if there are many faults. */
void check_add_table(const struct check_view *view, int rows, struct doc *doc);
/* Adds a sentence with the servers and their versions, each once; with their durability unless brief. */
void check_add_servers(const struct check *check, bool brief, struct doc *doc);

#endif
