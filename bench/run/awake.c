/* awake: see awake.h. */
#define _GNU_SOURCE
#include "bench/run/awake.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct awake {
    pid_t first; /* of the processes, and the leader of their session */
};

/* Where Linux schedules by sessions (autogroups) a class counts only within one: so one of its own, with the
 * least share of all. */
static void give_way_to_sessions(void) {
    setsid();
    int fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    if (write(fd, "19", 2) != 2) _exit(1);
    close(fd);
}

static void die_with(pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
}

static _Noreturn void keep_awake(int processor) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    /* Never in a class in which it would be in somebody's way. */
    if (sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0}) != 0) _exit(1);
    if (sched_setaffinity(0, sizeof one, &one) != 0) _exit(1);
    for (;;) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#endif
    }
}

/* The first process: starts the others and does as they do. */
static _Noreturn void keep_all_awake(const cpu_set_t *set, pid_t parent) {
    int own = -1;
    die_with(parent);
    give_way_to_sessions();
    pid_t first = getpid();
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET(i, set)) continue;
        if (own < 0) {
            own = i;
        } else if (fork() == 0) {
            die_with(first);
            keep_awake(i);
        }
    }
    keep_awake(own);
}

bool awake_is_quota(const char *text) {
    return atoll(text) > 0; /* 0 of "max" */
}

static bool file_has_quota(const char *path) {
    char text[64] = "";
    FILE *file = fopen(path, "re");
    if (!file) return false;
    bool has = fgets(text, sizeof text, file) && awake_is_quota(text);
    fclose(file);
    return has;
}

/* Of the cgroup that this process is in and of all above it, as far as they can be seen: a container sees its
 * own as the root. */
static bool has_quota(void) {
    char line[512], path[600];
    FILE *file = fopen("/proc/self/cgroup", "re");
    bool has = file_has_quota("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
    while (file && !has && fgets(line, sizeof line, file)) {
        if (strncmp(line, "0::/", 4) != 0) continue;
        char *own = line + 3, *slash;
        own[strcspn(own, "\n")] = '\0';
        do {
            snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", own);
            has |= file_has_quota(path);
            slash = strrchr(own, '/');
            if (slash) *slash = '\0';
        } while (slash);
    }
    if (file) fclose(file);
    return has;
}

struct awake *awake_begin(struct lb_err *err) {
    cpu_set_t set;
    pid_t parent = getpid();
    if (has_quota()) {
        err_set(err, LB_EXIT_MACHINE,
                "run.awake: left out: this container's processor time is limited (cgroup's cpu.max)");
        return NULL;
    }
    if (sched_getaffinity(0, sizeof set, &set) != 0) {
        err_set(err, LB_EXIT_MACHINE, "run.awake: which processors there are: %s", strerror(errno));
        return NULL;
    }
    struct awake *awake = calloc(1, sizeof *awake);
    if (!awake) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        return NULL;
    }
    awake->first = fork();
    if (awake->first == 0) keep_all_awake(&set, parent);
    if (awake->first > 0) return awake;
    err_set(err, LB_EXIT_MACHINE, "run.awake: no process: %s", strerror(errno));
    free(awake);
    return NULL;
}

void awake_end(struct awake *awake) {
    if (!awake) return;
    kill(awake->first, SIGKILL); /* the others go with it */
    while (waitpid(awake->first, NULL, 0) < 0 && errno == EINTR) continue;
    free(awake);
}
