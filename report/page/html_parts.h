/* html_parts: the parts of the page of runs, which opens without a network. Its text is the document of run_doc.h.
 *
 * Every text that is not a literal goes through escape_html, in attributes too: names, errors and
 * settings come from servers and from files. */
#ifndef REPORT_PAGE_HTML_PARTS_H
#define REPORT_PAGE_HTML_PARTS_H

#include <stdio.h>

#include "report/doc/escape.h"
#include "report/run/model.h"
#include "report/run/ranking.h"

/* The page of runs. 0, or -1 with err. */
int html_page(const struct report *report, FILE *out, struct lb_err *err);

/* Writes the first screen: the first lock of each class, and the cost of each lock; nothing if no
 * lock is ranked. 0, or -1 with err: out of memory. */
int html_first(FILE *out, const struct report *report, struct lb_err *err);

/* Writes the charts' data as JSON for a script element. 0, or -1 with err: out of memory. */
int html_data(FILE *out, const struct report *report, struct lb_err *err);

#endif
