/* check_doc: the parts of a check's document, one function each, in the order in which they are
 * read. Only for report/check.
 *
 * A cell's evidence has the anchor "cell-N", N = its index in check->cells; the matrix and the
 * findings link to it. */
#ifndef REPORT_CHECK_CHECK_DOC_H
#define REPORT_CHECK_CHECK_DOC_H

#include "report/check/check_view.h"
#include "report/doc/doc.h"

#define CHECK_ANCHOR_MAX 32

/* Writes "#cell-3" into text, which holds CHECK_ANCHOR_MAX bytes. */
char *check_cell_anchor(const struct check_view *view, const struct check_cell *cell, char *text);

/* Adds the whole document. */
void check_doc(const struct check_view *view, struct doc *doc);

/* Adds the matrix of locks and faults, and the legend of its signs, for some of the formats. */
void check_doc_matrix(const struct check_view *view, unsigned formats, struct doc *doc);
/* Adds the cells that are worse than their driver states, then those without a verdict. */
void check_doc_findings(const struct check_view *view, struct doc *doc);

#endif
