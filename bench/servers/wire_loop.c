/* wire_loop: the main loop of the proxy's process. It sleeps in epoll until a connection, bytes, a
 * timer or a request arrives. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "bench/base/clock.h"
#include "bench/servers/wire_impl.h"

#define EVENTS_MAX 256
#define ACCEPTS_MAX 64 /* at a time */

/* Carries out the program's request, then acknowledges it. */
static void obey_order(struct proxy *proxy) {
    const struct order *order = &proxy->shared->order;
    uint64_t number;
    ssize_t got = recv(proxy->control_fd, &number, sizeof number, 0);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got != sizeof number) _exit(0); /* the program has ended */
    if (order->verb == ORDER_SET) faults_set(proxy, order);
    if (order->verb == ORDER_LIFT) faults_lift(proxy, order->slot);
    if (order->verb == ORDER_AIM) proxy->listeners[order->end].server = order->server;
    while (send(proxy->control_fd, &number, sizeof number, MSG_NOSIGNAL) < 0 && errno == EINTR) {
    }
}

/* Closes new connections when no file descriptor is left. Otherwise epoll would report them again and again. */
static void turn_away(struct proxy *proxy, const struct listener *listener) {
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    close(proxy->spare_fd);
    int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0) {
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close(fd);
    }
    proxy->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void accept_some(struct proxy *proxy, const struct listener *listener) {
    for (int i = 0; i < ACCEPTS_MAX && !listener->shut; i++) {
        struct sockaddr_in address = {0};
        socklen_t len = sizeof address;
        int fd =
            accept4(listener->fd, (struct sockaddr *)&address, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            link_take(proxy, listener, fd, ntohs(address.sin_port));
        } else {
            if (errno == EMFILE || errno == ENFILE) turn_away(proxy, listener);
            return;
        }
    }
}

static void on_side(struct proxy *proxy, struct side *side, uint32_t events) {
    if (side->link->dead) return;
    if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) side->hung_up = true;
    if (side->hung_up || (events & EPOLLIN)) side->readable = true;
    if (events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) side->writable = true;
    faults_pump(proxy, side->link);
}

static void on_time(struct proxy *proxy) {
    uint64_t expired;
    struct timer *timer;
    (void)!read(proxy->timer_fd, &expired, sizeof expired);
    proxy->timer_ns = 0;
    int64_t now_ns = lb_now();
    while ((timer = heap_first(&proxy->heap)) && timer->due_ns <= now_ns) {
        heap_remove(&proxy->heap, timer);
        faults_pump(proxy, ((struct flow *)timer)->link);
    }
}

static void set_timer(struct proxy *proxy) {
    const struct timer *first = heap_first(&proxy->heap);
    int64_t due_ns = first ? first->due_ns : 0;
    if (due_ns == proxy->timer_ns) return;
    struct itimerspec when = {
        .it_value = {.tv_sec = due_ns / LB_S_NS, .tv_nsec = due_ns % LB_S_NS}};
    timerfd_settime(proxy->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
    proxy->timer_ns = due_ns;
}

static void pump_again(struct proxy *proxy) {
    struct link *link = proxy->agains;
    proxy->agains = NULL;
    while (link) {
        struct link *next = link->next_again;
        link->again = false;
        faults_pump(proxy, link);
        link = next;
    }
}

static bool watch_in(struct proxy *proxy, int fd, enum watched *watched) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = watched};
    return epoll_ctl(proxy->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

static bool set_up(struct proxy *proxy) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max; /* each connection needs two descriptors */
        setrlimit(RLIMIT_NOFILE, &files);
    }
    proxy->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    proxy->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    proxy->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    proxy->buffer = malloc(BUFFER_BYTES);
    proxy->control = WATCH_CONTROL;
    proxy->timer = WATCH_TIMER;
    bool works = proxy->epoll_fd >= 0 && proxy->timer_fd >= 0 && proxy->buffer &&
                 watch_in(proxy, proxy->control_fd, &proxy->control) &&
                 watch_in(proxy, proxy->timer_fd, &proxy->timer);
    for (int i = 0; works && i < proxy->ends; i++)
        works = watch_in(proxy, proxy->listeners[i].fd, &proxy->listeners[i].watched);
    return works;
}

void wire_main(struct wire_shared *shared, int control_fd, const struct listener *listeners,
               int ends) {
    static struct proxy proxy;
    struct epoll_event events[EVENTS_MAX];
    proxy.shared = shared;
    proxy.control_fd = control_fd;
    proxy.ends = ends;
    for (int i = 0; i < ends; i++) proxy.listeners[i] = listeners[i];
    if (!set_up(&proxy)) _exit(1);
    for (;;) {
        set_timer(&proxy);
        int count = epoll_wait(proxy.epoll_fd, events, EVENTS_MAX, proxy.agains ? 0 : -1);
        if (count < 0 && errno != EINTR) _exit(1);
        for (int i = 0; i < count; i++) {
            enum watched *watched = events[i].data.ptr;
            if (*watched == WATCH_CONTROL) obey_order(&proxy);
            if (*watched == WATCH_TIMER) on_time(&proxy);
            if (*watched == WATCH_LISTENER) accept_some(&proxy, (struct listener *)watched);
            if (*watched == WATCH_SIDE) on_side(&proxy, (struct side *)watched, events[i].events);
        }
        pump_again(&proxy);
        links_bury(&proxy);
    }
}
