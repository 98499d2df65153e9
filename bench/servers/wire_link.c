/* wire_link: one connection through the proxy: two sockets and two directions. Bytes that can be
 * sent at once are sent from the buffer into which they were read; others are held, up to a limit,
 * and then the sender has to wait. Sockets are watched edge-triggered, so that a side that is not
 * read (stalled, or with a slow destination) causes no wake-ups. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/base/clock.h"
#include "bench/servers/wire_impl.h"

#define READS_MAX 64 /* reads of one direction before other connections get their turn */

static struct side *source_of(struct link *link, int way) {
    return way == 0 ? &link->client : &link->server;
}

static struct wire_count *counts_of(struct proxy *proxy, const struct link *link, int way) {
    return &proxy->shared->ends[link->end][way];
}

/* --- its life --- */

static void watch_side(struct proxy *proxy, struct side *side) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                                .data.ptr = side};
    int on = 1;
    setsockopt(side->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    epoll_ctl(proxy->epoll_fd, EPOLL_CTL_ADD, side->fd, &event);
}

void link_connect(struct proxy *proxy, struct link *link) {
    const struct sockaddr_storage *server = &proxy->listeners[link->end].server;
    bool is_6 = server->ss_family == AF_INET6, aimed = server->ss_family != 0;
    socklen_t len = is_6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    if (link->server.fd >= 0) return;
    int fd = aimed ? socket(server->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0) : -1;
    if (fd < 0 ||
        (connect(fd, (const struct sockaddr *)server, len) != 0 && errno != EINPROGRESS)) {
        if (fd >= 0) close(fd);
        link_end(proxy, link, true);
        return;
    }
    link->server.fd = fd;
    watch_side(proxy, &link->server);
}

void link_take(struct proxy *proxy, const struct listener *listener, int client_fd,
               int client_port) {
    struct link *link = calloc(1, sizeof *link);
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    if (!link || heap_reserve(&proxy->heap, 2 * (proxy->link_count + 1)) != 0) {
        free(link);
        setsockopt(client_fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close(client_fd);
        return;
    }
    link->end = listener->end;
    link->client_port = client_port;
    link->client = (struct side){.watched = WATCH_SIDE, .fd = client_fd, .link = link};
    link->server = (struct side){.watched = WATCH_SIDE, .fd = -1, .link = link};
    link->flow[0].link = link->flow[1].link = link;
    link->next = proxy->links;
    if (link->next) link->next->previous = link;
    proxy->links = link;
    proxy->link_count++;
    if (!faults_admit(proxy, link)) {
        link_end(proxy, link, true);
        return;
    }
    watch_side(proxy, &link->client);
    /* Where requests are dropped, the request to connect is dropped too. */
    if (!link->flow[0].swallows) link_connect(proxy, link);
}

static void drop_chunks(struct flow *flow) {
    for (struct chunk *chunk; (chunk = flow->first);) {
        flow->first = chunk->next;
        free(chunk);
    }
    flow->last = NULL;
    flow->held_bytes = 0;
}

/* A socket that is closed with unread bytes is reset, so unread bytes are read first. */
static void close_side(struct side *side, bool reset) {
    char scrap[4096];
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    if (side->fd < 0) return;
    if (reset) {
        setsockopt(side->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    } else {
        shutdown(side->fd, SHUT_WR);
        for (int reads = 0; reads < READS_MAX && recv(side->fd, scrap, sizeof scrap, 0) > 0;)
            reads++;
    }
    close(side->fd);
    side->fd = -1;
}

void link_end(struct proxy *proxy, struct link *link, bool reset) {
    if (link->dead) return;
    link->dead = true;
    close_side(&link->client, reset);
    close_side(&link->server, reset);
    for (int way = 0; way < 2; way++) {
        heap_remove(&proxy->heap, &link->flow[way].timer);
        drop_chunks(&link->flow[way]);
    }
    if (link->previous)
        link->previous->next = link->next;
    else
        proxy->links = link->next;
    if (link->next) link->next->previous = link->previous;
    proxy->link_count--;
    link->next_dead = proxy->dead;
    proxy->dead = link;
}

void links_bury(struct proxy *proxy) {
    struct link *kept = NULL;
    for (struct link *link; (link = proxy->dead);) {
        proxy->dead = link->next_dead;
        if (!link->again) {
            free(link);
            continue;
        }
        link->next_dead = kept; /* it is still queued */
        kept = link;
    }
    proxy->dead = kept;
}

/* --- sending --- */

/* Handles a destination that is gone. The bytes that it sent before, and its end, can still be read. */
static void lose_destination(struct proxy *proxy, struct link *link, int way) {
    const struct flow *back = &link->flow[!way];
    link->broken = true;
    link->flow[way].sink = true;
    drop_chunks(&link->flow[way]);
    source_of(link, !way)->readable = source_of(link, !way)->hung_up = true;
    if (back->over && !back->first && !back->swallows) link_end(proxy, link, true);
}

/* Sends as much as possible at once; returns the number of bytes. */
static size_t send_some(struct proxy *proxy, struct link *link, int way, const char *data,
                        size_t len) {
    struct side *to = source_of(link, !way);
    struct wire_count *counts = counts_of(proxy, link, way);
    ssize_t sent;
    if (to->fd < 0 || !to->writable) return 0;
    /* Counted first, so that a client that has read the bytes finds them counted. */
    count_up(&counts->forwarded_bytes, len);
    do sent = send(to->fd, data, len, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    size_t passed = sent > 0 ? (size_t)sent : 0;
    if (passed < len) {
        count_up(&counts->forwarded_bytes, passed - len);
        to->writable = false;
        if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK) lose_destination(proxy, link, way);
    }
    return passed;
}

static void wake_at(struct proxy *proxy, struct flow *flow, int64_t when_ns) {
    if (flow->timer.place && flow->timer.due_ns == when_ns) return;
    heap_remove(&proxy->heap, &flow->timer);
    heap_add(&proxy->heap, &flow->timer, when_ns);
}

/* Sends the held bytes that are due. */
static void send_held(struct proxy *proxy, struct link *link, int way) {
    struct flow *flow = &link->flow[way];
    heap_remove(&proxy->heap, &flow->timer);
    for (struct chunk *chunk; !link->dead && (chunk = flow->first);) {
        int64_t now_ns = lb_now();
        size_t len = chunk->len - chunk->sent;
        if (chunk->due_ns > now_ns) {
            wake_at(proxy, flow, chunk->due_ns);
            return;
        }
        size_t sent = send_some(proxy, link, way, chunk->data + chunk->sent, len);
        if (link->dead || flow->sink) return;
        chunk->sent += sent;
        if (sent < len) return;
        flow->first = chunk->next;
        if (!flow->first) flow->last = NULL;
        flow->held_bytes -= chunk->len + sizeof *chunk;
        free(chunk);
    }
}

static void hold_bytes(struct proxy *proxy, struct link *link, int way, const char *data,
                       size_t len, int64_t due_ns) {
    struct flow *flow = &link->flow[way];
    struct chunk *chunk = malloc(sizeof *chunk + len);
    if (!chunk) {
        link_end(proxy, link, true);
        return;
    }
    *chunk = (struct chunk){.len = len, .due_ns = due_ns};
    memcpy(chunk->data, data, len);
    if (flow->last)
        flow->last->next = chunk;
    else
        flow->first = chunk;
    flow->last = chunk;
    flow->held_bytes += len + sizeof *chunk;
}

/* The time at which a chunk that arrives now may be forwarded; 0 = at once. Never before that of an earlier
 * chunk, so that the order is kept. */
static int64_t due_of(struct proxy *proxy, const struct flow *flow, size_t len) {
    int64_t due_ns = 0;
    for (int i = 0; flow->delays >> i; i++) {
        struct slot *slot = &proxy->slots[i];
        if (!(flow->delays & (1U << i))) continue;
        if (slot->left >
            0) { /* what ends a connection is no chunk, but keeps its place among them */
            if (len > 0) slot->left--;
            continue;
        }
        if (!due_ns) due_ns = lb_now();
        due_ns += slot->fault.by_ns;
        fault_acted(proxy, i, len);
    }
    return due_ns;
}

static void forward_bytes(struct proxy *proxy, struct link *link, int way, const char *data,
                          size_t len) {
    struct flow *flow = &link->flow[way];
    int64_t due_ns = due_of(proxy, flow, len);
    size_t sent = 0;
    if (!flow->first && !due_ns) sent = send_some(proxy, link, way, data, len);
    if (sent < len && !flow->sink && !link->dead)
        hold_bytes(proxy, link, way, data + sent, len - sent, due_ns);
}

/* --- receiving --- */

static void swallow_bytes(struct proxy *proxy, struct link *link, int way, size_t len) {
    link->lossy = true;
    count_up(&counts_of(proxy, link, way)->swallowed_bytes, len);
    faults_acted(proxy, link->flow[way].swallows, len);
}

void link_discard(struct proxy *proxy, struct link *link, int way) {
    struct flow *flow = &link->flow[way];
    size_t len = 0;
    for (const struct chunk *chunk = flow->first; chunk; chunk = chunk->next)
        len += chunk->len - chunk->sent;
    drop_chunks(flow);
    heap_remove(&proxy->heap, &flow->timer);
    if (len) swallow_bytes(proxy, link, way, len);
}

/* Reads once and applies the faults. */
static void read_once(struct proxy *proxy, struct link *link, int way) {
    struct flow *flow = &link->flow[way];
    struct side *from = source_of(link, way);
    struct wire_count *counts = counts_of(proxy, link, way);
    ssize_t got = recv(from->fd, proxy->buffer, BUFFER_BYTES, 0);
    if (got < 0 && errno == EINTR) return;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        from->readable = false;
        return;
    }
    if (got <= 0) {
        flow->over = true;
        if (got < 0) link->broken = true;
        if (flow->swallows) {
            swallow_bytes(proxy, link, way, 0);
        } else if (flow->delays && !flow->sink) {
            hold_bytes(proxy, link, way, "", 0, due_of(proxy, flow, 0));
        }
        return;
    }
    size_t len = (size_t)got;
    if (len < BUFFER_BYTES && !from->hung_up) from->readable = false;
    count_up(&counts->read_bytes, len);
    count_up(&counts->chunks, 1);
    if (flow->swallows) {
        swallow_bytes(proxy, link, way, len);
        return;
    }
    if (way == 1 && link->matched) len = faults_sift(proxy, link, len);
    if (len && !flow->sink) forward_bytes(proxy, link, way, proxy->buffer, len);
}

/* The source has closed and everything that it sent was forwarded: forwards the end too. */
static void pass_end(struct proxy *proxy, struct link *link, int way) {
    struct flow *flow = &link->flow[way];
    if (flow->swallows || flow->ended) return;
    if (link->broken) {
        link_end(proxy, link, true);
        return;
    }
    if (source_of(link, !way)->fd < 0) return; /* not connected yet */
    flow->ended = true;
    shutdown(source_of(link, !way)->fd, SHUT_WR);
    if (link->flow[!way].ended) link_end(proxy, link, false);
}

static void pump_way(struct proxy *proxy, struct link *link, int way) {
    struct flow *flow = &link->flow[way];
    struct side *from = source_of(link, way);
    for (int reads = 0;; reads++) {
        send_held(proxy, link, way);
        if (link->dead) return;
        if (way == 1 && link->ending != ENDING_NOT && !flow->first) {
            link_end(proxy, link, link->ending == ENDING_RESET);
            return;
        }
        if (flow->over && !flow->first) pass_end(proxy, link, way);
        if (link->dead || flow->over || link->ending != ENDING_NOT || from->fd < 0 ||
            !from->readable)
            return;
        if (flow->held_bytes >= HELD_MAX) return;
        if (reads == READS_MAX) {
            if (link->again) return;
            link->again = true;
            link->next_again = proxy->agains;
            proxy->agains = link;
            return;
        }
        read_once(proxy, link, way);
        if (link->dead || proxy->struck) return;
    }
}

void link_pump(struct proxy *proxy, struct link *link) {
    if (link->dead) return;
    bool was_broken = link->broken;
    pump_way(proxy, link, 0);
    if (!link->dead) pump_way(proxy, link, 1);
    /* Handling the answers may have shown that requests can't be forwarded any more. */
    if (!link->dead && link->broken && !was_broken) pump_way(proxy, link, 0);
}
