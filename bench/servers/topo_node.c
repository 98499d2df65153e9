/* topo_node: see topo_node.h. */
#include "bench/servers/topo_node.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/servers/janitor.h"
#include "bench/servers/ports.h"
#include "bench/servers/shm.h"

char *topo_shim_path(const struct topo *topo, const char *what, int n, char *path, size_t size) {
    snprintf(path, size, "%s/%s.%d", topo->dir, what, n);
    return path;
}

/* Adds "NAME=1 2 3", with each port of `others` that is not 0 in place of the own one. */
static void add_ports(struct vars *vars, const char *name, const int *ports, const int *others,
                      int count) {
    char text[TOPO_NODES_MAX * TOPO_PORTS_MAX * sizeof " 65535"];
    size_t used = 0;
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, i ? " %d" : "%d",
                                 others && others[i] ? others[i] : ports[i]);
    vars_add(vars, "%s=%s", name, text);
}

/* The libraries that are loaded into the node's processes, and the files that they share with us. */
static void add_shims(struct vars *vars, const struct topo *topo, int n) {
    char path[640], clock[600] = "", fsyncs[600] = "";
    if (topo->clock) {
        snprintf(clock, sizeof clock, "%s/" CLOCK_SHIM, topo->dir);
        vars_add(vars, "LB_CLOCK=%s", topo_shim_path(topo, "clock", n, path, sizeof path));
    }
    if (topo->fsyncs[n]) {
        snprintf(fsyncs, sizeof fsyncs, "%s/" FSYNC_SHIM, topo->dir);
        vars_add(vars, "LB_FSYNCS=%s", topo_shim_path(topo, "fsyncs", n, path, sizeof path));
    }
    if (*clock || *fsyncs)
        vars_add(vars, "LD_PRELOAD=%s%s%s", clock, *clock && *fsyncs ? ":" : "", fsyncs);
}

void topo_vars_fill(struct vars *vars, const struct topo *topo, int n) {
    const struct topo_info *info = &topo->info;
    const struct node *node = n < 0 ? NULL : &topo->nodes[n];
    int ports = info->nodes * info->ports;
    vars_add(vars, "LB_DIR=%s", node ? node->dir : topo->dir);
    vars_add(vars, "LB_NODES=%d", info->nodes);
    add_ports(vars, "LB_ALL_PORTS", topo->ports, NULL, ports);
    add_ports(vars, "LB_PEER_PORTS", topo->ports, topo->peer_ports, ports);
    vars_add(vars, "LB_DURABILITY=%s", topo->durability);
    vars_add(vars, "LB_SECRET=%s", info->secret);
    vars_add(vars, "LB_TLS=%s", topo->tls_dir);
    vars_add(vars, "LB_PROGRAM=%s", info->program);
    vars_add(vars, "LB_LISTEN=%s", info->listen);
    if (!node) return;
    vars_add(vars, "LB_NODE=%d", n);
    add_ports(vars, "LB_PORTS", topo->ports + n * info->ports, NULL, info->ports);
    vars_add(vars, "LB_WIPED=%s", node->wiped ? "yes" : "");
    add_shims(vars, topo, n);
}

const char *topo_library(const struct topo *topo, char *path, size_t size) {
    const struct topo_info *info = &topo->info;
    if (!*info->library) return NULL;
    snprintf(path, size, "%.*s/../acts/%s", (int)(strrchr(info->script, '/') - info->script),
             info->script, info->library);
    return path;
}

int topo_make_folder(const struct topo *topo, const char *dir, struct lb_err *err) {
    const struct account *account = &topo->account;
    struct stat about;
    if (mkdir(dir, 0700) != 0) {
        if (errno != EEXIST || lstat(dir, &about) != 0 || !S_ISDIR(about.st_mode) ||
            about.st_uid != (account->change ? account->uid : geteuid()))
            return err_set(err, LB_EXIT_MACHINE, "%s: %s", dir, strerror(errno ? errno : EEXIST));
        return 0;
    }
    if (account->change && lchown(dir, account->uid, account->gid) != 0)
        return err_set(err, LB_EXIT_MACHINE, "%s: %s", dir, strerror(errno));
    return 0;
}

int topo_start_node(struct topo *topo, int n, struct lb_err *err) {
    struct node *node = &topo->nodes[n];
    struct vars vars = {0};
    char library[640];
    topo_vars_fill(&vars, topo, n);
    const struct spawn spawn = {.script = topo->info.script,
                                .dir = node->dir,
                                .account = &topo->account,
                                .stop_signal = topo->info.stop_signal,
                                .library = topo_library(topo, library, sizeof library),
                                .vars = vars.list};
    pid_t pid = spawn_server(&spawn, err);
    if (pid < 0) return -1;
    node->pid = node->last = pid;
    node->open = node->killed = false;
    return 0;
}

bool topo_node_runs(struct node *node) {
    if (node->pid <= 0) return false;
    siginfo_t ended = {0};
    if (waitid(P_PID, (id_t)node->pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        ended.si_pid == 0)
        return true;
    /* All this before reaping the leader: until then its pid is not used again. */
    end_group(node->pid, &node->shm);
    shm_remove(&node->shm);
    waitpid(node->pid, &node->status, 0);
    janitor_group(JANITOR_DROP, node->pid);
    node->pid = 0;
    return false;
}

char *topo_node_name(const struct topo *topo, int n, char *text, size_t size) {
    if (topo->info.nodes == 1)
        snprintf(text, size, "%s", topo->info.name);
    else
        snprintf(text, size, "%s node %d of %d (port %d)", topo->info.name, n + 1, topo->info.nodes,
                 topo->ports[n * topo->info.ports]);
    return text;
}

void topo_ports_hold(struct topo *topo, int n) {
    topo_ports_free(&topo->nodes[n]);
    for (int i = 0; i < topo->info.ports; i++) {
        int fd = port_hold(topo->ports[n * topo->info.ports + i]);
        topo->nodes[n].held[i] = fd > 0 ? fd : 0;
    }
}

void topo_ports_free(struct node *node) {
    for (int i = 0; i < TOPO_PORTS_MAX; i++) {
        if (node->held[i] > 0) close(node->held[i]);
        node->held[i] = 0;
    }
}
