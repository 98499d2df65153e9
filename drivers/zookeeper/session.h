/* session: one ZooKeeper session: its handle of the C client, and the helper fiber that pumps it.
 *
 * The single-threaded client (libzookeeper_st) only does something when it is called, so a helper
 * fiber keeps it reading, pinging and reconnecting while the client's own fiber holds, waits or
 * sleeps. Everything here runs on the session's thread. The calls that algorithms use are in
 * calls.h; this is for the backend's own files. */
#ifndef DRIVERS_ZOOKEEPER_SESSION_H
#define DRIVERS_ZOOKEEPER_SESSION_H

#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <zookeeper/zookeeper.h>

#include "bench/base/err.h"
#include "bench/base/rng.h"
#include "drivers/backends.h"
#include "drivers/driver.h"
#include "drivers/url.h"

/* names: pure functions on ZooKeeper paths and on the names that real clients give their nodes.
 * They send nothing and allocate nothing.
 *
 * Below the lock's path each contender has one node, its name ending with a sequence that the
 * server adds: ten digits. Curator: "_c_<uuid>-lock-<sequence>" for a mutex, "-__READ__" and
 * "-__WRIT__" for a read-write lock, "-lease-" for a semaphore. */

#define ZK_ROOT "/lockbench" /* the locks' paths are below it, after the URL's own path */
#define ZK_PREFIX_MAX 320    /* "/chroot/lockbench" */
#define ZK_PARENT_MAX (ZK_PREFIX_MAX + 1 + 3 * LB_KEY_MAX + 1) /* a key's path, each byte escaped */
#define ZK_NAME_MAX 128                                        /* a node's own name */
#define ZK_PATH_MAX (ZK_PARENT_MAX + 1 + ZK_NAME_MAX)

/* "prefix/key" into out, size bytes. Bytes of the key that a path cannot have, and '/' and '%',
 * become %XX; so does the first dot of the names "." and "..". 0, or -1 when the key is empty or
 * the path does not fit. */
int zk_path_of(const char *prefix, const char *key, size_t key_len, char *out, size_t size);

/* The part of a name that a recipe sorts by. Curator's mutex: the text after the last "lock-",
 * or the whole name if it has none; its read-write lock: the same with "__READ__", then
 * "__WRIT__". */
typedef const char *zk_order_fn(const char *name);
zk_order_fn zk_order_lock, zk_order_read_write;

/* Finds the node that `own` waits for, as an index into names[count]: ZK_FIRST if `own` waits
 * for none, ZK_ABSENT if `own` is not in the list. A client waits for the node right before its
 * own in sort order (a stable sort, as Java's). Curator's reader waits for the first writer if
 * that writer comes before it, so all readers behind a writer wake together. O(count); it sorts
 * nothing. */
enum { ZK_FIRST = -1, ZK_ABSENT = -2 };
typedef int zk_ahead_fn(char *const *names, int count, const char *own);
zk_ahead_fn zk_ahead_lock, zk_ahead_write, zk_ahead_read;

/* The index in names[count] of the node that was created under the protection of uuid
 * ("_c_<uuid>..."), or ZK_ABSENT. */
int zk_protected(char *const *names, int count, const char *uuid);

struct zk_options {
    int64_t command_timeout_ns;
    const char *durability; /* what the user states; see facts.h */
};

struct zk_server {
    char hosts[1024];           /* numeric "address:port,..." as the client wants them */
    int host_count;             /* the number of addresses in it */
    char prefix[ZK_PREFIX_MAX]; /* "/chroot/lockbench": where the locks' paths begin */
    char credentials[URL_USER_MAX +
                     URL_PASSWORD_MAX]; /* "user:password" for digest authentication, or "" */
    char shown[256];                    /* the URL without its password, for messages */
    /* A session of this process has been connected. A server that refuses connections after that may come back, so
     * clients wait for it; before it, nobody is there. */
    atomic_bool reached;
};

/* One request on its way. It lives with the session, not on the caller's stack: an answer may come
 * after its caller has given up. */
struct zk_slot {
    struct zk_session *session;
    struct zk_slot *next; /* the next free one, or the next one on its way */
    bool done, abandoned;
    int rc;
    int64_t sent_ns;        /* a moment before it was sent */
    struct lb_fiber *fiber; /* the fiber to be woken */
    /* create: where the node's path goes, ZK_PATH_MAX bytes; the caller's */
    char *path;
    struct Stat *stat; /* create, exists, read: the caller's */
    char *data;        /* read: ZK_DATA_MAX bytes; the caller's */
    void (*visit)(void *arg, char *const *names, int count); /* children */
    void *arg;
};

/* A fiber that waits for the session's state or for a watch; on its own stack, in the session's
 * list. */
struct zk_idler {
    struct zk_idler *next;
    struct lb_fiber *fiber; /* NULL while the fiber does something else */
    const char *path;       /* of the node that is watched; NULL = none */
    bool fired;             /* the watch has fired */
};

struct zk_session {
    struct lb_session *owner; /* traffic_fd, commands, err */
    zhandle_t *handle;
    struct lb_fiber *pump;
    struct zk_idler *idlers;
    struct zk_slot *free, *sent; /* all are freed with the handle */
    int slots;                   /* the number of slots */
    int fd;
    bool unheard;            /* nothing has been read of this connection */
    int refusals;            /* connections that were refused, one after the other */
    int last_rc, last_errno; /* why the last connection failed or broke */
    int timeout_ms;          /* the negotiated one, or until then the wanted one */
    bool down;               /* not connected */
    /* The session has lasted on the server for its time-out since this moment or later: the last request that was
     * answered was sent then. */
    int64_t heard_ns;
    int64_t turn_ns;    /* a moment before the library was last called to connect or ping */
    int64_t connect_ns; /* a moment before this connection was begun */
    int64_t sent_ns;    /* a moment before the last request or ping was sent */
    int64_t ping_ns; /* a moment before a ping was sent that is not answered; 0 = there is none */
    bool stop;
    bool running; /* the pump runs */
    bool stood;   /* the session has been connected */
    /* the server reported it: all ephemeral nodes of the session are gone */
    bool expired;
    bool lost;                      /* lb_session_lost was called */
    bool ignores_loss;              /* of a control: lb_session_lost is never called */
    char address[INET6_ADDRSTRLEN]; /* the client's own, which Curator writes into its nodes */
};

static inline struct zk_session *zk_session_of(const struct lb_session *session) {
    return session->state;
}

/* Starts a session (previous NULL) or takes one up again, and waits until it stands. 0, -1 with
 * err. *ret_gone, if not NULL, is set when `previous` has expired: no error then. Clean up with
 * zk_session_close either way. */
int zk_session_open(struct zk_session *z, struct lb_session *owner, const clientid_t *previous,
                    int64_t deadline_ns, bool *ret_gone, struct lb_err *err);

/* Ends the session, on the server too if it can be reached; never blocks the thread. The session
 * may be in any state, and already closed. True if the server has confirmed: then its nodes are
 * gone. */
bool zk_session_close(struct zk_session *z);

/* Parks the calling fiber until the state of the session changes, or the watch of its idler
 * fires (idler NULL: no watch; otherwise the caller has put it into the list). False at the
 * deadline or the cut-off. */
bool zk_session_idle(struct zk_session *z, struct zk_idler *idler, int64_t deadline_ns);

bool zk_session_connected(const struct zk_session *z);

/* The caller calls this after each request. If the library dropped the connection while it sent
 * the request, it notified no fiber, and the pump would keep waiting on the closed socket. */
void zk_session_sent(struct zk_session *z);

/* The server has answered a request that was sent at this moment or later. */
void zk_session_heard(struct zk_session *z, int64_t sent_ns);

/* The time at which the server may have ended a session whose connection is down: one session
 * timeout after the last answered request was sent; LB_NEVER while the connection is up. After that time
 * the session is over for the client, whatever the server thinks, and lb_session_lost has been
 * called. (Curator has the same rule, but counts from the moment when it noticed.) */
int64_t zk_session_end_ns(const struct zk_session *z);

/* True if the session has ended for the client: the server said so, or was silent for a whole
 * session timeout, or this process was paused for that long. Never true for a session that ignores
 * its loss. */
bool zk_session_over(const struct zk_session *z);

/* Puts an idler into the list, takes it out. */
void zk_session_enlist(struct zk_session *z, struct zk_idler *idler);
void zk_session_delist(struct zk_session *z, struct zk_idler *idler);

/* Facts about the server that the session is connected to. */
int zk_facts(struct lb_session *session, struct lb_facts *facts, struct lb_err *err);

/* Removes what lockbench left on the server; see drivers/clean.h. */
lb_clean_fn zk_clean;

#endif
