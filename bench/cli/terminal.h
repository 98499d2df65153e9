/* terminal: whether a stream shows colours (its width: output_columns), and Ctrl-C. */
#ifndef BENCH_CLI_TERMINAL_H
#define BENCH_CLI_TERMINAL_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

/* True for a terminal with colours, if the user wants them: https://no-color.org. */
bool terminal_has_color(FILE *out);

/* Returns the number of SIGINT, SIGTERM and SIGHUP that came since the first call. waits: true if the program waits for
 * running attempts after the first signal, which may take as long as a drain; the line that the first signal prints on
 * standard error then says so. */
const volatile sig_atomic_t *interrupt_watch(bool waits);

#endif
