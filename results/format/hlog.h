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

/* --- the reader ---
 *
 * HdrHistogram log files, line by line: those of lockbench, and those of HdrHistogram's
 * own writers.
 *
 * Nothing in the file is trusted. A line that is not sound as a whole is an error, which names the
 * file, the line and the fault. A length in the file allocates no more memory than the text of the
 * line justifies.
 *
 * The reader takes versions 1.0 to 1.3, tags or none, times that are absolute or count from a
 * #[BaseTime. It refuses histograms that are not HdrHistogram V2 (hdr.h), and lines longer than
 * HLOG_LINE_MAX. The interval's maximum is not returned, because writers disagree on its unit, and
 * the histogram has it anyway. */

#define HLOG_LINE_MAX (4 << 20) /* bytes; the fullest histogram of three digits takes 60 KB */

struct hlog_line {
    const char *tag;   /* "" when the line has none */
    int64_t start_ns;  /* Unix time; counted from the log's own start if the log names no time */
    int64_t length_ns; /* 0 or more */
    /* never NULL, may be empty; belongs to the reader, like tag, until the next call */
    const struct hist *hist;
    long number; /* the number of the line in the file, from 1 */
};

struct hlog_reader;

/* Opens a log and reads nothing yet. NULL with err (LB_EXIT_USAGE): no such file, not a regular
 * one. The caller closes it with hlog_close. A reader is for one thread at a time. */
struct hlog_reader *hlog_open(const char *path, struct lb_err *err);

/* The same for a stream, which hlog_close closes, even if opening fails; name is for messages, and
 * copied. */
struct hlog_reader *hlog_open_stream(FILE *stream, const char *name, struct lb_err *err);

/* Reads the next line with a histogram. Returns 1 and *ret; 0 at the end; -1 with err
 * (LB_EXIT_USAGE), *ret untouched. After -1 the next call goes on after the bad line, for callers
 * that do not need it: if the writer was killed, the last line of the log is cut. */
int hlog_next(struct hlog_reader *reader, struct hlog_line *ret, struct lb_err *err);

/* NULL is allowed. */
void hlog_close(struct hlog_reader *reader);

#endif
