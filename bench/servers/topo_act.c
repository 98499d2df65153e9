/* topo_act: the actions that a topology's script carries out on its servers, see topo.h. It refuses
 * actions that the script does not offer. */
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/clock.h"
#include "bench/servers/folder.h"
#include "bench/servers/proc.h"
#include "bench/servers/shim.h"
#include "bench/servers/spawn.h"
#include "bench/servers/topo.h"
#include "bench/servers/topo_node.h"

/* Joins several lines into one. */
static void join_lines(char *text) {
    size_t len = strlen(text);
    while (len > 0 && isspace((unsigned char)text[len - 1])) text[--len] = '\0';
    for (char *c = text; *c; c++) {
        if (iscntrl((unsigned char)*c)) *c = ' ';
    }
}

int topo_act(struct topo *topo, const char *act, const char *arg, char *ret_text, size_t size,
             struct lb_err *err) {
    const struct topo_info *info = &topo->info;
    char dir[600], library[640];
    if (!topo_offers(info, act))
        return err_set(err, LB_EXIT_USAGE, "%s does not offer \"%s\": it has %s", info->name, act,
                       *info->acts ? info->acts : "nothing of the kind");
    if (*info->act_missing)
        return err_set(err, LB_EXIT_MACHINE, "%s: %s needs %s: install %s", info->name, act,
                       info->act_missing, info->act_install);
    snprintf(dir, sizeof dir, "%s/act", topo->dir); /* beside the nodes' folders */
    if (topo_make_folder(topo, dir, err) != 0) return -1;
    struct vars vars = {0};
    topo_vars_fill(&vars, topo, -1);
    const struct spawn spawn = {.script = info->script,
                                .dir = dir,
                                .account = &topo->account,
                                .stop_signal = SIGKILL,
                                .library = topo_library(topo, library, sizeof library),
                                .vars = vars.list};
    struct lb_err why = {0};
    char *text =
        spawn_act(&spawn, (const char *const[]){"act", act, arg}, topo->act_limit_ns, &why);
    if (!text)
        return err_set(err, why.code, "%s: %s%s%s: %s", info->name, act, arg ? " " : "",
                       arg ? arg : "", why.text);
    join_lines(text);
    if (ret_text) snprintf(ret_text, size, "%s", text);
    free(text);
    return 0;
}

int topo_leader(struct topo *topo, struct lb_err *err) {
    char text[128], *end;
    if (topo_act(topo, "leader", NULL, text, sizeof text, err) != 0) return -1;
    long node = strtol(text, &end, 10);
    if (end == text || *end || node < 0 || node >= topo->info.nodes)
        return err_set(err, LB_EXIT_MACHINE, "%s: leader: \"%s\" is no node", topo->info.name,
                       text);
    return (int)node;
}

/* Signals to a topology's nodes, killing them, and starting them again with or without
 * data, see topo.h. It never touches the folder of a running node. */

#define END_NS (5 * LB_S_NS) /* for SIGKILL to act: freeing a JVM's memory takes time */

/* The tree, not the group, because PostgreSQL's backends lead groups of their own. */
int topo_signal(struct topo *topo, int node, int signal) {
    if (!topo_node_runs(&topo->nodes[node])) return -1;
    return proc_signal_tree(topo->nodes[node].pid, signal);
}

int topo_clock(struct topo *topo, int node, int64_t by_ns, struct lb_err *err) {
    if (!topo->clock)
        return err_set(err, LB_EXIT_MACHINE, "%s was not started with a clock that can be stepped",
                       topo->info.name);
    __atomic_fetch_add(&topo->shared[node]->clock_ns, by_ns, __ATOMIC_RELAXED);
    return 0;
}

/* --- an end --- */

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
        for (int i = 1; i < count && !runs; i++) runs = proc_runs(tree[i].pid);
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

/* The certificates of servers with TLS, new ones for each start of a topology. See topo_node.h. */

#define MAKE_NS (20 * LB_S_NS)

int topo_make_certificates(struct topo *topo, struct lb_err *err) {
    const struct topo_info *info = &topo->info;
    char script[600], dir[600];
    if (!info->tls) return 0;
    snprintf(script, sizeof script, "%.*s/../certificates",
             (int)(strrchr(info->script, '/') - info->script), info->script);
    snprintf(dir, sizeof dir, "%s/tls", topo->dir);
    if (topo_make_folder(topo, dir, err) != 0) return -1;
    struct vars vars = {0};
    const struct spawn spawn = {.script = script,
                                .dir = dir,
                                .account = &topo->account,
                                .stop_signal = SIGKILL,
                                .vars = vars.list};
    char *text = spawn_act(&spawn, (const char *const[]){".", NULL, NULL}, MAKE_NS, err);
    if (!text) {
        err_prefix(err, "%s with TLS", info->name);
        return -1;
    }
    free(text);
    snprintf(topo->tls_dir, sizeof topo->tls_dir, "%s", dir);
    snprintf(topo->ca, sizeof topo->ca, "%s/ca.pem", dir);
    return 0;
}
