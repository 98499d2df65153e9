/* server_use: the memory, the writes to disk and the fsyncs that a stage costs the servers that lockbench started.
 * (supervise.c measures their processor time.) The module measures the servers at four times (topo_use.h) and stores
 * the known figures in the stage. Without such servers, and after a fault that changed them, no figure is known. */
#ifndef BENCH_RUN_SERVER_USE_H
#define BENCH_RUN_SERVER_USE_H

#include "bench/load/shared.h"
#include "bench/run/stage.h"
#include "bench/servers/topo_use.h"

struct server_use {
    struct topo *topo;          /* NULL = not our own */
    int64_t alone_memory_bytes; /* before any session */
    struct topo_use ready;      /* all sessions are open, nothing is held */
};

/* Before the clients open their sessions. */
void server_use_begin(struct server_use *use, struct topo *topo);
/* When all sessions are open, before the load. */
void server_use_ready(struct server_use *use, struct stage *stage);
/* At the end of the window, while the clients that hold still hold. */
void server_use_held(const struct server_use *use, struct stage *stage,
                     const struct shared *shared);
/* When all clients have drained. */
void server_use_drained(const struct server_use *use, struct stage *stage);

/* The number of locks that clients hold now. Each key, and each slot of a key, counts as one lock. 0 for
 * reader/writer locks and semaphores, whose cells do not show it. */
uint32_t server_use_count_held(const struct shared *shared);

/* The growth of a figure (to - from), divided by count. NAN if one of the two is not known (below 0), or if the figure
 * has become smaller: a server that gives memory back or deletes files hides what the locks cost. */
double server_use_each(int64_t from, int64_t to, uint32_t count);

#endif
