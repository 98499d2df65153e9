/* topo_node: see topo_node.h. */
#include "bench/servers/topo_node.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/base/home.h"
#include "bench/servers/folder.h"
#include "bench/servers/janitor.h"
#include "bench/servers/ports.h"
#include "bench/servers/proc.h"
#include "bench/servers/shim.h"
#include "bench/servers/shm.h"

#define CLOCK_SHIM "clock_shim.so"
#define FSYNC_SHIM "fsync_shim.so"

/* The file that a node shares with the libraries. Returns path. */
static char *shared_path(const struct topo *topo, int n, char *path, size_t size) {
    snprintf(path, size, "%s/shared.%d", topo->dir, n);
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

/* The libraries that are loaded into the node's processes, and the file that they share with us. */
static void add_shims(struct vars *vars, const struct topo *topo, int n) {
    char path[640];
    bool clock = topo->clock, fsyncs = topo->info.fsyncs;
    if (!topo->shared[n]) return;
    vars_add(vars, "LB_SHARED=%s", shared_path(topo, n, path, sizeof path));
    vars_add(vars, "LD_PRELOAD=%s%s%s%s%s", clock ? topo->dir : "", clock ? "/" CLOCK_SHIM : "",
             clock && fsyncs ? ":" : "", fsyncs ? topo->dir : "", fsyncs ? "/" FSYNC_SHIM : "");
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

/* --- libraries in the servers --- */

/* Copies a library from beside the program into the topology's folder, because the servers' account may not reach the
 * original. 0, or -1 with err. */
static int copy_shim(const struct topo *topo, const char *shim, struct lb_err *err) {
    char from[PATH_MAX], to[600];
    if (home_beside(shim, from, sizeof from, err) != 0) return -1;
    snprintf(to, sizeof to, "%s/%s", topo->dir, shim);
    return file_copy(from, to, 0755, err);
}

/* Makes the file that a node shares with the libraries (shared_path), all of it 0, and maps the file. Returns the
 * mapping (munmap it), or NULL with err. */
static void *map_shared(const struct topo *topo, int node, struct lb_err *err) {
    const struct account *account = &topo->account;
    const size_t size = sizeof(struct shim_shared);
    char path[640];
    int fd = open(shared_path(topo, node, path, sizeof path), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
                  0600);
    void *map = MAP_FAILED;
    if (fd >= 0 && (!account->change || fchown(fd, account->uid, account->gid) == 0) &&
        ftruncate(fd, (off_t)size) == 0)
        map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) err_set(err, LB_EXIT_MACHINE, "%s: %s", path, strerror(errno));
    if (fd >= 0) close(fd);
    return map == MAP_FAILED ? NULL : map;
}

int topo_shims_begin(struct topo *topo, struct lb_err *err) {
    if (topo->clock && copy_shim(topo, CLOCK_SHIM, err) != 0) return -1;
    if (topo->info.fsyncs && copy_shim(topo, FSYNC_SHIM, err) != 0) return -1;
    for (int n = 0; n < topo->info.nodes && (topo->clock || topo->info.fsyncs); n++) {
        topo->shared[n] = map_shared(topo, n, err);
        if (!topo->shared[n]) return -1;
    }
    return 0;
}

void topo_shims_end(struct topo *topo) {
    for (int n = 0; n < TOPO_NODES_MAX; n++) {
        if (topo->shared[n]) munmap(topo->shared[n], sizeof *topo->shared[n]);
    }
}

int64_t topo_fsyncs(const struct topo *topo) {
    int64_t sum = 0;
    for (int n = 0; n < topo->info.nodes; n++) {
        pid_t pid = topo->nodes[n].pid;
        /* A program without the C library would never count. */
        if (!topo->info.fsyncs || (pid > 0 && !proc_has_mapped(pid, "/" FSYNC_SHIM))) return -1;
        sum += (int64_t)__atomic_load_n(&topo->shared[n]->fsyncs, __ATOMIC_RELAXED);
    }
    return sum;
}
