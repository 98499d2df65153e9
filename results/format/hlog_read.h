/* hlog_read: HdrHistogram log files, line by line: ours, and those of HdrHistogram's own writers.
 *
 * Nothing in the file is trusted: a line is sound as a whole or an error that names the file, the
 * line and what is wrong, and no length in it makes us take memory that its own text does not bear
 * out. It reads versions 1.0 to 1.3, tags or none, times that are absolute or count from a
 * #[BaseTime. It refuses histograms that are not HdrHistogram V2 (hdr.h), and lines longer than
 * HLOG_LINE_MAX. The interval's maximum is not handed out: writers disagree on its unit, and the
 * histogram has it. */
#ifndef RESULTS_FORMAT_HLOG_READ_H
#define RESULTS_FORMAT_HLOG_READ_H

#include <stdint.h>
#include <stdio.h>

#include "bench/base/err.h"
#include "results/format/hist.h"

#define HLOG_LINE_MAX (4 << 20) /* bytes; the fullest histogram of three digits takes 60 KB */

struct hlog_line {
    const char *tag;   /* "" when the line has none */
    int64_t start_ns;  /* Unix time; from the log's own start when it tells no time at all */
    int64_t length_ns; /* 0 or more */
    /* never NULL, may be empty; with tag the reader's, until the next call */
    const struct hist *hist;
    long number; /* of the line in the file, from 1 */
};

struct hlog_reader;

/* Opens a log and reads nothing yet. NULL with err (LB_EXIT_USAGE): no such file, not a regular
 * one. The caller hlog_closes. A reader is for one thread at a time. */
struct hlog_reader *hlog_open(const char *path, struct lb_err *err);

/* The same from a stream, which hlog_close closes, also when this fails; name is for messages, and
 * copied. */
struct hlog_reader *hlog_open_stream(FILE *stream, const char *name, struct lb_err *err);

/* The next line with a histogram: 1 and *ret; 0 at the end; -1 with err (LB_EXIT_USAGE), *ret
 * untouched. After -1 the next call goes on behind the bad line, for those who can do without it:
 * the last line of a log whose writer was killed is cut. */
int hlog_next(struct hlog_reader *reader, struct hlog_line *ret, struct lb_err *err);

/* Takes NULL. */
void hlog_close(struct hlog_reader *reader);

#endif
