/* place_wire: see place_wire.h. The wire is started before the servers, so that they can be told its
 * ports; it is aimed at the servers' ports each time that these are chosen. */
#include "bench/run/place_wire.h"

#include <stdlib.h>

#include "bench/servers/urls.h"
#include "bench/servers/wire.h"

struct wired {
    struct place_wire wiring; /* first: what callers have a pointer to */
    struct topo_info info;
    int peer_ports[TOPO_NODES_MAX * TOPO_PORTS_MAX];
    struct urls urls;
    struct lb_err err;
};

/* Called when the servers' ports are chosen. End n is for clients of node n; after these, each port
 * of each node has an end for its peers. */
static void aim_wire(const int *ports, int count, void *arg) {
    struct wired *wired = arg;
    const struct topo_info *info = &wired->info;
    struct lb_err *err = &wired->err;
    for (int n = 0; n < info->nodes; n++)
        wire_aim(wired->wiring.wire, n, ports[n * info->ports], err);
    for (int i = 0; i < count; i++) wire_aim(wired->wiring.wire, info->nodes + i, ports[i], err);
}

struct place_wire *place_wire_start(const struct topo_info *info, struct topo_wish *wish,
                                    struct lb_err *err) {
    struct wire_end ends[WIRE_ENDS_MAX] = {{0}};
    int ports[TOPO_NODES_MAX * TOPO_PORTS_MAX], all = info->nodes * info->ports;
    bool clients = info->wired & TOPO_WIRED_CLIENTS, peers = info->wired & TOPO_WIRED_PEERS;
    struct wired *wired = NULL;
    if (!info->wired) {
        err_set(err, LB_EXIT_USAGE,
                "%s can't be led through a wire: its servers tell clients their own addresses",
                info->name);
    } else if (info->nodes + all > WIRE_ENDS_MAX) {
        err_set(err, LB_EXIT_USAGE, "%s has too many ports to be led through a wire", info->name);
    } else {
        wired = calloc(1, sizeof *wired);
        if (!wired) err_set(err, LB_EXIT_MACHINE, "out of memory");
    }
    if (!wired) return NULL;
    struct place_wire *wiring = &wired->wiring;
    wired->info = *info;
    wiring->wire = wire_start(ends, info->nodes + all, err);
    if (!wiring->wire) {
        free(wired);
        return NULL;
    }
    for (int i = 0; i < all; i++) {
        ports[i] = wired->peer_ports[i] = wire_port(wiring->wire, info->nodes + i);
        if (i % info->ports == 0) ports[i] = wire_port(wiring->wire, i / info->ports);
        if (peers) wiring->peer_ends |= UINT64_C(1) << (info->nodes + i);
    }
    if (clients) {
        wiring->client_ends = (UINT64_C(1) << info->nodes) - 1;
        urls_fill(&wired->urls, info, ports);
        wiring->urls = (const char *const *)wired->urls.url;
    }
    if (peers) wish->peer_ports = wired->peer_ports;
    wish->ports_chosen = aim_wire;
    wish->arg = wired;
    return wiring;
}

int place_wire_check(const struct place_wire *wiring, struct lb_err *err) {
    const struct wired *wired = (const struct wired *)wiring;
    if (!wired || !wired->err.code) return 0;
    return err_set(err, wired->err.code, "%s", wired->err.text);
}

uint64_t place_wire_peer_ends(const struct place_wire *wiring, int node) {
    if (!wiring || !wiring->peer_ends) return 0;
    const struct topo_info *info = &((const struct wired *)wiring)->info;
    uint64_t of_one = (UINT64_C(1) << info->ports) - 1;
    return of_one << (info->nodes + node * info->ports);
}

void place_wire_stop(struct place_wire *wiring) {
    if (!wiring) return;
    wire_stop(wiring->wire);
    urls_done(&((struct wired *)wiring)->urls);
    free(wiring);
}
