/* server_use: see server_use.h. */
#include "bench/run/server_use.h"

#include <math.h>

/* With fewer locks at once, a server's memory varies by itself more than the locks cost. */
#define HELD_LEAST 100

void server_use_begin(struct server_use *use, struct topo *topo) {
    *use = (struct server_use){.topo = topo, .alone_memory_bytes = -1};
    if (topo) use->alone_memory_bytes = topo_memory_bytes(topo);
}

/* NAN when one of the two is not known. */
static double growth(int64_t from, int64_t to) {
    return from < 0 || to < 0 ? NAN : (double)(to - from);
}

double server_use_each(int64_t from, int64_t to, uint32_t count) {
    double grown = growth(from, to);
    return grown >= 0 ? grown / count : NAN;
}

void server_use_ready(struct server_use *use, struct stage *stage) {
    if (!use->topo) return;
    topo_use_take(use->topo, &use->ready);
    stage->sessions_memory_bytes = growth(use->alone_memory_bytes, use->ready.memory_bytes);
}

uint32_t server_use_count_held(const struct shared *shared) {
    uint32_t held = 0;
    bool alone = shared->entry != ENTRY_READERS && shared->entry != ENTRY_PERMITS;
    for (uint32_t i = 0; i < shared->cell_count && alone; i++)
        held += atomic_load_explicit(&shared->cells[i].owner, memory_order_relaxed) != 0;
    return held;
}

void server_use_held(const struct server_use *use, struct stage *stage,
                     const struct shared *shared) {
    struct topo_use now;
    struct run_stage *result = &stage->result;
    if (!use->topo || stage->faults.servers_touched) return;
    uint32_t held = server_use_count_held(shared);
    if (held < HELD_LEAST) {
        int64_t bytes = topo_memory_bytes(use->topo);
        if (bytes >= 0) result->server_memory_bytes = (double)bytes;
        return;
    }
    topo_use_take(use->topo, &now);
    if (now.memory_bytes >= 0) result->server_memory_bytes = (double)now.memory_bytes;
    result->held = held;
    result->held_memory_bytes = server_use_each(use->ready.memory_bytes, now.memory_bytes, held);
    result->held_disk_bytes = server_use_each(use->ready.disk_bytes, now.disk_bytes, held);
}

void server_use_drained(const struct server_use *use, struct stage *stage) {
    struct topo_use now;
    if (!use->topo || stage->faults.servers_touched) return;
    topo_use_take(use->topo, &now);
    stage->written_bytes = growth(use->ready.written_bytes, now.written_bytes);
    stage->fsyncs = growth(use->ready.fsyncs, now.fsyncs);
}
