/* server_use: what a stage costs the servers that lockbench started, beside their processor time: memory, writes to
 * disk, fsyncs. The module looks at the servers at four moments (topo_use.h) and leaves the known figures in the
 * stage. Without such servers, and after a fault that touched them, no figure is known. */
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

/* How many locks are held now, as far as that shows: of locks that one client alone can hold (and each slot
 * of a key, and each key of several at once, is one); 0 of readers and of permits. */
uint32_t server_use_count_held(const struct shared *shared);

/* By how much a figure has grown for each of so many. NAN: one of the two is not known (below 0), or the figure became
 * less, since a server gave memory back or tidied its files: then it tells nothing of the locks. */
double server_use_each(int64_t from, int64_t to, uint32_t count);

#endif
