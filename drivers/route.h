/* route: where a connection to a host of the URL really goes when it leads through a wire (a proxy
 * of lockbench's that injects faults).
 *
 * The URL keeps the server's own name, which a certificate has; only the address that is dialled
 * differs. */
#ifndef DRIVERS_ROUTE_H
#define DRIVERS_ROUTE_H

#include <stddef.h>

#include "drivers/driver.h"

/* Replaces the host and the port by those to dial, if the server has a route for them. Borrows the
 * text. */
void lb_route(const struct lb_server *server, const char **host, int *port);

/* Writes the URL with the addresses to dial in the place of its hosts, for a program that is given
 * only a URL. A certificate with the server's name does not match such a URL. Returns the length
 * without the NUL, which may be more than fits, as snprintf does. */
size_t lb_route_url(const struct lb_server *server, const char *url, char *out, size_t size);

#endif
