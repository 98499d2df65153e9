/* wire_fault: sets and lifts faults, decides which of them apply to a connection, changes its bytes accordingly, and
 * counts the effects. The functions that wire_link.c calls close no connection, but mark those that have to end. */
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "bench/base/clock.h"
#include "bench/servers/ports.h"
#include "bench/servers/wire_impl.h"

void fault_acted(struct proxy *proxy, int slot, uint64_t bytes) {
    struct wire_sign *sign = &proxy->shared->signs[slot].seen;
    if (sign->struck == 0) __atomic_store_n(&sign->first_ns, lb_now(), __ATOMIC_SEQ_CST);
    count_up(&sign->bytes, bytes);
    count_up(&sign->struck, 1);
}

void faults_acted(struct proxy *proxy, uint32_t slots, uint64_t bytes) {
    for (int i = 0; slots; i++, slots >>= 1) {
        if (slots & 1) fault_acted(proxy, i, bytes);
    }
}

static bool fault_is_on(const struct slot *slot, int end) {
    return slot->on && (slot->fault.ends >> end & 1);
}

/* Whether a fault refuses new connections: by its kind, or because it has hit all its
 * connections. */
static bool fault_refuses(const struct slot *slot) {
    return slot->fault.kind == WIRE_REFUSE ||
           (slot->fault.kind == WIRE_MIDWAY && slot->full && slot->fault.then != WIRE_THEN_SWALLOW);
}

/* Tells each direction of a connection what the active faults do to it. Bytes that a fault drops
 * from now on may still be held: see link_discard. */
static void faults_apply(struct proxy *proxy, struct link *link) {
    for (int way = 0; way < 2; way++) {
        struct flow *flow = &link->flow[way];
        flow->delays = flow->swallows = 0;
        for (int i = 0; i < WIRE_FAULTS_MAX; i++) {
            const struct wire_fault *fault = &proxy->slots[i].fault;
            uint32_t bit = 1U << i;
            if (!(link->matched & bit)) continue;
            if (way == 1 && (link->mute & bit)) flow->swallows |= bit;
            if (!(fault->way & (way == 0 ? WIRE_REQUESTS : WIRE_ANSWERS))) continue;
            if (fault->kind == WIRE_DELAY) flow->delays |= bit;
            if (fault->kind == WIRE_SWALLOW) flow->swallows |= bit;
        }
        if (flow->delays) continue;
        for (struct chunk *chunk = flow->first; chunk; chunk = chunk->next) chunk->due_ns = 0;
    }
}

/* Notes that a fault applies to a connection, and whether it does so at this end. */
static void fault_match(struct proxy *proxy, struct link *link, int slot) {
    const struct wire_fault *fault = &proxy->slots[slot].fault;
    link->matched |= 1U << slot;
    link->mute &= ~(1U << slot);
    if (proxy->slots[slot].full && fault->kind == WIRE_MIDWAY) link->mute |= 1U << slot;
    count_up(&proxy->shared->signs[slot].seen.matched, 1);
}

bool faults_admit(struct proxy *proxy, struct link *link) {
    const struct listener *listener = &proxy->listeners[link->end];
    for (int i = 0; i < WIRE_FAULTS_MAX; i++) {
        const struct slot *slot = &proxy->slots[i];
        if (!fault_is_on(slot, link->end)) continue;
        if (slot->fault.pid_count) {
            size_t count;
            struct peer *peers = peers_of(slot->pids, slot->fault.pid_count, &count);
            bool theirs = peers_have(peers, count, link->client_port, listener->port);
            free(peers);
            if (!theirs) continue;
        }
        fault_match(proxy, link, i);
        if (!fault_refuses(slot)) continue;
        fault_acted(proxy, i, 0);
        return false;
    }
    faults_apply(proxy, link);
    return true;
}

/* --- faults that look at answers --- */

static void strike_midway(struct proxy *proxy, struct link *link, int index) {
    enum wire_then then = proxy->slots[index].fault.then;
    fault_acted(proxy, index, 0);
    if (then != WIRE_THEN_SWALLOW) {
        link->ending = then == WIRE_THEN_RESET ? ENDING_RESET : ENDING_CUT;
        return;
    }
    link->mute |= 1U << index;
    link->lossy = true;
}

/* WIRE_MIDWAY: returns how many bytes pass. */
static size_t pass_midway(struct proxy *proxy, struct link *link, int index, size_t len) {
    struct slot *slot = &proxy->slots[index];
    size_t pass = len;
    if (len > slot->left) {
        pass = (size_t)slot->left;
        strike_midway(proxy, link, index);
        slot->full = proxy->struck = true;
        for (struct link *other = proxy->links; other; other = other->next) {
            if (other == link || !(other->matched & (1U << index))) continue;
            strike_midway(proxy, other, index);
            other->struck = true;
        }
    }
    slot->left -= pass;
    if (link->mute & (1U << index)) {
        /* Unlike apply_and_discard, this keeps the held bytes, which still pass. */
        link->flow[1].swallows |= 1U << index;
        count_up(&proxy->shared->ends[link->end][1].swallowed_bytes, len - pass);
        count_up(&proxy->shared->signs[index].seen.bytes, len - pass);
    }
    return pass;
}

size_t faults_sift(struct proxy *proxy, struct link *link, size_t len) {
    for (int i = 0; i < WIRE_FAULTS_MAX && len > 0; i++) {
        const struct slot *slot = &proxy->slots[i];
        if (!(link->matched & (1U << i)) || slot->fault.kind != WIRE_DROP || slot->full) continue;
        /* the answer is lost, and its connection ends */
        proxy->slots[i].full = true;
        count_up(&proxy->shared->ends[link->end][1].swallowed_bytes, len);
        fault_acted(proxy, i, len);
        link->ending = ENDING_RESET;
        len = 0;
    }
    for (int i = 0; i < WIRE_FAULTS_MAX && len > 0; i++) {
        if (!(link->matched & (1U << i)) || proxy->slots[i].fault.kind != WIRE_MIDWAY) continue;
        len = pass_midway(proxy, link, i, len);
    }
    return len;
}

/* --- setting and lifting --- */

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
    slot->left = slot->fault.kind == WIRE_DELAY ? slot->fault.chunks : slot->fault.bytes;
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
