/* flavour: how the servers of a topology are to differ from those that its script starts by default: another program
 * that speaks the same protocol, or servers that other hosts can reach.
 * This module starts no server, and does not check what kind of program is named. */
#ifndef BENCH_SERVERS_FLAVOUR_H
#define BENCH_SERVERS_FLAVOUR_H

#include "bench/servers/info.h"

/* The keys servers.program and servers.listen. A zeroed struct = the script's defaults. */
struct topo_flavour {
    const char *program; /* a path, or a name in PATH; NULL or "" = the script's own */
    const char *listen;  /* an IPv4 address besides 127.0.0.1; NULL or "" = none */
};

/* Chooses the flavour for the servers that are started from info. With another program, info->missing does not name the
 * script's own program. Returns 0, or -1 with err: LB_EXIT_USAGE if the topology does not offer the flavour,
 * LB_EXIT_MACHINE if there is no such program. */
int topo_info_flavour(struct topo_info *info, const struct topo_flavour *flavour,
                      struct lb_err *err);

#endif
