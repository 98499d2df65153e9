/* report: renders a run. This code reads the run only, never a server, and writes only to the given
 * stream.
 *
 * Text in any format is the document of report/run/run_doc.h; to add a format, add a writer to
 * report/doc. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "report/doc/doc.h"
#include "report/run/model.h"

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

/* Reads a run: its folder or its run.json. NULL with err; the caller frees the report with report_free. */
struct report *report_load(const char *path, struct lb_err *err);

/* The same of a run that is in no file; path is only for messages and for the name of its place. The report takes a
 * reference of its own. */
struct report *report_from_json(json_t *run, const char *path, struct lb_err *err);

/* Renders the report in a format. color: for a terminal; only the table has colours. 0, or -1 with
 * err, also for a failed write that out has noticed by then; the caller checks fclose. */
int report_write(const struct report *report, enum report_format format, bool color, FILE *out,
                 struct lb_err *err);

#endif
