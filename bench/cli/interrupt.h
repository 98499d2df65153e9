/* interrupt: Ctrl-C once asks for an orderly end; a second one ends the program at once (the
 * servers are stopped all the same). */
#ifndef BENCH_CLI_INTERRUPT_H
#define BENCH_CLI_INTERRUPT_H

#include <signal.h>

/* The number of SIGINT, SIGTERM and SIGHUP that came since the first call. */
const volatile sig_atomic_t *interrupt_watch(void);

#endif
