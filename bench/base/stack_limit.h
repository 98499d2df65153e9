/* stack_limit: the limit on stacks (ulimit -s), by which the kernel would end the program without a word. */
#ifndef BENCH_BASE_STACK_LIMIT_H
#define BENCH_BASE_STACK_LIMIT_H

#include "bench/base/err.h"

/* To be called before the first thread is started. Raises a limit that is too low, if that is allowed, for the main
 * thread, for threads to come and for children. 0, or -1 with err: what to do. */
int stack_limit_ensure(struct lb_err *err);

#endif
