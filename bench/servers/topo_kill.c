/* topo_kill: signals to a topology's nodes, killing them, and starting them again with or without
 * data, see topo.h. It never touches the folder of a running node. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/clock.h"
#include "bench/servers/folder.h"
#include "bench/servers/proc_signal.h"
#include "bench/servers/topo.h"
#include "bench/servers/topo_node.h"

#define END_NS (5 * LB_S_NS) /* for SIGKILL to act: freeing a JVM's memory takes time */

/* The tree, not the group, because PostgreSQL's backends lead groups of their own. */
int topo_signal(struct topo *topo, int node, int signal) {
    if (!topo_node_runs(&topo->nodes[node])) return -1;
    return proc_signal_tree(topo->nodes[node].pid, signal);
}

/* --- an end --- */

/* Whether any of them still runs, apart from the first one, which is our own child. */
static bool rest_runs(const struct proc *tree, int count) {
    for (int i = 1; i < count; i++) {
        if (proc_runs(tree[i].pid)) return true;
    }
    return false;
}

int topo_kill(struct topo *topo, int n, struct lb_err *err) {
    struct node *node = &topo->nodes[n];
    char name[128];
    if (node->killed) return 0;
    if (!topo_node_runs(node))
        return err_set(err, LB_EXIT_MACHINE, "%s has ended by itself",
                       topo_node_name(topo, n, name, sizeof name));
    int count = 0;
    struct proc *tree = proc_hold_tree(node->pid, true, &count);
    if (!tree) return err_set(err, LB_EXIT_MACHINE, "/proc: %s", strerror(errno));
    node->killed = true; /* set before the kill, so that topo_check does not report it */
    proc_signal_all(tree, count, SIGKILL);
    bool runs = true;
    for (int64_t limit_ns = lb_now() + END_NS; runs && lb_now() < limit_ns;) {
        runs = topo_node_runs(node);
        runs = rest_runs(tree, count) || runs;
        if (runs) lb_nap(200 * LB_US_NS);
    }
    free(tree);
    if (runs)
        return err_set(err, LB_EXIT_MACHINE, "%s does not end on SIGKILL",
                       topo_node_name(topo, n, name, sizeof name));
    topo_ports_hold(topo, n);
    return 0;
}

bool topo_killed(const struct topo *topo, int node) {
    return topo->nodes[node].killed;
}

/* --- a new start --- */

int topo_wipe(struct topo *topo, int n, struct lb_err *err) {
    struct node *node = &topo->nodes[n];
    char old[640];
    if (topo_node_runs(node))
        return err_set(err, LB_EXIT_MACHINE, "%s still runs",
                       topo_node_name(topo, n, old, sizeof old));
    snprintf(old, sizeof old, "%s.old", node->dir);
    if (rename(node->dir, old) != 0)
        return err_set(err, LB_EXIT_MACHINE, "%s: %s", node->dir, strerror(errno));
    if (topo_make_folder(topo, node->dir, err) != 0) return -1;
    node->wiped = true;
    if (folder_remove(old) != 0) return err_set(err, LB_EXIT_MACHINE, "%s: can't be removed", old);
    return 0;
}

int topo_restart(struct topo *topo, int node, struct lb_err *err) {
    char name[128];
    if (topo_node_runs(&topo->nodes[node]))
        return err_set(err, LB_EXIT_MACHINE, "%s still runs",
                       topo_node_name(topo, node, name, sizeof name));
    return topo_start_node(topo, node, err);
}
