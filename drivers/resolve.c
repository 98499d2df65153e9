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

#include "drivers/wait.h"

/* route: see resolve.h. It resolves and connects nothing. */

void lb_route(const struct lb_server *server, const char **host, int *port) {
    for (int i = 0; i < server->route_count; i++) {
        const struct lb_route *route = &server->routes[i];
        if (route->port != *port || strcmp(route->host, *host) != 0) continue;
        *host = route->dial_host;
        *port = route->dial_port;
        return;
    }
}

size_t lb_route_url(const struct lb_server *server, const char *url, char *out, size_t size) {
    const char *authority = strstr(url, "://");
    if (server->route_count == 0 || !authority) return (size_t)snprintf(out, size, "%s", url);
    authority += strlen("://");
    const char *rest = authority + strcspn(authority, "/?#");
    for (const char *at = authority; at < rest; at++) {
        if (*at == '@') authority = at + 1;
    }
    size_t used = (size_t)snprintf(out, size, "%.*s", (int)(authority - url), url);
    for (int i = 0; i < server->route_count; i++) {
        const struct lb_route *route = &server->routes[i];
        used += (size_t)snprintf(used < size ? out + used : NULL, used < size ? size - used : 0,
                                 "%s%s:%d", i > 0 ? "," : "", route->dial_host, route->dial_port);
    }
    return used + (size_t)snprintf(used < size ? out + used : NULL, used < size ? size - used : 0,
                                   "%s", rest);
}

int lb_connect_in_turn(struct lb_session *session, unsigned first, int count, int64_t deadline_ns,
                       lb_connect_host_fn *connect_host, struct lb_err *err) {
    const struct lb_connector *connector = session->server->backend->connector;
    for (int i = 0; i < count; i++) {
        int64_t now_ns = lb_now(), share_ns = (deadline_ns - now_ns) / (count - i);
        struct lb_err why = {0};
        int host = (int)((first + (unsigned)i) % (unsigned)count);
        int failed = connect_host(session, host, now_ns + share_ns, &why);
        if (!failed) return 0;
        *err = why;
        bool everywhere = failed < -1 || why.code == LB_EXIT_USAGE;
        if (i + 1 == count || everywhere || lb_stopping()) break;
        connector->disconnect(session);
        session->traffic_fd = -1;
        memset(session->state, 0, connector->session_bytes);
        session->err = (struct lb_err){0};
    }
    return -1;
}

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
        resolved->count++;
    }
}

/* The host of a URL as an error may show it: not a single word, which may be a password whose host was forgotten. */
static const char *shown(const char *host) {
    bool strange = strpbrk(host, " \t,;=@&?#\"'") != NULL;
    bool plain = strpbrk(host, ".:/") || strcasecmp(host, "localhost") == 0;
    return strange ? "(not shown)" : plain ? host : "(one word, not shown)";
}

const struct resolved *resolve_host(const char *host, struct lb_err *err) {
    const struct resolved *found = find_known(host);
    if (found) return found;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
    int failed = getaddrinfo(host, NULL, &hints, &list);
    if (failed) {
        err_set(err, LB_EXIT_MACHINE, "host '%s': %s", shown(host), gai_strerror(failed));
        return NULL;
    }
    struct resolved *resolved = calloc(1, sizeof *resolved);
    if (resolved) note_addresses(resolved, list);
    freeaddrinfo(list);
    if (!resolved || resolved->count == 0) {
        err_set(err, LB_EXIT_MACHINE, "host '%s': %s", shown(host),
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

socklen_t resolve_number(const char *address, int port, struct sockaddr_storage *ret_address) {
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST}, *at = NULL;
    char service[12];
    snprintf(service, sizeof service, "%d", port);
    if (getaddrinfo(address, service, &hints, &at) != 0) return 0;
    socklen_t len = at->ai_addrlen;
    memcpy(ret_address, at->ai_addr, len);
    freeaddrinfo(at);
    return len;
}

static bool accepts(const char *address, int port, int limit_ms) {
    struct sockaddr_storage at = {0};
    socklen_t len = resolve_number(address, port, &at), size = sizeof(int);
    int fd = socket(at.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), error = 0;
    if (fd < 0) return false;
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    bool accepts = connect(fd, (struct sockaddr *)&at, len) == 0;
    if (!accepts && errno == EINPROGRESS)
        accepts = poll(&wait, 1, limit_ms) == 1 &&
                  getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
    close(fd);
    return accepts;
}

const char *resolve_serving(const char *host, int port, int limit_ms, struct lb_err *err) {
    const struct resolved *resolved = resolve_host(host, err);
    for (int i = 0; resolved && resolved->count > 1 && i < resolved->count; i++) {
        if (accepts(resolved->address[i], port, limit_ms)) return resolved->address[i];
    }
    return resolved ? resolved->address[0] : NULL;
}
