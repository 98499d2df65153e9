/* info: what a topology's script states about itself: its nodes, URL, durability, weight, and what
 * this machine lacks to run it. A script that states less than is needed is refused. */
#ifndef BENCH_SERVERS_INFO_H
#define BENCH_SERVERS_INFO_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/base/err.h"

#define TOPO_NODES_MAX 16
#define TOPO_PORTS_MAX 4 /* of one node */

/* The settings of durability: servers.durability, --durability. */
enum { TOPO_DEFAULT, TOPO_NONE, TOPO_SYNC, TOPO_DURABILITIES };
extern const char *const topo_durability_names[TOPO_DURABILITIES];

/* The meaning of one of these settings for a topology. */
struct topo_durability {
    char text[200];    /* in words, for results and reports; "" = not offered */
    char refused[200]; /* why it is not offered */
    char class[16];    /* a word of bench/base/verdict.h; known where there is a text */
};

/* The connections that may lead through wires (wire.h). */
enum { TOPO_WIRED_CLIENTS = 1 << 0, TOPO_WIRED_PEERS = 1 << 1 };

/* The values that `SCRIPT info` prints; compose/README.md documents them. */
struct topo_info {
    char name[64];
    char script[512];      /* the script's path */
    char summary[128];     /* "one Redis server" */
    char missing[256];     /* what this machine lacks to run it; "" = nothing */
    char install[256];     /* the Debian packages that contain it */
    char act_missing[64];  /* what this machine lacks for its actions; "" = nothing */
    char act_install[128]; /* the Debian packages that contain that */
    int nodes;
    int ports;         /* of each node */
    char user[64];     /* the account to run as when the program runs as root; "" = root itself */
    char url[512];     /* a template: see topo_fill_url */
    char url_tls[512]; /* the same of its servers with TLS; "" = they have none */
    bool tls;          /* topo_info_tls chose TLS */
    /* the password that servers started from this info ask of their clients, where they can; random, and new at each
     * topo_info. Never print it */
    char secret[33];
    int stop_signal;
    int weight; /* its part of what `lockbench check` runs at once; see struct jobs */
    struct topo_durability durability[TOPO_DURABILITIES];
    char acts[128]; /* the actions that topo_act offers: "leader promote terminate"; "" = none */
    /* a file in compose/acts that several topologies share; "" = none */
    char library[64];
    /* the server's program, which servers.program may replace (info.h); "" = it may not */
    char program[512];
    bool other_program;  /* `program` is not the script's own */
    bool listen_offered; /* servers.listen can be asked of its servers */
    char listen[16];     /* the chosen address; "" = none */
    bool clock;          /* topo_clock works on this topology */
    /* its servers write to files alone by write calls, to sockets by send */
    bool written_by_calls;
    bool fsyncs;     /* its servers call the C library's fsync: they can be counted */
    int connections; /* of clients that it takes at most; 0 = not stated */
    int warm_s; /* load until it is as fast as it becomes: of a JVM, which compiles on the way */
    unsigned wired; /* TOPO_WIRED_ bits; 0 = nothing */
};

/* Whether the topology offers an action. */
bool topo_offers(const struct topo_info *info, const char *act);

/* Runs `info` of the script `name` in `folder` (compose/local), which takes some milliseconds.
 * Returns 0, also when something is missing (see .missing); -1 with err if there is no such script
 * or its output is malformed. */
int topo_info(const char *folder, const char *name, struct topo_info *ret_info, struct lb_err *err);

/* Fills the template of the URL: %PORT% is the first port of node 0, %PORT2% that of node 2. ports: node by node. */
void topo_fill_url(const struct topo_info *info, const int *ports, char *ret_url, size_t size);

/* Chooses TLS for the servers that are started from info: its URL becomes the one with TLS. Returns 0, or -1 with
 * err (LB_EXIT_USAGE) where the topology does not offer TLS. */
int topo_info_tls(struct topo_info *info, struct lb_err *err);

/* The meaning of the setting ("default", "none", "sync") for this topology. NULL with err
 * (LB_EXIT_USAGE) when the word is unknown or this server does not offer the setting. Lives as long as
 * info. */
const struct topo_durability *topo_durability_of(const struct topo_info *info, const char *setting,
                                                 struct lb_err *err);

/* Chooses another program that speaks the same protocol (a path, or a name in PATH: servers.program), and an IPv4 address
 * besides 127.0.0.1 (servers.listen), for the servers that are started from info; NULL or "" = the script's own, and none.
 * With another program, info->missing does not name the script's own; it is not checked what kind of program it is.
 * Returns 0, or -1 with err: LB_EXIT_USAGE if the topology does not offer this, LB_EXIT_MACHINE if there is no such
 * program. */
int topo_info_flavour(struct topo_info *info, const char *program, const char *listen,
                      struct lb_err *err);

#endif
