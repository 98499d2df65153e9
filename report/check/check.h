/* check: the report of `lockbench check`: the matrix of locks and faults, what held, and what broke.
 * It reads check.json only, with results/format/check_read.h. The evidence of a cell is its run. */
#ifndef REPORT_CHECK_CHECK_H
#define REPORT_CHECK_CHECK_H

#include <stdbool.h>
#include <stdio.h>

#include "report/report.h"
#include "results/format/check_read.h"

/* Renders the check in a format, like report_write for runs, but not as a page. color: for a terminal; only the
 * table has colours. 0, or -1 with err. */
int report_check_write(const struct check *check, enum report_format format, bool color, FILE *out,
                       struct lb_err *err);

#endif
