/* janitor: a small process that cleans up when this program has ended, also if SIGKILL ended it.
 *
 * The janitor holds one end of a socket whose other end only this program has. The program tells the janitor the
 * process group of each server, the path of each temporary folder, and the lines to print if the program is cut off.
 * When the socket closes, the janitor prints these lines, kills the groups, removes their shared memory and the
 * folders, and ends. It runs in its own session and ignores SIGINT, SIGTERM, SIGHUP and SIGQUIT, so that Ctrl-C does
 * not reach it. */
#ifndef BENCH_SERVERS_JANITOR_H
#define BENCH_SERVERS_JANITOR_H

#include <sys/types.h>

#include "bench/base/err.h"

/* Starts the janitor once; later calls do nothing. Call it before there are other threads. Returns
 * 0, or -1 with err. */
int janitor_start(struct lb_err *err);

/* Between janitor_fork_begin and janitor_fork_end a forked child keeps the socket, so that it can
 * register its own group before it executes a server. So the janitor knows every server before that
 * server runs. Every other child of fork() loses the socket, because otherwise the janitor would wait
 * for the end of that child too. */
void janitor_fork_begin(void);
void janitor_fork_end(void);

enum janitor_act { JANITOR_ADD, JANITOR_DROP };

/* Register a process group or a folder that the janitor must clean up, or unregister it when it is gone.
 * The folder's path has at most 511 bytes. Async-signal-safe. */
void janitor_group(enum janitor_act act, pid_t group);
void janitor_folder(enum janitor_act act, const char *path);
/* Registers a line of at most 511 bytes, which the janitor prints on standard error if the program ends before the line
 * is unregistered. */
void janitor_words(enum janitor_act act, const char *line);

/* Lets the janitor clean up everything that it knows, and waits until it has. Async-signal-safe. */
void janitor_finish(void);

/* The pid of the janitor; 0 if there is none. */
pid_t janitor_pid(void);

/* The first steps of the program's helper processes (the janitor, the wire), right after the
 * fork. */

/* Gives the process a name, lets it ignore the signals that end or stop the program, connects its
 * standard streams to /dev/null, leaves the working folder, and closes all other files but the `count`
 * descriptors in `keep`. Sorts `keep`. */
void helper_begin(const char *name, int *keep, int count);

#endif
