/* topo_shims: the files behind the libraries that are loaded into a topology's servers (clock_shim.c, fsync_shim.c):
 * a copy of the library in the topology's folder, and a file for each node that the server and lockbench both map.
 * Only the topo files include this header. */
#ifndef BENCH_SERVERS_TOPO_SHIMS_H
#define BENCH_SERVERS_TOPO_SHIMS_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/servers/topo_node.h"

/* Copies a library from beside the program into the topology's folder, because the servers' account may
 * not reach the original. 0, or -1 with err. */
int topo_shim_copy(const struct topo *topo, const char *shim, struct lb_err *err);

/* Makes the file that a node shares with a library (topo_shim_path), of 8 bytes that are 0, and maps the file.
 * written: the servers' account may write to the file; else it may only read it. Returns the mapping (munmap it), or
 * NULL with err. */
void *topo_shim_map(const struct topo *topo, const char *what, int node, bool written,
                    struct lb_err *err);

#endif
