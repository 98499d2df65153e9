/* capacity_doc: what a search for capacity found, as a document: each lock's greatest load beside
 * its guarantee, durability and topology. It computes nothing: all of it is in capacity.json. */
#ifndef REPORT_CAPACITY_CAPACITY_DOC_H
#define REPORT_CAPACITY_CAPACITY_DOC_H

#include "report/doc/doc.h"
#include "report/report.h"
#include "results/format/capacity_read.h"

void capacity_doc(const struct capacity *capacity, struct doc *doc);

/* The same as a page, with the probes as a chart. 0, or -1 with err. */
int capacity_page(const struct capacity *capacity, FILE *out, struct lb_err *err);

/* Renders, as report_write does for runs; JSON is the file as it was read. 0, or -1 with err. */
int capacity_write(const struct capacity *capacity, enum report_format format, bool color,
                   FILE *out, struct lb_err *err);

#endif
