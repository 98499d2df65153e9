/* helper: see helper.h. */
#define _GNU_SOURCE
#include "bench/servers/helper.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int by_number(const void *left, const void *right) {
    return *(const int *)left - *(const int *)right;
}

/* Closes all other descriptors: another process may wait for the end of a file that the program has open. */
static void close_others(int *keep, int count) {
    int from = 3;
    qsort(keep, (size_t)count, sizeof *keep, by_number);
    for (int i = 0; i < count; i++) {
        if (keep[i] > from) syscall(SYS_close_range, (unsigned)from, (unsigned)keep[i] - 1, 0U);
        from = keep[i] + 1;
    }
    syscall(SYS_close_range, (unsigned)from, ~0U, 0U);
}

void helper_begin(const char *name, int *keep, int count) {
    static const int ignored[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                  SIGPIPE, SIGTSTP, SIGUSR1, SIGUSR2};
    prctl(PR_SET_NAME, name);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) signal(ignored[i], SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
    int null = open("/dev/null", O_RDWR);
    for (int i = 0; i < 3 && null >= 0; i++) dup2(null, i);
    close_others(keep, count);
    /* so that the present folder can be unmounted; a failure does no other harm */
    if (chdir("/") != 0) {
    }
}
