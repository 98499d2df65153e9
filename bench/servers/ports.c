/* ports: see ports.h. A port can't be kept open until the server starts, because most servers can't take over
 * a socket. */
#include "bench/servers/ports.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/base/clock.h"
#include "bench/base/rng.h"
#include "bench/servers/proc.h"

#define PORTS_MAX 64

/* Binding to port 0 would give ports from the range that the kernel also uses for outgoing
 * connections: while 2,000 clients of an earlier server are connected, such a port may be taken
 * before the new server binds it. So ports are drawn below that range, where there is room. */
static void port_range(int *ret_low, int *ret_high) {
    int low = 15000, high = 32767, first;
    FILE *file = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");
    if (file) {
        if (fscanf(file, "%d", &first) == 1 && first - 1 >= low + 2000) high = first - 1;
        fclose(file);
    }
    *ret_low = low;
    *ret_high = high;
}

struct sockaddr_in loopback_address(int port) {
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* Returns a socket bound to the port, or -1 if the port is taken. reuse: a port in TIME_WAIT counts as
 * free. */
static int bind_port(int port, int reuse) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    struct sockaddr_in address = loopback_address(port);
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse) == 0 &&
        bind(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

int port_hold(int port) {
    return bind_port(port, 1);
}

bool port_answers(int port) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return false;
    struct sockaddr_in address = loopback_address(port);
    int error = 0;
    socklen_t len = sizeof error;
    struct pollfd connected = {.fd = fd, .events = POLLOUT};
    /* A short timeout: a server with a full queue would keep the caller for minutes. */
    bool answers = connect(fd, (struct sockaddr *)&address, sizeof address) == 0 ||
                   (errno == EINPROGRESS && poll(&connected, 1, 50) == 1 &&
                    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 && error == 0);
    close(fd);
    return answers;
}

int ports_pick(int *ret_ports, int count, struct lb_err *err) {
    if (count < 1 || count > PORTS_MAX)
        return err_set(err, LB_EXIT_MACHINE, "%d ports asked for", count);
    int low, high;
    port_range(&low, &high);
    struct lb_rng rng;
    rng_seed(&rng, (uint64_t)lb_wall_now(), (uint64_t)getpid());
    int fds[PORTS_MAX], ports[PORTS_MAX], found = 0;
    /* All ports are kept until the last one is found, so that no two are the same. */
    for (int tries = 0; found < count && tries < 2000; tries++) {
        int port = low + (int)rng_below(&rng, (uint64_t)high - (uint64_t)low + 1);
        int fd = bind_port(port, 0);
        if (fd < 0) continue;
        fds[found] = fd;
        ports[found++] = port;
    }
    for (int i = 0; i < found; i++) close(fds[i]);
    if (found < count)
        return err_set(err, LB_EXIT_MACHINE,
                       "found no %d free ports on 127.0.0.1 between %d and %d", count, low, high);
    for (int i = 0; i < count; i++) ret_ports[i] = ports[i];
    return 0;
}

/* --- connections of processes --- */

#define ESTABLISHED 0x01 /* in /proc/net/tcp */
#define LISTEN 0x0A

/* The sockets that processes have open. */
struct inodes {
    uint64_t *inode;
    size_t count, room;
    bool hidden; /* this program may not see all of them */
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
    errno = 0;
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
    inodes->hidden |= errno == EACCES || errno == EPERM;
    if (dir) closedir(dir);
    return fits;
}

static int by_inode(const void *left, const void *right) {
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Finds the sockets of the trees below roots, sorted. Returns false when out of memory; the caller frees them. */
static bool sockets_below(const pid_t *roots, int count, struct inodes *ret_inodes) {
    int processes = 0;
    struct proc *tree = proc_tree(roots, count, &processes);
    bool fits = tree != NULL;
    for (int i = 0; i < processes && fits; i++) fits = sockets_of(tree[i].pid, ret_inodes);
    free(tree);
    if (ret_inodes->count)
        qsort(ret_inodes->inode, ret_inodes->count, sizeof *ret_inodes->inode, by_inode);
    return fits;
}

static bool is_among(const struct inodes *inodes, uint64_t inode) {
    return inodes->count &&
           bsearch(&inode, inodes->inode, inodes->count, sizeof inode, by_inode) != NULL;
}

/* The machine's tables of sockets, row by row. */
struct rows {
    FILE *table;
    int tables; /* that were opened */
    unsigned from, to, state, user;
    uint64_t inode;
};

static bool next_row(struct rows *rows) {
    static const char *const tables[] = {"/proc/net/tcp", "/proc/net/tcp6"};
    /* "sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode" */
    static const char format[] =
        " %*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%x %x %*x:%*x %*x:%*x %*x %u %*d %" SCNu64;
    char line[512];
    for (;;) {
        while (rows->table && fgets(line, sizeof line, rows->table)) {
            if (sscanf(line, format, &rows->from, &rows->to, &rows->state, &rows->user,
                       &rows->inode) == 5)
                return true;
        }
        if (rows->table) fclose(rows->table);
        rows->table = NULL;
        if (rows->tables == 2) return false;
        rows->table = fopen(tables[rows->tables++], "re");
    }
}

bool port_is_of(pid_t root, int port) {
    struct inodes inodes = {0};
    struct rows row = {0};
    struct stat about;
    char path[64];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d", (int)root);
    if (stat(path, &about) != 0) return false;
    bool known = sockets_below(&root, 1, &inodes);
    while (known && next_row(&row)) {
        if (row.state != LISTEN || row.from != (unsigned)port) continue;
        found |= is_among(&inodes, row.inode) || (inodes.hidden && row.user == about.st_uid);
    }
    free(inodes.inode);
    return found;
}

static int by_ports(const void *left, const void *right) {
    const struct peer *a = left, *b = right;
    return a->from != b->from ? a->from - b->from : a->to - b->to;
}

struct peer *peers_of(const pid_t *roots, int count, size_t *ret_count) {
    struct inodes inodes = {0};
    struct rows row = {0};
    bool known = sockets_below(roots, count, &inodes);
    struct peer *peers = known ? calloc(inodes.count + 1, sizeof *peers) : NULL;
    size_t found = 0;
    while (peers && inodes.count && next_row(&row)) {
        if (found == inodes.count || !is_among(&inodes, row.inode)) continue;
        peers[found++] = (struct peer){
            .from = (int)row.from, .to = (int)row.to, .established = row.state == ESTABLISHED};
    }
    if (peers) qsort(peers, found, sizeof *peers, by_ports);
    free(inodes.inode);
    *ret_count = found;
    return peers;
}

bool peers_have(const struct peer *peers, size_t count, int from, int to) {
    struct peer wanted = {.from = from, .to = to};
    return peers && bsearch(&wanted, peers, count, sizeof *peers, by_ports) != NULL;
}
