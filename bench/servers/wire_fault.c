/* wire_fault: sets and lifts faults, and ends the connections that they hit. */
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "bench/servers/peer.h"
#include "bench/servers/wire_impl.h"

/* Opens and closes the ports for new connections. A socket that stops listening stays bound, so
 * that no other program gets the port. */
static void update_ports(struct proxy *proxy) {
    for (int end = 0; end < proxy->ends; end++) {
        struct listener *listener = &proxy->listeners[end];
        bool shut = false;
        for (int i = 0; i < WIRE_FAULTS_MAX; i++) {
            const struct slot *slot = &proxy->slots[i];
            if (!fault_is_on(slot, end) || slot->fault.pid_count || !fault_refuses(slot)) continue;
            if (!listener->shut && !shut) fault_acted(proxy, i, 0);
            shut = true;
        }
        if (shut == listener->shut) continue;
        listener->shut = shut;
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = listener};
        if (shut) {
            epoll_ctl(proxy->epoll_fd, EPOLL_CTL_DEL, listener->fd, NULL);
            shutdown(listener->fd, SHUT_RD);
        } else {
            listen(listener->fd, WIRE_BACKLOG);
            epoll_ctl(proxy->epoll_fd, EPOLL_CTL_ADD, listener->fd, &event);
        }
    }
}

static void apply_and_discard(struct proxy *proxy, struct link *link) {
    faults_apply(proxy, link);
    for (int way = 0; way < 2; way++) {
        if (link->flow[way].swallows) link_discard(proxy, link, way);
    }
}

/* Ends, or silences, the connections that a fault has hit while another connection was pumped. Returns
 * whether there were any. */
static bool settle_struck(struct proxy *proxy) {
    if (!proxy->struck) return false;
    proxy->struck = false;
    update_ports(proxy); /* first, so that a client whose connection ends finds the port closed */
    for (struct link *link = proxy->links, *next; link; link = next) {
        next = link->next;
        if (!link->struck) continue;
        link->struck = false;
        if (link->ending != ENDING_NOT)
            link_end(proxy, link, link->ending == ENDING_RESET);
        else
            apply_and_discard(proxy, link);
    }
    return true;
}

void faults_pump(struct proxy *proxy, struct link *link) {
    do link_pump(proxy, link);
    while (settle_struck(proxy));
}

void faults_set(struct proxy *proxy, const struct order *order) {
    struct slot *slot = &proxy->slots[order->slot];
    *slot = (struct slot){.on = true, .fault = order->fault};
    memcpy(slot->pids, order->pids, sizeof slot->pids);
    slot->left = slot->fault.bytes;
    size_t count = 0;
    struct peer *peers =
        slot->fault.pid_count ? peers_of(slot->pids, slot->fault.pid_count, &count) : NULL;
    bool once = slot->fault.kind == WIRE_RESET || slot->fault.kind == WIRE_CUT;
    for (struct link *link = proxy->links, *next; link; link = next) {
        next = link->next;
        if (!fault_is_on(slot, link->end) || slot->fault.kind == WIRE_REFUSE) continue;
        if (slot->fault.pid_count &&
            !peers_have(peers, count, link->client_port, proxy->listeners[link->end].port))
            continue;
        fault_match(proxy, link, order->slot);
        if (once) {
            fault_acted(proxy, order->slot, 0);
            link_end(proxy, link, slot->fault.kind == WIRE_RESET);
            continue;
        }
        apply_and_discard(proxy, link);
        faults_pump(proxy, link);
    }
    free(peers);
    if (once) slot->on = false;
    update_ports(proxy);
}

void faults_lift(struct proxy *proxy, int slot) {
    uint32_t bit = 1U << slot;
    proxy->slots[slot].on = false;
    for (struct link *link = proxy->links, *next; link; link = next) {
        next = link->next;
        if (!(link->matched & bit)) continue;
        link->matched &= ~bit;
        link->mute &= ~bit;
        apply_and_discard(proxy, link);
        bool swallowed = link->flow[0].swallows || link->flow[1].swallows;
        if (link->lossy && !swallowed) {
            link_end(proxy, link, true);
            continue;
        }
        if (!link->flow[0].swallows) link_connect(proxy, link);
        faults_pump(proxy, link);
    }
    update_ports(proxy);
}
