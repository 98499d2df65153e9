/* fsync_shim: a library that is loaded into a server (LD_PRELOAD) and counts how often it makes the disk
 * confirm what was written: fsync and fdatasync, also of its child processes.
 *
 * The environment variable LB_FSYNCS names a file of 8 bytes with a uint64, to which each call that
 * succeeded adds one. The file is mapped, so the count is there at once, also after the server was
 * killed. The library asks the kernel directly and allocates nothing. It does not see writes to files
 * that are opened with O_SYNC or O_DSYNC, nor anything of programs that do not use the C library
 * (Go). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint64_t *count;

__attribute__((constructor)) static void map_count(void) {
    const char *path = getenv("LB_FSYNCS");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) return;
    void *map = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map != MAP_FAILED) count = map;
    close(fd);
}

static int counted(long call, int fd) {
    int failed = (int)syscall(call, fd);
    if (!failed && count) __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
    return failed;
}

int fsync(int fd) {
    return counted(SYS_fsync, fd);
}

int fdatasync(int fd) {
    return counted(SYS_fdatasync, fd);
}
