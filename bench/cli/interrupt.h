/* interrupt: the first Ctrl-C asks for an orderly end; the second one ends the program at once. In both cases
 * the servers are stopped. */
#ifndef BENCH_CLI_INTERRUPT_H
#define BENCH_CLI_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

/* The beginning of the line that the first signal prints. `lockbench-hosts launch` waits for this line. */
#define INTERRUPT_HEARD "interrupted: "

/* Returns the number of SIGINT, SIGTERM and SIGHUP that came since the first call. waits: true if the program waits for
 * running attempts after the first signal, which may take as long as a drain; the line that the first signal prints on
 * standard error then says so. */
const volatile sig_atomic_t *interrupt_watch(bool waits);

#endif
