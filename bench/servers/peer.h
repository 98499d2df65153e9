/* peer: which TCP connections processes have open, as /proc tells. It refuses nothing where it may
 * not look: such a process has no connections. */
#ifndef BENCH_SERVERS_PEER_H
#define BENCH_SERVERS_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct peer {
    int from, to; /* ports: the process's own, the other end's */
    bool established;
};

/* The TCP connections that these processes have open, sorted by their ports, *ret_count of them;
 * the caller frees. NULL when out of memory. */
struct peer *peers_of(const pid_t *pids, int count, size_t *ret_count);

bool peers_have(const struct peer *peers, size_t count, int from, int to);

#endif
