/* proc_signal: see proc_signal.h. */
#include "bench/servers/proc_signal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "bench/base/clock.h"

void proc_signal_all(const struct proc *tree, int count, int signal) {
    for (int i = 0; i < count; i++) kill(tree[i].pid, signal);
    int64_t limit_ns = lb_now() + LB_S_NS;
    for (int i = 0; i < count && signal == SIGSTOP; i++) {
        while (!proc_stands(tree[i].pid) && lb_now() < limit_ns) lb_nap(100 * LB_US_NS);
    }
}

struct proc *proc_hold_tree(pid_t root, bool stand, int *ret_count) {
    const struct proc head = {.pid = root};
    if (stand) proc_signal_all(&head, 1, SIGSTOP);
    struct proc *tree = proc_tree(&root, 1, ret_count);
    int error = errno;
    if (!tree && stand) kill(root, SIGCONT);
    errno = error;
    return tree;
}

int proc_signal_tree(pid_t root, int signal) {
    int count = 0;
    struct proc *tree = proc_hold_tree(root, signal == SIGSTOP, &count);
    if (!tree) return -1;
    proc_signal_all(tree, count, signal);
    free(tree);
    return 0;
}
