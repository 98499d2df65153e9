/* route: see route.h. It resolves and connects nothing. */
#include "drivers/route.h"

#include <stdio.h>
#include <string.h>

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
