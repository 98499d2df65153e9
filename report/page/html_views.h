/* html_views: the data of the views that need statistics, each a member of the page's JSON with a C
 * file of its own. Statistics are computed here; the page only draws.
 *
 * Each function takes the page's JSON object and adds its member. 0, or -1 with err (out of memory,
 * or a histogram that is not sound). */
#ifndef REPORT_PAGE_HTML_VIEWS_H
#define REPORT_PAGE_HTML_VIEWS_H

#include <stdio.h>

#include "report/run/model.h"

/* Adds all of these members. */
int html_views_data(const struct report *report, json_t *root, struct lb_err *err);

/* "rates": open loops of several rates, a list with an object for each lock and load: {"lock",
 * "load", "clients", "points": [...], "bound", "promise"}. */
int html_rates(const struct report *report, json_t *root, struct lb_err *err);

/* "holders": stages with a timeline: {"lock", "stage", "model", "holds", "faults", "against"}. */
int html_holders(const struct report *report, json_t *root, struct lb_err *err);

/* "recoveries": stages with trials: {"lock", "stage", "fault", "trials", "theory", "theoryMin",
 * "theoryMax", "unrecovered"}. */
int html_recoveries(const struct report *report, json_t *root, struct lb_err *err);

/* The index in report->locks of a stage's lock. */
int html_lock_of(const struct report *report, int run, const struct run_stage *stage);

#endif
