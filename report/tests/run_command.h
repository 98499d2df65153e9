/* run_command: a program run by a test, its output shown only when it fails. */
#ifndef REPORT_TESTS_RUN_COMMAND_H
#define REPORT_TESTS_RUN_COMMAND_H

#include <stdbool.h>

/* Runs argv (ends with NULL) with these extra "NAME=VALUE" (ends with NULL; may be NULL), output
 * to the test's own. The exit code; 127 when it could not be started, 128 + signal when it was
 * killed. */
int run_command(const char *const *argv, const char *const *env);

/* True when a program of this name is in PATH. */
bool has_program(const char *name);

/* True in CI, where a test must not be skipped. */
bool in_ci(void);

#endif
