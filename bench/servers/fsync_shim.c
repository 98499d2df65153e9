/* fsync_shim: a library that is loaded into a server (LD_PRELOAD) and counts how often it makes the disk
 * confirm what was written: fsync and fdatasync, also of its child processes.
 *
 * Each call that succeeded adds one to the count in a shared file (shim.h). The library asks the kernel directly and
 * allocates nothing. It does not see writes to files that are opened with O_SYNC or O_DSYNC, nor anything of programs
 * that do not use the C library (Go). */
#define _GNU_SOURCE
#include <sys/syscall.h>

#include "bench/servers/shim.h"

static struct shim_shared *shared;

__attribute__((constructor)) static void map_count(void) {
    shared = shim_map();
}

static int counted(long call, int fd) {
    int failed = (int)syscall(call, fd);
    if (!failed && shared) __atomic_fetch_add(&shared->fsyncs, 1, __ATOMIC_RELAXED);
    return failed;
}

int fsync(int fd) {
    return counted(SYS_fsync, fd);
}

int fdatasync(int fd) {
    return counted(SYS_fdatasync, fd);
}
