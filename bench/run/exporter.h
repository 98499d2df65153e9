/* exporter: shows the figures of a run to Prometheus while the run goes on (`run --metrics`), in a file
 * that is replaced in one step, or over HTTP.
 *
 * A separate process serves the figures, so that neither a slow disk nor a slow reader can delay the load
 * or the supervisor. If the process is too slow to take the figures of a second, they are left out; the
 * next second has newer figures. The process ends with the program, however the program ends. */
#ifndef BENCH_RUN_EXPORTER_H
#define BENCH_RUN_EXPORTER_H

#include "bench/base/err.h"
#include "bench/run/exposition.h"

struct exporter;

/* where: a file, or [HOST]:PORT (scrape.h). The file is written, or the port listens, when this
 * returns. Call it before there are other threads. NULL with err: LB_EXIT_USAGE if `where` can't be a
 * target, LB_EXIT_MACHINE if the file can't be written or the port can't listen. */
struct exporter *exporter_open(const char *where, const struct exposition *first,
                               struct lb_err *err);

/* The file, or the URL. Lives as long as the exporter. */
const char *exporter_where(const struct exporter *exporter);

/* Hands over newer figures; never waits. NULL: does nothing. */
void exporter_publish(struct exporter *exporter, const struct exposition *now);

/* Ends the process and waits for its end; the file stays, with lockbench_up 0 and how the run ended: its exit code, and
 * the reason for one that is not 0 ("" = none). NULL: does nothing. */
void exporter_close(struct exporter *exporter, int exit_code, const char *reason);

#endif
