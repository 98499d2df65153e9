/* hold_child: the command that `lockbench hold` runs while it holds a lock, and the signals for it.
 *
 * SIGINT, SIGTERM and SIGHUP that another process sends to this one are passed on to the command. A
 * terminal sends Ctrl-C to the command itself. If this process dies, the kernel sends the command
 * SIGTERM, since the lock will end. There is one command at a time, and the functions must be
 * called on the main thread. A second interrupt before the command runs ends this process at
 * once. */
#ifndef BENCH_CLI_HOLD_CHILD_H
#define BENCH_CLI_HOLD_CHILD_H

#include <signal.h>
#include <stdbool.h>

#include "bench/base/err.h"

/* Catches the signals from now on. interrupted: called in the signal handler, so it must be
 * async-signal-safe, when a signal comes while no command runs; may be NULL. Returns a descriptor that
 * becomes readable after each signal and each end of a child; -1 with err. */
int hold_child_watch(void (*interrupted)(void), struct lb_err *err);

/* The number of signals so far that came while no command ran. */
const volatile sig_atomic_t *hold_child_interrupts(void);

/* Starts the command, which inherits descriptors 0, 1 and 2 and no others. variables: "NAME=VALUE",
 * ends with NULL. Returns 0, or -1 with err. */
int hold_child_start(const char *const *command, const char *const *variables, struct lb_err *err);

/* Sends the command a signal. */
void hold_child_signal(int number);

/* Empties the descriptor. True if the command has ended: *ret_code is its exit code, or 128 + the number
 * of the signal that ended it. */
bool hold_child_ended(int *ret_code);

#endif
