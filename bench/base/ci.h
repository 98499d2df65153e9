/* ci: tells whether the program runs in continuous integration. There a missing package is an error, because nobody
 * reads the output that says what was left out. GitHub, GitLab and others set the variable CI: any value except "" and
 * "false" means yes. compose/install, report/bundle.sh and the Makefile read the variable in the same way. */
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
