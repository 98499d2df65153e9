/* topo_clock: see topo_clock.h. */
#include "bench/servers/topo_clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/base/home.h"
#include "bench/servers/topo_node.h"

/* Copies the shim into the topology's folder, because the servers' account may not reach the
 * original. */
static int copy_shim(const struct topo *topo, struct lb_err *err) {
    char from_path[PATH_MAX], to_path[600], block[65536];
    if (home_beside(CLOCK_SHIM, from_path, sizeof from_path, err) != 0) return -1;
    snprintf(to_path, sizeof to_path, "%s/" CLOCK_SHIM, topo->dir);
    int from = open(from_path, O_RDONLY | O_CLOEXEC);
    int to = open(to_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
    ssize_t len = from < 0 || to < 0 ? -1 : 1;
    while (len > 0) {
        len = read(from, block, sizeof block);
        if (len > 0 && write(to, block, (size_t)len) != len) len = -1;
    }
    if (len == 0) len = fchmod(to, 0755); /* whatever our umask is */
    if (len < 0) err_set(err, LB_EXIT_MACHINE, "%s to %s: %s", from_path, to_path, strerror(errno));
    if (from >= 0) close(from);
    if (to >= 0 && close(to) != 0 && len == 0)
        len = err_set(err, LB_EXIT_MACHINE, "%s: %s", to_path, strerror(errno));
    return len < 0 ? -1 : 0;
}

int topo_clock_begin(struct topo *topo, struct lb_err *err) {
    if (!topo->clock) return 0;
    if (copy_shim(topo, err) != 0) return -1;
    for (int n = 0; n < topo->info.nodes; n++) {
        char path[640];
        int fd = open(topo_clock_path(topo, n, path, sizeof path),
                      O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        int64_t *offset = MAP_FAILED;
        if (fd >= 0 && fchmod(fd, 0644) == 0 && ftruncate(fd, sizeof *offset) == 0)
            offset = mmap(NULL, sizeof *offset, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (fd >= 0) close(fd);
        if (offset == MAP_FAILED)
            return err_set(err, LB_EXIT_MACHINE, "%s: %s", path, strerror(errno));
        topo->clock_by_ns[n] = offset;
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
