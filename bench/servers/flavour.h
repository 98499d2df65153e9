/* flavour: how the servers of a topology are to differ from those that its script starts by default: another program
 * that speaks the same protocol, a primary that refuses writes without replicas, or servers that other hosts can reach.
 * This module starts no server, and does not check what kind of program is named. */
#ifndef BENCH_SERVERS_FLAVOUR_H
#define BENCH_SERVERS_FLAVOUR_H

#include <stdint.h>

#include "bench/servers/info.h"

/* The keys servers.program, .listen, .min_replicas and .min_replicas_lag. A zeroed struct = the script's defaults. */
struct topo_flavour {
    const char *program; /* a path, or a name in PATH; NULL or "" = the script's own */
    const char *listen;  /* an IPv4 address besides 127.0.0.1; NULL or "" = none */
    int min_replicas;    /* a primary with fewer replicas refuses writes; 0 = it never does so */
    int64_t min_replicas_lag_ns; /* a replica that was silent for longer does not count */
};

/* Chooses the flavour for the servers that are started from info. With another program, info->missing does not name the
 * script's own program. Returns 0, or -1 with err: LB_EXIT_USAGE if the topology does not offer the flavour,
 * LB_EXIT_MACHINE if there is no such program. */
int topo_info_flavour(struct topo_info *info, const struct topo_flavour *flavour,
                      struct lb_err *err);

#endif
