/* html_parts: the parts of the page of runs, except its head (head.h): the charts' data. The text
 * of the page is the document of run_doc.h.
 *
 * Every text that is not a literal goes through escape_html, in attributes too: names, errors and
 * settings come from servers and from files. */
#ifndef REPORT_PAGE_HTML_PARTS_H
#define REPORT_PAGE_HTML_PARTS_H

#include <stdio.h>

#include "report/doc/escape.h"
#include "report/run/column.h"
#include "report/run/model.h"
#include "report/run/ranking.h"
#include "report/run/words.h"

/* The page of runs. 0, or -1 with err. */
int html_page(const struct report *report, FILE *out, struct lb_err *err);

/* Writes the first screen: the leader of each class, and how far each lock is from the best;
 * nothing if no lock was measured. 0, or -1 with err: out of memory. */
int html_first(FILE *out, const struct report *report, const struct answers *answers,
               struct lb_err *err);

/* Writes the charts' data as JSON for a script element. 0, or -1 with err: a histogram that is not
 * sound, or out of memory. */
int html_data(FILE *out, const struct report *report, const struct answers *answers,
              struct lb_err *err);

/* Add members to the object of the charts' data: html_hists the histograms, html_time the rows over
 * time. 0, or -1 with err, as html_data. */
int html_hists(const struct report *report, json_t *root, struct lb_err *err);
int html_time(const struct report *report, json_t *root, struct lb_err *err);

/* True for an open loop: its operations have due times that differ from their starts. */
bool html_is_open(const struct run_stage *stage);

/* The data of the views that need statistics, each a member of the page's JSON with a C file of its
 * own. Statistics are computed here; the page only draws.
 *
 * Each function takes the page's JSON object and adds its member. 0, or -1 with err (out of memory,
 * or a histogram that is not sound). */

/* "rates": open loops of several rates, a list with an object for each lock and load: {"lock",
 * "load", "clients", "points": [...], "bound", "promise"}. */
int html_rates(const struct report *report, json_t *root, struct lb_err *err);

/* "recoveries": stages with trials: {"lock", "stage", "fault", "trials", "theory", "theoryMin",
 * "theoryMax", "unrecovered"}. */
int html_recoveries(const struct report *report, json_t *root, struct lb_err *err);

/* The index in report->locks of a stage's lock. */
int html_lock_of(const struct report *report, int run, const struct run_stage *stage);

#endif
