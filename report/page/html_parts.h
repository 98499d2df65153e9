/* html_parts: what html.c puts the page together from. Only for report/.
 *
 * Every text that is not a literal goes through escape_html, in attributes too: names, errors and
 * settings come from servers and from files. */
#ifndef REPORT_PAGE_HTML_PARTS_H
#define REPORT_PAGE_HTML_PARTS_H

#include <stdio.h>

#include "report/doc/escape.h"
#include "report/run/answer.h"
#include "report/run/column.h"
#include "report/run/model.h"
#include "report/run/words.h"

/* A verdict as a coloured word, with its sentence as the title. */
void html_state(FILE *out, enum lock_state state);

/* "<h2 id=..>". */
void html_section(FILE *out, const char *id, const char *title);

/* All up to the body's begin; name and when are the title's. */
void html_begin(FILE *out, const char *name, const char *when);

/* "good", "warn", "bad" or "plain": a class of page.css. */
const char *html_tone(enum tone tone);

/* Any JSON value as a nested list, folded under a title; nothing for NULL. */
void html_tree(FILE *out, const char *title, const json_t *tree);

/* The verdict, in words, under a question. */
void html_verdict(FILE *out, const char *title, const struct words *words);

/* A table of all locks: verdict, counts, claims, durability, topology. */
void html_promises(FILE *out, const struct report *report);

/* Which lock: the best of each durability, side by side. */
void html_answers(FILE *out, const struct report *report, const struct answers *answers);

/* A table of columns for a group, with verdict, durability, guarantee and topology beside the
 * figures; the comparison has the ratio to the best too, and its caption is heard and not seen: its
 * heading says the same. */
void html_table(FILE *out, const struct report *report, const struct report_group *group,
                const struct column *columns, const char *what);

/* All groups' tables of some columns, folded. Groups where no row has any of them are left out. */
void html_folded(FILE *out, const struct report *report, const struct column *columns,
                 const char *what);

/* Whether any stage has a guarded store, a judged history or recoveries. */
bool html_has_faults(const struct report *report);
/* Their figures, and the histories' counter-examples; nothing where there is none. */
void html_faults(FILE *out, const struct report *report);

/* The operations that contradict each other: an array of objects as run.json and check.json have
 * them. */
void html_counterexample(FILE *out, const json_t *operations);

/* Servers, environment, plan, how to run it again, what was left out, warnings. */
void html_runs(FILE *out, const struct report *report);

/* What the numbers do not mean. */
void html_caveats(FILE *out);

/* The charts' data. 0, or -1 with err: a histogram that is not sound, or no memory. */
int html_data(FILE *out, const struct report *report, const struct answers *answers,
              struct lb_err *err);

/* Its parts, each a member of the object: the histograms, and how rows went over time. The same. */
int html_hists(const struct report *report, json_t *root, struct lb_err *err);
int html_time(const struct report *report, json_t *root, struct lb_err *err);

/* An open loop: operations have due times that differ from their starts. */
bool html_is_open(const struct run_stage *stage);

#endif
