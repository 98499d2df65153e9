/* ports: see ports.h. A port can't be kept open until the server starts, because most servers can't take over
 * a socket. */
#include "bench/servers/ports.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/base/clock.h"
#include "bench/base/rng.h"

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

static struct sockaddr_in loopback_address(int port) {
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* Returns a socket bound to the port, or -1 if the port is taken. Without SO_REUSEADDR, so that a
 * port in TIME_WAIT does not count as free. */
static int bind_port(int port) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    struct sockaddr_in address = loopback_address(port);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    close(fd);
    return -1;
}

int port_hold(int port) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    struct sockaddr_in address = loopback_address(port);
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)) == 0 &&
        bind(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
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
        int fd = bind_port(port);
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
