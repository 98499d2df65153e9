/* output: how wide a stream is, and whether what was printed arrived. A reader that went away, as `head` does, has what it wants:
 * nothing was lost, and no exit code changes by it. */
#ifndef BENCH_BASE_OUTPUT_H
#define BENCH_BASE_OUTPUT_H

#include <jansson.h>
#include <stdio.h>

#include "bench/base/err.h"

/* The number of columns; 0 = the stream is no terminal. */
int output_columns(FILE *out);

/* Flushes out. 0 if all that was written to it arrived, or if its reader went away; -1 with err if any
 * of it was lost: "cannot write WHAT: ...". */
int output_check(FILE *out, const char *what, struct lb_err *err);

/* Writes json and a newline, and frees json, which may be NULL: then memory ran out. 0, or -1 with err. */
int output_json(json_t *json, size_t flags, FILE *out, const char *what, struct lb_err *err);

#endif
