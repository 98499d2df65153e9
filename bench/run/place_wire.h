/* place_wire: the wire between a place's servers and their clients, and between the servers
 * themselves. */
#ifndef BENCH_RUN_PLACE_WIRE_H
#define BENCH_RUN_PLACE_WIRE_H

#include "bench/run/place.h"

/* Starts the wire that the topology allows, before its servers; fills in what they are to be
 * started with, which lives as long as the place. 0, or -1 with err: it allows none
 * (LB_EXIT_USAGE), or there is none to be had. */
int place_wire_start(struct place *place, const struct topo_info *info, struct topo_wish *wish,
                     struct lb_err *err);

/* 0 while the wire leads to where the servers are; -1 with err. No wire is fine. */
int place_wire_check(const struct place *place, struct lb_err *err);

void place_wire_stop(struct place *place);

#endif
