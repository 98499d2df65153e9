/* outdir: the folder of a run, results/<time>-<workload>/, written so that a reader never sees half
 * a file. */
#ifndef BENCH_RUN_OUTDIR_H
#define BENCH_RUN_OUTDIR_H

#include <jansson.h>
#include <stddef.h>

#include "bench/base/err.h"

struct outdir {
    char path[512];
    char root
        [512]; /* results/, whose `latest` is to point here; "" = a folder of the user's own choice */
};

/* Makes the folder: `wanted` (--out), with the folders above it, or a new folder
 * under root. `wanted` must not hold another run, unless that run ended before its first stage began: then its run.json
 * is removed. Returns 0, or -1 with err: LB_EXIT_USAGE for a folder that holds another run, or several; LB_EXIT_MACHINE
 * for all else, also if root's `latest` is a file or folder and no link. */
int outdir_make(struct outdir *out, const char *wanted, const char *root, const char *workload,
                struct lb_err *err);

/* Writes run.json in one step (a temporary file, renamed). 0, or -1 with err. */
int outdir_write(const struct outdir *out, const json_t *run, struct lb_err *err);

/* Points the link `latest` in root at the folder, in one step, unless `latest` is no link. A failure is ignored,
 * because the output names the folder itself. */
void outdir_latest(const struct outdir *out);

/* For a result that could not be written into the folder: writes it to a new file lockbench-KIND-XXXXXX in the first of
 * $TMPDIR, /tmp, /var/tmp, the current folder and /dev/shm that accepts it. kind: "run". Returns 0 with the path of the
 * file, or -1 with err. */
int outdir_rescue(const json_t *result, const char *kind, char *ret_path, size_t size,
                  struct lb_err *err);

#endif
