/* topo: the servers of a run, started from the scripts in compose/local and owned by this program.
 *
 * A topology is one script and one or more nodes, each one process with its own folder and loopback
 * ports. Everything started here goes away with this program: topo_stop in the normal way, and by a
 * janitor process (janitor.h) when the program is killed. Nothing of the machine's own services or
 * folders is touched. It speaks no server's protocol: whether a server answers is asked of the
 * caller; what is done to a server by its own means (topo_act), its script does.
 *
 * All functions but topo_stop_all: one thread at a time, and topo_ready restarts servers, so call
 * it, topo_start and topo_restart from a thread that outlives them (the kernel stops a server when
 * the thread that started it ends). */
#ifndef BENCH_SERVERS_TOPO_H
#define BENCH_SERVERS_TOPO_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bench/base/err.h"

#define TOPO_NODES_MAX 16
#define TOPO_PORTS_MAX 4 /* of one node */

enum topo_durability { TOPO_DEFAULT, TOPO_NONE, TOPO_SYNC, TOPO_DURABILITIES };

/* What `SCRIPT info` says; compose/README.md has the protocol. */
struct topo_info {
    char name[64];
    char script[512];  /* the script's path */
    char summary[128]; /* "one Redis server" */
    char missing[256]; /* what this machine lacks to run it; "" = it can run */
    char install[128]; /* the Debian packages that bring it */
    int nodes;
    int ports;     /* of each node */
    char user[64]; /* the account to run as when we are root; "" = root will do */
    char url[512]; /* templates, separated by blanks; see topo_start */
    int stop_signal;
    char durability[TOPO_DURABILITIES][200]; /* what each setting means here; "" = not offered */
    char refused[TOPO_DURABILITIES][200];    /* why it is not */
    char acts[128]; /* what topo_act can do: "leader promote terminate"; "" = nothing */
    char library
        [64];   /* the file in compose/acts that its acts share with other topologies; "" = none */
    bool clock; /* topo_clock works on it */
    char wired
        [32]; /* what may lead through wires (wire.h): "clients", "peers", both; or "no". Never "" */
};

/* Whether the topology offers an act. */
bool topo_offers(const struct topo_info *info, const char *act);

/* Asks the script `name` in `folder` (compose/local). 0, also when something is missing (see
 * .missing); -1 with err if there is no such script or it is malformed. Takes some milliseconds: it
 * runs the script. */
int topo_info(const char *folder, const char *name, struct topo_info *ret_info, struct lb_err *err);

/* What durability ("default", "none", "sync") means for this topology, in words for results and
 * reports. NULL with err (LB_EXIT_USAGE) when the word is unknown or this server can't. Lives as
 * long as info. */
const char *topo_durability_text(const struct topo_info *info, const char *durability,
                                 struct lb_err *err);

struct topo;

struct topo_wish {
    const struct topo_info *info; /* copied */
    const char *durability;       /* "default", "none", "sync"; NULL = default */
    const char *base;             /* where the temporary folder goes; NULL = $TMPDIR, else /tmp */
    const int *ports;             /* nodes x ports to try first; NULL = pick free ones */
    /* By which ports its peers reach each node, nodes x ports (node by node; 0 = that node's own):
     * those of a proxy, so that replication can be cut. NULL = their own. The scripts use them
     * where compose/README.md says so. */
    const int *peer_ports;
    /* Called with the nodes' own ports (nodes x ports) before the nodes are started, again each
     * time that they are started on new ones: a proxy must pass on to these. May be NULL. */
    void (*ports_chosen)(const int *ports, int count, void *arg);
    void *arg; /* for ports_chosen */
    /* start the nodes with clocks that topo_clock can step; refused where info says no */
    bool clock;
};

/* Starts every node and returns at once: the servers are not ready yet, see topo_ready. NULL with
 * err (LB_EXIT_MACHINE) if something is missing, the folder can't be made or there is no process to
 * be had. The first call starts the janitor too: make it before there are other threads. */
struct topo *topo_start(const struct topo_wish *wish, struct lb_err *err);

/* How topo_ready asks whether the servers answer: a ping through the driver. 1 = they do, 0 = not
 * yet, -1 with err = it is pointless to wait (say, the answer is a refusal). An err with 0 explains
 * a time-out. */
typedef int topo_answers_fn(const struct topo *topo, void *arg, struct lb_err *err);

struct topo_wait {
    int64_t deadline_ns;        /* by lb_now() */
    topo_answers_fn *answers;   /* NULL: it is enough that each node's first port is open */
    bool (*give_up)(void *arg); /* asked between tries, for Ctrl-C; may be NULL */
    void *arg;                  /* for both */
};

/* Waits until every node's first port is listened to by that node itself (not by a stranger's
 * server) and wait->answers says so. If a server ends because its port was taken, all are started
 * again on new ports, some times: so read the URLs inside `answers` and after this call, not
 * before. 0, or -1 with err: which node ended, how, and its last words; or the time ran out; or
 * given up (LB_EXIT_INTERRUPTED). The servers that run stay up: call topo_stop. */
int topo_ready(struct topo *topo, const struct topo_wait *wait, struct lb_err *err);

/* 0 while every node runs that topo_kill has not ended; -1 with err (LB_EXIT_MACHINE) saying which
 * ended, how, and its last words. */
int topo_check(struct topo *topo, struct lb_err *err);

/* Stops all nodes (their stop signal, then SIGKILL after some seconds), removes their folder,
 * frees. NULL is fine. Paused nodes are stopped as well. */
void topo_stop(struct topo *topo);

/* For exits in a hurry: everything that any topo_start left is stopped and removed when it returns,
 * by the janitor. Async-signal-safe. A topo may only be given to topo_stop afterwards; new ones may
 * be started (not from a signal handler). */
void topo_stop_all(void);

const struct topo_info *topo_about(const struct topo *topo);
/* The durability that it runs with, in words. */
const char *topo_durability(const struct topo *topo);
/* Where to connect; owned by topo, changed by topo_ready's retries. */
int topo_url_count(const struct topo *topo);
const char *topo_url(const struct topo *topo, int index);
const char *const *topo_urls(const struct topo *topo);
/* The private folder of one node: its data and its file `log`. */
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

/* Throws away what an ended node has in its folder, but its log: the next topo_restart begins anew,
 * with nothing. 0, or -1 with err. */
int topo_wipe(struct topo *topo, int node, struct lb_err *err);

/* Starts an ended node again, on the same ports and with the data that it left. It does not answer
 * yet when this returns. 0, or -1 with err. */
int topo_restart(struct topo *topo, int node, struct lb_err *err);

/* Whether the node itself listens on its first port now. */
bool topo_open(struct topo *topo, int node);

/* Does something to the servers by their own means: runs `SCRIPT act NAME ARG` (compose/README.md
 * lists what there is; info->acts what this topology offers) and waits for it, at most TOPO_ACT_S
 * seconds. arg may be NULL. Its answer, one line without the newline, goes to ret_text ("" = it
 * said nothing; cut off at size); may be NULL. 0, or -1 with err (LB_EXIT_USAGE: not offered):
 * ret_text untouched. */
#define TOPO_ACT_S 20
int topo_act(struct topo *topo, const char *act, const char *arg, char *ret_text, size_t size,
             struct lb_err *err);

/* The number of the node that leads ("leader"): a leader of three, the primary of replicas. -1 with
 * err. */
int topo_leader(struct topo *topo, struct lb_err *err);

/* Steps a node's wall clock by so many ns, forward or back; what counts by the monotonic clock is
 * untouched. Steps add up, and stay over a restart. 0, or -1 with err if the topology was not
 * started with .clock. */
int topo_clock(struct topo *topo, int node, int64_t by_ns, struct lb_err *err);

#endif
