/* ci: whether this is a run of continuous integration, where nothing may be left out that can be installed, since nobody
 * reads what a job has left out. The variable CI says so, as on GitHub, GitLab and others: set, and not "false".
 * compose/install, report/bundle.sh and the Makefile read the variable in the same way. */
#ifndef BENCH_BASE_CI_H
#define BENCH_BASE_CI_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static inline bool in_ci(void) {
    const char *ci = getenv("CI");
    return ci && *ci && strcmp(ci, "false") != 0;
}

#endif
