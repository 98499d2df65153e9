/* fake_peer: see fake_peer.h. */
#define _GNU_SOURCE
#include "drivers/tests/fake_peer.h"

#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bench/base/clock.h"
#include "bench/tests/loopback.h"

#define SEEN_MAX (256 * 1024)

struct fake_peer {
    const struct peer_step *steps;
    int count;
    int listen_fd, fd, stop_fd, port;
    pthread_t thread;
    size_t used, awaited; /* bytes read; those that steps have awaited already */
    char seen[SEEN_MAX + 1];
};

/* Waits until fd can be read. False when the test stops. */
static bool readable(struct fake_peer *peer, int fd) {
    struct pollfd polls[2] = {{.fd = fd, .events = POLLIN},
                              {.fd = peer->stop_fd, .events = POLLIN}};
    poll(polls, 2, -1);
    return polls[1].revents == 0;
}

static bool read_more(struct fake_peer *peer) {
    if (!readable(peer, peer->fd) || peer->used == SEEN_MAX) return false;
    ssize_t got = recv(peer->fd, peer->seen + peer->used, SEEN_MAX - peer->used, 0);
    if (got <= 0) return false;
    peer->used += (size_t)got;
    return true;
}

static bool await(struct fake_peer *peer, const char *words) {
    size_t len = strlen(words);
    for (;;) {
        char *at = memmem(peer->seen + peer->awaited, peer->used - peer->awaited, words, len);
        if (at) {
            peer->awaited = (size_t)(at - peer->seen) + len;
            return true;
        }
        if (!read_more(peer)) return false;
    }
}

static bool say(struct fake_peer *peer, const struct peer_step *step) {
    size_t len = step->say_len ? step->say_len : strlen(step->say);
    size_t piece = step->piece ? step->piece : len;
    /* the last bytes and the connection's end in one segment */
    if (step->then == PEER_CLOSES && !step->piece)
        setsockopt(peer->fd, IPPROTO_TCP, TCP_CORK, &(int){1}, sizeof(int));
    for (size_t sent = 0; sent < len; sent += piece) {
        size_t part = len - sent < piece ? len - sent : piece;
        if (send(peer->fd, step->say + sent, part, MSG_NOSIGNAL) != (ssize_t)part) return false;
        if (step->piece) lb_nap(LB_MS_NS); /* so that the reader meets each alone */
    }
    return true;
}

static void *play(void *arg) {
    struct fake_peer *peer = arg;
    if (!readable(peer, peer->listen_fd)) return NULL;
    peer->fd = accept4(peer->listen_fd, NULL, NULL, SOCK_CLOEXEC);
    setsockopt(peer->fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    for (int i = 0; i < peer->count; i++) {
        const struct peer_step *step = &peer->steps[i];
        if (step->await && !await(peer, step->await)) return NULL;
        if (step->delay_ms) lb_nap(step->delay_ms * LB_MS_NS);
        if (step->say && !say(peer, step)) return NULL;
        if (step->then == PEER_STAYS) continue;
        struct linger at_once = {.l_onoff = 1, .l_linger = 0};
        if (step->then == PEER_RESETS)
            setsockopt(peer->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close(peer->fd);
        peer->fd = -1;
        return NULL;
    }
    while (read_more(peer)) {
    }
    return NULL;
}

struct fake_peer *fake_peer_start(const struct peer_step *steps, int count) {
    struct fake_peer *peer = calloc(1, sizeof *peer);
    if (!peer) abort();
    peer->steps = steps;
    peer->count = count;
    peer->fd = -1;
    peer->stop_fd = eventfd(0, EFD_CLOEXEC);
    peer->listen_fd = loopback_listen(&peer->port);
    if (pthread_create(&peer->thread, NULL, play, peer) != 0) abort();
    return peer;
}

int fake_peer_port(const struct fake_peer *peer) {
    return peer->port;
}

char *fake_peer_stop(struct fake_peer *peer) {
    if (eventfd_write(peer->stop_fd, 1) != 0) abort();
    pthread_join(peer->thread, NULL);
    if (peer->fd >= 0) close(peer->fd);
    close(peer->listen_fd);
    close(peer->stop_fd);
    char *seen = strdup(peer->seen);
    free(peer);
    return seen;
}
