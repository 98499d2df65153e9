/* topo_use: what the servers of a topology use: memory, writes to disk, fsyncs. Processor time is topo_cpu_ns.
 *
 * Memory and writes are the kernel's own figures (proc.h). Fsyncs are counted by a library that is loaded
 * into the servers (fsync_shim.c), where their script says `fsyncs=yes`; where the script has an act `fsyncs`, that
 * act asks the servers. A figure that is not known is -1, and is never estimated. */
#ifndef BENCH_SERVERS_TOPO_USE_H
#define BENCH_SERVERS_TOPO_USE_H

#include <stdint.h>

struct topo;

/* All nodes together; -1 = not known. */
struct topo_use {
    int64_t memory_bytes; /* that their processes take now */
    /* to disk since they started; -1 also where their folders are in memory */
    int64_t written_bytes;
    int64_t fsyncs;     /* since the topology was started */
    int64_t disk_bytes; /* that the files in their folders occupy now */
};

/* Fills *ret_use; takes some milliseconds, and up to one more for each process of the servers; an act `fsyncs` takes a
 * tenth of a second. Use only differences of writes and fsyncs, and none between before and after a node's restart. */
void topo_use_take(struct topo *topo, struct topo_use *ret_use);

/* The memory alone. */
int64_t topo_memory_bytes(const struct topo *topo);

#endif
