/* topo_clock: the wall clocks of a topology's servers. Each node runs with a shim (clock_shim.c) that
 * adds an offset to the time; the machine's own clock is never changed. */
#ifndef BENCH_SERVERS_TOPO_CLOCK_H
#define BENCH_SERVERS_TOPO_CLOCK_H

#include <stdint.h>

#include "bench/base/err.h"

struct topo;

/* Moves a node's wall clock by by_ns, forward or back; time by the monotonic clock is not affected.
 * Steps add up and stay over a restart. Returns 0, or -1 with err if the topology was not started
 * with .clock. */
int topo_clock(struct topo *topo, int node, int64_t by_ns, struct lb_err *err);

/* For topo.c: makes the files of the clocks in the topology's folder, if topo->clock; before the
 * first node starts. Returns 0, or -1 with err. */
int topo_clock_begin(struct topo *topo, struct lb_err *err);
void topo_clock_end(struct topo *topo);

#endif
