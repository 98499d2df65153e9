/* crash: an error line for a process that crashes in a call of a driver. The line names the lock and the action. */
#ifndef BENCH_BASE_CRASH_H
#define BENCH_BASE_CRASH_H

/* From now on a crash of this process, or of a process that it forks, writes "ERROR: <what>: <signal> ended this
 * process, in a call of the driver or in lockbench itself. <after>" to standard error. Then the signal ends the
 * process, or runs the handler that was there before. NULL, NULL: a crash writes no line any more. A build with
 * a sanitizer never writes the line, because the sanitizer prints a report of its own. */
void crash_expect(const char *what, const char *after);

/* Gives the calling thread a separate stack for the signal handler, since a fiber's full stack may cause the crash. */
void crash_stack(void);

#endif
