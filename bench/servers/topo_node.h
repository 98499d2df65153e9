/* topo_node: the nodes of a topology: how one is started, whether it runs, and which ports are kept
 * for it while it is down. Only the topo files include this header. */
#ifndef BENCH_SERVERS_TOPO_NODE_H
#define BENCH_SERVERS_TOPO_NODE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bench/servers/info.h"
#include "bench/servers/shm.h"
#include "bench/servers/spawn.h"

struct node {
    pid_t pid;                /* 0 = ended and reaped */
    pid_t last;               /* the last pid, also after the node has ended */
    int status;               /* how it ended */
    bool open;                /* the node was seen listening on its first port */
    bool killed;              /* ended by topo_kill, so its end is not an error */
    bool wiped;               /* restarted without data */
    int held[TOPO_PORTS_MAX]; /* sockets that keep its ports reserved while it is down; 0 = none */
    struct shm_list shm;      /* of processes that were told to end */
    char dir[600];
};

struct topo {
    struct topo_info info;
    char durability[16];
    const char *durability_text; /* in info */
    struct account account;
    char dir[512];
    char tls_dir[600]; /* the folder of the certificates; "" = without TLS */
    char ca[640];      /* the file of their authority */
    int ports[TOPO_NODES_MAX * TOPO_PORTS_MAX];      /* node by node */
    int peer_ports[TOPO_NODES_MAX * TOPO_PORTS_MAX]; /* 0 = as in ports */
    void (*ports_chosen)(const int *ports, int count, void *arg);
    void *ports_arg;
    bool clock; /* started with a clock that can be stepped */
    int64_t act_limit_ns;
    /* what each node shares with libraries in its processes, in mapped memory; NULL = nothing */
    struct shim_shared *shared[TOPO_NODES_MAX];
    struct node nodes[TOPO_NODES_MAX];
    int starts;
    bool was_ready; /* after this the nodes keep their ports */
    char url[512];
};

/* Adds the environment variables of a node's `run`, or of an action (node < 0). */
void topo_vars_fill(struct vars *vars, const struct topo *topo, int node);

/* The file that the script shares with others, or NULL. Returns path. */
const char *topo_library(const struct topo *topo, char *path, size_t size);

/* Makes a folder that belongs to the servers' account, inside the topology's folder, which belongs to this program. If
 * the folder exists already, it must be such a folder. 0, or -1 with err. */
int topo_make_folder(const struct topo *topo, const char *dir, struct lb_err *err);

/* Starts one node. 0, or -1 with err. */
int topo_start_node(struct topo *topo, int node, struct lb_err *err);

/* Whether the node runs. If it has ended: ends the processes that it started, removes its shared memory, and
 * records its status. */
bool topo_node_runs(struct node *node);

/* Makes the certificates of servers with TLS, by compose/certificates. The files belong to the servers' account, which
 * has to read the keys. Does nothing without TLS. 0, or -1 with err. */
int topo_make_certificates(struct topo *topo, struct lb_err *err);

/* While a node is down, sockets that do not listen keep its ports from other programs. They do not
 * hinder the node itself: both set SO_REUSEADDR. */
void topo_ports_hold(struct topo *topo, int node);
void topo_ports_free(struct node *node);

/* "redis", or "redis node 2 of 3 (port 17001)". Returns text. */
char *topo_node_name(const struct topo *topo, int node, char *text, size_t size);

/* Copies the libraries that the topology needs, and makes the files that they share; before the first node starts.
 * Returns 0, or -1 with err. */
int topo_shims_begin(struct topo *topo, struct lb_err *err);
void topo_shims_end(struct topo *topo);

/* The number of fsyncs of all nodes since the topology was started, including servers that have ended; -1 = not
 * known. */
int64_t topo_fsyncs(const struct topo *topo);

#endif
