/* topo_shims: the files behind the libraries that are loaded into a topology's servers (clock_shim.c, fsync_shim.c):
 * a copy of the library in the topology's folder, and a file for each node that the server and lockbench both map. */
#ifndef BENCH_SERVERS_TOPO_SHIMS_H
#define BENCH_SERVERS_TOPO_SHIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/base/err.h"
#include "bench/servers/topo_node.h"

/* Copies a library from beside the program into the topology's folder, because the servers' account may
 * not reach the original. 0, or -1 with err. */
int topo_shim_copy(const struct topo *topo, const char *shim, struct lb_err *err);

/* The wall clocks of a topology's servers. Each node runs with a shim (clock_shim.c) that
 * adds an offset to the time; the machine's own clock is never changed. */

struct topo;

/* Moves a node's wall clock by by_ns, forward or back; time by the monotonic clock is not affected.
 * Steps add up and stay over a restart. Returns 0, or -1 with err if the topology was not started
 * with .clock. */
int topo_clock(struct topo *topo, int node, int64_t by_ns, struct lb_err *err);

/* For topo.c: makes the files of the clocks in the topology's folder, if topo->clock; before the
 * first node starts. Returns 0, or -1 with err. */
int topo_clock_begin(struct topo *topo, struct lb_err *err);
void topo_clock_end(struct topo *topo);

/* Counts the fsyncs of a topology's servers by a library that is loaded into them (fsync_shim.c),
 * where their script says `fsyncs=yes`. */

struct topo;

/* For topo.c: makes the files in which fsyncs are counted, if the script says so; before the first node
 * starts. Returns 0, or -1 with err. */
int topo_fsyncs_begin(struct topo *topo, struct lb_err *err);
void topo_fsyncs_end(struct topo *topo);

/* The number of fsyncs of all nodes since the topology was started, including servers that have ended; -1 = not
 * counted, also if a server of another flavour did not load the library. */
int64_t topo_fsyncs(const struct topo *topo);

#endif
