/* route: where a connection to a host of the URL really goes, when a wire lies between.
 *
 * The URL keeps the server's own name, which a certificate has; only the address that is dialled
 * differs. */
#ifndef DRIVERS_ROUTE_H
#define DRIVERS_ROUTE_H

#include "drivers/driver.h"

/* Replaces the host and the port by those to dial, if the server has a route for them. Borrows the
 * text. */
void lb_route(const struct lb_server *server, const char **host, int *port);

#endif
