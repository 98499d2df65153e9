/* run_folder: several runs, from files and folders, as users name them: a run's folder or its run.json, or a folder of
 * runs, which `lockbench run --repeat` makes. */
#ifndef RESULTS_FORMAT_RUN_FOLDER_H
#define RESULTS_FORMAT_RUN_FOLDER_H

#include "results/format/run_read.h"

/* Adds the runs that paths name, or that lie in the folders that they name, in the order of their names there, to an
 * array, which may be NULL and grows. Returns 0, or -1 with err; in either case the caller frees the runs that were
 * read, and the array. */
int run_read_all(const char *const *paths, int path_count, struct run ***runs, int *count,
                 struct lb_err *err);

#endif
