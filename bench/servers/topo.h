/* topo: the servers of a run, started from the scripts in compose/local and owned by this program.
 *
 * A topology is one script and one or more nodes; each node is one process with its own folder and
 * loopback ports. Everything started here ends with this program: normally by topo_stop, and by the
 * janitor (janitor.h) when the program is killed. The machine's own services and folders are not
 * touched. This module speaks no server's protocol: the caller decides whether a server answers, and a
 * script carries out actions on its own server (topo_act).
 *
 * All functions but topo_stop_all: one thread at a time. topo_start, topo_restart and topo_ready
 * (which restarts servers) must be called from a thread that outlives the servers, because the
 * kernel stops a server when the thread that started it ends. */
#ifndef BENCH_SERVERS_TOPO_H
#define BENCH_SERVERS_TOPO_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bench/base/err.h"
#include "bench/servers/info.h"

struct topo;

struct topo_ask {
    const struct topo_info *info; /* copied */
    const char *durability;       /* "default", "none", "sync"; NULL = default */
    const char *base; /* where the temporary folder is made; NULL = $TMPDIR, or else /tmp */
    const int *ports; /* nodes x ports to try first; NULL = pick free ones */
    /* The ports by which peers reach each node, nodes x ports (node by node; 0 = the node's own
     * port): the ports of a proxy, so that replication can be cut. NULL = the nodes' own ports. The
     * scripts use them if their `info` says wired=peers (compose/README.md). */
    const int *peer_ports;
    /* Called with the nodes' own ports (nodes x ports) before the nodes are started, and again each
     * time they are started on new ports: a proxy must forward to these. May be NULL. */
    void (*ports_chosen)(const int *ports, int count, void *arg);
    void *arg; /* for ports_chosen */
    /* start the nodes with clocks that topo_clock can change; refused where info says no */
    bool clock;
    int64_t act_limit_ns; /* how long topo_act waits for the script; 0 = TOPO_ACT_NS */
};

/* Starts every node and returns at once; the servers are not ready yet, see topo_ready. Returns
 * NULL with err (LB_EXIT_MACHINE) if something is missing, or if the folder or a process can't be
 * made. The first call starts the janitor too: call it before there are other threads. */
struct topo *topo_start(const struct topo_ask *ask, struct lb_err *err);

/* Tells topo_ready whether the servers answer, by a ping through the driver. 1 = they do, 0 = not
 * yet, -1 with err = waiting is pointless (for example, the answer is a refusal). An err with 0
 * explains a time-out. */
typedef int topo_answers_fn(const struct topo *topo, void *arg, struct lb_err *err);

struct topo_wait {
    int64_t deadline_ns;        /* by lb_now() */
    topo_answers_fn *answers;   /* NULL = it is enough that each node's first port is open */
    bool (*give_up)(void *arg); /* called between tries, for Ctrl-C; may be NULL */
    void *arg;                  /* for both */
};

/* Waits until every node itself (not another server) listens on its first port and wait->answers
 * says yes. If a server ends because its port was taken, all nodes are started again on new ports,
 * a few times: read the URL inside `answers` and after this call, not before. Returns 0, or -1
 * with err: which node ended, how, and the end of its log; or the time ran out; or given up
 * (LB_EXIT_INTERRUPTED). The servers that run stay up: call topo_stop. */
int topo_ready(struct topo *topo, const struct topo_wait *wait, struct lb_err *err);

/* Returns 0 while every node runs, apart from those ended by topo_kill; -1 with err
 * (LB_EXIT_MACHINE) saying which node ended, how, and the end of its log. */
int topo_check(struct topo *topo, struct lb_err *err);

/* Stops all nodes, also paused ones (their stop signal, then SIGKILL after some seconds), removes
 * their folder, and frees. Accepts NULL. */
void topo_stop(struct topo *topo);

/* For emergency exits: when this returns, the janitor has stopped and removed everything that any
 * topo_start left. Async-signal-safe. Afterwards a topo may only be given to topo_stop; new ones
 * may be started (not from a signal handler). */
void topo_stop_all(void);

const struct topo_info *topo_about(const struct topo *topo);

/* Sets the environment variable from which this server's own client programs (redis-cli, psql, mariadb, etcdctl) read
 * their password, for children started from now on; for memcached, which has no such program, MEMCACHED_SECRET, for
 * scripts. NULL: nothing. To be called before there are other threads. */
void topo_login(const struct topo *topo);
/* The durability with which the servers run, in words. */
const char *topo_durability(const struct topo *topo);
/* Where to connect; owned by topo, changed by topo_ready's retries. */
const char *topo_url(const struct topo *topo);
/* The file of the authority that signed the servers' certificates; NULL = they are without TLS. */
const char *topo_ca(const struct topo *topo);
/* The private folder of one node, with its data; the node's log is beside it (server_log_path). */
const char *topo_dir(const struct topo *topo, int node);
int topo_port(const struct topo *topo, int node, int index);
/* The server process, leader of its own process group; 0 once it ended. */
pid_t topo_pid(const struct topo *topo, int node);

/* Processor time, user and system, that all nodes have used since their start, in ns: their whole
 * process trees, so PostgreSQL's backends count, and children that have ended. Take differences. To
 * the ns for processes that live, to a clock tick (10 ms) for those that ended. -1 if /proc can't
 * be read. */
int64_t topo_cpu_ns(const struct topo *topo);

/* Sends a signal (SIGSTOP, SIGCONT, SIGKILL, ...) to a node's whole process tree; after SIGSTOP it
 * returns when every thread stands still (or after a second), for until then a server may still
 * answer. 0, or -1 if the node has ended. */
int topo_signal(struct topo *topo, int node, int signal);

/* Kills (SIGKILL) a node's whole process tree, also of a stopped node, and returns when none of it
 * runs. From then on, until it is started again, topo_check and topo_ready do without it. 0, also
 * if it was killed before; -1 with err if it had ended by itself or does not end. */
int topo_kill(struct topo *topo, int node, struct lb_err *err);

/* Whether topo_kill ended it and it has not been started again. */
bool topo_killed(const struct topo *topo, int node);

/* Removes everything in the folder of an ended node (its log lies beside the folder), so that the next topo_restart
 * starts without data. Returns 0, or -1 with err. */
int topo_wipe(struct topo *topo, int node, struct lb_err *err);

/* Starts an ended node again, on the same ports and with its data. The node does not answer yet
 * when this returns. Returns 0, or -1 with err. */
int topo_restart(struct topo *topo, int node, struct lb_err *err);

/* Whether the node itself listens on its first port now. */
bool topo_open(struct topo *topo, int node);

/* Moves a node's wall clock by by_ns, forward or back; time by the monotonic clock is not affected, and the machine's own
 * clock is never changed. Steps add up and stay over a restart. Returns 0, or -1 with err if the topology was not started
 * with .clock. */
int topo_clock(struct topo *topo, int node, int64_t by_ns, struct lb_err *err);

/* Carries out an action on the servers by their own means: runs `SCRIPT act NAME ARG`
 * (compose/README.md lists the actions; info->acts names those of this topology) and waits for it,
 * at most for the ask's act_limit_ns. arg may be NULL. The script's answer, one line without the newline,
 * goes to ret_text ("" = none; cut off at size), which may be NULL. Returns 0, or -1 with err
 * (LB_EXIT_USAGE: not offered) and ret_text untouched. */
#define TOPO_ACT_NS (20 * LB_S_NS)
int topo_act(struct topo *topo, const char *act, const char *arg, char *ret_text, size_t size,
             struct lb_err *err);

/* Returns the number of the leading node (action "leader"): the leader of three, or the primary of
 * replicas. -1 with err. */
int topo_leader(struct topo *topo, struct lb_err *err);

/* What the servers of a topology use: memory, writes to disk, fsyncs. Processor time is topo_cpu_ns.
 *
 * Memory and writes are the kernel's own figures (proc.h). Fsyncs are counted by a library that is loaded
 * into the servers (fsync_shim.c), where their script says `fsyncs=yes`; where the script has an act `fsyncs`, that
 * act asks the servers. A figure that is not known is -1, and is never estimated. */

struct topo;

/* All nodes together; -1 = not known. */
struct topo_use {
    int64_t memory_bytes; /* that their processes take now */
    /* to disk since they started; -1 also where their folders are in memory */
    int64_t written_bytes;
    int64_t fsyncs; /* since the topology was started */
};

/* Fills *ret_use; takes some milliseconds, and up to one more for each process of the servers; an act `fsyncs` takes a
 * tenth of a second. Use only differences of writes and fsyncs, and none between before and after a node's restart. */
void topo_use_take(struct topo *topo, struct topo_use *ret_use);

/* The memory alone. */
int64_t topo_memory_bytes(const struct topo *topo);

#endif
