/* run_doc: the report of a run as a document: whether each lock excludes, which one to choose, one
 * table for each load, what the checks counted, what the figures are based on.
 *
 * This code knows no format; it marks the sections that a terminal has no room for. */
#ifndef REPORT_RUN_RUN_DOC_H
#define REPORT_RUN_RUN_DOC_H

#include "report/doc/doc.h"
#include "report/run/column.h"
#include "report/run/ranking.h"
#include "report/run/words.h"

enum report_format {
    REPORT_TABLE,
    REPORT_MD,
    REPORT_JSON,
    REPORT_HTML,
    REPORT_FULL,  /* a table of everything; REPORT_TABLE has one screen */
    REPORT_QUIET, /* the verdict of that screen */
    REPORT_FORMATS
};

/* The format of the document that a report is as a table or Markdown. */
enum doc_format report_doc_format(enum report_format format);

/* The first section: whether each lock excludes. */
void run_doc_verdict(const struct report *report, struct doc *doc);
/* The sections after it, up to those of the charts. */
void run_doc_begin(const struct report *report, struct doc *doc);
/* The sections after the charts. */
void run_doc_end(const struct report *report, struct doc *doc);

/* All on one screen, for a terminal. */
void run_summary(const struct report *report, bool quiet, struct doc *doc);

/* Whether each lock excludes, in sentences; the headline answers the question. */
void run_verdict(const struct report *report, struct doc *doc);
/* What ran on which servers and machine. */
void run_ran(const struct report *report, struct doc *doc);
/* Its parts: what is missing and whether the locks excluded; then what makes the figures doubtful, a sentence each. */
void run_safe(const struct report *report, struct doc *doc);
void run_trust(const struct report *report, struct doc *doc);
/* Its sentences about one lock; none about a lock that did as it must. */
void run_verdict_lock(const struct report_lock *lock, struct doc *doc);
/* The promises of the run and whether they were kept; nothing if there are none. */
void run_slo(const struct report *report, struct doc *doc);
/* How many promises were kept, and at most so many of them with their figures, those that were not kept first. */
void run_slo_short(const struct report *report, int most, struct doc *doc);
/* The sentence in the page's verdict, since the section is not on the first screen: how many
 * promises were not kept; nothing if all were. */
void run_slo_verdict(const struct report *report, struct doc *doc);
/* A sentence for each lock, at most so many, with stages in which most requests failed; or that lost requests, or granted
 * nothing for whole seconds, in other stages without a planned fault. headed: the first is the headline if there was none;
 * NULL: none is. */
void run_failed(const struct report *report, bool mostly, int most, struct doc *doc, bool *headed);
/* True if the servers refused most requests of a stage, or these could not be asked, or their
 * answers were lost: its figures say little of the lock. */
bool run_failed_mostly(const struct run_stage *stage);
/* The longest time, in ns, for which two clients on different hosts may hold a lock together unnoticed, because the
 * hosts' clocks are not exact; NAN if no stage of the lock ran on several hosts. */
double run_hosts_lock_unseen_ns(const struct report *report, const struct report_lock *lock);
/* Adds a sentence for each load host that a stage of the run lost: what its clients did is not known. Each host once. */
void run_hosts_say_lost(const struct run *run, struct doc *doc);
/* Adds the name of a row's lock as a cell, with the marks of the row. */
void run_lock_cell(struct doc *doc, const struct report_row *row);

/* The run, the locks that were left out, the warnings, the command that repeats the run. */
void run_notes(const struct report *report, struct doc *doc);

/* Writes JSON of the schema lockbench.report/2, which has the whole run.json. 0, or -1 with err. */
int run_json(const struct report *report, FILE *out, struct lb_err *err);

#endif
