/* processors: how many of the machine's processors this program may use: its affinity (taskset,
 * cpusets) and the quota of its control groups (containers) limit them. */
#ifndef BENCH_BASE_PROCESSORS_H
#define BENCH_BASE_PROCESSORS_H

struct processors {
    int online;   /* of the machine */
    int allowed;  /* by the affinity of the calling thread; at most online */
    double quota; /* of processor time a second, by the control groups; 0 = there is no quota */
};

struct processors processors_look(void);

/* The number that can be busy at the same time: the allowed ones, or the quota rounded up; at least
 * 1. */
int processors_usable(const struct processors *processors);

/* The least quota of a process' control groups and of those above them, version 1 or 2; 0 = there is
 * none. cgroup: its /proc/PID/cgroup; root: where the groups are mounted, /sys/fs/cgroup. */
double processors_quota(const char *cgroup, const char *root);

#endif
