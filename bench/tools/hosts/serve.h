/* serve: a load host of a run on several hosts: takes the plan from the coordinator, and runs its part of each stage
 * that the coordinator asks for. It starts no server and writes no result. */
#ifndef BENCH_TOOLS_HOSTS_SERVE_H
#define BENCH_TOOLS_HOSTS_SERVE_H

#include <signal.h>

#include "bench/tools/hosts/hosts.h"

/* Serves until the coordinator says that the run is over. version: the program's. A host that lacks something, such as
 * a folder for temporary files, tells the coordinator when the plan comes. Returns 0, or -1 with err if the coordinator
 * is lost. */
int serve_run(struct hosts *hosts, const char *version, const volatile sig_atomic_t *interrupts,
              struct lb_err *err);

#endif
