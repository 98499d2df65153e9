/* topo_fsyncs: counts the fsyncs of a topology's servers by a library that is loaded into them (fsync_shim.c),
 * where their script says `fsyncs=yes`. */
#ifndef BENCH_SERVERS_TOPO_FSYNCS_H
#define BENCH_SERVERS_TOPO_FSYNCS_H

#include <stdint.h>

#include "bench/base/err.h"

struct topo;

/* For topo.c: makes the files in which fsyncs are counted, if the script says so; before the first node
 * starts. Returns 0, or -1 with err. */
int topo_fsyncs_begin(struct topo *topo, struct lb_err *err);
void topo_fsyncs_end(struct topo *topo);

/* The number of fsyncs of all nodes since the topology was started, including servers that have ended; -1 = not
 * counted, also if a server of another flavour did not load the library. */
int64_t topo_fsyncs(const struct topo *topo);

#endif
