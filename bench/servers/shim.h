/* shim: what lockbench shares with the libraries that are loaded into a server's processes (LD_PRELOAD): a file that all
 * of them map, so that a change is there at once, also after a server was killed. LB_SHARED is its path. */
#ifndef BENCH_SERVERS_SHIM_H
#define BENCH_SERVERS_SHIM_H

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct shim_shared {
    int64_t clock_ns; /* the offset of the wall clock (clock_shim.c) */
    uint64_t fsyncs;  /* that succeeded (fsync_shim.c) */
};

/* For a library: the mapping, or NULL. */
static inline struct shim_shared *shim_map(void) {
    const char *path = getenv("LB_SHARED");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) return NULL;
    void *map = mmap(NULL, sizeof(struct shim_shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return map == MAP_FAILED ? NULL : map;
}

#endif
