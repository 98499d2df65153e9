/* interrupt: Ctrl-C: once asks for an orderly end, twice leaves at once (the servers are stopped
 * all the same). */
#ifndef BENCH_CLI_INTERRUPT_H
#define BENCH_CLI_INTERRUPT_H

#include <signal.h>

/* How many of SIGINT, SIGTERM and SIGHUP have come; counting begins here. */
const volatile sig_atomic_t *interrupt_watch(void);

#endif
