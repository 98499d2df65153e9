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
    int claim; /* an open file that keeps other lockbench away until a result does; -1 = none */
};

/* Makes the folder: `wanted` (--out; it must not hold another run, unless that one ended before its
 * first stage began: then its run.json is removed) or a new one under root, and checks that it can be written. Returns 0, or -1 with err (LB_EXIT_MACHINE, also where
 * root's `latest` is somebody's own file or folder, or LB_EXIT_USAGE for a folder that holds
 * another run, or several, or that another lockbench has claimed). The folders that `wanted` lies in are made too. */
int outdir_make(struct outdir *out, const char *wanted, const char *root, const char *workload,
                struct lb_err *err);

/* The first result is in the folder, and keeps others away from now on: removes the file that did so until now. */
void outdir_claimed(struct outdir *out);

/* Writes run.json in one step (a temporary file, renamed). 0, or -1 with err. */
int outdir_write(const struct outdir *out, const json_t *run, struct lb_err *err);

/* Points root's `latest` at it, in one step, unless that is no link. A failure is ignored, because the output names the
 * folder itself. */
void outdir_latest(const struct outdir *out);

/* For a result that could not be written there: writes it to a new file lockbench-KIND-XXXXXX in the first of $TMPDIR,
 * /tmp, /var/tmp, the current folder and /dev/shm that accepts it. kind: "run". Returns 0 with its path, or -1 with
 * err. */
int outdir_rescue(const json_t *result, const char *kind, char *ret_path, size_t size,
                  struct lb_err *err);

#endif
