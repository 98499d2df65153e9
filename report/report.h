/* report: renders results. It reads runs only, never a server, and writes only where it is told to.
 *
 * Text in any format is the document of report/run/run_doc.h; to add a format, add a writer to
 * report/doc. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "report/run/model.h"

enum report_format {
    REPORT_TABLE,
    REPORT_MD,
    REPORT_CSV,
    REPORT_JSON,
    REPORT_HTML,
    REPORT_FORMATS
};

#define REPORT_FORMAT_NAMES "table,md,csv,json,html" /* in the order of enum report_format */

/* Reads runs (folders or run.json files). NULL with err; the caller report_frees. */
struct report *report_load(const char *const *paths, int count, struct lb_err *err);

/* Renders. color: for a terminal; only the table has any. 0, or -1 with err (also for a failed
 * write, when out's error is seen by then; the caller checks fclose). */
int report_write(const struct report *report, enum report_format format, bool color, FILE *out,
                 struct lb_err *err);

#endif
