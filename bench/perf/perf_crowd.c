/* perf_crowd: 2,000 clients of redis-setnx in one process, on one lock and on 2,000: does it run,
 * does it drain, and what does it hold resident? Runs the program itself, so that the memory is a
 * user's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/home.h"
#include "bench/perf/perf.h"
#include "bench/perf/theirs.h"

static int crowd(const char *program, const char *keys, struct lb_err *err) {
    char out[64], set[64];
    snprintf(out, sizeof out, "/tmp/lockbench-crowd-XXXXXX");
    if (!mkdtemp(out)) return err_set(err, LB_EXIT_MACHINE, "cannot make %s", out);
    snprintf(set, sizeof set, "load.keys=%s", keys);
    const char *const argv[] = {program,
                                "run",
                                "smoke",
                                "--lock",
                                "redis-setnx",
                                "--set",
                                "load.clients=2000",
                                "--set",
                                set,
                                "--set",
                                "run.duration=5s",
                                "--set",
                                "run.drain=30s",
                                "--out",
                                out,
                                NULL};
    static struct theirs theirs;
    int failed = theirs_run(&theirs, argv, err);
    if (!failed && theirs.code != 0) {
        failed = err_set(err, LB_EXIT_MACHINE, "2,000 clients: exit code %d: %.300s", theirs.code,
                         theirs.text);
    }
    const char *const rm[] = {"rm", "-rf", out, NULL};
    struct theirs *gone = malloc(sizeof *gone);
    if (gone) theirs_run(gone, rm, err);
    free(gone);
    if (failed) return -1;
    printf(
        "2,000 clients of redis-setnx, keys=%-4s: exit code %d, %.0f MB resident at most   goal: runs, "
        "drains, under 400 MB\n",
        keys, theirs.code, (double)theirs.peak_kb / 1024);
    return 0;
}

int perf_crowd(struct lb_err *err) {
    char program[512];
    if (home_path("lockbench", program, sizeof program, err) != 0) return -1;
    return crowd(program, "1", err) == 0 && crowd(program, "own", err) == 0 ? 0 : -1;
}
