/* wait: sockets on a loop, by epoll: the waits of drivers/wait.h, which has the contracts. */
#define _GNU_SOURCE
#include "drivers/wait.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "bench/engine/loop_impl.h"

#define POLL_EVENTS 256
#define WAIT_ANY_MAX 16

static struct fd_entry *entry_of(struct loop *loop, int fd) {
    if (fd < 0) return NULL;
    if (fd >= loop->fd_room) {
        int room = loop->fd_room ? loop->fd_room : 64;
        while (room <= fd) room *= 2;
        struct fd_entry *fds = realloc(loop->fds, (size_t)room * sizeof *fds);
        if (!fds) return NULL;
        memset(fds + loop->fd_room, 0, (size_t)(room - loop->fd_room) * sizeof *fds);
        loop->fds = fds;
        loop->fd_room = room;
    }
    return &loop->fds[fd];
}

/* Registers fd for events, also if epoll knows it already: a library may have closed it and opened
 * another one with the same number. */
static int arm_fd(struct loop *loop, struct fd_entry *entry, int fd, uint32_t events) {
    struct epoll_event event = {.events = events, .data.fd = fd};
    int first = entry->known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if (epoll_ctl(loop->epoll_fd, first, fd, &event) != 0) {
        int second = errno == ENOENT ? EPOLL_CTL_ADD : errno == EEXIST ? EPOLL_CTL_MOD : 0;
        if (!second || epoll_ctl(loop->epoll_fd, second, fd, &event) != 0) return -errno;
    }
    entry->known = true;
    entry->armed = events;
    return 0;
}

static uint32_t epoll_bits(int events) {
    return ((events & LB_READABLE) ? (uint32_t)EPOLLIN | EPOLLRDHUP : 0) |
           ((events & LB_WRITABLE) ? (uint32_t)EPOLLOUT : 0);
}

static int ready_bits(uint32_t events) {
    int ready = 0;
    if (events & (EPOLLIN | EPOLLRDHUP)) ready |= LB_READABLE;
    if (events & EPOLLOUT) ready |= LB_WRITABLE;
    if (events & (EPOLLERR | EPOLLHUP)) ready |= LB_HANGUP;
    return ready;
}

/* Parks the calling fiber as the one that waits for `events` of an fd that is registered. */
static int park_on(struct loop *loop, int fd, int events, int64_t deadline_ns) {
    struct fd_entry *entry = &loop->fds[fd];
    if (events & LB_READABLE) entry->reader = loop->current;
    if (events & LB_WRITABLE) entry->writer = loop->current;
    int ready = loop_park(deadline_ns);
    entry = &loop->fds[fd]; /* the table may have grown */
    if (entry->reader == loop->current) entry->reader = NULL;
    if (entry->writer == loop->current) entry->writer = NULL;
    return ready;
}

/* Registers an fd for waits of one kind, unless it is already. Replaces a registration by another kind of wait. */
static int register_fd(struct loop *loop, int fd, uint32_t wanted, bool edge) {
    struct fd_entry *entry = entry_of(loop, fd);
    if (!entry) return fd < 0 ? -EBADF : -ENOMEM;
    bool same = entry->known && entry->edge == edge;
    if (same && (entry->armed & wanted) == wanted) return 0;
    int failed = arm_fd(loop, entry, fd, same && !edge ? entry->armed | wanted : wanted);
    if (failed) return failed;
    entry->edge = edge;
    entry->pending = 0; /* registering again reports what is ready now */
    return 0;
}

int lb_wait_fd(int fd, int events, int64_t deadline_ns) {
    struct loop *loop = loop_current;
    int failed = register_fd(loop, fd, epoll_bits(events), false);
    return failed ? failed : park_on(loop, fd, events, deadline_ns);
}

int lb_wait_edge(int fd, int events, int64_t deadline_ns) {
    struct loop *loop = loop_current;
    int failed = register_fd(loop, fd, epoll_bits(events) | EPOLLIN | EPOLLRDHUP | EPOLLET, true);
    if (failed) return failed;
    struct fd_entry *entry = &loop->fds[fd];
    int pending = entry->pending & (events | LB_HANGUP);
    if (pending) {
        entry->pending &= (uint8_t)~pending;
        return pending;
    }
    return park_on(loop, fd, events, deadline_ns);
}

void lb_fd_forget(int fd) {
    struct loop *loop = loop_current;
    if (!loop || fd < 0 || fd >= loop->fd_room || !loop->fds[fd].known) return;
    epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
    struct fd_entry *entry = &loop->fds[fd];
    /* A fiber that waits for this fd is told of a hang-up. */
    if (entry->reader) loop_ready(entry->reader, LB_HANGUP);
    if (entry->writer) loop_ready(entry->writer, LB_HANGUP);
    *entry = (struct fd_entry){0};
}

int lb_wait_any(struct lb_poll *polls, int count, int64_t deadline_ns) {
    struct loop *loop = loop_current;
    if (count > WAIT_ANY_MAX) return -EINVAL;
    for (int i = 0; i < count; i++) {
        polls[i].ready = 0;
        struct fd_entry *entry = entry_of(loop, polls[i].fd);
        if (!entry) return polls[i].fd < 0 ? -EBADF : -ENOMEM;
        int failed =
            arm_fd(loop, entry, polls[i].fd, epoll_bits(polls[i].events) | (uint32_t)EPOLLONESHOT);
        if (failed) return failed;
        entry->edge = true; /* one-shot: epoll disables it itself, also without a waiter */
        entry->pending = 0;
        if (polls[i].events & LB_READABLE) entry->reader = loop->current;
        if (polls[i].events & LB_WRITABLE) entry->writer = loop->current;
    }
    loop_park(deadline_ns);
    int ready = 0;
    for (int i = 0; i < count; i++) {
        struct fd_entry *entry = &loop->fds[polls[i].fd];
        if (entry->reader == loop->current) entry->reader = NULL;
        if (entry->writer == loop->current) entry->writer = NULL;
        polls[i].ready = entry->pending;
        entry->pending = 0;
        if (polls[i].ready) ready++;
    }
    return ready;
}

/* A level-triggered event without a waiter: it would be reported for ever. */
static void disarm_fd(struct loop *loop, struct fd_entry *entry, int fd, uint32_t events) {
    if (events & (EPOLLERR | EPOLLHUP)) {
        epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
        entry->known = false;
        entry->armed = 0;
    } else {
        arm_fd(loop, entry, fd, entry->armed & ~events);
    }
}

static void dispatch_events(struct loop *loop, int fd, uint32_t events) {
    struct fd_entry *entry = &loop->fds[fd];
    int ready = ready_bits(events);
    struct lb_fiber *reader = (ready & (LB_READABLE | LB_HANGUP)) ? entry->reader : NULL;
    struct lb_fiber *writer = (ready & (LB_WRITABLE | LB_HANGUP)) ? entry->writer : NULL;
    if (reader) loop_ready(reader, ready & (LB_READABLE | LB_HANGUP));
    if (writer) loop_ready(writer, ready & (LB_WRITABLE | LB_HANGUP));
    if (entry->edge) {
        bool one_shot = entry->armed & EPOLLONESHOT;
        int unheard = one_shot ? ready
                               : ready & ~((reader ? LB_READABLE | LB_HANGUP : 0) |
                                           (writer ? LB_WRITABLE | LB_HANGUP : 0));
        entry->pending |= (uint8_t)unheard;
        return;
    }
    uint32_t unheard = 0;
    if ((events & (EPOLLIN | EPOLLRDHUP)) && !reader) unheard |= EPOLLIN | EPOLLRDHUP;
    if ((events & EPOLLOUT) && !writer) unheard |= EPOLLOUT;
    if ((events & (EPOLLERR | EPOLLHUP)) && !reader && !writer) unheard |= EPOLLERR | EPOLLHUP;
    if (unheard) disarm_fd(loop, entry, fd, unheard);
}

/* Makes sure that the loop wakes at due_ns at the latest. A timeout for epoll_pwait2 would set a
 * kernel timer for each wait, which costs more than the wait in a virtual machine. This timer is
 * set only when it has fired or must fire earlier (one client of PostgreSQL: 18 us of processor
 * time a cycle, instead of 30 us). */
static void arm_timer(struct loop *loop, int64_t due_ns) {
    if (loop->timer_ns > loop->now_ns && loop->timer_ns <= due_ns) return;
    struct itimerspec when = {
        .it_value = {.tv_sec = due_ns / LB_S_NS, .tv_nsec = due_ns % LB_S_NS}};
    timerfd_settime(loop->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
    loop->timer_ns = due_ns;
}

void loop_poll(struct loop *loop, int64_t wait_ns) {
    struct epoll_event events[POLL_EVENTS];
    if (wait_ns > 0 && wait_ns != LB_NEVER) arm_timer(loop, loop->now_ns + wait_ns);
    int count = epoll_wait(loop->epoll_fd, events, POLL_EVENTS, wait_ns > 0 ? -1 : 0);
    /* The process was stopped and continued: events that arrived meanwhile are pending. */
    while (count < 0 && errno == EINTR) count = epoll_wait(loop->epoll_fd, events, POLL_EVENTS, 0);
    loop->now_ns = loop->polled_ns = lb_now();
    for (int i = 0; i < count; i++) { /* fetches the fibers that the next loop makes ready */
        if (events[i].data.fd != loop->timer_fd)
            __builtin_prefetch(loop->fds[events[i].data.fd].reader, 1);
    }
    for (int i = 0; i < count; i++) {
        /* Edge-triggered and never read: its only purpose is the wake-up. */
        if (events[i].data.fd != loop->timer_fd)
            dispatch_events(loop, events[i].data.fd, events[i].events);
    }
}
