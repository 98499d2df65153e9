/* process: what this process is told by its surroundings, and what it says when it ends without a word. */
#ifndef BENCH_BASE_PROCESS_H
#define BENCH_BASE_PROCESS_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/err.h"

/* An error line for a process that crashes in a call of a driver. The line names the lock and the action. */

/* From now on a crash of this process, or of a process that it forks, writes "ERROR: <what>: <signal> ended this
 * process, in a call of the driver or in lockbench itself. <after>" to standard error. Then the signal ends the
 * process, or runs the handler that was there before. NULL, NULL: a crash writes no line any more. A build with
 * a sanitizer never writes the line, because the sanitizer prints a report of its own. */
void crash_expect(const char *what, const char *after);

/* The same for a whole command, where crash_expect says nothing more exact: the command must stay. */
void crash_always(const char *command);

/* Gives the calling thread a separate stack for the signal handler, since a fiber's full stack may cause the crash. */
void crash_stack(void);

/* The signal SIGHUP, which a terminal sends when it is closed. SIGHUP ends a run like Ctrl-C. Under nohup the
 * run goes on, because nohup starts the program with SIGHUP ignored. */

/* Installs the action for SIGHUP, unless the program was started with SIGHUP ignored. */
static inline void hangup_handle(const struct sigaction *action) {
    struct sigaction old;
    if (sigaction(SIGHUP, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(SIGHUP, action, NULL);
}

/* Tells whether the program runs in continuous integration. There a missing package is an error, because nobody
 * reads the output that says what was left out. GitHub, GitLab and others set the variable CI: any value except "" and
 * "false" means yes. compose/install, report/bundle.sh and the Makefile read the variable in the same way. */

static inline bool in_ci(void) {
    const char *ci = getenv("CI");
    return ci && *ci && strcmp(ci, "false") != 0;
}

/* --- What to do where no further process or thread could be started. --- */

/* To be put behind the error's own text; "" where it has another cause. */
static inline const char *too_many_remedy(int error) {
    return error == EAGAIN ? "; raise the limit of processes (ulimit -u, or the cgroup's pids.max)"
                           : "";
}

/* In a child between fork and exec: signals are as a program expects them, and its standard streams are these, or
 * it ends with 127. Async-signal-safe. */
void child_streams(int in, int out, int errors);

/* A variable of the environment, "NAME=VALUE", by which the janitor finds the programs that were started with it, and all
 * that these have started, wherever that went; "" without a janitor. It ends them with this program. */
extern char janitor_mark[48];

#endif
