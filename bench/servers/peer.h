/* peer: the open TCP connections of a set of processes, from /proc. A process whose files this program may
 * not see counts as a process without connections. */
#ifndef BENCH_SERVERS_PEER_H
#define BENCH_SERVERS_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct peer {
    int from, to; /* port of the process itself; port of the other end */
    bool established;
};

/* Returns the TCP connections that these processes, and those below them, have open, sorted by their
 * ports, *ret_count of them; the caller frees the array. NULL when out of memory. */
struct peer *peers_of(const pid_t *roots, int count, size_t *ret_count);

bool peers_have(const struct peer *peers, size_t count, int from, int to);

#endif
