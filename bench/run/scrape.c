/* scrape: see scrape.h. */
#define _GNU_SOURCE
#include "bench/run/scrape.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HOST_MAX 256

/* The port behind the last colon; NULL = the text has none. */
static const char *port_of(const char *text) {
    const char *colon = strrchr(text, ':');
    if (!colon || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")]) return NULL;
    return colon + 1;
}

bool scrape_is_address(const char *text) {
    return !strchr(text, '/') && port_of(text);
}

/* Its own address, as a URL. */
static void tell_url(int fd, char *ret_url, size_t size) {
    struct sockaddr_storage own;
    socklen_t length = sizeof own;
    char host[NI_MAXHOST] = "?", port[NI_MAXSERV] = "?";
    if (getsockname(fd, (struct sockaddr *)&own, &length) == 0)
        getnameinfo((struct sockaddr *)&own, length, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV);
    bool six = strchr(host, ':');
    snprintf(ret_url, size, "http://%s%s%s:%s/metrics", six ? "[" : "", host, six ? "]" : "", port);
}

/* Binds the first of the addresses that can be bound. -1 with errno. */
static int bind_first(const struct addrinfo *list) {
    int fd = -1, failed = EADDRNOTAVAIL;
    for (const struct addrinfo *at = list; at && fd < 0; at = at->ai_next) {
        fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd >= 0) {
            setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
            if (bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, 16) == 0) return fd;
        }
        failed = errno;
        if (fd >= 0) close(fd);
        fd = -1;
    }
    errno = failed;
    return -1;
}

int scrape_listen(const char *address, char *ret_url, size_t size, struct lb_err *err) {
    const char *port = port_of(address);
    size_t length = port ? (size_t)(port - 1 - address) : 0;
    char host[HOST_MAX] = "127.0.0.1";
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
    if (!port || strlen(port) > 5 || atoi(port) > 65535 || length >= sizeof host)
        return err_set(
            err, LB_EXIT_USAGE,
            "--metrics %s: is not an address: write :PORT or HOST:PORT, with a port of at "
            "most 65535",
            address);
    if (length > 2 && address[0] == '[' && address[length - 1] == ']') {
        snprintf(host, sizeof host, "%.*s", (int)length - 2, address + 1);
    } else if (length > 0) {
        snprintf(host, sizeof host, "%.*s", (int)length, address);
    }
    int failed = getaddrinfo(host, port, &hints, &list);
    if (failed)
        return err_set(err, LB_EXIT_MACHINE, "--metrics %s: no such host: %s", address,
                       gai_strerror(failed));
    int fd = bind_first(list);
    freeaddrinfo(list);
    if (fd < 0)
        return err_set(
            err, LB_EXIT_MACHINE,
            "--metrics %s: cannot listen there: %s: choose another port, or :0 for a free "
            "one",
            address, strerror(errno));
    tell_url(fd, ret_url, size);
    return fd;
}

void scrape_init(struct scrape *scrape, int listener) {
    *scrape = (struct scrape){.listener = listener};
    for (int i = 0; i < SCRAPE_PEERS; i++) scrape->peer[i].fd = -1;
}

void scrape_poll(const struct scrape *scrape, struct pollfd *fds) {
    fds[0] = (struct pollfd){.fd = scrape->listener, .events = POLLIN};
    for (int i = 0; i < SCRAPE_PEERS; i++) {
        const struct scrape_peer *peer = &scrape->peer[i];
        fds[i + 1] = (struct pollfd){
            .fd = peer->fd,
            .events = peer->answer && peer->sent < peer->length ? POLLOUT : POLLIN,
        };
    }
}

static void end_peer(struct scrape_peer *peer) {
    close(peer->fd);
    free(peer->answer);
    peer->fd = -1;
    peer->answer = NULL;
}

static void accept_peer(struct scrape *scrape) {
    int fd = accept4(scrape->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    struct scrape_peer *place = scrape->peer;
    for (struct scrape_peer *peer = place; peer < scrape->peer + SCRAPE_PEERS; peer++) {
        if (place->fd >= 0 && (peer->fd < 0 || peer->number < place->number)) place = peer;
    }
    if (place->fd >= 0) end_peer(place);
    *place = (struct scrape_peer){.fd = fd, .number = ++scrape->accepted};
}

static void set_answer(struct scrape_peer *peer, const char *status, const char *text,
                       size_t length) {
    int bytes = asprintf(&peer->answer,
                         "HTTP/1.1 %s\r\n"
                         "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
                         "Content-Length: %zu\r\n"
                         "%sConnection: close\r\n\r\n%.*s",
                         status, length, strncmp(status, "405", 3) == 0 ? "Allow: GET\r\n" : "",
                         (int)length, text);
    if (bytes < 0) {
        peer->answer = NULL;
        end_peer(peer);
        return;
    }
    peer->length = (size_t)bytes;
}

static void refuse_peer(struct scrape_peer *peer, const char *status, const char *text) {
    set_answer(peer, status, text, strlen(text));
}

/* Answers a request of which the header is complete, or that is too long. */
static void answer_request(struct scrape_peer *peer, const char *text, size_t length) {
    const char *request = peer->request, *end = strstr(request, "\r\n");
    const char *path = strchr(request, ' ');
    if (!strstr(request, "\r\n\r\n")) {
        refuse_peer(peer, "431 Request Header Fields Too Large", "the request is too long\n");
    } else if (!path || path > end || !memmem(path, (size_t)(end - path), " HTTP/1.", 8)) {
        refuse_peer(peer, "400 Bad Request", "this is not a request of HTTP/1\n");
    } else if (strncmp(request, "GET ", 4) != 0) {
        refuse_peer(peer, "405 Method Not Allowed", "only GET is answered\n");
    } else if (strcspn(path + 1, " ?") != 8 || strncmp(path + 1, "/metrics", 8) != 0) {
        refuse_peer(peer, "404 Not Found", "the figures are at /metrics\n");
    } else {
        set_answer(peer, "200 OK", text, length);
    }
}

static void read_request(struct scrape_peer *peer, const char *text, size_t length) {
    char rest[1024];
    if (peer->answer) { /* all is sent: the peer's end is awaited, or it would lose the answer */
        ssize_t got = recv(peer->fd, rest, sizeof rest, 0);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) end_peer(peer);
        return;
    }
    ssize_t got = recv(peer->fd, peer->request + peer->got, SCRAPE_REQUEST_BYTES - peer->got, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
        end_peer(peer);
        return;
    }
    peer->got += (size_t)got;
    peer->request[peer->got] = '\0';
    if (strstr(peer->request, "\r\n\r\n") || peer->got == SCRAPE_REQUEST_BYTES)
        answer_request(peer, text, length);
}

static void send_answer(struct scrape_peer *peer) {
    ssize_t sent =
        send(peer->fd, peer->answer + peer->sent, peer->length - peer->sent, MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (sent < 0) {
        end_peer(peer);
        return;
    }
    peer->sent += (size_t)sent;
    if (peer->sent == peer->length) shutdown(peer->fd, SHUT_WR);
}

void scrape_turn(struct scrape *scrape, const struct pollfd *fds, const char *text, size_t length,
                 int64_t now_ns) {
    int64_t passed_ns = scrape->turned_ns ? now_ns - scrape->turned_ns : 0;
    if (passed_ns > SCRAPE_TURN_NS) passed_ns = SCRAPE_TURN_NS;
    scrape->turned_ns = now_ns;
    for (int i = 0; i < SCRAPE_PEERS; i++) {
        struct scrape_peer *peer = &scrape->peer[i];
        if (peer->fd < 0) continue;
        if (fds[i + 1].revents & POLLOUT) {
            send_answer(peer);
        } else if (fds[i + 1].revents) {
            read_request(peer, text, length);
        }
        peer->age_ns += passed_ns;
        if (peer->fd >= 0 && peer->age_ns > SCRAPE_AGE_NS) end_peer(peer);
    }
    if (fds[0].revents) accept_peer(scrape);
}
