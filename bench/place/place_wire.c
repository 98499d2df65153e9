/* place_wire: see place.h. The wire is started before the servers, so that they can be told its
 * ports; it is aimed at the servers' ports each time that these are chosen. */
#include "bench/place/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/servers/wire.h"
#include "drivers/resolve.h"
#include "drivers/url.h"

#define CONNECT_MS 5000 /* for one of several addresses */

/* Called when the servers' ports are chosen. End n is for clients of node n; after these, each port
 * of each node has an end for its peers. */
static void aim_wire(const int *ports, int count, void *arg) {
    struct place_wire *wiring = arg;
    const struct topo_info *info = &wiring->info;
    for (int n = 0; n < info->nodes; n++)
        wire_aim(wiring->wire, n, ports[n * info->ports], &wiring->err);
    for (int i = 0; i < count; i++) wire_aim(wiring->wire, info->nodes + i, ports[i], &wiring->err);
}

struct place_wire *place_wire_start(const struct topo_info *info, unsigned wires,
                                    struct topo_ask *topo_ask, struct lb_err *err) {
    int ports[TOPO_NODES_MAX * TOPO_PORTS_MAX], all = info->nodes * info->ports;
    bool clients = info->wired & wires & TOPO_WIRED_CLIENTS;
    bool peers = info->wired & wires & TOPO_WIRED_PEERS;
    struct place_wire *wiring = NULL;
    if (!clients && !peers) {
        err_set(err, LB_EXIT_USAGE,
                "%s can't be led through a wire: its servers tell clients their own addresses",
                info->name);
    } else if (info->nodes + all > WIRE_ENDS_MAX) {
        err_set(err, LB_EXIT_USAGE, "%s has too many ports to be led through a wire", info->name);
    } else {
        wiring = calloc(1, sizeof *wiring);
        if (!wiring) err_set(err, LB_EXIT_MACHINE, "out of memory");
    }
    if (!wiring) return NULL;
    wiring->info = *info;
    wiring->wire = wire_start(info->nodes + all, err);
    if (!wiring->wire) {
        free(wiring);
        return NULL;
    }
    for (int i = 0; i < all; i++) {
        ports[i] = wiring->peer_ports[i] = wire_port(wiring->wire, info->nodes + i);
        if (i % info->ports == 0) ports[i] = wire_port(wiring->wire, i / info->ports);
        if (peers) wiring->peer_ends |= UINT64_C(1) << (info->nodes + i);
    }
    if (clients) {
        wiring->client_ends = (UINT64_C(1) << info->nodes) - 1;
        topo_fill_url(info, ports, wiring->url, sizeof wiring->url);
    }
    if (peers) topo_ask->peer_ports = wiring->peer_ports;
    topo_ask->ports_chosen = aim_wire;
    topo_ask->arg = wiring;
    return wiring;
}

/* ---- to a user's server ---- */

#define TELLS "its servers tell clients their own addresses"

/* Schemes of servers that can't be reached at another address. */
static const char *const unwired[] = {"rediss+cluster", "rediss+sentinel", "redis+cluster",
                                      "redis+sentinel", NULL};

/* Options of a query by which a client goes to a server in another way than by the URL's host and port. */
static const char *const other_ways[] = {"host=", "hostaddr=", "port=", NULL};

int place_wire_check_url(const char *url, struct lb_err *err) {
    const char *query = strchr(url, '?');
    struct url parts;
    if (url_read(&parts, url, 0, err) != 0) return -1;
    for (int i = 0; unwired[i]; i++) {
        if (strcmp(parts.scheme, unwired[i]) == 0)
            return err_set(err, LB_EXIT_USAGE, "no wire can lead to %s://: " TELLS, parts.scheme);
    }
    for (int i = 0; query && other_ways[i]; i++) {
        if (strstr(query, other_ways[i]))
            return err_set(err, LB_EXIT_USAGE,
                           "no wire can lead to a server whose URL has the option %s",
                           other_ways[i]);
    }
    for (int i = 0; i < parts.host_count; i++) {
        if (parts.port[i] == 0)
            return err_set(err, LB_EXIT_USAGE,
                           "the wire to %s needs the server's port: write it into the URL",
                           parts.host[i]);
    }
    return 0;
}

struct place_wire *place_wire_reach(const char *url, struct lb_err *err) {
    struct sockaddr_storage servers[URL_HOSTS_MAX];
    struct url parts;
    if (place_wire_check_url(url, err) != 0 || url_read(&parts, url, 0, err) != 0) return NULL;
    for (int i = 0; i < parts.host_count; i++) {
        const char *address = resolve_serving(parts.host[i], parts.port[i], CONNECT_MS, err);
        if (!address) return NULL;
        resolve_number(address, parts.port[i], &servers[i]);
    }
    struct wire *wire = wire_start(parts.host_count, err);
    struct place_wire *wiring = wire ? calloc(1, sizeof *wiring) : NULL;
    int failed = wiring ? 0 : -1;
    if (wire && !wiring) err_set(err, LB_EXIT_MACHINE, "out of memory");
    for (int i = 0; i < parts.host_count && !failed; i++)
        failed = wire_aim_at(wire, i, &servers[i], err);
    if (failed) {
        free(wiring);
        wire_stop(wire);
        return NULL;
    }
    for (int i = 0; i < parts.host_count; i++) {
        struct lb_route *route = &wiring->routes[i];
        snprintf(route->host, sizeof route->host, "%s", parts.host[i]);
        snprintf(route->dial_host, sizeof route->dial_host, "127.0.0.1");
        route->port = parts.port[i];
        route->dial_port = wire_port(wire, i);
    }
    wiring->wire = wire;
    wiring->client_ends = (UINT64_C(1) << parts.host_count) - 1;
    wiring->route_count = parts.host_count;
    return wiring;
}

int place_wire_distance(const struct place_wire *wiring, const struct distance *clients,
                        struct lb_err *err) {
    /* rounded up: no round trip is shorter than asked for */
    const struct wire_fault delay = {.kind = WIRE_DELAY,
                                     .ends = wiring->client_ends,
                                     .way = WIRE_BOTH,
                                     .by_ns = (clients->rtt_ns + 1) / 2};
    if (clients->wired && !wiring->client_ends)
        return err_set(err, LB_EXIT_USAGE, "servers.rtt: no wire can lead clients to %s: " TELLS,
                       wiring->info.name);
    if (!clients->wired || clients->rtt_ns == 0) return 0;
    return wire_set(wiring->wire, &delay, err) < 0 ? -1 : 0;
}

int place_wire_check(const struct place_wire *wiring, struct lb_err *err) {
    return wiring ? err_pass(err, &wiring->err) : 0;
}

void place_wire_stop(struct place_wire *wiring) {
    if (!wiring) return;
    wire_stop(wiring->wire);
    free(wiring);
}
