/* perf_wire: the cost of the wire: a round trip of 64 bytes through it, against one without it, to an echo
 * server in a process of its own, over one connection. The difference is what the wire adds to each
 * round trip of a run that uses it. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/base/clock.h"
#include "bench/base/sort.h"
#include "bench/perf/perf.h"
#include "bench/servers/wire.h"

#define TRIPS 4000
#define MESSAGE_BYTES 64

static int no_delay(int fd) {
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

static int listen_anywhere(int *ret_port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, len) != 0 || listen(fd, 8) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &len) != 0) {
        if (fd >= 0) close(fd);
        return -1;
    }
    *ret_port = ntohs(address.sin_port);
    return fd;
}

static pid_t fork_echo(int listen_fd) {
    pid_t pid = fork();
    if (pid != 0) return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        char data[MESSAGE_BYTES];
        int fd = no_delay(accept(listen_fd, NULL, NULL));
        for (ssize_t len; (len = recv(fd, data, sizeof data, 0)) > 0;)
            (void)!send(fd, data, (size_t)len, 0);
        close(fd);
    }
}

/* The middle one of so many round trips, in ns; -1 = it broke. */
static int64_t trip_ns(int port) {
    static int64_t trips[TRIPS];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    char data[MESSAGE_BYTES] = "";
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = no_delay(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    int count = connect(fd, (struct sockaddr *)&address, sizeof address) == 0 ? 0 : -1;
    while (count >= 0 && count < TRIPS) {
        int64_t begin_ns = lb_now();
        if (send(fd, data, sizeof data, MSG_NOSIGNAL) != MESSAGE_BYTES ||
            recv(fd, data, sizeof data, MSG_WAITALL) != MESSAGE_BYTES)
            count = -2;
        else
            trips[count] = lb_now() - begin_ns;
        count++;
    }
    if (fd >= 0) close(fd);
    if (count < 0) return -1;
    sort_times(trips, TRIPS);
    return trips[TRIPS / 2];
}

int perf_wire(struct lb_err *err) {
    double ratios[PERF_ROUNDS];
    int64_t direct_ns = 0, wired_ns = 0;
    struct wire_end end = {0};
    int listen_fd = listen_anywhere(&end.server_port);
    pid_t echo = listen_fd >= 0 ? fork_echo(listen_fd) : -1;
    struct wire *wire = echo > 0 ? wire_start(&end, 1, err) : NULL;
    int failed = wire ? 0 : err_set(err, LB_EXIT_MACHINE, "no echo: %s", strerror(errno));
    for (int i = 0; i < PERF_ROUNDS && !failed; i++) {
        wired_ns = trip_ns(wire_port(wire, 0));
        direct_ns = trip_ns(end.server_port);
        ratios[i] = (double)wired_ns / (double)direct_ns;
        if (wired_ns <= 0 || direct_ns <= 0)
            failed = err_set(err, LB_EXIT_MACHINE, "the echo broke");
    }
    wire_stop(wire);
    if (echo > 0) {
        kill(echo, SIGKILL);
        waitpid(echo, NULL, 0);
    }
    if (listen_fd >= 0) close(listen_fd);
    if (failed) return -1;
    perf_print("64 bytes there and back, p50: through the wire / directly", "stated", ratios,
               PERF_ROUNDS);
    printf("    last pair: %.1f us against %.1f us\n", (double)wired_ns / 1e3,
           (double)direct_ns / 1e3);
    return 0;
}
