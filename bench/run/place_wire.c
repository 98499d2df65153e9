/* place_wire: see place_wire.h. The wire stands before the servers do: then its ports can be told
 * to them, and it is aimed at theirs each time that they are chosen. */
#include "bench/run/place_wire.h"

#include <stdlib.h>
#include <string.h>

#include "bench/servers/urls.h"
#include "bench/servers/wire.h"

/* End n is for clients of node n; behind these, each port of each node has one for its peers. */
struct place_wire {
    struct topo_info info;
    int peer_ports[TOPO_NODES_MAX * TOPO_PORTS_MAX];
    struct urls urls;
    struct lb_err err;
};

static void aim(const int *ports, int count, void *arg) {
    struct place *place = arg;
    const struct topo_info *info = &place->wiring->info;
    struct lb_err *err = &place->wiring->err;
    for (int n = 0; n < info->nodes; n++) wire_aim(place->wire, n, ports[n * info->ports], err);
    for (int i = 0; i < count; i++) wire_aim(place->wire, info->nodes + i, ports[i], err);
}

int place_wire_start(struct place *place, const struct topo_info *info, struct topo_wish *wish,
                     struct lb_err *err) {
    struct wire_end ends[WIRE_ENDS_MAX] = {{0}};
    int ports[TOPO_NODES_MAX * TOPO_PORTS_MAX], all = info->nodes * info->ports;
    bool clients = info->wired & TOPO_WIRED_CLIENTS, peers = info->wired & TOPO_WIRED_PEERS;
    if (!info->wired)
        return err_set(
            err, LB_EXIT_USAGE,
            "%s can't be led through a wire: its servers tell clients their own addresses",
            info->name);
    if (info->nodes + all > WIRE_ENDS_MAX)
        return err_set(err, LB_EXIT_USAGE, "%s has too many ports to be led through a wire",
                       info->name);
    struct place_wire *wiring = place->wiring = calloc(1, sizeof *wiring);
    if (!wiring) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    wiring->info = *info;
    place->wire = wire_start(ends, info->nodes + all, err);
    if (!place->wire) return -1;
    for (int i = 0; i < all; i++) {
        ports[i] = wiring->peer_ports[i] = wire_port(place->wire, info->nodes + i);
        if (i % info->ports == 0) ports[i] = wire_port(place->wire, i / info->ports);
        if (peers) place->peer_ends |= UINT64_C(1) << (info->nodes + i);
    }
    if (clients) {
        place->client_ends = (UINT64_C(1) << info->nodes) - 1;
        urls_fill(&wiring->urls, info, ports);
        place->wired_urls = (const char *const *)wiring->urls.url;
    }
    if (peers) wish->peer_ports = wiring->peer_ports;
    wish->ports_chosen = aim;
    wish->arg = place;
    return 0;
}

int place_wire_check(const struct place *place, struct lb_err *err) {
    const struct place_wire *wiring = place->wiring;
    if (!wiring || !wiring->err.code) return 0;
    return err_set(err, wiring->err.code, "%s", wiring->err.text);
}

uint64_t place_peer_ends(const struct place *place, int node) {
    if (!place->peer_ends) return 0;
    const struct topo_info *info = &place->wiring->info;
    uint64_t of_one = (UINT64_C(1) << info->ports) - 1;
    return of_one << (info->nodes + node * info->ports);
}

void place_wire_stop(struct place *place) {
    if (!place->wiring) return;
    wire_stop(place->wire);
    place->wire = NULL;
    urls_done(&place->wiring->urls);
    free(place->wiring);
    place->wiring = NULL;
}
