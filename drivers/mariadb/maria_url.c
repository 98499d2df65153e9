/* maria_url: reads the servers and the account from the URL, and looks the names up once. libmariadb would look a
 * name up in each connect, on the small stack of its own coroutine, and would take "localhost" for a Unix socket. */
#define _GNU_SOURCE
#include "drivers/mariadb/maria_impl.h"

#include <netdb.h>
#include <string.h>
#include <sys/socket.h>

#include "drivers/route.h"

#define MARIA_PORT 3306

static int resolve(struct maria_host *to, const char *host, struct lb_err *err) {
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
    int failed = getaddrinfo(host, NULL, &hints, &list);
    if (failed)
        return err_set(err, LB_EXIT_MACHINE, "mariadb: host '%s': %s", host, gai_strerror(failed));
    for (struct addrinfo *at = list; at && to->address_count < MARIA_ADDRESSES_MAX;
         at = at->ai_next) {
        char *address = to->address[to->address_count];
        if (getnameinfo(at->ai_addr, at->ai_addrlen, address, sizeof to->address[0], NULL, 0,
                        NI_NUMERICHOST) == 0) {
            to->address_count++;
        }
    }
    freeaddrinfo(list);
    if (to->address_count > 0) return 0;
    return err_set(err, LB_EXIT_MACHINE, "mariadb: host '%s' has no address", host);
}

int maria_url(struct maria_server *server, const struct lb_server *routes, const char *text,
              struct lb_err *err) {
    if (url_parse(&server->url, text, MARIA_PORT, err) != 0) return -1;
    for (int i = 0; i < server->url.host_count; i++) {
        struct maria_host *to = &server->host[i];
        const char *dial_host = server->url.host[i];
        to->dial_port = server->url.port[i];
        lb_route(routes, &dial_host, &to->dial_port);
        if (resolve(to, dial_host, err) != 0) return -1;
    }
    return 0;
}
