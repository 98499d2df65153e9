/* place: a backend that is ready for a run: its servers were started or reached, opened, and asked
 * for their version and settings. */
#ifndef BENCH_PLACE_PLACE_H
#define BENCH_PLACE_PLACE_H

#include <jansson.h>
#include <sched.h>
#include <signal.h>

#include "bench/servers/info.h"
#include "bench/servers/topo.h"
#include "bench/workload/plan.h"
#include "drivers/clean.h"
#include "drivers/driver.h"
#include "drivers/facts.h"
#include "drivers/url.h"

/* place_wire: the wire between a topology's servers and their clients, and between the servers
 * themselves. */

struct place_wire {
    struct wire *wire;
    struct topo_info info; /* of servers of our own */
    /* its ends: bit n leads clients to node n; 0 = clients are not led through it */
    uint64_t client_ends;
    uint64_t peer_ends; /* servers among themselves */
    int peer_ports[TOPO_NODES_MAX * TOPO_PORTS_MAX];
    char url[512]; /* what clients get instead of the topology's; "" = that */
    struct lb_route routes[URL_HOSTS_MAX]; /* to the hosts of a user's URL */
    int route_count;
    struct lb_err err; /* why it does not lead to the ports of the servers */
};

/* Starts the wire, before its servers, and fills in the members of topo_ask about it, which are valid as long as
 * the wire. wires: TOPO_WIRED_ bits, the connections that are led through the wire where the topology allows that.
 * Returns NULL with err: the topology allows none of them (LB_EXIT_USAGE), or no wire can be started. */
struct place_wire *place_wire_start(const struct topo_info *info, unsigned wires,
                                    struct topo_ask *topo_ask, struct lb_err *err);

/* Starts a wire to the servers of a user's URL. Their names are resolved once. Returns NULL with err
 * (LB_EXIT_USAGE): the URL has no port; its servers tell clients their own addresses; it has options that choose
 * another way to the server; a name is unknown. */
struct place_wire *place_wire_reach(const char *url, struct lb_err *err);

/* Checks, without asking any server, whether a wire can lead to the servers of a URL. Returns 0, or -1 with err
 * (LB_EXIT_USAGE): why not. */
int place_wire_check_url(const char *url, struct lb_err *err);

/* Delays the bytes of clients from now on. Returns 0, or -1 with err: they are not led through the wire (LB_EXIT_USAGE),
 * or the wire has ended. */
int place_wire_distance(const struct place_wire *wiring, const struct distance *clients,
                        struct lb_err *err);

/* Returns 0 while the wire forwards to the ports of the servers; -1 with err. Accepts a place
 * without a wire. */
int place_wire_check(const struct place_wire *wiring, struct lb_err *err);

/* NULL is fine. */
void place_wire_stop(struct place_wire *wiring);

/* "--url backend=URL". */
struct place_url {
    const struct lb_backend *backend;
    const char *url;
    /* the argument of --url for this server: "redis=env:NAME"; "redis=env:LOCKBENCH_URL_REDIS" where a secret was typed;
     * NULL = the user gave no --url */
    const char *word;
    const void *options; /* the backend's, parsed; NULL = the defaults */
};

/* True if the option is one of the options tls_... of a backend, and is set; *value is then its value as text. */
bool place_tls_is_set(const struct lb_option *option, const void *options, char *value,
                      size_t size);

struct place_ask {
    /* any lock of the backend: its options are used for the first requests to the server */
    const struct plan_lock *lock;
    const char *url;              /* from --url; NULL = start our own servers, or embedded */
    const char *topology;         /* which of the lock's topologies to start; NULL = its first */
    const char *topologies;       /* the folder compose/local */
    const char *durability;       /* "default", "none", "sync" */
    const char *program, *listen; /* servers.program and servers.listen, of servers of our own */
    bool tls;                     /* start servers of our own with TLS */
    /* lead clients, and servers among themselves, through a wire (wire.h), as far as the topology's
     * script allows; to a URL's servers: clients alone, and see place_wire_reach */
    bool wired;
    struct distance distance; /* leads clients through the wire, too, which delays their bytes */
    /* start servers of our own so that their wall clocks can be changed, where that is possible */
    bool clock;
    struct lb_cleaning *cleaning; /* to be done at once, at a URL; NULL = nothing */
    const volatile sig_atomic_t *interrupts;
};

struct place {
    struct lb_server server;
    struct topo *topo; /* NULL = embedded, or not our own */
    const char *urls[1];
    char dir[512]; /* embedded backends' own folder; "" = none */
    char topology[192], durability[300];
    char encryption[96];          /* of the clients' connections, in words; "" = none */
    const char *durability_class; /* the server's: a word of bench/base/verdict.h, or NULL */
    struct lb_facts facts;
    struct place_wire *wiring; /* NULL: not asked for */
    int64_t warmed_ns;         /* of round 0 */
    bool in_use; /* some threads did not return: place_close leaves its memory to them */
};

/* Refuses a URL that can't be right, before any server is started. It asks no server and no name service, so it finds
 * only mistakes in the text. Returns 0, or -1 with err (LB_EXIT_USAGE). */
int place_check_url(const struct place_ask *ask, struct lb_err *err);

/* Refuses options of the lock's backend that servers which lockbench starts do not have: tls_... without TLS, and the
 * stated durability. 0, or -1 with err (LB_EXIT_USAGE). */
int place_check_own(const struct place_ask *ask, struct lb_err *err);

/* Whether the faults of a plan can act on a server at a URL: those of clients can, and those of clients'
 * connections, where a wire can lead to it. Returns 0, or -1 with err (LB_EXIT_USAGE), whose text is a
 * phrase. */
int place_check_faults(const struct plan *plan, const char *url, struct lb_err *err);

/* Whether the servers that would be started offer the actions that the plan's faults ask for, such as a promotion,
 * which needs a replica. Returns 0, or -1 with err (LB_EXIT_USAGE). */
int place_check_acts(const struct plan *plan, const struct place_ask *ask, struct lb_err *err);

/* Waits, 90 s at most, until servers that topo_start has started answer a client of the lock; or, with NULL,
 * until they listen: a server that listens may refuse its clients for a while, as PostgreSQL does. Returns 0, or -1
 * with err; the servers run on. Main thread, no other thread. */
int place_ready(struct topo *topo, const struct plan_lock *lock,
                const volatile sig_atomic_t *interrupts, struct lb_err *err);

/* Starts the servers, opens the backend and waits until it answers. NULL with err. Call it on the
 * main thread, while there is no other thread. */
struct place *place_open(const struct place_ask *ask, struct lb_err *err);
/* Its two parts, so that several servers start side by side. begin does not wait for servers that it starts; finish
 * closes the place where they fail. The ask is the same for both. */
struct place *place_begin(const struct place_ask *ask, struct lb_err *err);
struct place *place_finish(struct place *place, const struct place_ask *ask, struct lb_err *err);
/* Closes the backend and stops our own servers. Accepts NULL. */
void place_close(struct place *place);

/* Whether so many server processes can be up at a time on this machine; if not, *why says why. */
bool place_fit_together(int nodes, struct lb_err *why);

/* Gives servers that start from now on one half of the processors and this process, and what it starts, the other. False:
 * all share them, because that is asked for or there are fewer than four. Before any thread or server is started. */
bool place_divide_processors(bool shared, cpu_set_t *ret_clients, cpu_set_t *ret_servers);

/* Whether the plan is about a kind of server: a pooler, several primaries. */
bool place_needs_kind(const struct plan *plan);
/* Refuses a plan about a kind of server at a place of another kind, which would show
 * nothing. 0, or -1 with err (LB_EXIT_USAGE). */
int place_check_kind(const struct place *place, const struct plan *plan, struct lb_err *err);

/* Whether the place is a server, or a folder, that lockbench did not start or make (--url). */
bool place_is_guest(const struct place *place);

/* The durability of the lock's own state at this place, as a word of bench/base/verdict.h: the lock's class if it
 * states one, otherwise the server's class, which a server at --url reports itself. NULL = not known. */
const char *place_durability_class(const struct place *place, const struct lb_lock *lock);

/* The guarantee of the lock at this place, as a word of bench/base/verdict.h. A lock that needs a majority has the
 * guarantee of one server if there is only one server. */
const char *place_guarantee(const struct place *place, const struct lb_lock *lock);

/* The place's element of run.json's .servers, without passwords: new reference, NULL when out of memory. */
json_t *place_json(const struct place *place);

#endif
