/* flavour: servers of a topology that differ from those that its script starts by itself: another program that speaks
 * the same protocol, a primary that wants replicas, or servers that other hosts reach. This module starts nothing and
 * does not look at what the program is. */
#ifndef BENCH_SERVERS_FLAVOUR_H
#define BENCH_SERVERS_FLAVOUR_H

#include <stdint.h>

#include "bench/servers/info.h"

/* servers.program, servers.listen, servers.min_replicas, servers.min_replicas_lag. Zeroed = as the script has it. */
struct topo_flavour {
    const char *program; /* a path, or a name in PATH; NULL or "" = the script's own */
    const char *listen;  /* an IPv4 address besides 127.0.0.1; NULL or "" = none */
    int min_replicas;    /* a primary refuses writes with fewer replicas; 0 = it does not ask */
    int64_t min_replicas_lag_ns; /* a replica that was silent for longer does not count */
};

/* Chooses the flavour for the servers that are started from info: its program is then no longer missing. Returns 0, or
 * -1 with err: LB_EXIT_USAGE where the topology does not offer it, LB_EXIT_MACHINE where there is no such program. */
int topo_info_flavour(struct topo_info *info, const struct topo_flavour *flavour,
                      struct lb_err *err);

#endif
