/* floor_redis: the bare loop's clients of Redis. See floor.h. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/base/clock.h"
#include "bench/perf/floor.h"

#define TOKEN "0123456789abcdef0123456789abcdef01234567"

/* The keys of a run are its own, since the last ones stay until their time to live ends. */
static void write_commands(struct floor_client *client, const char *release_sha1, int64_t run,
                           int index) {
    char key[64];
    int len = snprintf(key, sizeof key, "lockbench-floor-%llx-%d", (unsigned long long)run, index);
    client->take_len = (size_t)snprintf(client->take, sizeof client->take,
                                        "*6\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$40\r\n" TOKEN
                                        "\r\n$2\r\nNX\r\n$2\r\nPX\r\n$5\r\n10000\r\n",
                                        len, key);
    client->free_len = (size_t)snprintf(
        client->free, sizeof client->free,
        "*5\r\n$7\r\nEVALSHA\r\n$40\r\n%s\r\n$1\r\n1\r\n$%d\r\n%s\r\n$40\r\n" TOKEN "\r\n",
        release_sha1, len, key);
}

static int open_client(struct floor_client *client, const struct floor_server *server,
                       struct lb_err *err) {
    const struct sockaddr_in at = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)server->port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char text[FLOOR_COMMAND_MAX];
    int on = 1;
    client->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client->fd < 0 || connect(client->fd, (const struct sockaddr *)&at, sizeof at) != 0)
        return err_set(err, LB_EXIT_MACHINE, "bare loop: no connection: %s", strerror(errno));
    setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    int len = snprintf(text, sizeof text, "AUTH %s\r\n", server->password);
    if (write(client->fd, text, (size_t)len) == len && read(client->fd, text, sizeof text) > 3 &&
        strncmp(text, "+OK", 3) == 0)
        return 0;
    return err_set(err, LB_EXIT_MACHINE, "bare loop: Redis does not let a client in");
}

int floor_redis(const struct floor_server *server, struct floor_figures *ret_figures,
                struct lb_err *err) {
    struct floor_client *clients = calloc((size_t)server->connections, sizeof *clients);
    const struct floor_ask ask = {.clients = clients,
                                  .count = server->connections,
                                  .taken = "+O",
                                  .freed = ":1",
                                  .answer_len = 2,
                                  .in_order = server->in_order,
                                  .warmup_ns = server->warmup_ns,
                                  .duration_ns = server->duration_ns};
    int64_t run = lb_now();
    int opened = 0, failed = 0;
    if (!clients) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    while (opened < ask.count && !failed) {
        write_commands(&clients[opened], server->release_sha1, run, opened);
        failed = open_client(&clients[opened++], server, err);
    }
    if (!failed) failed = floor_run(&ask, ret_figures, err);
    while (opened-- > 0) {
        if (clients[opened].fd >= 0) close(clients[opened].fd);
    }
    free(clients);
    return failed;
}
