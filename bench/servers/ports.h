/* ports: free TCP ports on the loopback interface, for servers that will be started next.
 *
 * Picking a port does not reserve it: another program may take the port before the server binds it,
 * so the caller must be ready to try again. */
#ifndef BENCH_SERVERS_PORTS_H
#define BENCH_SERVERS_PORTS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "bench/base/err.h"

struct sockaddr_in loopback_address(int port);

/* Fills ret_ports with count (at most 64) different free ports. Returns 0, or -1 with err. */
int ports_pick(int *ret_ports, int count, struct lb_err *err);

/* Whether any process accepts a connection on this loopback port; the connection is closed at
 * once. */
bool port_answers(int port);

/* Whether a process of the tree below root listens on this loopback TCP port. If this program may not see
 * the files of another user's processes (as root in a container), a listener that belongs to the user of
 * the process `root` counts. */
bool port_is_of(pid_t root, int port);

/* Returns a socket that keeps the loopback port from every process that does not set SO_REUSEADDR,
 * without listening; -1 if the port can't be kept. The caller closes it. */
int port_hold(int port);

/* The open TCP connections of a set of processes, from /proc. A process whose files this program may
 * not see counts as a process without connections. */

struct peer {
    int from, to; /* port of the process itself; port of the other end */
    bool established;
};

/* Returns the TCP connections that these processes, and those below them, have open, sorted by their
 * ports, *ret_count of them; the caller frees the array. NULL when out of memory. */
struct peer *peers_of(const pid_t *roots, int count, size_t *ret_count);

bool peers_have(const struct peer *peers, size_t count, int from, int to);

#endif
