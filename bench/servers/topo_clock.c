/* topo_clock: see topo_clock.h. */
#include "bench/servers/topo_clock.h"

#include <sys/mman.h>

#include "bench/servers/topo_shims.h"

int topo_clock_begin(struct topo *topo, struct lb_err *err) {
    if (!topo->clock) return 0;
    if (topo_shim_copy(topo, CLOCK_SHIM, err) != 0) return -1;
    for (int n = 0; n < topo->info.nodes; n++) {
        topo->clock_by_ns[n] = topo_shim_map(topo, "clock", n, false, err);
        if (!topo->clock_by_ns[n]) return -1;
    }
    return 0;
}

void topo_clock_end(struct topo *topo) {
    for (int n = 0; n < TOPO_NODES_MAX; n++) {
        if (topo->clock_by_ns[n]) munmap(topo->clock_by_ns[n], sizeof *topo->clock_by_ns[n]);
    }
}

int topo_clock(struct topo *topo, int node, int64_t by_ns, struct lb_err *err) {
    int64_t *offset = topo->clock_by_ns[node];
    if (!offset)
        return err_set(err, LB_EXIT_MACHINE, "%s was not started with a clock that can be stepped",
                       topo->info.name);
    __atomic_fetch_add(offset, by_ns, __ATOMIC_RELAXED);
    return 0;
}
