/* end_group: see end_group.h. It refuses to let a process end by itself: PostgreSQL's programs block
 * milder signals for a while, and go on making shared memory. */
#include "bench/servers/end_group.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "bench/base/clock.h"
#include "bench/servers/proc.h"

#define STAND_NS LB_S_NS /* for SIGSTOP to act */

/* The processes of the group, and those below them, which may lead groups of their own as PostgreSQL's
 * backends do. The caller frees them. NULL if /proc can't be read. */
static struct proc *all_of_group(pid_t group, int *ret_count) {
    int count = 0;
    *ret_count = 0;
    struct proc *members = proc_group(group, &count);
    pid_t *roots = calloc((size_t)count + 1, sizeof *roots);
    struct proc *all = NULL;
    if (members && roots) {
        roots[0] = group; /* in its first moment the leader is not in its group yet */
        for (int i = 0; i < count; i++) roots[i + 1] = members[i].pid;
        all = proc_tree(roots, count + 1, ret_count);
    }
    free(roots);
    free(members);
    return all;
}

/* Stops those that do not stand. Returns whether all stood. */
static bool stop_procs(const struct proc *procs, int count) {
    bool stood = true;
    for (int i = 0; i < count; i++) {
        if (proc_stands(procs[i].pid)) continue;
        kill(procs[i].pid, SIGSTOP);
        stood = false;
    }
    return stood;
}

void end_group(pid_t group, struct shm_list *shm) {
    int count = 0;
    struct proc *procs = all_of_group(group, &count);
    for (int64_t until_ns = lb_now() + STAND_NS;
         !stop_procs(procs, count) && lb_now() < until_ns;) {
        lb_nap(100 * LB_US_NS);
        free(procs);
        procs = all_of_group(group, &count);
    }
    shm_find(procs, count, shm);
    for (int i = 0; i < count; i++) kill(procs[i].pid, SIGKILL);
    free(procs);
    kill(-group, SIGKILL); /* also where /proc can't be read */
}
