/* calls: one ZooKeeper request and its answer, as straight-line code on the client's fiber. Several
 * fibers may call on one session at the same time.
 *
 * Each call sends one request (counted in session->commands) and waits for the answer, at most the
 * backend's command_timeout. It retries nothing: the algorithm decides what a lost answer means.
 * Results are the library's codes (ZOK, ZNONODE, ...); its many codes for failures of the connection and
 * the session are replaced by these four: */
#ifndef DRIVERS_ZOOKEEPER_CALLS_H
#define DRIVERS_ZOOKEEPER_CALLS_H

#include "drivers/zookeeper/session.h"

enum {
    ZK_DOWN = -2001, /* not connected now: nothing was sent */
    ZK_CUT =
        -2002, /* sent, but the connection broke before the answer; the session may still live */
    ZK_LATE = -2003, /* sent, no answer in time; or the cut-off */
    ZK_ENDED = -2004 /* the session has expired, and all its ephemeral nodes with it */
};

#define ZK_DATA_MAX 128 /* the bytes that zk_read reads of a node's data, with a NUL */

/* Creates a node. With an account in the URL only that account may use the node; otherwise
 * everybody may, as with Curator. data: text, or NULL = none. mode:
 * ZOO_EPHEMERAL_SEQUENTIAL, ZOO_CONTAINER, ... ret_path (ZK_PATH_MAX bytes) gets the name with its
 * sequence; ret_path and ret_stat may be NULL. */
int zk_create(struct zk_session *z, const char *path, const char *data, int mode, char *ret_path,
              struct Stat *ret_stat);
int zk_delete(struct zk_session *z, const char *path);
int zk_exists(struct zk_session *z, const char *path, struct Stat *ret_stat);
/* ret_data: ZK_DATA_MAX bytes. */
int zk_read(struct zk_session *z, const char *path, char *ret_data, struct Stat *ret_stat);
/* Calls visit(arg, names, count) with the children's names before it returns ZOK; visit must not
 * wait. */
int zk_children(struct zk_session *z, const char *path,
                void (*visit)(void *arg, char *const *names, int count), void *arg);
/* The same as copies, for callers that wait while they use the names. ZOK with *ret_names, which
 * zk_names_done frees in any case; ZSYSTEMERROR: out of memory. */
struct zk_names {
    char **name;
    int count;
    bool failed; /* out of memory */
};
int zk_names_of(struct zk_session *z, const char *path, struct zk_names *ret_names);
void zk_names_done(struct zk_names *names);
/* Lets the server of this session catch up with the leader. */
int zk_sync(struct zk_session *z, const char *path);

/* The same with a watch, which the request itself sets. After ZOK the watch is in the session's list, with path
 * borrowed, until zk_watch_wait or zk_watch_drop; otherwise nothing is left. (The server and the library keep a
 * dropped watch until it fires or the session ends.) */
struct zk_watch {
    struct zk_idler idler;
};
/* Fires when the node is deleted or changes. The request reads the node's data, because such a request sets no watch if
 * there is no node. */
int zk_watch_data(struct zk_session *z, const char *path, struct zk_watch *watch);
/* Fires when a child is created or deleted. */
int zk_watch_children(struct zk_session *z, const char *path,
                      void (*visit)(void *arg, char *const *names, int count), void *arg,
                      struct zk_watch *watch);

/* Waits until the watch fires, and drops it. ZOK (counted in session->wakeups), ZK_ENDED, or
 * ZK_LATE at the deadline, at the cut-off, and when the connection has been down for longer than
 * the session may live. */
int zk_watch_wait(struct zk_session *z, struct zk_watch *watch, int64_t deadline_ns);
void zk_watch_drop(struct zk_session *z, struct zk_watch *watch);

/* Waits until the session is connected. ZOK, ZK_ENDED, or ZK_DOWN at the deadline, at the cut-off,
 * after command_timeout, and when the session may have expired by the client's clock. */
int zk_connected(struct zk_session *z, int64_t deadline_ns);

/* Creates the nodes that lead to path, path itself included, as far as they are missing, as
 * containers. The nodes above the keys' say that lockbench made them. */
int zk_make_parents(struct zk_session *z, const char *path);

/* Fails an operation that got rc: LB_REFUSED (rights, bad name), LB_UNKNOWN (ZK_CUT, ZK_LATE), else
 * LB_BROKEN. */
enum lb_outcome zk_fail(struct lb_session *session, int rc, const char *doing, const char *path);

#endif
