/* run_doc: the report of runs as a document: does each lock exclude, which one to take, one table
 * for each load, what each lock promises, what the numbers rest on. Nothing here knows a format;
 * sections that a terminal has no room for are marked so. */
#ifndef REPORT_RUN_RUN_DOC_H
#define REPORT_RUN_RUN_DOC_H

#include "report/doc/doc.h"
#include "report/run/answer.h"
#include "report/run/column.h"
#include "report/run/words.h"

/* The first section: does each lock exclude. */
void run_doc_verdict(const struct report *report, struct doc *doc);
/* The sections after it, up to those of the charts. */
void run_doc_begin(const struct report *report, struct doc *doc);
/* The sections after them. */
void run_doc_end(const struct report *report, struct doc *doc);

/* Does each lock exclude, in sentences; the headline answers the question. */
void run_verdict(const struct report *report, struct doc *doc);
/* The promises of the runs and whether they were kept; nothing where there are none. */
void run_slo(const struct report *report, struct doc *doc);
/* In the verdict of the page, where the section is not on the first screen: how many were not kept;
 * nothing where all were. */
void run_slo_verdict(const struct report *report, struct doc *doc);
/* The self-checks of the stages: what failed, in the verdict; how many there were, in a line. */
void run_self_failed(const struct report *report, struct doc *doc);
void run_self_line(const struct run *run, struct doc *doc);
/* The load hosts, where there are several machines. */
void run_hosts(const struct run *run, struct doc *doc);
/* The greatest error of any host's clock in a stage; NAN of a stage on one machine. */
double run_hosts_error_ns(const struct run_stage *stage);
/* A table for each load. */
void run_comparison(const struct report *report, const struct answers *answers, struct doc *doc);
/* Figures over the round trip to the servers, and where the ranking changes; nothing where no runs have several. */
void run_distances(const struct report *report, struct doc *doc);
/* The tables of a group of columns, folded, HTML only. Loads where no row has any are left out. */
void run_folded(const struct report *report, unsigned columns, const char *what, struct doc *doc);

/* Whether any stage has a guarded store, a judged history or recoveries; and their section. */
bool run_has_faults(const struct report *report);
void run_faults(const struct report *report, struct doc *doc);

/* Machine, build and servers, run beside run; what differs is marked. */
void run_machines(const struct report *report, struct doc *doc);
/* What was run, what was left out, warnings, how to run it again. */
void run_notes(const struct report *report, struct doc *doc);

/* lockbench.report/1. 0, or -1 with err. */
int run_json(const struct report *report, FILE *out, struct lb_err *err);
/* One table, a line for each stage, each scalar under its path in run.json: for DOC_CSV. */
void run_csv(const struct report *report, struct doc *doc);

#endif
