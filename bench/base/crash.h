/* crash: the last words of a program that a crash ends in a call of a driver: which lock it was, and what it did. */
#ifndef BENCH_BASE_CRASH_H
#define BENCH_BASE_CRASH_H

/* From now on a crash of this process, or of one that it forks, writes "ERROR: <what>: <signal> ended this process,
 * in a call of the driver or in lockbench itself. <after>" and then goes its usual way. NULL, NULL: nothing is written
 * any more. A sanitizer's own report takes its place. */
void crash_expect(const char *what, const char *after);

/* Gives the calling thread a stack for the words, since a crash may come of a fiber's stack that is full. */
void crash_stack(void);

#endif
