/* output: the width of a stream, and whether the printed text was written completely. A reader that closes the pipe
 * early, as `head` does, is no error: the exit code stays as it is. */
#ifndef BENCH_BASE_OUTPUT_H
#define BENCH_BASE_OUTPUT_H

#include <jansson.h>
#include <stdio.h>

#include "bench/base/err.h"

/* The number of columns; 0 = the stream is no terminal. */
int output_columns(FILE *out);

/* Flushes out. Returns 0 if all its text was written, or if its reader has closed the pipe; -1 with err
 * ("cannot write WHAT: ...") if a part of the text is lost. */
int output_check(FILE *out, const char *what, struct lb_err *err);

/* Writes json and a newline, and frees json, which may be NULL: then memory ran out. 0, or -1 with err. */
int output_json(json_t *json, size_t flags, FILE *out, const char *what, struct lb_err *err);

#endif
