/* servers: servers that stand still, end, come back with or without their data, step their clocks, end connections,
 * evict keys, stop following, become primaries, or lose the others; see kinds.h. The topology's script carries out
 * what a server does by its own means (topo_act). Only servers that lockbench started are touched. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/faults/kinds.h"
#include "bench/servers/ports.h"
#include "bench/servers/proc.h"

#define END_NS (5 * LB_S_NS)   /* for a connection to end: a busy server takes long */
#define BACK_NS (30 * LB_S_NS) /* for a server to answer again; else it is said that it does not */

/* ---- which ---- */

struct nodes {
    int node[TOPO_NODES_MAX];
    int count;
    struct lb_err err; /* why there are none */
};

static void add_node(struct nodes *nodes, const struct topo *topo, int node) {
    if (!topo_killed(topo, node)) nodes->node[nodes->count++] = node;
}

/* Adds so many nodes, from the next one on. */
static void add_nodes(struct faults *faults, struct nodes *nodes, int wanted) {
    const struct topo *topo = faults->place->topo;
    int all = topo_about(topo)->nodes;
    for (int i = 0; i < all && nodes->count < wanted; i++)
        add_node(nodes, topo, (faults->next_node + i) % all);
    faults->next_node = (faults->next_node + wanted) % all;
}

static void add_leader(struct faults *faults, struct nodes *nodes) {
    struct topo *topo = faults->place->topo;
    int leader = topo_about(topo)->nodes == 1 ? 0 : topo_leader(topo, &nodes->err);
    if (leader >= 0) add_node(nodes, topo, leader);
}

/* A node that runs and is not the primary now. */
static void add_replica(struct faults *faults, struct nodes *nodes) {
    struct topo *topo = faults->place->topo;
    struct lb_err ignored = {0};
    int primary = topo_offers(topo_about(topo), "leader") ? topo_leader(topo, &ignored) : -1;
    for (int i = 0; i < topo_about(topo)->nodes && nodes->count == 0; i++)
        if (i != primary) add_node(nodes, topo, i);
    if (nodes->count == 0) err_set(&nodes->err, LB_EXIT_MACHINE, "there is no replica that runs");
}

static struct nodes choose_nodes(struct faults *faults, const struct plan_fault *plan) {
    struct topo *topo = faults->place->topo;
    struct nodes nodes = {0};
    int all = topo_about(topo)->nodes;
    switch (plan->target) {
    case TARGET_LEADER:
    case TARGET_PRIMARY:
        add_leader(faults, &nodes);
        break;
    case TARGET_MINORITY:
        add_nodes(faults, &nodes, (all - 1) / 2);
        break;
    case TARGET_MAJORITY:
        add_nodes(faults, &nodes, all / 2 + 1);
        break;
    case TARGET_ALL:
        add_nodes(faults, &nodes, all);
        break;
    case TARGET_NODE:
        if (plan->node < all) {
            add_node(&nodes, topo, plan->node);
        } else {
            err_set(&nodes.err, LB_EXIT_USAGE, "there are only %d servers", all);
        }
        break;
    case TARGET_ANY:
        if (plan->kind == INJECT_PROMOTE || plan->kind == INJECT_UNFOLLOW)
            add_replica(faults, &nodes);
        else if (all > 1 && topo_offers(topo_about(topo), "leader"))
            add_leader(faults, &nodes);
        /* No node is taken if the leader could not be found: hitting another node would be another injection. */
        if (nodes.count == 0 && !nodes.err.code) add_nodes(faults, &nodes, 1);
        break;
    default:
        add_nodes(faults, &nodes, 1);
    }
    if (nodes.count == 0)
        err_set(&nodes.err, LB_EXIT_MACHINE, "the target names no server that is running");
    return nodes;
}

static bool has_servers(struct faults *faults, const struct fault_section *section) {
    if (faults->place->topo) return true;
    fault_log_not(faults, section, "there is no server that lockbench started");
    return false;
}

/* ---- what ends and comes back ---- */

/* An entry for what is done to a node; NULL when out of memory. */
static struct fault_event *add_event(struct faults *faults, const struct fault_section *section,
                                     int node) {
    struct fault_event *fault = fault_log_add(faults, section, lb_now());
    if (fault) fault->node = node;
    return fault;
}

static void pause_server(struct faults *faults, const struct fault_section *section, int node) {
    struct topo *topo = faults->place->topo;
    struct fault_event *fault = add_event(faults, section, node);
    struct fault_act *act = fault ? fault_log_lasting(faults, section) : NULL;
    if (!act) return;
    act->client_count = (uint32_t)faults->shared->clients;
    act->cut_open = fault_ends_silent(faults);
    fault_act_oplog(faults, OPLOG_CUT, act);
    act->stood = topo_signal(topo, node, SIGSTOP) == 0 && proc_stands(topo_pid(topo, node));
}

/* Whether another fault keeps the same server still. */
static bool paused_twice(const struct faults *faults, const struct fault_act *act) {
    for (int i = 0; i < FAULT_ACTS_MAX; i++) {
        const struct fault_act *other = &faults->acts[i];
        bool pauses = other != act && other->plan && other->plan->kind == INJECT_SERVER_PAUSE;
        if (pauses && other->node == act->node) return true;
    }
    return false;
}

void fault_server_pause_end(struct faults *faults, struct fault_act *act) {
    struct topo *topo = faults->place->topo;
    struct fault_event *fault = fault_log_of(faults, act);
    pid_t pid = topo_pid(topo, act->node);
    bool stood = act->stood && pid > 0 && proc_stands(pid);
    int64_t now_ns = lb_now();
    if (!paused_twice(faults, act)) topo_signal(topo, act->node, SIGCONT);
    fault->end_ns = lb_now();
    fault_log_sign(fault, stood, "all threads of the server %s for %.3f s",
                   stood ? "stood still" : "did not stand still",
                   (double)(now_ns - fault->begin_ns) / 1e9);
    fault_act_oplog(faults, OPLOG_CUT, act);
}

static void kill_server(struct faults *faults, const struct fault_section *section, int node) {
    struct topo *topo = faults->place->topo;
    struct fault_event *fault = add_event(faults, section, node);
    if (!fault) return;
    struct lb_err err = {0};
    uint32_t clients = (uint32_t)faults->shared->clients;
    bool empties = section->plan->kind == INJECT_SERVER_EMPTY, wiped = false;
    pid_t pid = topo_pid(topo, node);
    bool killed = topo_kill(topo, node, &err) == 0;
    int64_t over_ns = fault->gone_ns = lb_now();
    fault_oplog(faults, OPLOG_CUT, 0, clients, fault->begin_ns, over_ns);
    if (killed && empties) wiped = topo_wipe(topo, node, &err) == 0;
    fault->acted = killed && (wiped || !empties);
    fault_log_sign(fault, fault->acted, "%s%s",
                   err.code ? err.text : "its process was killed and is gone",
                   wiped ? ", and its data" : "");
    faults->log->servers_touched = true;
    if (pid <= 0 || !killed) {
        fault->end_ns = lb_now();
        return;
    }
    if (section->plan->for_ns == 0) {
        faults->log->servers_lost = true; /* for good */
        return;
    }
    fault_log_lasting(faults, section);
}

void fault_server_kill_end(struct faults *faults, struct fault_act *act) {
    struct fault_event *fault = fault_log_of(faults, act);
    struct lb_err err = {0};
    int64_t now_ns = lb_now();
    if (topo_restart(faults->place->topo, act->node, &err) == 0) {
        act->returning = true;
        act->until_ns = now_ns + BACK_NS;
        return;
    }
    faults->log->servers_lost = true;
    fault_log_sign(fault, fault->acted,
                   "its process was killed; it could not be started again: %.100s", err.text);
}

bool fault_server_look(struct faults *faults, struct fault_act *act, int64_t now_ns) {
    struct fault_event *fault = fault_log_of(faults, act);
    bool open = topo_open(faults->place->topo, act->node);
    if (!open && now_ns < act->until_ns) return false;
    int64_t down_ns = lb_now() - fault->begin_ns;
    size_t used = strlen(fault->sign);
    fault->end_ns = open ? lb_now() : 0;
    if (!open) faults->log->servers_lost = true;
    snprintf(fault->sign + used, sizeof fault->sign - used,
             open ? "; it listened again after %.3f s" : "; it did not listen again for %.3f s",
             (double)down_ns / 1e9);
    return true;
}

/* ---- what is done at once ---- */

static void step_clock(struct faults *faults, const struct fault_section *section, int node) {
    struct fault_event *fault = add_event(faults, section, node);
    struct lb_err err = {0};
    if (!fault) return;
    faults->log->servers_touched = true;
    bool stepped = topo_clock(faults->place->topo, node, section->plan->by_ns, &err) == 0;
    fault->end_ns = lb_now();
    double by_s = (double)section->plan->by_ns / 1e9;
    if (stepped) {
        fault_log_sign(fault, true, "its wall clock jumped by %.3f s", by_s);
    } else {
        fault_log_sign(fault, false, "its wall clock did not jump by %.3f s: %s", by_s, err.text);
    }
}

#define ANSWER_MAX 160 /* more has no place in a sign */

/* Has the script do something to a node. Returns whether it did. Writes its answer, or why it did not, into
 * ret_text. */
static bool act_on(struct faults *faults, const char *act, int node, char ret_text[ANSWER_MAX]) {
    struct lb_err err = {0};
    char arg[16], answer[100] = "";
    snprintf(arg, sizeof arg, "%d", node);
    bool done = topo_act(faults->place->topo, act, arg, answer, sizeof answer, &err) == 0;
    snprintf(ret_text, ANSWER_MAX, "%.159s", done ? answer : err.text);
    return done;
}

/* The act of the script that the section names. A server that is isolated loses the others of its cluster by its own
 * means, until the injection ends: the connections of clients stay. */
static void act_as_asked(struct faults *faults, const struct fault_section *section, int node) {
    struct fault_event *fault = add_event(faults, section, node);
    char text[ANSWER_MAX];
    if (!fault) return;
    bool done = act_on(faults, injections[section->plan->kind].name, node, text);
    bool lasts = injections[section->plan->kind].properties & INJECTION_LASTS;
    if (!lasts) fault->end_ns = lb_now();
    if (lasts && done) fault_log_lasting(faults, section);
    fault_log_sign(fault, done, "%s", *text ? text : "the server did as it was told");
    faults->log->servers_touched = true;
}

void fault_isolate_end(struct faults *faults, struct fault_act *act) {
    struct fault_event *fault = fault_log_of(faults, act);
    char text[ANSWER_MAX];
    bool done = act_on(faults, "rejoin", act->node, text);
    size_t used = strlen(fault->sign);
    fault->end_ns = lb_now();
    snprintf(fault->sign + used, sizeof fault->sign - used, "; %.100s", text);
    faults->log->servers_lost |= !done;
}

/* ---- connections that the server ends ---- */

#define PORTS_MAX 256

static bool is_servers_port(const struct topo *topo, int port) {
    const struct topo_info *info = topo_about(topo);
    for (int node = 0; node < info->nodes; node++) {
        for (int i = 0; i < info->ports; i++) {
            if (topo_port(topo, node, i) == port) return true;
        }
    }
    return false;
}

/* The local ports of a process's connections to the servers of the topology. Returns how many; -1
 * when there is no such process, or out of memory. */
static int local_ports(pid_t pid, const struct topo *topo, int ports[PORTS_MAX]) {
    size_t peer_count = 0;
    struct peer *peers = pid > 0 ? peers_of(&pid, 1, &peer_count) : NULL;
    int count = 0;
    if (!peers) return -1;
    for (size_t i = 0; i < peer_count && count < PORTS_MAX; i++) {
        if (peers[i].established && is_servers_port(topo, peers[i].to))
            ports[count++] = peers[i].from;
    }
    free(peers);
    return count;
}

/* The number of the process's connections that have ended; 0 if that can't be known. */
static int count_ended(pid_t pid, const struct topo *topo, const int *ports, int count) {
    int left[PORTS_MAX], still = local_ports(pid, topo, left), ended = count;
    if (count < 0 || still < 0) return 0;
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < still; j++) ended -= left[j] == ports[i];
    }
    return ended;
}

/* text: the last of its answers, one a connection. Returns how many ended. */
static int end_connections(struct faults *faults, int process, char *text, size_t size,
                           struct lb_err *err) {
    struct topo *topo = faults->place->topo;
    pid_t pid = workers_pid(faults->workers, process);
    int ports[PORTS_MAX], count = local_ports(pid, topo, ports);
    /* The process stands still, and must not outlive its lease because of that: the acts may take
     * long. A grant that lives with its connection can wait, and is certainly held when it is hit. */
    if (faults->shared->lock->lock->caps & LB_CAP_LEASE)
        workers_pause(faults->workers, process, false);
    for (int i = 0; i < count; i++) {
        char arg[16];
        snprintf(arg, sizeof arg, "%d", ports[i]);
        if (topo_act(topo, "terminate", arg, text, size, err) != 0) break;
    }
    /* A server may end the connections a moment after its answer. */
    int ended = count_ended(pid, topo, ports, count);
    for (int64_t limit_ns = lb_now() + END_NS;
         ended < count && !err->code && lb_now() < limit_ns;) {
        lb_nap(LB_MS_NS);
        ended = count_ended(pid, topo, ports, count);
    }
    return ended;
}

enum fault_tried fault_terminate_begin(struct faults *faults, struct fault_section *section) {
    struct fault_victim victim;
    struct lb_err err = {0};
    char text[100] = "";
    if (!has_servers(faults, section)) return FAULT_DONE;
    if (!fault_catch(faults, section->plan->target, false, &victim)) return FAULT_LATER;
    struct fault_event *fault = fault_log_add(faults, section, lb_now());
    if (fault) {
        uint32_t count = victim.end - victim.first;
        fault_log_victim(fault, &victim);
        int ended = end_connections(faults, victim.process, text, sizeof text, &err);
        fault->end_ns = lb_now();
        fault_oplog(faults, OPLOG_CUT, victim.first, count, fault->begin_ns, fault->end_ns);
        fault_log_sign(fault, ended > 0 && !err.code, "%d of its connections ended: %s", ended,
                       err.code ? err.text : text);
    }
    workers_pause(faults->workers, victim.process, false);
    return FAULT_DONE;
}

/* ---- the kinds ---- */

enum fault_tried fault_servers_begin(struct faults *faults, struct fault_section *section) {
    static void (*const hits[INJECTIONS])(struct faults * faults,
                                          const struct fault_section *section, int node) = {
        [INJECT_SERVER_PAUSE] = pause_server, [INJECT_SERVER_KILL] = kill_server,
        [INJECT_SERVER_EMPTY] = kill_server,  [INJECT_ISOLATE] = act_as_asked,
        [INJECT_PROMOTE] = act_as_asked,      [INJECT_UNFOLLOW] = act_as_asked,
        [INJECT_EVICT] = act_as_asked,        [INJECT_CLOCK] = step_clock};
    if (!has_servers(faults, section)) return FAULT_DONE;
    struct nodes nodes = choose_nodes(faults, section->plan);
    if (nodes.count == 0) fault_log_not(faults, section, "%s", nodes.err.text);
    for (int i = 0; i < nodes.count; i++) hits[section->plan->kind](faults, section, nodes.node[i]);
    return FAULT_DONE;
}
