/* fault_peer: which connections a process has to the servers of a topology, by /proc; see fault_inside.h. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "bench/run/fault_inside.h"

#define ESTABLISHED 1 /* in /proc/net/tcp */

struct sockets {
    uint64_t inode[2 * FAULT_PORTS_MAX];
    int count;
};

static int sockets_of(pid_t pid, struct sockets *sockets) {
    char path[64], target[64];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *dir = opendir(path);
    if (!dir) return -1;
    for (struct dirent *entry; (entry = readdir(dir));) {
        ssize_t len = readlinkat(dirfd(dir), entry->d_name, target, sizeof target - 1);
        if (len <= 0 || sockets->count == 2 * FAULT_PORTS_MAX) continue;
        target[len] = '\0';
        if (sscanf(target, "socket:[%" SCNu64, &sockets->inode[sockets->count]) == 1) sockets->count++;
    }
    closedir(dir);
    return 0;
}

static bool is_of(const struct sockets *sockets, uint64_t inode) {
    for (int i = 0; i < sockets->count; i++) {
        if (sockets->inode[i] == inode) return true;
    }
    return false;
}

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
    static const char *const tables[] = {"/proc/net/tcp", "/proc/net/tcp6"};
    struct sockets sockets = {.count = 0};
    int count = 0;
    if (pid <= 0 || sockets_of(pid, &sockets) != 0) return -1;
    for (int i = 0; i < 2; i++) {
        char line[512];
        FILE *table = fopen(tables[i], "re");
        if (!table && i == 0) return -1; /* the other is not there without IPv6 */
        while (table && fgets(line, sizeof line, table)) {
            unsigned from, to, state;
            uint64_t inode;
            /* "sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode" */
            if (sscanf(line,
                       " %*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%x %x %*x:%*x %*x:%*x %*x %*u %*d %" SCNu64,
                       &from, &to, &state, &inode) != 4) {
                continue;
            }
            if (state != ESTABLISHED || !is_of(&sockets, inode) || !is_servers(topo, (int)to)) continue;
            if (count < FAULT_PORTS_MAX) ports[count++] = (int)from;
        }
        if (table) fclose(table);
    }
    return count;
}
