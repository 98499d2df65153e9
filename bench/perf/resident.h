/* resident: how much memory the processes of one program hold while they run, servers and other programs apart. It reads /proc
 * four times a second, and so misses what is shorter. */
#ifndef BENCH_PERF_RESIDENT_H
#define BENCH_PERF_RESIDENT_H

#include <stdint.h>

#include "bench/base/err.h"

struct resident;

/* Begins to watch the processes below this one that run the program at this path. NULL with err. */
struct resident *resident_watch(const char *program, struct lb_err *err);
/* Ends that, and returns the most that they held at once, in KB: what several of them share counts once. Accepts NULL: 0. */
int64_t resident_most_kb(struct resident *resident);

#endif
