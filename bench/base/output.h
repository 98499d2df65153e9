/* output: the width of a stream, and whether the printed text was written completely. A reader that closes the pipe
 * early, as `head` does, is no error: the exit code stays as it is. */
#ifndef BENCH_BASE_OUTPUT_H
#define BENCH_BASE_OUTPUT_H

#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

#include "bench/base/err.h"

/* The number of columns; 0 = the stream is no terminal. */
int output_columns(FILE *out);

/* Flushes out. Returns 0 if all its text was written, or if its reader has closed the pipe; -1 with err
 * ("cannot write WHAT: ...") if a part of the text is lost. */
int output_check(FILE *out, const char *what, struct lb_err *err);

/* Writes json and a newline, and frees json, which may be NULL: then memory ran out. 0, or -1 with err. */
int output_json(json_t *json, size_t flags, FILE *out, const char *what, struct lb_err *err);

/* A file that takes its place as a whole, or not at all: written beside it, as PATH.<pid>.new, then renamed. */
struct output_file {
    char fresh[PATH_MAX + 32];
    sigset_t before; /* the signals that the thread blocked */
};

/* Begins one. Follows no link in the place of the new file. Until output_replace the signals that end a program wait,
 * since they would leave the file. Returns the stream; NULL with errno, and then the file is over. */
FILE *output_begin(struct output_file *file, const char *path);
/* Closes the stream, and renames the file to path if all was written and `whole`; removes it otherwise. 0, or -1 with
 * errno. */
int output_replace(struct output_file *file, FILE *stream, const char *path, bool whole);

#endif
