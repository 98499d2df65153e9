/* metrics_file: the figures of a run while it goes on (`run --prometheus FILE`), in Prometheus' text format 0.0.4. The
 * file is replaced in one step each second, as node_exporter's textfile collector reads it.
 *
 * Only the supervising thread calls this. The file is not forced to the disk: after a crash of the machine nobody needs
 * the figures of a run that went on. */
#ifndef BENCH_CLI_METRICS_FILE_H
#define BENCH_CLI_METRICS_FILE_H

#include "bench/base/err.h"
#include "bench/run/run.h"

struct metrics_file;

/* Writes the file for the first time, without a stage. NULL with err: LB_EXIT_USAGE if `path` can't be such a file,
 * LB_EXIT_MACHINE if it can't be written. */
struct metrics_file *metrics_file_open(const char *path, struct lb_err *err);

/* Writes the figures of the stage that began last. A file that can't be written stays as it was until the next call.
 * file: NULL does nothing. */
void metrics_file_write(struct metrics_file *file, const struct run_at *at,
                        const struct stage_news *news);

/* Writes the last figures with lockbench_up 0. Frees. 0, or -1 with err if the file can't be written. NULL: does
 * nothing. */
int metrics_file_close(struct metrics_file *file, struct lb_err *err);

#endif
