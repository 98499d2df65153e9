/* serve: a load host of a run on several hosts: takes the plan from the judge, and runs its part of each stage that the
 * judge asks for. It starts no server and writes no result. */
#ifndef BENCH_RUN_SERVE_H
#define BENCH_RUN_SERVE_H

#include <signal.h>

#include "bench/hosts/hosts.h"
#include "bench/workload/plan.h"

/* The judge sends the plan to all hosts, and waits until they have read it. 0, or -1 with err: which host can't. */
int serve_send_plan(struct hosts *hosts, const struct plan *plan, struct lb_err *err);

/* Serves until the judge says that the run is over. version: the program's. A host that lacks something, such as a folder
 * for temporary files, tells the judge when the plan comes. Returns 0, or -1 with err if the judge is lost. */
int serve_run(struct hosts *hosts, const char *version, const volatile sig_atomic_t *interrupts,
              struct lb_err *err);

#endif
