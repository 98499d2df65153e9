/* processors: how many of the machine's processors this program may use: its affinity (taskset,
 * cpusets) and the quota of its control groups (containers) limit them. */
#ifndef BENCH_BASE_PROCESSORS_H
#define BENCH_BASE_PROCESSORS_H

#include <sched.h>

struct processors {
    int online;   /* of the machine */
    int allowed;  /* by the affinity of the calling thread before processors_bind; at most online */
    double quota; /* of processor time a second, by the control groups; 0 = there is no quota */
};

struct processors processors_look(void);

/* The number that can be busy at the same time: the allowed ones, or the quota rounded up; at least
 * 1. */
int processors_usable(const struct processors *processors);

/* Divides processors into two halves, so that whole cores are together (as root/sys tells them), one processor may be left
 * over for the servers. root: "", or a folder with such files. */
void processors_divide(const cpu_set_t *all, const char *root, cpu_set_t *ret_clients,
                       cpu_set_t *ret_servers);

/* From now on the calling thread, and what it starts, runs on these only. Call it once, before there are other threads. 0,
 * or -1 with errno. */
int processors_bind(const cpu_set_t *set);

/* "0-3,8". Returns text, which may be cut. */
char *processors_text(const cpu_set_t *set, char *text, size_t size);

/* The least quota of a process' control group (version 2) and of those above it; 0 = there is none. cgroup: its
 * /proc/PID/cgroup; root: where the groups are mounted, /sys/fs/cgroup. */
double processors_quota(const char *cgroup, const char *root);

#endif
