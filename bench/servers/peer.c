/* peer: see peer.h. Sockets come from /proc/PID/fd, their ports from /proc/net/tcp and tcp6: Java
 * uses IPv6 sockets for IPv4 addresses. */
#include "bench/servers/peer.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/servers/proc.h"

#define ESTABLISHED 1 /* in /proc/net/tcp */

struct inodes {
    uint64_t *inode;
    size_t count, room;
};

static bool inodes_add(struct inodes *inodes, uint64_t inode) {
    if (inodes->count == inodes->room) {
        size_t room = inodes->room ? inodes->room * 2 : 256;
        uint64_t *grown = realloc(inodes->inode, room * sizeof *grown);
        if (!grown) return false;
        inodes->inode = grown;
        inodes->room = room;
    }
    inodes->inode[inodes->count++] = inode;
    return true;
}

static bool sockets_of(pid_t pid, struct inodes *inodes) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *dir = opendir(path);
    bool fits = true;
    for (struct dirent *entry; dir && fits && (entry = readdir(dir));) {
        char target[64];
        uint64_t inode;
        if (!isdigit((unsigned char)entry->d_name[0])) continue;
        ssize_t len = readlinkat(dirfd(dir), entry->d_name, target, sizeof target - 1);
        if (len <= 0) continue;
        target[len] = '\0';
        if (sscanf(target, "socket:[%" SCNu64, &inode) == 1) fits = inodes_add(inodes, inode);
    }
    if (dir) closedir(dir);
    return fits;
}

static int by_inode(const void *left, const void *right) {
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static int by_ports(const void *left, const void *right) {
    const struct peer *a = left, *b = right;
    return a->from != b->from ? a->from - b->from : a->to - b->to;
}

/* Adds the rows of one table whose inode is among the given ones. */
static size_t rows_of(const char *path, const struct inodes *inodes, struct peer *peers,
                      size_t room) {
    FILE *table = fopen(path, "re");
    size_t count = 0;
    char line[512];
    while (table && count < room && fgets(line, sizeof line, table)) {
        unsigned from, to, state;
        uint64_t inode;
        /* "sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode" */
        if (sscanf(
                line,
                " %*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%x %x %*x:%*x %*x:%*x %*x %*u %*d %" SCNu64,
                &from, &to, &state, &inode) == 4 &&
            bsearch(&inode, inodes->inode, inodes->count, sizeof inode, by_inode))
            peers[count++] = (struct peer){
                .from = (int)from, .to = (int)to, .established = state == ESTABLISHED};
    }
    if (table) fclose(table);
    return count;
}

struct peer *peers_of(const pid_t *roots, int count, size_t *ret_count) {
    struct inodes inodes = {0};
    int processes = 0;
    struct proc *tree = proc_tree(roots, count, &processes);
    bool fits = tree != NULL;
    for (int i = 0; i < processes && fits; i++) fits = sockets_of(tree[i].pid, &inodes);
    free(tree);
    struct peer *peers = fits ? calloc(inodes.count + 1, sizeof *peers) : NULL;
    size_t found = 0;
    if (peers && inodes.count) {
        qsort(inodes.inode, inodes.count, sizeof *inodes.inode, by_inode);
        found = rows_of("/proc/net/tcp", &inodes, peers, inodes.count);
        found += rows_of("/proc/net/tcp6", &inodes, peers + found, inodes.count - found);
        qsort(peers, found, sizeof *peers, by_ports);
    }
    free(inodes.inode);
    *ret_count = found;
    return peers;
}

bool peers_have(const struct peer *peers, size_t count, int from, int to) {
    struct peer wanted = {.from = from, .to = to};
    return peers && bsearch(&wanted, peers, count, sizeof *peers, by_ports) != NULL;
}
