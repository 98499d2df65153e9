/* resolve: see resolve.h. */
#define _GNU_SOURCE
#include "drivers/resolve.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* All answers so far; entries are only ever put in front. */
static struct resolved *_Atomic known;

static const struct resolved *find_known(const char *host) {
    for (const struct resolved *at = atomic_load(&known); at; at = at->next) {
        if (strcmp(at->host, host) == 0) return at;
    }
    return NULL;
}

static void note_addresses(struct resolved *resolved, const struct addrinfo *list) {
    for (const struct addrinfo *at = list; at && resolved->count < RESOLVED_MAX; at = at->ai_next) {
        int i = resolved->count;
        if (getnameinfo(at->ai_addr, at->ai_addrlen, resolved->address[i],
                        sizeof resolved->address[i], NULL, 0, NI_NUMERICHOST) != 0)
            continue;
        resolved->ipv4[i] = at->ai_family == AF_INET;
        resolved->count++;
    }
}

const struct resolved *resolve_host(const char *host, struct lb_err *err) {
    const struct resolved *found = find_known(host);
    if (found) return found;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
    int failed = getaddrinfo(host, NULL, &hints, &list);
    if (failed) {
        err_set(err, LB_EXIT_MACHINE, "host '%s': %s", host, gai_strerror(failed));
        return NULL;
    }
    struct resolved *resolved = calloc(1, sizeof *resolved);
    if (resolved) note_addresses(resolved, list);
    freeaddrinfo(list);
    if (!resolved || resolved->count == 0) {
        err_set(err, LB_EXIT_MACHINE, "host '%s': %s", host,
                resolved ? "it has no address" : "out of memory");
        free(resolved);
        return NULL;
    }
    snprintf(resolved->host, sizeof resolved->host, "%s", host);
    resolved->next = atomic_load(&known);
    while (!atomic_compare_exchange_weak(&known, &resolved->next, resolved)) {
    }
    return resolved;
}

bool resolve_accepts(const struct addrinfo *at, int limit_ms) {
    int fd = socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), error = 0;
    socklen_t len = sizeof error;
    if (fd < 0) return false;
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    bool accepts = connect(fd, at->ai_addr, at->ai_addrlen) == 0;
    if (!accepts && errno == EINPROGRESS)
        accepts = poll(&wait, 1, limit_ms) == 1 &&
                  getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 && error == 0;
    close(fd);
    return accepts;
}
