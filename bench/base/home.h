/* home: where the program's own folders (workloads/, compose/, results/) are.
 *
 * The environment's LOCKBENCH_HOME if it is set; else the nearest folder above the program itself
 * (its real path, so a link to it works from anywhere) that holds workloads/compare.ini, or
 * share/lockbench with it. */
#ifndef BENCH_BASE_HOME_H
#define BENCH_BASE_HOME_H

#include <stddef.h>

#include "bench/base/err.h"

/* The absolute path of name in the home folder ("" = the folder itself), whether it exists or not.
 * 0, or -1 with err (LB_EXIT_MACHINE: no such folder, or the path does not fit). */
int home_path(const char *name, char *ret_path, size_t size, struct lb_err *err);

/* The absolute path of what is built beside the program: name in the nearest folder above it that
 * has it, or lib/lockbench there. 0, or -1 with err (LB_EXIT_MACHINE: nowhere). */
int home_beside(const char *name, char *ret_path, size_t size, struct lb_err *err);

/* Where runs are saved: results/ in the home folder; but of an installed program (share/lockbench),
 * whose home is not the user's to write to, results/ in the current folder. 0, or -1 with err. */
int home_results(char *ret_path, size_t size, struct lb_err *err);

#endif
