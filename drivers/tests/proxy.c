/* proxy: see proxy.h. One thread with poll(2); sockets are blocking for writing: whoever reads is near. */
#define _GNU_SOURCE
#include "drivers/tests/proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINKS_MAX 128

struct link {
    int client_fd, server_fd; /* -1 = no link */
    bool lossy;               /* bytes of it were lost: it can't go on */
};

struct proxy {
    int servers, listen_fd[PROXY_SERVERS_MAX], port[PROXY_SERVERS_MAX], server_port[PROXY_SERVERS_MAX];
    int call_fd; /* eventfd: look at fault and heal */
    pthread_t thread;
    pthread_mutex_t mutex; /* guards fault, left */
    pthread_cond_t healed;
    enum proxy_fault fault;
    uint64_t left; /* bytes of answers that still pass */
    bool heal, quit;
    atomic_bool struck;
    _Atomic uint64_t answer_bytes;
    struct link links[LINKS_MAX];
};

static void end_link(struct link *link, bool reset) {
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    if (link->client_fd < 0) return;
    if (reset) setsockopt(link->client_fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(link->client_fd);
    close(link->server_fd);
    *link = (struct link){.client_fd = -1, .server_fd = -1};
}

static void end_all(struct proxy *proxy, bool reset) {
    for (int i = 0; i < LINKS_MAX; i++) end_link(&proxy->links[i], reset);
}

static bool breaks(enum proxy_fault fault) {
    return fault == PROXY_CUT || fault == PROXY_RESET;
}

static int loopback(int port, struct sockaddr_in *address) {
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static void take_link(struct proxy *proxy, int server, enum proxy_fault now) {
    struct sockaddr_in address;
    struct link *link = proxy->links;
    int client_fd = accept4(proxy->listen_fd[server], NULL, NULL, SOCK_CLOEXEC);
    if (client_fd < 0) return;
    while (link < proxy->links + LINKS_MAX && link->client_fd >= 0) link++;
    int server_fd = loopback(proxy->server_port[server], &address);
    if (breaks(now) || link == proxy->links + LINKS_MAX || server_fd < 0 ||
        connect(server_fd, (struct sockaddr *)&address, sizeof address) != 0) {
        close(client_fd);
        if (server_fd >= 0) close(server_fd);
        return;
    }
    setsockopt(client_fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    setsockopt(server_fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    *link = (struct link){.client_fd = client_fd, .server_fd = server_fd};
}

static bool send_all(int fd, const char *data, size_t len) {
    while (len > 0) {
        ssize_t sent = send(fd, data, len, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        data += sent;
        len -= (size_t)sent;
    }
    return true;
}

/* How many of len bytes of answers may pass; the fault strikes if that is not all. */
static size_t allowance(struct proxy *proxy, size_t len, enum proxy_fault *ret_struck) {
    pthread_mutex_lock(&proxy->mutex);
    size_t pass = len;
    if (proxy->fault != PROXY_NONE && proxy->fault != PROXY_LOSE_REQUESTS) {
        if (pass > proxy->left) pass = (size_t)proxy->left;
        proxy->left -= pass;
        if (pass < len) {
            *ret_struck = proxy->fault;
            atomic_store(&proxy->struck, true);
        }
    }
    pthread_mutex_unlock(&proxy->mutex);
    return pass;
}

static void forward_answers(struct proxy *proxy, struct link *link) {
    char data[16384];
    ssize_t got = recv(link->server_fd, data, sizeof data, 0);
    if (got <= 0) {
        end_link(link, false);
        return;
    }
    enum proxy_fault struck = PROXY_NONE;
    size_t pass = allowance(proxy, (size_t)got, &struck);
    atomic_fetch_add(&proxy->answer_bytes, pass); /* first, so that who has read them finds them counted */
    bool sent = send_all(link->client_fd, data, pass);
    if (breaks(struck)) {
        end_all(proxy, struck == PROXY_RESET);
    } else if (struck != PROXY_NONE) {
        link->lossy = true;
    } else if (!sent) {
        end_link(link, false);
    }
}

static void forward_requests(struct link *link, enum proxy_fault now) {
    char data[16384];
    ssize_t got = recv(link->client_fd, data, sizeof data, 0);
    if (now == PROXY_LOSE_REQUESTS) {
        link->lossy = true; /* also where it was the end that came: the server learns nothing of it */
        return;
    }
    if (got <= 0 || !send_all(link->server_fd, data, (size_t)got)) end_link(link, false);
}

/* What is wrong at this moment; does what was asked for. */
static enum proxy_fault attend(struct proxy *proxy, bool *ret_quit) {
    pthread_mutex_lock(&proxy->mutex);
    enum proxy_fault now = atomic_load(&proxy->struck) ? proxy->fault : PROXY_NONE;
    if (breaks(now)) end_all(proxy, now == PROXY_RESET);
    if (proxy->heal) {
        for (int i = 0; i < LINKS_MAX; i++) {
            if (proxy->links[i].lossy) end_link(&proxy->links[i], true);
        }
        proxy->heal = false;
        proxy->fault = now = PROXY_NONE;
        atomic_store(&proxy->struck, false);
        pthread_cond_broadcast(&proxy->healed);
    }
    *ret_quit = proxy->quit;
    pthread_mutex_unlock(&proxy->mutex);
    return now;
}

static void *proxy_run(void *arg) {
    struct proxy *proxy = arg;
    for (;;) {
        bool quit = false;
        enum proxy_fault now = attend(proxy, &quit);
        if (quit) break;
        struct pollfd polls[1 + PROXY_SERVERS_MAX + 2 * LINKS_MAX];
        struct link *of[1 + PROXY_SERVERS_MAX + 2 * LINKS_MAX];
        int first = 1 + proxy->servers, count = first;
        polls[0] = (struct pollfd){.fd = proxy->call_fd, .events = POLLIN};
        for (int i = 0; i < proxy->servers; i++)
            polls[1 + i] = (struct pollfd){.fd = proxy->listen_fd[i], .events = POLLIN};
        for (int i = 0; i < LINKS_MAX; i++) {
            struct link *link = &proxy->links[i];
            if (link->client_fd < 0) continue;
            /* What further it sends may wait in the kernel: it won't arrive either. */
            bool mute = link->lossy && now == PROXY_LOSE_REQUESTS;
            of[count] = of[count + 1] = link;
            polls[count++] = (struct pollfd){.fd = mute ? -1 : link->client_fd, .events = POLLIN};
            polls[count++] = (struct pollfd){.fd = link->server_fd, .events = POLLIN};
        }
        if (poll(polls, (nfds_t)count, -1) < 0) continue;
        uint64_t calls;
        if (polls[0].revents && read(proxy->call_fd, &calls, sizeof calls) > 0) continue;
        for (int i = 0; i < proxy->servers; i++) {
            if (polls[1 + i].revents) take_link(proxy, i, now);
        }
        for (int i = first; i < count; i += 2) {
            if (polls[i + 1].revents && of[i]->client_fd >= 0) forward_answers(proxy, of[i]);
            if (polls[i].revents && of[i]->client_fd >= 0) forward_requests(of[i], now);
        }
    }
    end_all(proxy, false);
    return NULL;
}

static void call(struct proxy *proxy) {
    uint64_t one = 1;
    while (write(proxy->call_fd, &one, sizeof one) < 0 && errno == EINTR) {
    }
}

/* Listens for one more server. */
static bool listen_for(struct proxy *proxy, int server_port) {
    struct sockaddr_in address;
    socklen_t len = sizeof address;
    int index = proxy->servers, fd = loopback(0, &address);
    if (fd < 0) return false;
    proxy->listen_fd[proxy->servers++] = fd;
    proxy->server_port[index] = server_port;
    if (bind(fd, (struct sockaddr *)&address, len) != 0 || listen(fd, 64) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &len) != 0)
        return false;
    proxy->port[index] = ntohs(address.sin_port);
    return true;
}

static void free_proxy(struct proxy *proxy) {
    if (proxy->call_fd >= 0) close(proxy->call_fd);
    for (int i = 0; i < proxy->servers; i++) close(proxy->listen_fd[i]);
    pthread_cond_destroy(&proxy->healed);
    pthread_mutex_destroy(&proxy->mutex);
    free(proxy);
}

struct proxy *proxy_start_many(const int *server_ports, int count, struct lb_err *err) {
    struct proxy *proxy = calloc(1, sizeof *proxy);
    if (!proxy || count > PROXY_SERVERS_MAX) {
        err_set(err, LB_EXIT_MACHINE, "no memory, or too many servers, for a proxy");
        free(proxy);
        return NULL;
    }
    for (int i = 0; i < LINKS_MAX; i++) proxy->links[i].client_fd = proxy->links[i].server_fd = -1;
    pthread_mutex_init(&proxy->mutex, NULL);
    pthread_cond_init(&proxy->healed, NULL);
    proxy->call_fd = eventfd(0, EFD_CLOEXEC);
    bool listens = proxy->call_fd >= 0;
    for (int i = 0; i < count && listens; i++) listens = listen_for(proxy, server_ports[i]);
    if (!listens || pthread_create(&proxy->thread, NULL, proxy_run, proxy) != 0) {
        err_set(err, LB_EXIT_MACHINE, "no proxy: %s", strerror(errno));
        free_proxy(proxy);
        return NULL;
    }
    return proxy;
}

struct proxy *proxy_start(int server_port, struct lb_err *err) {
    return proxy_start_many(&server_port, 1, err);
}

void proxy_stop(struct proxy *proxy) {
    if (!proxy) return;
    pthread_mutex_lock(&proxy->mutex);
    proxy->quit = true;
    pthread_mutex_unlock(&proxy->mutex);
    call(proxy);
    pthread_join(proxy->thread, NULL);
    free_proxy(proxy);
}

int proxy_port_of(const struct proxy *proxy, int server) {
    return proxy->port[server];
}

int proxy_port(const struct proxy *proxy) {
    return proxy->port[0];
}

void proxy_arm(struct proxy *proxy, enum proxy_fault fault, uint64_t bytes) {
    pthread_mutex_lock(&proxy->mutex);
    proxy->fault = fault;
    proxy->left = bytes;
    atomic_store(&proxy->struck, fault == PROXY_LOSE_REQUESTS);
    pthread_mutex_unlock(&proxy->mutex);
    call(proxy);
}

void proxy_strike(struct proxy *proxy, enum proxy_fault fault) {
    pthread_mutex_lock(&proxy->mutex);
    proxy->fault = fault;
    proxy->left = 0;
    atomic_store(&proxy->struck, true);
    pthread_mutex_unlock(&proxy->mutex);
    call(proxy);
}

void proxy_heal(struct proxy *proxy) {
    pthread_mutex_lock(&proxy->mutex);
    proxy->heal = true;
    call(proxy);
    while (proxy->heal) pthread_cond_wait(&proxy->healed, &proxy->mutex);
    pthread_mutex_unlock(&proxy->mutex);
}

bool proxy_struck(const struct proxy *proxy) {
    return atomic_load(&proxy->struck);
}

uint64_t proxy_answer_bytes(const struct proxy *proxy) {
    return atomic_load(&proxy->answer_bytes);
}
