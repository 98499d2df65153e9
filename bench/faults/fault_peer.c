/* fault_peer: which connections a process has to the servers of a topology; see fault_inside.h. */
#include <stdlib.h>

#include "bench/faults/fault_inside.h"
#include "bench/servers/peer.h"

static bool is_servers(const struct topo *topo, int port) {
    const struct topo_info *info = topo_about(topo);
    for (int node = 0; node < info->nodes; node++) {
        for (int i = 0; i < info->ports; i++) {
            if (topo_port(topo, node, i) == port) return true;
        }
    }
    return false;
}

int fault_peer_ports(pid_t pid, const struct topo *topo, int ports[FAULT_PORTS_MAX]) {
    size_t peer_count = 0;
    struct peer *peers = pid > 0 ? peers_of(&pid, 1, &peer_count) : NULL;
    int count = 0;
    if (!peers) return -1;
    for (size_t i = 0; i < peer_count && count < FAULT_PORTS_MAX; i++) {
        if (peers[i].established && is_servers(topo, peers[i].to)) ports[count++] = peers[i].from;
    }
    free(peers);
    return count;
}
