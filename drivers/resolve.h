/* resolve: the addresses of a host, looked up once in the life of the program.
 *
 * A look-up of a name blocks its thread, and with it all clients of the thread. The first connection,
 * which a backend opens before any load, looks the name up; all later ones take the answer from here.
 * It does not notice a name that changes its address meanwhile: a fail-over by DNS is not followed. */
#ifndef DRIVERS_RESOLVE_H
#define DRIVERS_RESOLVE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

#include "bench/base/err.h"
#include "drivers/driver.h"

/* route: where a connection to a host of the URL really goes when it leads through a wire (a proxy
 * of lockbench's that injects faults).
 *
 * The URL keeps the server's own name, which a certificate has; only the address that is dialled
 * differs. */

/* Replaces the host and the port by those to dial, if the server has a route for them. Borrows the
 * text. */
void lb_route(const struct lb_server *server, const char **host, int *port);

/* Writes the URL with the addresses to dial in the place of its hosts, for a program that is given
 * only a URL. A certificate with the server's name does not match such a URL. Returns the length
 * without the NUL, which may be more than fits, as snprintf does. */
size_t lb_route_url(const struct lb_server *server, const char *url, char *out, size_t size);

/* Opens a whole session with one host of the URL. 0, or with err -1, or -2 where other hosts would refuse it, too. */
typedef int lb_connect_host_fn(struct lb_session *session, int host, int64_t deadline_ns,
                               struct lb_err *err);
/* Tries the `count` hosts of the URL, from one of them on, until one serves; each has its share of the time. Ends at a
 * mistake of the user's (LB_EXIT_USAGE), which is one at all hosts, and at a -2. 0, or -1 with err. */
int lb_connect_in_turn(struct lb_session *session, unsigned first, int count, int64_t deadline_ns,
                       lb_connect_host_fn *connect, struct lb_err *err);

#define RESOLVED_MAX 8

struct resolved {
    char host[256];
    int count; /* at least 1 */
    /* as numbers, in the order in which they are to be tried */
    char address[RESOLVED_MAX][64];
    struct resolved *next;
};

/* The addresses of a name or a number; they live as long as the program. NULL with err, also when
 * memory ran out; a failure is not remembered. May be called from any thread. */
const struct resolved *resolve_host(const char *host, struct lb_err *err);

/* The socket's address for such a number and a port. Returns its length, 0 for a text that is no number. */
socklen_t resolve_number(const char *address, int port, struct sockaddr_storage *ret_address);

/* The first of several addresses at which a server takes a connection within limit_ms ("localhost" may also mean an
 * address where no server listens); if none does, the first of all. NULL with err. Blocks the calling thread; to be
 * called before the load. */
const char *resolve_serving(const char *host, int port, int limit_ms, struct lb_err *err);

#endif
