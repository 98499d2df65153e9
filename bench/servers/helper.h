/* helper: the first steps of the program's helper processes (the janitor, the wire), right after the
 * fork. */
#ifndef BENCH_SERVERS_HELPER_H
#define BENCH_SERVERS_HELPER_H

/* Gives the process a name, lets it ignore the signals that end or stop the program, connects its
 * standard streams to /dev/null, leaves the working folder, and closes all other files but the `count`
 * descriptors in `keep`. Sorts `keep`. */
void helper_begin(const char *name, int *keep, int count);

#endif
