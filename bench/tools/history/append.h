/* append: the lines of runs, appended to a history (report/trend/trend.h). */
#ifndef BENCH_TOOLS_HISTORY_APPEND_H
#define BENCH_TOOLS_HISTORY_APPEND_H

#include "bench/base/err.h"

/* paths: runs, or folders of runs. Appends a line for each lock and load of a run that the file does not have yet, and
 * makes the file if there is none. Locks that are broken on purpose and incomplete stages have no line. commit may be NULL.
 * Returns the number of new lines, or -1 with err. */
int history_append(const char *path, const char *const *paths, int path_count, const char *commit,
                   struct lb_err *err);

#endif
