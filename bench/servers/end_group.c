/* end_group: see end_group.h. It refuses to let a process end by itself: PostgreSQL's programs block
 * milder signals for a while, and go on making shared memory. */
#include "bench/servers/end_group.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "bench/base/clock.h"
#include "bench/servers/proc.h"

#define STAND_NS LB_S_NS /* for SIGSTOP to act */

/* Looks for the group's processes and those below them, which may lead groups of their own as
 * PostgreSQL's backends do. Those of the last look stay on the list: one that was being stopped may have
 * left the group meanwhile. Replaces *procs, which the caller frees; leaves it if /proc can't be read. */
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
    kill(-group, SIGKILL); /* also where /proc can't be read */
}
