/* end_group: see end_group.h. It uses only SIGSTOP and SIGKILL: PostgreSQL's programs block other signals for
 * a while, and meanwhile make more shared memory. */
#include "bench/servers/end_group.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "bench/base/clock.h"
#include "bench/servers/proc.h"

#define STAND_NS LB_S_NS /* for SIGSTOP to act */

/* Finds the group's processes and their descendants, which may lead groups of their own, as PostgreSQL's
 * backends do. The processes of the last look stay on the list, because a process may have left the group
 * before it stopped. Replaces *procs, which the caller frees; leaves *procs if /proc can't be read. */
static void look_again(pid_t group, struct proc **procs, int *count) {
    int member_count = 0, found = 0, root_count = 0;
    struct proc *members = proc_group(group, &member_count), *all = NULL;
    pid_t *roots = calloc(1 + (size_t)member_count + (size_t)*count, sizeof *roots);
    if (members && roots) {
        roots[root_count++] = group; /* in its first moment the leader is not in its group yet */
        for (int i = 0; i < member_count; i++) roots[root_count++] = members[i].pid;
        for (int i = 0; i < *count; i++) roots[root_count++] = (*procs)[i].pid;
        all = proc_tree(roots, root_count, &found);
    }
    if (all) {
        free(*procs);
        *procs = all;
        *count = found;
    }
    free(roots);
    free(members);
}

/* Stops the processes that are not stopped yet. Returns whether all were already stopped. */
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
    struct proc *procs = NULL;
    int count = 0;
    look_again(group, &procs, &count);
    for (int64_t until_ns = lb_now() + STAND_NS;
         !stop_procs(procs, count) && lb_now() < until_ns;) {
        lb_nap(100 * LB_US_NS);
        look_again(group, &procs, &count);
    }
    shm_find(procs, count, shm);
    for (int i = 0; i < count; i++) kill(procs[i].pid, SIGKILL);
    free(procs);
    kill(-group, SIGKILL); /* works even if /proc can't be read */
}
