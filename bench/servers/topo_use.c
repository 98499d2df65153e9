/* topo_use: see topo_use.h. */
#include "bench/servers/topo_use.h"

#include <linux/magic.h>
#include <stdlib.h>
#include <sys/vfs.h>

#include "bench/servers/folder.h"
#include "bench/servers/proc.h"
#include "bench/servers/topo.h"
#include "bench/servers/topo_fsyncs.h"
#include "bench/servers/topo_node.h"

/* Of all nodes; -1 = not known. */
static int64_t fsyncs_of(struct topo *topo) {
    char text[64], *end;
    struct lb_err ignored = {0};
    if (!topo_offers(&topo->info, "fsyncs")) return topo_fsyncs(topo);
    if (topo_act(topo, "fsyncs", NULL, text, sizeof text, &ignored) != 0) return -1;
    long long told = strtoll(text, &end, 10);
    return end == text || *end || told < 0 ? -1 : (int64_t)told;
}

static int roots_of(const struct topo *topo, pid_t *roots) {
    for (int n = 0; n < topo->info.nodes; n++) roots[n] = topo->nodes[n].pid;
    return topo->info.nodes;
}

static int64_t written_of(const struct topo *topo) {
    pid_t roots[TOPO_NODES_MAX];
    struct statfs about;
    if (statfs(topo->dir, &about) != 0 || about.f_type == TMPFS_MAGIC) return -1;
    return proc_written_bytes(roots, roots_of(topo, roots), topo->info.written_by_calls);
}

static int64_t disk_of(const struct topo *topo) {
    int64_t sum = 0;
    for (int n = 0; n < topo->info.nodes; n++) {
        int64_t bytes = folder_bytes(topo->nodes[n].dir);
        if (bytes < 0) return -1;
        sum += bytes;
    }
    return sum;
}

int64_t topo_memory_bytes(const struct topo *topo) {
    pid_t roots[TOPO_NODES_MAX];
    return proc_memory_bytes(roots, roots_of(topo, roots));
}

void topo_use_take(struct topo *topo, struct topo_use *ret_use) {
    *ret_use = (struct topo_use){.memory_bytes = topo_memory_bytes(topo),
                                 .written_bytes = written_of(topo),
                                 .fsyncs = fsyncs_of(topo),
                                 .disk_bytes = disk_of(topo)};
}
