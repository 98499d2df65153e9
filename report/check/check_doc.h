/* check_doc: the parts of a check's document, one function each, in the order in which they are
 * read. Only for report/check. */
#ifndef REPORT_CHECK_CHECK_DOC_H
#define REPORT_CHECK_CHECK_DOC_H

#include "report/check/check_view.h"
#include "report/doc/doc.h"

/* Adds the whole document. */
void check_doc(const struct check_view *view, struct doc *doc);
/* One screen of a terminal; quiet: its sentences only. */
void check_summary(const struct check_view *view, bool quiet, struct doc *doc);

/* Adds the matrix of locks and faults, and the legend of its signs; Markdown only. */
void check_doc_matrix(const struct check_view *view, struct doc *doc);
/* Adds the matrix of real locks in words, or the counts of verdicts if there are many faults; of at most `rows` locks. */
void check_add_table(const struct check_view *view, int rows, struct doc *doc);
/* Adds a sentence with the servers and their versions, each once; with their durability unless brief. */
void check_add_servers(const struct check *check, bool brief, struct doc *doc);
/* Adds the cells that are worse than their driver states, then those without a verdict. */
void check_doc_findings(const struct check_view *view, struct doc *doc);

#endif
