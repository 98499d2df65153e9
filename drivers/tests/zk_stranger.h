/* zk_stranger: a foreign client on ZooKeeper's bare C library, for tests: it plays other clients by
 * hand, and is the third connection that looks at the nodes. One request at a time, pumped by
 * poll(2) while it waits; it blocks the loop meanwhile. Header only, since each test is one
 * program. */
#ifndef DRIVERS_TESTS_ZK_STRANGER_H
#define DRIVERS_TESTS_ZK_STRANGER_H

#include "drivers/tests/live_help.h"

#include "drivers/zookeeper/mutex.h"

struct stranger {
    zhandle_t *handle;
    bool answered, event;
    int rc, count;
    struct Stat stat;
    char text[16][ZK_PATH_MAX]; /* children's names, a path, data */
};

static inline void pump_once(struct stranger *stranger, int wait_ms) {
    struct pollfd ready = {.fd = -1};
    struct timeval tv = {0, 0};
    int interest = 0;
    if (zookeeper_interest(stranger->handle, &ready.fd, &interest, &tv) != ZOK) return;
    ready.events = (short)(((interest & ZOOKEEPER_READ) ? POLLIN : 0) |
                           ((interest & ZOOKEEPER_WRITE) ? POLLOUT : 0));
    if (poll(&ready, ready.fd >= 0, wait_ms) <= 0) return;
    zookeeper_process(stranger->handle, ((ready.revents & ~POLLOUT) ? ZOOKEEPER_READ : 0) |
                                            ((ready.revents & POLLOUT) ? ZOOKEEPER_WRITE : 0));
}

static inline void on_event(zhandle_t *handle, int type, int state, const char *path,
                            void *context) {
    (void)handle;
    (void)state;
    (void)path;
    struct stranger *stranger = context;
    if (type == ZOO_DELETED_EVENT) stranger->event = true;
}

static inline struct stranger *stranger_of(const void *data) {
    return (struct stranger *)(uintptr_t)data;
}

static inline void on_path(int rc, const char *path, const struct Stat *stat, const void *data) {
    struct stranger *stranger = stranger_of(data);
    if (rc == ZOK) snprintf(stranger->text[0], sizeof stranger->text[0], "%s", path);
    if (rc == ZOK) stranger->stat = *stat;
    stranger->rc = rc;
    stranger->answered = true;
}

static inline void on_void(int rc, const void *data) {
    stranger_of(data)->rc = rc;
    stranger_of(data)->answered = true;
}

static inline void on_data(int rc, const char *value, int len, const struct Stat *stat,
                           const void *data) {
    struct stranger *stranger = stranger_of(data);
    if (rc == ZOK) snprintf(stranger->text[0], sizeof stranger->text[0], "%.*s", len, value);
    if (rc == ZOK) stranger->stat = *stat;
    stranger->rc = rc;
    stranger->answered = true;
}

static inline void on_names(int rc, const struct String_vector *names, const void *data) {
    struct stranger *stranger = stranger_of(data);
    stranger->count = rc == ZOK ? names->count : 0;
    for (int i = 0; i < stranger->count && i < 16; i++) {
        snprintf(stranger->text[i], sizeof stranger->text[i], "%s", names->data[i]);
    }
    stranger->rc = rc;
    stranger->answered = true;
}

static inline int answer(struct stranger *stranger, int rc) {
    int64_t until_ns = lb_now() + 20 * LB_S_NS;
    if (rc != ZOK) return rc;
    while (!stranger->answered && lb_now() < until_ns) pump_once(stranger, 100);
    CHECK(stranger->answered, "the server does not answer the foreign client");
    return stranger->rc;
}

#define ASK(stranger, call) ((stranger)->answered = false, answer((stranger), (call)))

/* Connects, or takes a session up again. */
static inline void stranger_comes(const struct live_place *live, struct stranger *stranger,
                                  const clientid_t *previous) {
    char host[40];
    int64_t until_ns = lb_now() + 20 * LB_S_NS;
    memset(stranger, 0, sizeof *stranger);
    snprintf(host, sizeof host, "127.0.0.1:%d", topo_port(live->place->topo, 0, 0));
    stranger->handle = zookeeper_init(host, on_event, 10000, previous, stranger, 0);
    while (zoo_state(stranger->handle) != ZOO_CONNECTED_STATE && lb_now() < until_ns)
        pump_once(stranger, 100);
    CHECK(zoo_state(stranger->handle) == ZOO_CONNECTED_STATE, "the foreign client cannot connect");
}

static inline void stranger_goes(struct stranger *stranger) {
    zookeeper_close(stranger->handle);
}

/* The number of a node's children, whose names are then in text; 0 also if there is no such
 * node. */
static inline int stranger_counts(struct stranger *stranger, const char *path) {
    int rc = ASK(stranger, zoo_aget_children(stranger->handle, path, 0, on_names, stranger));
    CHECK(rc == ZOK || rc == ZNONODE, "%s: %s", path, zerror(rc));
    return stranger->count;
}

static inline bool stranger_awaits(struct stranger *stranger, const char *path, int count) {
    int64_t until_ns = lb_now() + 20 * LB_S_NS;
    while (stranger_counts(stranger, path) != count) {
        if (lb_now() > until_ns) return false;
        lb_sleep_until(lb_now() + 5 * LB_MS_NS);
    }
    return true;
}
#endif
