/* topo_shims: see topo_shims.h. */
#include "bench/servers/topo_shims.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/base/home.h"
#include "bench/servers/proc.h"

/* A disk that fills up takes a part of a block first, and says why when it is asked for the rest. */
static int write_all(int fd, const char *bytes, ssize_t len) {
    while (len > 0) {
        ssize_t wrote = write(fd, bytes, (size_t)len);
        if (wrote < 0) return -1;
        bytes += wrote;
        len -= wrote;
    }
    return 0;
}

int topo_shim_copy(const struct topo *topo, const char *shim, struct lb_err *err) {
    char from_path[PATH_MAX], to_path[600], block[65536];
    if (home_beside(shim, from_path, sizeof from_path, err) != 0) return -1;
    snprintf(to_path, sizeof to_path, "%s/%s", topo->dir, shim);
    int from = open(from_path, O_RDONLY | O_CLOEXEC);
    int to = open(to_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
    ssize_t len = from < 0 || to < 0 ? -1 : 1;
    while (len > 0) {
        len = read(from, block, sizeof block);
        if (len > 0 && write_all(to, block, len) != 0) len = -1;
    }
    if (len == 0) len = fchmod(to, 0755); /* whatever our umask is */
    if (len < 0)
        err_set(err, LB_EXIT_MACHINE, "cannot copy %s to %s: %s%s", from_path, to_path,
                strerror(errno),
                errno == ENOSPC || errno == EFBIG || errno == EDQUOT
                    ? "; set TMPDIR to a folder with room"
                    : "");
    if (from >= 0) close(from);
    if (to >= 0 && close(to) != 0 && len == 0)
        len = err_set(err, LB_EXIT_MACHINE, "%s: %s", to_path, strerror(errno));
    return len < 0 ? -1 : 0;
}

/* Makes the file that a node shares with a library (topo_shim_path), of 8 bytes that are 0, and maps the file.
 * written: the servers' account may write to the file; else it may only read it. Returns the mapping (munmap it), or
 * NULL with err. */
static void *topo_shim_map(const struct topo *topo, const char *what, int node, bool written,
                           struct lb_err *err) {
    char path[640];
    int fd = open(topo_shim_path(topo, what, node, path, sizeof path),
                  O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const struct account *account = &topo->account;
    void *map = MAP_FAILED;
    bool shared =
        fd >= 0 && (written ? !account->change || fchown(fd, account->uid, account->gid) == 0
                            : fchmod(fd, 0644) == 0);
    if (shared && ftruncate(fd, sizeof(uint64_t)) == 0)
        map = mmap(NULL, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) err_set(err, LB_EXIT_MACHINE, "%s: %s", path, strerror(errno));
    if (fd >= 0) close(fd);
    return map == MAP_FAILED ? NULL : map;
}

/* --- clocks --- */

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

/* --- fsyncs --- */

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
