/* hangup: SIGHUP, which a closed terminal sends. It ends a run like Ctrl-C, but not under nohup, which has the signal
 * ignored. */
#ifndef BENCH_BASE_HANGUP_H
#define BENCH_BASE_HANGUP_H

#include <signal.h>
#include <stddef.h>

/* Handles SIGHUP so, unless whoever started the program has it ignored. */
static inline void hangup_handle(const struct sigaction *action) {
    struct sigaction old;
    if (sigaction(SIGHUP, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(SIGHUP, action, NULL);
}

#endif
