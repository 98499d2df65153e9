/* topo_fsyncs: see topo_fsyncs.h. */
#include "bench/servers/topo_fsyncs.h"

#include <sys/mman.h>

#include "bench/servers/proc.h"
#include "bench/servers/topo_shims.h"

int topo_fsyncs_begin(struct topo *topo, struct lb_err *err) {
    if (!topo->info.fsyncs) return 0;
    if (topo_shim_copy(topo, FSYNC_SHIM, err) != 0) return -1;
    for (int n = 0; n < topo->info.nodes; n++) {
        topo->fsyncs[n] = topo_shim_map(topo, "fsyncs", n, true, err);
        if (!topo->fsyncs[n]) return -1;
    }
    return 0;
}

void topo_fsyncs_end(struct topo *topo) {
    for (int n = 0; n < TOPO_NODES_MAX; n++) {
        if (topo->fsyncs[n]) munmap(topo->fsyncs[n], sizeof *topo->fsyncs[n]);
    }
}

int64_t topo_fsyncs(const struct topo *topo) {
    int64_t sum = 0;
    for (int n = 0; n < topo->info.nodes; n++) {
        pid_t pid = topo->nodes[n].pid;
        /* A program without the C library would never count. */
        if (!topo->fsyncs[n] || (pid > 0 && !proc_has_mapped(pid, "/" FSYNC_SHIM))) return -1;
        sum += (int64_t)__atomic_load_n(topo->fsyncs[n], __ATOMIC_RELAXED);
    }
    return sum;
}
