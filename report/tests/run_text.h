/* run_text: runs for tests, from a few lines of JSON. Each function ends the test when it cannot do
 * its work. */
#ifndef REPORT_TESTS_RUN_TEXT_H
#define REPORT_TESTS_RUN_TEXT_H

#include "report/report.h"

/* A report of one run with these stages: JSON objects, comma between. more: further members of the
 * root, with a comma before each; "" for none. */
struct report *report_of(const char *stages, const char *more);

/* The report rendered; malloced. */
char *render(const struct report *report, enum report_format format, bool color);

/* A file's content; malloced. NULL when there is none. */
char *read_whole(const char *path);

#endif
