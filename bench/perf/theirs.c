/* theirs: see theirs.h. */
#define _GNU_SOURCE
#include "bench/perf/theirs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int64_t time_ns(struct timeval tv) {
    return (int64_t)tv.tv_sec * 1000000000 + (int64_t)tv.tv_usec * 1000;
}

static void read_all(struct theirs *theirs, int fd) {
    size_t used = 0;
    char more[4096] = "";
    for (;;) {
        size_t room = sizeof theirs->text - 1 - used;
        ssize_t got = read(fd, room ? theirs->text + used : more, room ? room : sizeof more);
        if (got <= 0) break;
        if (room) used += (size_t)got;
    }
    theirs->text[used] = '\0';
}

int theirs_run(struct theirs *theirs, const char *const *argv, struct lb_err *err) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_set(err, LB_EXIT_MACHINE, "pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        execvp(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return err_set(err, LB_EXIT_MACHINE, "fork: %s", strerror(errno));
    }
    read_all(theirs, ends[0]);
    close(ends[0]);
    int status;
    struct rusage usage = {0};
    wait4(pid, &status, 0, &usage);
    theirs->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    theirs->cpu_ns = time_ns(usage.ru_utime) + time_ns(usage.ru_stime);
    if (theirs->code == 127) return err_set(err, LB_EXIT_MACHINE, "%s is not installed", argv[0]);
    return 0;
}
