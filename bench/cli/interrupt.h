/* interrupt: Ctrl-C once asks for an orderly end; a second one ends the program at once (the
 * servers are stopped all the same). */
#ifndef BENCH_CLI_INTERRUPT_H
#define BENCH_CLI_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

/* How the line of the first signal begins. The launch command of several hosts waits for it. */
#define INTERRUPT_HEARD "interrupted: "

/* The number of SIGINT, SIGTERM and SIGHUP that came since the first call. waits: what is in progress is awaited then,
 * which may take as long as a drain: the first signal says so on standard error. */
const volatile sig_atomic_t *interrupt_watch(bool waits);

#endif
