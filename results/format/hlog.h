/* hlog: HdrHistogram log files, format 1.3, with tags; values are nanoseconds.
 *
 * All comment lines come before the legend, because HdrHistogram_c's reader stops at a later one.
 * Each is shorter than 128 bytes, which is the room that this reader has. */
#ifndef RESULTS_FORMAT_HLOG_H
#define RESULTS_FORMAT_HLOG_H

#include <stdint.h>
#include <stdio.h>

#include "bench/base/err.h"
#include "results/format/hist.h"

/* Starts a log: the comment lines and the legend. start_wall_ns: Unix time. version: the program's,
 * printable, cut after 60 characters. Neither function flushes: the caller does, and checks the
 * result of fclose. 0, or -1 with err. */
int hlog_begin(FILE *file, int64_t start_wall_ns, const char *version, struct lb_err *err);

/* Writes one line: a tag (printable, not empty, no comma, space or newline), the interval's start
 * by Unix time, its length and histogram. Empty histograms are written too, so that times without a
 * grant are visible. Lines go in order of their start: readers skip the ones that step back. 0, or
 * -1 with err. */
int hlog_write(FILE *file, const char *tag, int64_t start_wall_ns, int64_t length_ns,
               const struct hist *h, struct lb_err *err);

#endif
