/* html_parts: the report of a run in each format, and the parts of its page, which opens without a network. The text is the
 * document of run_doc.h.
 *
 * Every text that is not a literal goes through escape_html, in attributes too: names, errors and
 * settings come from servers and from files. */
#ifndef REPORT_PAGE_HTML_PARTS_H
#define REPORT_PAGE_HTML_PARTS_H

#include <stdio.h>

#include "report/doc/escape.h"
#include "report/run/run_doc.h"

/* Renders the report in a format. color: for a terminal; only the table has colours. 0, or -1 with
 * err, also for a failed write that out has noticed by then; the caller checks fclose. */
int report_write(const struct report *report, enum report_format format, bool color, FILE *out,
                 struct lb_err *err);

/* Writes the first screen: the first lock of each class, and the cost of each lock; nothing if no
 * lock is ranked. */
void html_first(FILE *out, const struct report *report);

/* Writes the charts' data as JSON for a script element. 0, or -1 with err: out of memory. */
int html_data(FILE *out, const struct report *report, struct lb_err *err);

#endif
