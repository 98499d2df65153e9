/* ports: free TCP ports on the loopback interface for servers that will be started in a moment.
 *
 * Picking reserves nothing: between the look and the server's bind another program may take a port,
 * so the caller must be ready to try again. */
#ifndef BENCH_SERVERS_PORTS_H
#define BENCH_SERVERS_PORTS_H

#include <stdbool.h>

#include "bench/base/err.h"

/* Fills ret_ports with count (at most 64) different free ports. 0, or -1 with err. */
int ports_pick(int *ret_ports, int count, struct lb_err *err);

/* Whether anybody accepts a connection on the loopback port; it is closed at once. */
bool port_answers(int port);

/* A socket that keeps the loopback port from everybody who does not set SO_REUSEADDR, without
 * listening: -1 if it can't be had. Close it. */
int port_hold(int port);

#endif
