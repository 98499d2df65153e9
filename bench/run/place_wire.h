/* place_wire: the wire between a topology's servers and their clients, and between the servers
 * themselves. */
#ifndef BENCH_RUN_PLACE_WIRE_H
#define BENCH_RUN_PLACE_WIRE_H

#include "bench/servers/topo.h"
#include "bench/workload/plan.h"
#include "drivers/driver.h"

struct place_wire {
    struct wire *wire;
    /* its ends: bit n leads clients to node n; 0 = clients are not led through it */
    uint64_t client_ends;
    uint64_t peer_ends;            /* servers among themselves */
    const char *const *urls;       /* what clients get instead of the topology's; NULL = those */
    const struct lb_route *routes; /* to the hosts of a user's URL */
    int route_count;
};

/* Starts the wire, before its servers, and fills in the members of wish about it, which are valid as long as
 * the wire. wires: TOPO_WIRED_ bits, the connections that are led through the wire where the topology allows that.
 * Returns NULL with err: the topology allows none of them (LB_EXIT_USAGE), or no wire can be started. */
struct place_wire *place_wire_start(const struct topo_info *info, unsigned wires,
                                    struct topo_wish *wish, struct lb_err *err);

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

/* The ends by which a node's peers reach it. 0 = there are none; NULL is fine. */
uint64_t place_wire_peer_ends(const struct place_wire *wiring, int node);

/* NULL is fine. */
void place_wire_stop(struct place_wire *wiring);

#endif
