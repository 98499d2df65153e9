/* page: writes the file for people that a command leaves beside its result, and reports its path. */
#ifndef BENCH_CLI_PAGE_H
#define BENCH_CLI_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "bench/base/err.h"

/* Renders `what` into a stream: 0, or -1 with err. */
typedef int page_render_fn(const void *what, FILE *out, struct lb_err *err);

/* Refuses to write over an input: -1 with err if `out` and `read` are the same file; else 0. out: NULL =
 * no output file is named. */
int page_spare(const char *out, const char *read, struct lb_err *err);

/* Writes a file whole or not at all: into a new file beside the path, which is then renamed. If the path
 * is a link, its target is replaced. A device or a pipe is written into directly. 0, or -1 with err
 * (LB_EXIT_MACHINE if the disk refuses the text), and then an existing file is unchanged. */
int page_write(const char *path, page_render_fn *render, const void *what, struct lb_err *err);

/* Writes the page FOLDER/report.html and prints its path on standard error. 0, or -1 with err. */
int page_beside(const char *folder, page_render_fn *render, const void *what, struct lb_err *err);

#endif
