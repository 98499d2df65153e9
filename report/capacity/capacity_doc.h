/* capacity_doc: the result of a search for capacity, as a document: each lock's greatest load
 * beside its guarantee, durability and topology. This file computes nothing: all figures are in
 * capacity.json. */
#ifndef REPORT_CAPACITY_CAPACITY_DOC_H
#define REPORT_CAPACITY_CAPACITY_DOC_H

#include "report/doc/doc.h"
#include "report/run/run_doc.h"
#include "results/format/capacity_read.h"

/* Renders the result in a format, like report_write for runs, but not as a page; JSON is the file as it was read.
 * 0, or -1 with err. */
int capacity_write(const struct capacity *capacity, enum report_format format, bool color,
                   FILE *out, struct lb_err *err);

#endif
