/* topo: see topo.h. It speaks no server's protocol: the caller asks the drivers whether the servers answer. */
#include "bench/servers/topo.h"

#include <errno.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/base/clock.h"
#include "bench/servers/folder.h"
#include "bench/servers/janitor.h"
#include "bench/servers/ports.h"
#include "bench/servers/proc.h"
#include "bench/servers/shm.h"
#include "bench/servers/spawn.h"
#include "bench/servers/topo_node.h"

#define STARTS_MAX 5          /* the most starts on new ports, if ports were taken */
#define KILL_NS (2 * LB_S_NS) /* limit of the wait after SIGKILL */

/* --- starting --- */

/* Makes the nodes' folders inside the topology's folder, and starts all nodes. */
static int start_all(struct topo *topo, struct lb_err *err) {
    const struct topo_info *info = &topo->info;
    char log_path[LOG_PATH_MAX];
    topo->starts++;
    topo_fill_url(info, topo->ports, topo->url, sizeof topo->url);
    const int count = info->nodes * info->ports;
    if (topo->ports_chosen) topo->ports_chosen(topo->ports, count, topo->ports_arg);
    for (int n = 0; n < info->nodes; n++) {
        struct node *node = &topo->nodes[n];
        snprintf(node->dir, sizeof node->dir, "%s/%d", topo->dir, n);
        unlink(
            server_log_path(node->dir, log_path)); /* the log of an earlier start on other ports */
        if (topo_make_folder(topo, node->dir, err) != 0 || topo_start_node(topo, n, err) != 0)
            return -1;
    }
    return 0;
}

static int check_ask(const struct topo_ask *ask, struct topo *topo, struct lb_err *err) {
    const struct topo_info *info = ask->info;
    const char *durability = ask->durability ? ask->durability : "default";
    topo->info = *info;
    const struct topo_durability *offered = topo_durability_of(&topo->info, durability, err);
    if (!offered) return -1;
    topo->durability_text = offered->text;
    snprintf(topo->durability, sizeof topo->durability, "%s", durability);
    if (*info->missing)
        return err_set(err, LB_EXIT_MACHINE, "%s can't be started, %s is missing: install %s",
                       info->name, info->missing, info->install);
    if (ask->ports)
        memcpy(topo->ports, ask->ports, (size_t)(info->nodes * info->ports) * sizeof *topo->ports);
    else if (ports_pick(topo->ports, info->nodes * info->ports, err) != 0)
        return -1;
    if (ask->peer_ports)
        memcpy(topo->peer_ports, ask->peer_ports,
               (size_t)(info->nodes * info->ports) * sizeof *topo->peer_ports);
    topo->ports_chosen = ask->ports_chosen;
    topo->ports_arg = ask->arg;
    topo->clock = ask->clock;
    topo->act_limit_ns = ask->act_limit_ns ? ask->act_limit_ns : TOPO_ACT_NS;
    if (ask->clock && !info->clock)
        return err_set(err, LB_EXIT_USAGE, "%s: its servers' clocks can't be stepped", info->name);
    return account_find(info->user, &topo->account, err);
}

struct topo *topo_start(const struct topo_ask *ask, struct lb_err *err) {
    struct topo *topo = calloc(1, sizeof *topo);
    if (!topo) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        return NULL;
    }
    if (check_ask(ask, topo, err) != 0 || janitor_start(err) != 0) goto failed;
    if (folder_make(ask->base, topo->info.name, topo->dir, sizeof topo->dir, err) != 0) {
        topo->dir[0] = '\0';
        goto failed;
    }
    janitor_folder(JANITOR_ADD, topo->dir);
    /* The account reaches its own folders inside and can't change what lies beside them. */
    if (topo->account.change && chmod(topo->dir, 0711) != 0) {
        err_set(err, LB_EXIT_MACHINE, "%s: %s", topo->dir, strerror(errno));
        goto failed;
    }
    if (topo_make_certificates(topo, err) != 0 || topo_shims_begin(topo, err) != 0 ||
        start_all(topo, err) != 0)
        goto failed;
    return topo;
failed:
    topo_stop(topo);
    return NULL;
}

/* --- watching --- */

/* The last words of a node's log. Returns text. */
static char *words_of(const struct topo *topo, int n, char *text, size_t size) {
    if (!*last_words(topo->nodes[n].dir, text, size)) snprintf(text, size, "its log is empty");
    return text;
}

int topo_check(struct topo *topo, struct lb_err *err) {
    for (int n = 0; n < topo->info.nodes; n++) {
        if (topo_node_runs(&topo->nodes[n]) || topo->nodes[n].killed) continue;
        char name[128], how[64], words[320];
        int status = topo->nodes[n].status;
        /* After SIGKILL the server's log does not say why the server ended. */
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
            snprintf(words, sizeof words, "somebody killed it, or memory ran out (see dmesg)");
        else
            words_of(topo, n, words, sizeof words);
        return err_set(err, LB_EXIT_MACHINE, "%s ended with %s: %s",
                       topo_node_name(topo, n, name, sizeof name),
                       status_text(status, how, sizeof how), words);
    }
    return 0;
}

/* --- stopping --- */

/* Waits until the nodes and the processes that they had started have ended: they were killed, but until then they may
 * still write. */
static void wait_for_groups(struct topo *topo) {
    int64_t until_ns = lb_now() + KILL_NS;
    for (int n = 0; n < topo->info.nodes; n++) {
        struct node *node = &topo->nodes[n];
        while ((topo_node_runs(node) || (node->last > 0 && proc_group_runs(node->last))) &&
               lb_now() < until_ns)
            lb_nap(LB_MS_NS);
    }
}

/* Ends all nodes and removes the contents of their folders. */
static void stop_all(struct topo *topo) {
    for (int n = 0; n < topo->info.nodes; n++) {
        if (topo->nodes[n].pid > 0) end_group(topo->nodes[n].pid, &topo->nodes[n].shm);
    }
    wait_for_groups(topo);
    for (int n = 0; n < topo->info.nodes; n++) {
        /* A process that lost its parent may write for a moment longer. */
        for (int tries = 0;
             topo->nodes[n].dir[0] && tries < 100 && folder_remove(topo->nodes[n].dir) != 0;
             tries++)
            lb_nap(10 * LB_MS_NS);
    }
}

void topo_stop(struct topo *topo) {
    if (!topo) return;
    stop_all(topo);
    if (topo->dir[0] && folder_remove(topo->dir) == 0) janitor_folder(JANITOR_DROP, topo->dir);
    for (int n = 0; n < topo->info.nodes; n++) topo_ports_free(&topo->nodes[n]);
    topo_shims_end(topo);
    free(topo);
}

void topo_stop_all(void) {
    janitor_finish();
}

/* --- readiness --- */

bool topo_open(struct topo *topo, int n) {
    int port = topo_port(topo, n, 0);
    /* First ask whether any process listens at all: finding out which one means reading the
     * machine's whole table of sockets. */
    return topo_node_runs(&topo->nodes[n]) && port_answers(port) &&
           port_is_of(topo->nodes[n].pid, port);
}

/* Whether every node was seen listening on its first port. */
static bool ports_open(struct topo *topo) {
    bool all = true;
    for (int n = 0; n < topo->info.nodes; n++) {
        struct node *node = &topo->nodes[n];
        if (!node->open) node->open = topo_open(topo, n);
        all &= node->open || node->killed;
    }
    return all;
}

/* A node has ended, as err says: starts all nodes again on other ports if that may help. Returns 0,
 * or -1 with err. */
static int start_again(struct topo *topo, struct lb_err *err) {
    bool taken = false;
    for (int n = 0; n < topo->info.nodes; n++)
        taken |= topo->nodes[n].pid == 0 && last_words_blame_port(topo->nodes[n].dir);
    if (!taken || topo->starts >= STARTS_MAX || topo->was_ready) return -1;
    stop_all(topo);
    *err = (struct lb_err){0};
    if (ports_pick(topo->ports, topo->info.nodes * topo->info.ports, err) != 0) return -1;
    return start_all(topo, err);
}

static int too_late(struct topo *topo, const struct lb_err *last, struct lb_err *err) {
    char words[320];
    for (int n = 0; n < topo->info.nodes; n++) {
        if (topo->nodes[n].open || topo->nodes[n].killed) continue;
        char name[128];
        return err_set(err, LB_EXIT_MACHINE, "%s did not open its port in time: %s",
                       topo_node_name(topo, n, name, sizeof name),
                       words_of(topo, n, words, sizeof words));
    }
    return err_set(err, LB_EXIT_MACHINE, "%s did not answer in time: %s", topo->info.name,
                   last->code ? last->text : words_of(topo, 0, words, sizeof words));
}

int topo_ready(struct topo *topo, const struct topo_wait *wait, struct lb_err *err) {
    for (int ms = 5;; ms = ms < 100 ? ms + 1 : 100) {
        struct lb_err ended = {0}, answer = {0};
        if (topo_check(topo, &ended) != 0) {
            if (start_again(topo, &ended) != 0) return err_set(err, ended.code, "%s", ended.text);
        } else if (ports_open(topo)) {
            int answers = wait->answers ? wait->answers(topo, wait->arg, &answer) : 1;
            if (answers > 0 && topo_check(topo, NULL) == 0) {
                topo->was_ready = true;
                return 0;
            }
            if (answers < 0)
                return err_set(err, answer.code ? answer.code : LB_EXIT_MACHINE, "%s: %s",
                               topo->info.name, answer.code ? answer.text : "refused");
        }
        if (wait->give_up && wait->give_up(wait->arg))
            return err_set(err, LB_EXIT_INTERRUPTED, "interrupted while %s was starting",
                           topo->info.name);
        if (lb_now() >= wait->deadline_ns) return too_late(topo, &answer, err);
        lb_nap(ms * LB_MS_NS); /* ever longer: a question is a login */
    }
}

/* --- asking and telling --- */

const struct topo_info *topo_about(const struct topo *topo) {
    return &topo->info;
}

void topo_login(const struct topo *topo) {
    static const struct {
        const char *topologies, *name, *format;
    } logins[] = {{"redis", "REDISCLI_AUTH", "%s"},
                  {"postgres", "PGPASSWORD", "%s"},
                  {"mariadb", "MYSQL_PWD", "%s"},
                  {"memcached", "MEMCACHED_SECRET", "%s"},
                  {"etcd", "ETCDCTL_USER", "lockbench:%s"}};
    for (size_t i = 0; topo && i < sizeof logins / sizeof *logins; i++) {
        char value[sizeof topo->info.secret + 20];
        if (strncmp(topo->info.name, logins[i].topologies, strlen(logins[i].topologies)) != 0)
            continue;
        snprintf(value, sizeof value, logins[i].format, topo->info.secret);
        setenv(logins[i].name, value, 1);
    }
}

const char *topo_durability(const struct topo *topo) {
    return topo->durability_text;
}

const char *topo_url(const struct topo *topo) {
    return topo->url;
}

const char *topo_ca(const struct topo *topo) {
    return *topo->ca ? topo->ca : NULL;
}

const char *topo_dir(const struct topo *topo, int node) {
    return topo->nodes[node].dir;
}

int topo_port(const struct topo *topo, int node, int index) {
    return topo->ports[node * topo->info.ports + index];
}

pid_t topo_pid(const struct topo *topo, int node) {
    return topo->nodes[node].pid;
}

static int roots_of(const struct topo *topo, pid_t *roots) {
    for (int n = 0; n < topo->info.nodes; n++) roots[n] = topo->nodes[n].pid;
    return topo->info.nodes;
}

int64_t topo_cpu_ns(const struct topo *topo) {
    pid_t roots[TOPO_NODES_MAX];
    return proc_cpu_ns(roots, roots_of(topo, roots));
}

/* --- what the servers use --- */

/* Of all nodes; -1 = not known. */
static int64_t fsyncs_of(struct topo *topo) {
    char text[64], *end;
    struct lb_err ignored = {0};
    if (!topo_offers(&topo->info, "fsyncs")) return topo_fsyncs(topo);
    if (topo_act(topo, "fsyncs", NULL, text, sizeof text, &ignored) != 0) return -1;
    long long told = strtoll(text, &end, 10);
    return end == text || *end || told < 0 ? -1 : (int64_t)told;
}

static int64_t written_of(const struct topo *topo) {
    pid_t roots[TOPO_NODES_MAX];
    struct statfs about;
    if (statfs(topo->dir, &about) != 0 || about.f_type == TMPFS_MAGIC) return -1;
    return proc_written_bytes(roots, roots_of(topo, roots), topo->info.written_by_calls);
}

int64_t topo_memory_bytes(const struct topo *topo) {
    pid_t roots[TOPO_NODES_MAX];
    return proc_memory_bytes(roots, roots_of(topo, roots));
}

void topo_use_take(struct topo *topo, struct topo_use *ret_use) {
    *ret_use = (struct topo_use){.memory_bytes = topo_memory_bytes(topo),
                                 .written_bytes = written_of(topo),
                                 .fsyncs = fsyncs_of(topo)};
}
