/* hangup: the signal SIGHUP, which a terminal sends when it is closed. SIGHUP ends a run like Ctrl-C. Under nohup the
 * run goes on, because nohup starts the program with SIGHUP ignored. */
#ifndef BENCH_BASE_HANGUP_H
#define BENCH_BASE_HANGUP_H

#include <signal.h>
#include <stddef.h>

/* Installs the action for SIGHUP, unless the program was started with SIGHUP ignored. */
static inline void hangup_handle(const struct sigaction *action) {
    struct sigaction old;
    if (sigaction(SIGHUP, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(SIGHUP, action, NULL);
}

#endif
