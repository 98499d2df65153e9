/* home: where the program's own folders (workloads/, compose/, results/) are.
 *
 * The home is the environment's LOCKBENCH_HOME if that is set. Otherwise it is the nearest folder
 * above the program (by its real path, so that a link to it works from anywhere) that holds
 * workloads/compare.ini, or share/lockbench with that file. */
#ifndef BENCH_BASE_HOME_H
#define BENCH_BASE_HOME_H

#include <stddef.h>

#include "bench/base/err.h"

/* Writes the absolute path of name in the home folder ("" = the folder itself), whether it exists
 * or not. Returns 0, or -1 with err (LB_EXIT_MACHINE: no such folder, or the path is too long). */
int home_path(const char *name, char *ret_path, size_t size, struct lb_err *err);

/* Writes the absolute path of a file that is built beside the program: name in the nearest folder
 * above the program that has it, or in lib/lockbench there. Returns 0, or -1 with err
 * (LB_EXIT_MACHINE: not found). */
int home_beside(const char *name, char *ret_path, size_t size, struct lb_err *err);

/* Writes the path of the folder where runs are saved: results/ in the home folder. The home of an
 * installed program (share/lockbench) does not belong to its user, so then it is results/ in the
 * current folder. Returns 0, or -1 with err. */
int home_results(char *ret_path, size_t size, struct lb_err *err);

#endif
