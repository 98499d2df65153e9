/* resident: measures the memory of all processes of one program while they run, without servers and other programs. It
 * reads /proc four times a second, so it may miss a short peak. */
#ifndef BENCH_PERF_RESIDENT_H
#define BENCH_PERF_RESIDENT_H

#include <stdint.h>

#include "bench/base/err.h"

struct resident;

/* Begins to watch the processes below this one that run the program at this path. NULL with err. */
struct resident *resident_watch(const char *program, struct lb_err *err);
/* Ends the watch and frees it. Returns the most that the processes held at once, in KB; memory that several of them
 * share counts once. NULL is allowed, and gives 0. */
int64_t resident_most_kb(struct resident *resident);

#endif
