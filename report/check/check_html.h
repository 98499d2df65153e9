/* check_html: what the page of a check is put together from. Only for report/.
 *
 * As on a run's page every text that is not a literal goes through escape_html. A cell's evidence has
 * the anchor "cell-N", N = its index in check->cells; the matrix and the findings link to it. */
#ifndef REPORT_CHECK_CHECK_HTML_H
#define REPORT_CHECK_CHECK_HTML_H

#include "report/check/check_parts.h"
#include "report/page/html_parts.h"

/* Its index in check->cells. */
int check_cell_index(const struct check_view *view, const struct check_cell *cell);

/* The verdict as a coloured word; capitals when it is worse than claimed. */
void check_html_chip(FILE *out, const struct check_view *view, const struct check_cell *cell);

/* The matrix, and the legend of its signs. */
void check_html_matrix(FILE *out, const struct check_view *view);

/* What is worse than claimed, what has no verdict. 0, or -1 when out of memory. */
int check_html_findings(FILE *out, const struct check_view *view);

/* What held and broke, by family and by fault; recovery beside theory. */
void check_html_sums(FILE *out, const struct check_view *view);

/* Each cell's evidence: words, counter-example, log of faults, and the data that the page draws. 0,
 * or -1 with err. */
int check_html_evidence(FILE *out, const struct check_view *view, struct lb_err *err);

#endif
