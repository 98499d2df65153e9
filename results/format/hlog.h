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

/* --- the reader: of logs that hlog_write wrote, line by line --- */

struct hlog_line {
    const char *tag;
    int64_t start_ns;  /* Unix time */
    int64_t length_ns; /* 0 or more */
    /* never NULL, may be empty; belongs to the reader, like tag, until the next call */
    const struct hist *hist;
};

struct hlog_reader;

/* Opens a log and reads nothing yet. NULL with err (LB_EXIT_USAGE): no such file. The caller closes it with
 * hlog_close. A reader is for one thread at a time. */
struct hlog_reader *hlog_open(const char *path, struct lb_err *err);

/* Reads the next line with a histogram. Returns 1 and *ret; 0 at the end; -1 with err
 * (LB_EXIT_USAGE) if the line is not sound as a whole, *ret untouched. After -1 the next call goes on after the bad line, for callers
 * that do not need it: if the writer was killed, the last line of the log is cut. */
int hlog_next(struct hlog_reader *reader, struct hlog_line *ret, struct lb_err *err);

/* NULL is allowed. */
void hlog_close(struct hlog_reader *reader);

#endif
