/* driver.h: what a backend and a lock are, as two small tables of data and functions.
 *
 * A backend says how to reach a server; a lock is an algorithm on a backend. A driver only talks:
 * the core owns the memory (each table states its sizes), the clock, retries, counts and checks. A
 * driver may include the headers of drivers/ and bench/base/, and nothing else of the project. It
 * never prints, never exits, and never blocks its thread (see LB_CAP_BLOCKS_THREAD).
 *
 * To add a lock: write its .c file with one `const struct lb_lock`, add its line to
 * drivers/list.h. */
#ifndef DRIVERS_DRIVER_H
#define DRIVERS_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/base/clock.h"
#include "bench/base/err.h"
#include "bench/base/rng.h"
#include "drivers/option.h"
#include "drivers/scenario.h"

/* How an attempt ended. In locking the kind matters, so each has a name and is counted apart. */
enum lb_outcome {
    LB_OK,      /* granted (acquire), freed (release), answered (ping), extended (renew) */
    LB_BUSY,    /* somebody else holds it and the caller did not want to wait */
    LB_TIMEOUT, /* the deadline passed while waiting; nothing is held, nothing is queued any more */
    LB_LOST,    /* the lease or session ended while we held it; somebody else may hold it now */
    LB_UNKNOWN, /* the request was sent and its answer is lost: held or not, nobody here can say */
    LB_REFUSED, /* the server or the driver says no for good: auth, bad name, bad option */
    /* could not ask: the connection is down before anything was sent, or bad protocol */
    LB_BROKEN,
    LB_OUTCOMES
};

enum lb_primitive {
    LB_MUTEX,
    LB_RWLOCK,    /* a mutex that also has a shared mode: LB_CAP_SHARED */
    LB_SEMAPHORE, /* at most request.bound permits are out at once */
    /* opens when it was counted down: acquire awaits that, release counts down by one */
    LB_LATCH,
    /* holds nothing: acquire reads a version, release writes if it is still the same */
    LB_OPTIMISTIC,
    LB_NO_PRIMITIVE
};

/* What a lock can do; tests, help and the runner ask these bits. */
enum lb_cap {
    /* acquire with a deadline in the past asks once and returns BUSY */
    LB_CAP_TRY = 1 << 0,
    LB_CAP_WAIT = 1 << 1,  /* acquire waits until its deadline */
    LB_CAP_LEASE = 1 << 2, /* a grant ends by itself after request.lease_ns */
    LB_CAP_RENEW = 1 << 3, /* has .renew */
    /* grants carry a token that grows from grant to grant of a key */
    LB_CAP_FENCE = 1 << 4,
    LB_CAP_FAIR = 1 << 5, /* first come first served, by the server's own queue */
    LB_CAP_BLOCKS_THREAD =
        1 << 6, /* its waits block the OS thread: the engine gives each client one.
                                      Such a wait must look at lb_stopping() every 100 ms */
    /* a grant lives as long as its session (connection, ZooKeeper session) */
    LB_CAP_SESSION = 1 << 7,
    LB_CAP_CONTROL = 1 << 8, /* broken on purpose: the checker must catch it */
    /* not a lock: measures the tool; each client is given a cell of its own */
    LB_CAP_BASELINE = 1 << 9,
    LB_CAP_SHARED = 1 << 10,    /* obeys request.shared: readers hold together */
    LB_CAP_REENTRANT = 1 << 11, /* the holder may acquire again: request.held */
    LB_CAP_MULTI = 1 << 12,     /* takes all of request.keys, or none */
    LB_CAP_PERMITS = 1 << 13,   /* a semaphore that gives request.permits > 1 at once */
    /* cuts a key in request.bound parts, each with one holder: grant.slot */
    LB_CAP_SLOTS = 1 << 14,
    LB_CAP_SHARE =
        1 << 15, /* several clients (fibers) may call on one session at the same time, also
                                      while one waits; their sessions' lock_state is then common */
    LB_CAP_SPINS = 1 << 16, /* its waits burn the processor */
};

/* What a lock promises, as its documentation or its authors state it; checked against what is
 * seen. */
enum lb_claim {
    LB_CLAIM_EXCLUDES = 1 << 0, /* one holder at a time while nothing fails and leases last */
    /* ... also when a holder is paused for longer than its lease */
    LB_CLAIM_SAFE_PAUSE = 1 << 1,
    LB_CLAIM_SAFE_FAILOVER = 1 << 2, /* ... also when a server of several is lost */
    LB_CLAIM_CRASH_RELEASE = 1 << 3, /* a dead holder's lock is freed without help */
};

/* Where the truth about a lock lives: what can make two parties disagree about it. */
enum lb_guarantee {
    LB_ON_ONE_HOST,      /* memory or files of one machine */
    LB_ON_ONE_NODE,      /* one server; as lasting as its disk */
    LB_ON_ASYNC_REPLICA, /* a primary; what replicas have not got is lost with it */
    LB_ON_MAJORITY,      /* most of several servers agreed */
    LB_NO_GUARANTEE      /* controls, baselines */
};

/* What frees the lock of a holder that vanished, and so when, at the latest. */
enum lb_crash {
    LB_CRASH_NEVER,   /* somebody must come and clean up */
    LB_CRASH_AT_ONCE, /* the kernel, or the server when the connection ends */
    LB_CRASH_LEASE,   /* the end of the lease that the grant asked for */
    LB_CRASH_SESSION  /* the end of the session's own lease (ZooKeeper session, etcd lease) */
};

/* How a control (LB_CAP_CONTROL) must show in the workload that is meant to expose it. */
enum lb_exposed {
    /* two holders, each inside its lease; or lost updates; or tokens that do not grow */
    LB_EXPOSED_VIOLATED,
    LB_EXPOSED_EXPIRED, /* a holder outlived its lease */
    LB_EXPOSED_STUCK    /* a key that nobody could get any more */
};

/* A lock in words and numbers, for people who choose one. Shown by `list NAME`, tabled in
 * drivers/README.md; the requests are checked against what the conformance suite counts. */
struct lb_about {
    const char *compatible; /* the real clients that it excludes and that exclude it */
    const char *order;      /* in which order waiters get it: "first come, first served", "none" */
    const char *token;      /* where the fencing token comes from; NULL = none */
    const char *hazards;    /* what is known to go wrong with it, in one or two lines */
    /* round trips, uncontended, one key; 0 = there is no server */
    int acquire_requests, release_requests;
    enum lb_guarantee guarantee;
    enum lb_crash crash;
    /* what may come on top of the lease or session: ticks, elections, round-ups */
    int64_t crash_slack_ns;
    /* Controls only: where the mistake comes from and what goes wrong; the workload that shows
     * it. */
    const char *mistake;
    const char *exposed_by; /* a name in workloads/; NULL = any contention shows it */
    enum lb_exposed exposed_as;
};

struct lb_lock;
struct lb_facts;
struct lb_store;

/* An opened backend: shared by all its sessions on all threads; worker processes inherit it by
 * fork. */
struct lb_server {
    const struct lb_backend *backend;
    const char *const *urls; /* where the servers are; borrowed for the server's life */
    int url_count;
    /* a private folder for embedded backends, or NULL; same path in each process */
    const char *dir;
    const void *options; /* the backend's parsed options, laid out as its option table says */
    /* backend->shared_bytes, zeroed, one mapping seen by all processes; or NULL */
    void *shared;
    /* backend->server_bytes, zeroed before open; a forked worker has its own copy */
    void *state;
};

/* One connection (or ZooKeeper handle, or etcd lease) of one client, or of several (LB_CAP_SHARE).
 * Used by one fiber's driver calls at a time unless the lock has LB_CAP_SHARE, always on the thread
 * that connected it; helper fibers that the driver spawns share it. */
struct lb_session {
    struct lb_server *server;
    const struct lb_lock *lock; /* the lock that will be used through this session */
    const void *options;        /* the lock's parsed options */
    /* 0 .. clients-1, over all processes and threads; its first, if shared */
    uint32_t client;
    int64_t lease_ns;       /* what the plan asks for: session timeouts derive from it */
    int64_t lasts_until_ns; /* see lb_session_renewed; 0 = not known */
    uint64_t commands;      /* the driver adds 1 for each request sent to a server */
    /* ... for each time that a waiter was woken, or had slept, and looked again */
    uint64_t wakeups;
    int traffic_fd;      /* the TCP socket whose bytes the core may count by TCP_INFO, or -1 */
    uint64_t more_bytes; /* bytes sent and received that traffic_fd does not see (other sockets) */
    struct lb_rng rng;   /* jitter, tokens; seeded by the plan, the client's own */
    struct lb_err err;   /* why the last call did not return LB_OK; the core clears it */
    void *state;         /* backend->session_bytes, zeroed before connect */
    void *lock_state;    /* lock->session_bytes, zeroed before connect */
    void (*on_lost)(struct lb_session *session); /* the core's; see lb_session_lost */
    void *core;                                  /* the core's own */
};

/* The name of a lock. */
struct lb_key {
    const char *name; /* printable, at most LB_KEY_MAX bytes, NUL-terminated */
    size_t len;
    uint64_t number; /* the same name as a stable 63-bit number, for locks that take one */
    uint32_t index;  /* 0 .. keys-1 */
};

/* One attempt to acquire. Borrowed by the driver for the call; the core keeps it until the
 * release. */
struct lb_request {
    const char *key; /* printable name of the lock, at most LB_KEY_MAX bytes, NUL-terminated */
    size_t key_len;
    uint64_t key_number; /* the same name as a stable 63-bit number, for locks that take one */
    uint32_t key_index;  /* 0 .. keys-1 */
    /* by lb_now(); in the past = try once; LB_NEVER = until the engine cancels */
    int64_t deadline_ns;
    int64_t lease_ns; /* how long a grant should last; ignored without LB_CAP_LEASE */
    uint32_t client;  /* who asks: differs from session->client where sessions are shared */
    bool shared;      /* LB_CAP_SHARED: as a reader */
    uint32_t
        held; /* LB_CAP_REENTRANT: how often this client holds the key already, by the same grant: 0
                         at the first acquire, 1 at the second; at a release, before it */
    uint32_t permits; /* semaphores: how many are wanted, at least 1; above 1 with LB_CAP_PERMITS */
    /* semaphores: how many there are; latches: the count; LB_CAP_SLOTS: how many slots */
    uint32_t bound;
    const struct lb_key
        *keys; /* LB_CAP_MULTI: all that are wanted, each once, in an order that is the same
                                  for all clients; the first is the key above. NULL = just the key above */
    int key_count;
};

#define LB_KEY_MAX 1024
#define LB_KEYS_MAX 8   /* of one request */
#define LB_SLOTS_MAX 64 /* request.bound of a lock with LB_CAP_SLOTS */

/* What a successful acquire hands back, and release and renew are given. */
struct lb_grant {
    uint64_t
        token; /* fencing token, grows with each grant of the key; 0 = the lock has none. Shared grants
                       may repeat it. LB_OPTIMISTIC: the version read; after an OK release, the one written */
    uint32_t slot; /* LB_CAP_SLOTS: which, 0 .. bound-1 */
    /* our clock, counted from BEFORE the request was sent; LB_NEVER = no lease */
    int64_t lease_end_ns;
    void *data; /* lock->grant_bytes of the driver's own (owner token, znode name), zeroed
                             when the client starts and left alone by the core between calls */
};

/* Backend: once a run, in the main process before any worker starts or forks, so that what it
 * leaves in state and shared is seen by all. Parse URLs here. 0, or -1 with err. May block. */
typedef int lb_open_fn(struct lb_server *server, struct lb_err *err);
/* Undoes open, also a half-done one. */
typedef void lb_close_fn(struct lb_server *server);
/* Opens one session by deadline_ns. 0, or -1 with err (LB_EXIT_USAGE for a wrong password or URL,
 * LB_EXIT_MACHINE for an unreachable server), leaving what disconnect can clean. */
typedef int lb_connect_fn(struct lb_session *session, int64_t deadline_ns, struct lb_err *err);
/* Ends the session politely and releases all; takes half-connected and broken ones, and twice. The
 * core zeroes the state blocks afterwards and may connect again. */
typedef void lb_disconnect_fn(struct lb_session *session);
/* Asks the server what it is: version, and the settings that matter to a lock. Never a password. */
typedef int lb_describe_fn(struct lb_session *session, struct lb_facts *facts, struct lb_err *err);
/* One empty round trip on the session's connection: the floor that acquire is compared with. */
typedef enum lb_outcome lb_ping_fn(struct lb_session *session, int64_t deadline_ns);

/* Lock: once a stage, by one session, before the others begin: create tables, parent nodes. */
typedef int lb_setup_fn(struct lb_session *session, struct lb_err *err);
/* arm: gives a key what it must have on the server before anybody can use it: a semaphore its
 * permits and a latch its count (request->bound), a row lock or an optimistic one its row. Called
 * once a key by one session before the others begin (latches: before each round); what is there
 * already stays as it is. disarm: takes it away again, when nobody uses it any more. 0, or -1 with
 * err. */
typedef int lb_arm_fn(struct lb_session *session, const struct lb_request *request,
                      struct lb_err *err);
/* Takes the lock or says why not. Returns by request->deadline_ns (LB_TIMEOUT, or LB_BUSY when the
 * deadline had passed at the call) and leaves nothing held or queued then. Grant is written only
 * with LB_OK (token, lease end) or for settle's use (data). On LB_UNKNOWN the core calls settle. */
typedef enum lb_outcome lb_acquire_fn(struct lb_session *session, const struct lb_request *request,
                                      struct lb_grant *grant);
/* Frees it, only if it is still ours: LB_OK, or LB_LOST if the server says that it was not. An
 * optimistic lock writes: LB_OK, or LB_BUSY if somebody else had written since (the core counts a
 * retry and reads again). */
typedef enum lb_outcome lb_release_fn(struct lb_session *session, const struct lb_request *request,
                                      struct lb_grant *grant);
/* Extends a held lease by request->lease_ns from now and updates grant->lease_end_ns. */
typedef enum lb_outcome lb_renew_fn(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant);
/* After LB_UNKNOWN, on a new connection: make sure that nothing of that attempt is held or queued.
 * LB_OK = sure. NULL in the table = ending the session is enough (connection-bound locks). */
typedef enum lb_outcome lb_settle_fn(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant);

/* What is left on the server. */
struct lb_residue {
    uint64_t count;
    char example[160]; /* one of them, e.g. "znode /locks/a/_c_..." */
};

/* Counts what of this lock is left on the server under keys that begin with prefix (keys, znodes,
 * rows, leases, locks, subscriptions), but not what lock->keeps says it keeps by design. Asked by a
 * fresh session when all others have ended. 0 with *ret, or -1 with err. */
typedef int lb_residue_fn(struct lb_session *session, const char *prefix,
                          struct lb_residue *ret_residue, struct lb_err *err);

struct lb_backend {
    const char *name;           /* "redis" */
    const char *summary;        /* one line */
    const char *const *schemes; /* URL schemes it takes, NULL-terminated; NULL = embedded */
    /* Scripts in compose/local that its locks can run on (unless a lock has a list of its own), the
     * default first, NULL-terminated; NULL = embedded, no server. */
    const char *const *topologies;
    /* Embedded backends: a word of bench/base/durability.h. NULL = the topology's script states it. */
    const char *durability_class;
    const char *unavailable; /* why this build lacks it; NULL = it is here */
    const struct lb_expectation
        *expected;       /* LB_SCENARIOS of them: what its locks do under each fault, unless a
                                              lock has a table of its own; may be NULL */
    const char *install; /* what to install: Debian package names */
    const struct lb_option *options; /* ends with a NULL name; may be NULL */
    size_t options_bytes, server_bytes, session_bytes, shared_bytes;
    lb_open_fn *open;             /* may be NULL */
    lb_close_fn *close;           /* may be NULL */
    lb_connect_fn *connect;       /* may be NULL */
    lb_disconnect_fn *disconnect; /* may be NULL */
    lb_describe_fn *describe;
    lb_ping_fn *ping; /* NULL = there is nobody to ping */
};

struct lb_lock {
    const char *name;    /* "<backend>-<algorithm>", or "unsafe-..." */
    const char *summary; /* one line: the algorithm and the real client it is compatible with */
    const struct lb_backend *backend;
    enum lb_primitive primitive;
    unsigned caps;     /* enum lb_cap */
    unsigned claims;   /* enum lb_claim */
    const char *waits; /* how a waiter learns: "poll", "watch predecessor", "server queue" */
    /* What this lock's own state survives (a word of bench/base/durability.h), where that differs
     * from its server's; the same in words. Either may be NULL. */
    const char *durability_class, *durability_note;
    /* what it leaves on the server by design, in words; NULL = nothing */
    const char *keeps;
    /* as the backend's, for a lock that needs other servers; NULL = those */
    const char *const *topologies;
    struct lb_about about;
    /* as the backend's, for a lock that differs; NULL = that */
    const struct lb_expectation *expected;
    const struct lb_option *options; /* ends with a NULL name; may be NULL */
    /* where its backend can keep what it guards: store.h; NULL = nowhere */
    const struct lb_store *store;
    size_t options_bytes, session_bytes, grant_bytes;
    lb_setup_fn *setup; /* may be NULL */
    lb_connect_fn
        *prepare; /* what each session needs of this lock (prepared statements): called by the
                                backend's own connect when the session is up. May be NULL */
    lb_arm_fn *arm, *disarm; /* may be NULL */
    lb_acquire_fn *acquire;
    lb_release_fn *release;
    lb_renew_fn *renew;     /* NULL without LB_CAP_RENEW */
    lb_settle_fn *settle;   /* may be NULL */
    lb_residue_fn *residue; /* NULL only where there is no server to leave anything on */
};

/* Each client library's code is compiled only where the library is; the tables always are, so that
 * a missing backend is still listed and says why. LB_IF_x(a, b) is "a, b" with the library, else
 * nothing. */
#ifdef LB_HAVE_HIREDIS
#define LB_IF_HIREDIS(...) __VA_ARGS__
#define LB_WHY_HIREDIS NULL
#else
#define LB_IF_HIREDIS(...)
#define LB_WHY_HIREDIS "built without hiredis"
#endif
#ifdef LB_HAVE_ZOOKEEPER
#define LB_IF_ZOOKEEPER(...) __VA_ARGS__
#define LB_WHY_ZOOKEEPER NULL
#else
#define LB_IF_ZOOKEEPER(...)
#define LB_WHY_ZOOKEEPER "built without ZooKeeper's C client"
#endif
#ifdef LB_HAVE_ETCD
#define LB_IF_ETCD(...) __VA_ARGS__
#define LB_WHY_ETCD NULL
#else
#define LB_IF_ETCD(...)
#define LB_WHY_ETCD "built without libcurl and protobuf-c"
#endif
#ifdef LB_HAVE_PQ
#define LB_IF_PQ(...) __VA_ARGS__
#define LB_WHY_PQ NULL
#else
#define LB_IF_PQ(...)
#define LB_WHY_PQ "built without libpq"
#endif
#ifdef LB_HAVE_MARIADB
#define LB_IF_MARIADB(...) __VA_ARGS__
#define LB_WHY_MARIADB NULL
#else
#define LB_IF_MARIADB(...)
#define LB_WHY_MARIADB "built without libmariadb"
#endif
#ifdef LB_HAVE_SQLITE
#define LB_IF_SQLITE(...) __VA_ARGS__
#define LB_WHY_SQLITE NULL
#else
#define LB_IF_SQLITE(...)
#define LB_WHY_SQLITE "built without SQLite"
#endif

/* One fact of describe's, e.g. "version", "7.0.15". Copies both; a later fact of a name wins. */
void lb_fact(struct lb_facts *facts, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Fails an operation: writes session->err (unless set) and returns outcome. */
enum lb_outcome lb_fail(struct lb_session *session, enum lb_outcome outcome, const char *format,
                        ...) __attribute__((format(printf, 3, 4)));

/* For a driver's helper fiber: the session is over (expired, connection closed), and with it all
 * that it holds. Reaches the clients that hold something at once; once a session is enough. From
 * the session's thread. */
void lb_session_lost(struct lb_session *session);

/* The session, if it ends by a time-out of the server's, lasts until then at least, by our clock:
 * what a client can know of it, counted from before its last request that was answered was sent.
 * From the session's thread. */
void lb_session_renewed(struct lb_session *session, int64_t until_ns);

/* The topologies that a lock can run on, the default first; NULL = embedded. */
const char *const *lb_topologies(const struct lb_lock *lock);

const char *lb_outcome_name(enum lb_outcome outcome);
const char *lb_primitive_name(enum lb_primitive primitive);
/* "node", "majority", ...: as in run.json, check.json and capacity.json. */
const char *lb_guarantee_name(enum lb_guarantee guarantee);

#endif
