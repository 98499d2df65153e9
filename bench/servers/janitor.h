/* janitor: a small process that cleans up after this one, however it ends, SIGKILL included.
 *
 * It holds one end of a socket whose other end only this program has. It is told of each server's
 * process group and of each temporary folder; when the socket closes, it stops the groups, removes
 * the folders and ends. It lives in its own session and ignores SIGINT, SIGTERM, SIGHUP and
 * SIGQUIT, so that Ctrl-C does not reach it. */
#ifndef BENCH_SERVERS_JANITOR_H
#define BENCH_SERVERS_JANITOR_H

#include <sys/types.h>

#include "bench/base/err.h"

/* Starts it, once; later calls do nothing. Call before there are other threads. 0, or -1 with
 * err. */
int janitor_start(struct lb_err *err);

/* Between janitor_fork_begin and janitor_fork_end a forked child keeps the socket, so that it can name
 * its own group before it executes a server: no moment is left in which a server runs that the
 * guard does not know of. Any other child of fork() loses it, or the janitor would wait for that
 * child's end too. */
void janitor_fork_begin(void);
void janitor_fork_end(void);

/* What to clean up. The folder's path at most 511 bytes. Async-signal-safe. */
void janitor_add_group(pid_t group, int stop_signal);
void janitor_add_folder(const char *path);
/* No longer: it is gone already. */
void janitor_drop_group(pid_t group);
void janitor_drop_folder(const char *path);

/* Lets the janitor clean up all that it knows of, now, and waits until it has. Async-signal-safe. */
void janitor_finish(void);

/* The janitor's process; 0 if there is none. */
pid_t janitor_pid(void);

#endif
