/* driver.h: the interface of the drivers: backends and locks, as small tables of data and functions.
 *
 * A backend says how to reach a server; a lock is an algorithm on a backend. Each has two tables:
 * its name and promises (lb_backend, lb_lock), and its functions (lb_connector,
 * lb_algorithm). A driver only talks to the server: the core owns the memory (each table states its
 * sizes), the clock, retries, counts and checks. A driver may include the headers of drivers/ and
 * bench/base/, and nothing else of the project. It never prints, never exits, and never blocks its
 * thread (see LB_CAP_BLOCKS_THREAD).
 *
 * To add a lock: write its .c file with one `const struct lb_lock`, and add its line to
 * drivers/list.h. Neither file names the client library that the lock needs: a build without the
 * library leaves out the files of the backend's folder, and the registry lists its locks as
 * unavailable. */
#ifndef DRIVERS_DRIVER_H
#define DRIVERS_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/base/clock.h"
#include "bench/base/err.h"
#include "bench/base/rng.h"
#include "bench/base/verdict.h"
#include "bench/option/option.h"
#include "drivers/scenario.h"

/* The outcome of a call. For locks the kind of failure matters, so each kind has a name and a count. */
enum lb_outcome {
    LB_OK,   /* granted (acquire), freed (release), answered (ping), extended (renew) */
    LB_BUSY, /* another client holds it, and the caller did not want to wait */
    /* the deadline passed while waiting; nothing is held and nothing is queued any more */
    LB_TIMEOUT,
    /* the lease or session ended while the caller held it; another client may hold it now */
    LB_LOST,
    /* the request was sent and its answer is lost: the client does not know whether it holds the lock */
    LB_UNKNOWN,
    /* the server or the driver refuses for good: authentication, bad name, bad option */
    LB_REFUSED,
    /* no request was sent, because the connection was down; or the server violated the protocol */
    LB_BROKEN,
    LB_OUTCOMES
};

enum lb_primitive {
    LB_MUTEX,
    LB_RWLOCK,    /* a mutex that also has a shared mode: LB_CAP_SHARED */
    LB_SEMAPHORE, /* at most request.bound permits are granted at once */
    /* holds nothing: acquire reads a version, release writes if the version is still the same; but see
     * LB_CAP_ATOMIC */
    LB_OPTIMISTIC,
    LB_NO_PRIMITIVE
};

/* The capabilities of a lock. Tests, help and the runner look at these bits. */
enum lb_cap {
    /* acquire with a deadline in the past tries once and returns LB_BUSY */
    LB_CAP_TRY = 1 << 0,
    LB_CAP_WAIT = 1 << 1,  /* acquire waits until its deadline */
    LB_CAP_LEASE = 1 << 2, /* a grant ends by itself after request.lease_ns */
    LB_CAP_RENEW = 1 << 3, /* the lock has .renew */
    /* grants carry a fencing token that grows from grant to grant of a key */
    LB_CAP_FENCE = 1 << 4,
    LB_CAP_FAIR = 1 << 5, /* first come, first served, by the server's own queue */
    /* its waits block the OS thread, so the engine gives each client a thread. Such a wait must
     * call lb_stopping() every 100 ms */
    LB_CAP_BLOCKS_THREAD = 1 << 6,
    /* a grant lives as long as its session (connection, ZooKeeper session) */
    LB_CAP_SESSION = 1 << 7,
    LB_CAP_CONTROL = 1 << 8, /* a control: broken on purpose; the checks must catch it */
    /* a baseline: no lock, but a measure of the tool's own cost; each client gets a separate cell */
    LB_CAP_BASELINE = 1 << 9,
    LB_CAP_SHARED = 1 << 10,    /* supports request.shared: readers hold together */
    LB_CAP_REENTRANT = 1 << 11, /* the holder may acquire again: request.held */
    LB_CAP_PERMITS = 1 << 12,   /* a semaphore that gives request.permits > 1 at once */
    /* several clients (fibers) may call on one session at the same time, also while one of them
     * waits; lock_state of the session is then common to them */
    LB_CAP_SHARE = 1 << 13,
    /* LB_OPTIMISTIC: acquire is one statement of the server that reads, computes and writes, so it is never
     * refused; its token is the version that it made. Release does nothing */
    LB_CAP_ATOMIC = 1 << 14,
};

/* The promises of a lock, according to its documentation or its authors. Runs compare them with their
 * measurements. */
enum lb_claim {
    LB_CLAIM_EXCLUDES = 1 << 0, /* one holder at a time while nothing fails and leases last */
    /* one holder at a time, also while a holder is paused for longer than its lease */
    LB_CLAIM_SAFE_PAUSE = 1 << 1,
    LB_CLAIM_SAFE_FAILOVER = 1 << 2, /* the same, also when one of several servers is lost */
    LB_CLAIM_CRASH_RELEASE = 1 << 3, /* the lock of a dead holder is freed without help */
    LB_CLAIMS_END = 1 << 4
};

/* The event that frees the lock of a holder that vanished, and so the latest time at which the lock is
 * free. */
enum lb_crash {
    LB_CRASH_NEVER,   /* no event: an operator has to free the lock by hand */
    LB_CRASH_AT_ONCE, /* the end of its process (by the kernel) or connection (by the server) */
    LB_CRASH_LEASE,   /* the end of the lease that the request asked for */
    LB_CRASH_SESSION  /* the end of the session's own lease (ZooKeeper session, etcd lease) */
};

/* The failure that a control (LB_CAP_CONTROL) must show in the workload that is meant to expose it. */
enum lb_exposed {
    /* two holders, each inside its lease; or lost updates; or tokens that do not grow */
    LB_EXPOSED_VIOLATED,
    LB_EXPOSED_EXPIRED, /* a holder outlived its lease */
    LB_EXPOSED_STUCK    /* a key that no client could get any more */
};

/* A description of a lock for people who choose one. Shown by `list NAME` and in drivers/LOCKS.md.
 * The conformance suite counts the requests and compares. */
struct lb_about {
    /* the real clients that exclude the lock and that the lock excludes; "(not tested)" after a client that
     * no test of lockbench tries */
    const char *compatible;
    /* clients that seem compatible but are not, and what they do instead; NULL = none is known */
    const char *incompatible;
    const char *order;   /* the order in which waiters get it: "first come, first served", "none" */
    const char *token;   /* the source of the fencing token; NULL = none */
    const char *hazards; /* the known dangers of the lock, in one or two lines */
    /* round trips for one uncontended key; 0 = there is no server */
    int acquire_requests, release_requests;
    enum lb_guarantee guarantee;
    enum lb_crash crash;
    /* time that may be added to the lease or session: ticks, elections, rounding up */
    int64_t crash_slack_ns;
    /* Controls only: the origin of the mistake and its effect; the workload that shows it. */
    const char *mistake;
    const char *exposed_by; /* a name in workloads/; NULL = any contention shows the mistake */
    enum lb_exposed exposed_as;
    bool exposed_on_one_host; /* only two clients of one host show it */
};

/* Members of lb_about, in one line. */
#define LB_TERMS(acquires, releases, where, freed_by)                                              \
    .acquire_requests = (acquires), .release_requests = (releases), .guarantee = (where),          \
    .crash = (freed_by)

/* A figure of a report with a known cause in how the algorithm works: reports print the cause
 * beside the row, and name the option that changes the figure. A table ends with a NULL figure. */
struct lb_known_cause {
    const char *figure; /* of a stage, by its path in results/FIELDS.md: "fairness.jain" */
    double above;       /* reported if the figure is greater, in its own unit; 0 = no such bound */
    double below;       /* reported if the figure is less; 0 = no such bound */
    const char *cause;  /* a clause without a full stop */
    const char *option; /* the lock's option that changes the figure; NULL = none */
};

struct lb_lock;
struct lb_injected;
struct lb_facts;

/* The keys of a stage: their names are a prefix and a number below count, from 0 on. */
struct lb_own_keys {
    uint64_t number; /* of the first key; those of the others follow */
    uint32_t count;
};

/* Another way to one host of the URL. */
struct lb_route {
    char host[128]; /* as in the URL */
    int port;
    char dial_host[64]; /* a number */
    int dial_port;
};

/* An opened backend, shared by all its sessions on all threads. Worker processes inherit it by
 * fork. */
struct lb_server {
    const struct lb_backend *backend;
    const char *const *urls; /* one, where the servers are; borrowed for this struct's lifetime */
    int url_count;           /* 0 = embedded, no server */
    /* the ways to the hosts of the URL, in its order, if they lead through a wire: a driver
     * that connects asks lb_route; borrowed for the lifetime of this struct */
    const struct lb_route *routes;
    int route_count; /* 0 = all connections go to the hosts themselves */
    /* the file of the authority that signed the certificates of servers that lockbench started with TLS; NULL =
     * the option tls_ca, or else the machine's authorities */
    const char *ca;
    /* a private folder for embedded backends, or NULL; the same path in every process */
    const char *dir;
    const void *options; /* the backend's parsed options, laid out by its option table */
    /* connector->shared_bytes, zeroed, in one mapping that all processes see; or NULL */
    void *shared;
    /* connector->server_bytes, zeroed before open; each forked worker has its own copy */
    void *state;
};

/* One connection (or ZooKeeper handle, or etcd lease) of one client, or of several clients
 * (LB_CAP_SHARE). Unless the lock has LB_CAP_SHARE, only one fiber at a time makes driver calls on
 * it. All calls are on the thread that connected it; helper fibers that the driver starts share
 * it. */
struct lb_session {
    struct lb_server *server;
    const struct lb_lock *lock; /* the lock that will be used through this session */
    const void *options;        /* the lock's parsed options */
    /* 0 .. clients-1, over all processes and threads; of a shared session its first client */
    uint32_t client;
    int64_t lease_ns; /* the lease that the workload asks for; session timeouts derive from it */
    int64_t lasts_until_ns; /* see lb_session_renewed; 0 = unknown */
    uint64_t commands;      /* the driver adds 1 for each request that it sends */
    /* for lb_residue_fn: the driver may ask only for the names of these keys. NULL = it may search the whole
     * server, because lockbench started the server or the user allows the search */
    const struct lb_own_keys *only;
    /* the driver adds 1 each time that a waiter, after a wake-up or a sleep, looked again whether it gets the lock */
    uint64_t wakeups;
    /* the TCP socket whose bytes the core counts by TCP_INFO; connect sets it, the core makes it -1 before and after */
    int traffic_fd;
    uint64_t more_bytes; /* bytes sent and received by other sockets than traffic_fd */
    struct lb_rng rng;   /* for jitter and tokens; no other session or run draws the same numbers */
    struct lb_err err;   /* why the last call did not return LB_OK; the core clears it */
    void *state;         /* connector->session_bytes, zeroed before connect */
    void *lock_state;    /* algorithm->session_bytes, zeroed before connect */
    void (*on_lost)(struct lb_session *session); /* set by the core; see lb_session_lost */
    struct lb_injected
        *injected; /* set by the core: the changes by faults (injected.h); NULL = there are none */
    void *core;    /* for the core alone */
};

/* The number of a name that people chose: the name itself if it is a number of 64 bits with a sign, in two's
 * complement, and written without leading zeros; else its 64-bit FNV-1a hash without the topmost bit. */
uint64_t lb_key_number(const char *name, size_t len);

/* One attempt to acquire. The driver borrows it for the call; the core keeps it until the
 * release. */
struct lb_request {
    const char *key; /* printable name of the lock, at most LB_KEY_MAX bytes, NUL-terminated */
    size_t key_len;
    uint64_t key_number; /* the same name as a stable number, for locks that take one */
    uint32_t key_index;  /* 0 .. keys-1 */
    /* by lb_now(); in the past = try once; LB_NEVER = until the engine cancels the wait */
    int64_t deadline_ns;
    int64_t lease_ns; /* how long a grant should last; ignored without LB_CAP_LEASE */
    /* the client that asks; differs from session->client where sessions are shared */
    uint32_t client;
    bool shared; /* LB_CAP_SHARED: as a reader */
    /* LB_CAP_REENTRANT: how often this client already holds the key by the same grant: 0 at the
     * first acquire, 1 at the second; at a release the number before it */
    uint32_t held;
    uint32_t permits; /* semaphores: permits wanted, at least 1; above 1 only with LB_CAP_PERMITS */
    uint32_t bound;   /* semaphores: the number of permits */
};

#define LB_KEY_MAX 1024

/* A grant: filled by a successful acquire, and passed to release and renew. */
struct lb_grant {
    /* the fencing token, which grows with each grant of the key; 0 = the lock has none. Shared
     * grants may repeat it. LB_OPTIMISTIC: the version read; after an LB_OK release, and with
     * LB_CAP_ATOMIC from acquire on, the version written */
    uint64_t token;
    /* by lb_now(), counted from BEFORE the request was sent; LB_NEVER = no lease */
    int64_t lease_end_ns;
    /* algorithm->grant_bytes for the driver (owner token, znode name), zeroed when the client
     * starts and left alone by the core between calls */
    void *data;
};

/* Fills the grant of a successful acquire. Returns LB_OK. */
static inline enum lb_outcome lb_granted(struct lb_grant *grant, uint64_t token,
                                         int64_t lease_end_ns) {
    grant->token = token;
    grant->lease_end_ns = lease_end_ns;
    return LB_OK;
}

/* Opens a backend: once in a run, in the main process before any worker starts or forks, so that all
 * workers see the contents of state and shared. Parses the URL. Returns 0, or -1 with err. May block. */
typedef int lb_open_fn(struct lb_server *server, struct lb_err *err);
/* Undoes open, also after an open that failed. */
typedef void lb_close_fn(struct lb_server *server);
/* Opens one session by deadline_ns. Returns 0, or -1 with err (LB_EXIT_USAGE for a wrong password
 * or URL, LB_EXIT_MACHINE for an unreachable server) and a state that disconnect can clean up. */
typedef int lb_connect_fn(struct lb_session *session, int64_t deadline_ns, struct lb_err *err);
/* Ends the session properly and frees everything. Accepts half-connected and broken sessions, and
 * may be called twice. The core zeroes the state blocks afterwards and may connect again. */
typedef void lb_disconnect_fn(struct lb_session *session);
/* Asks the server for its version and for the settings that matter to a lock. No fact may have a password. */
typedef int lb_describe_fn(struct lb_session *session, struct lb_facts *facts, struct lb_err *err);
/* One empty round trip on the session's connection: the lower bound that acquire is compared
 * with. */
typedef enum lb_outcome lb_ping_fn(struct lb_session *session, int64_t deadline_ns);

/* Prepares the server for a lock: once in a stage, by one session, before the others begin: creates
 * tables and parent nodes. */
typedef int lb_setup_fn(struct lb_session *session, struct lb_err *err);
/* arm: creates what a key must have on the server before any client can use it: the permits of a
 * semaphore (request->bound), the row of a row lock or an optimistic lock.
 * Called once for each key by one session before the others begin; a
 * thing that already exists stays as it is. disarm: removes the things again, when no client uses the
 * key any more. Return 0, or -1 with err. */
typedef int lb_arm_fn(struct lb_session *session, const struct lb_request *request,
                      struct lb_err *err);
/* Keys of a stage: their names are a prefix and a number, from first on. */
struct lb_key_range {
    const char *prefix;
    uint32_t first, count;
};
/* arm_range, disarm_range: the same for many keys at once, in pipelines or by one statement. like: all but
 * the key's name and number. Where they are NULL, arm and disarm are called for each. */
typedef int lb_arm_range_fn(struct lb_session *session, const struct lb_key_range *range,
                            const struct lb_request *like, struct lb_err *err);
#define LB_RANGE_MAX 10000 /* keys of one call */

/* Takes the lock, or returns why not. Returns by request->deadline_ns (LB_TIMEOUT, or LB_BUSY when
 * the deadline had already passed at the call), and then leaves nothing held or queued. The grant
 * is written only with LB_OK (token, end of the lease) or for the use of settle (data). After
 * LB_UNKNOWN the core calls settle. */
typedef enum lb_outcome lb_acquire_fn(struct lb_session *session, const struct lb_request *request,
                                      struct lb_grant *grant);
/* Frees the lock only if this grant still holds it: LB_OK, or LB_LOST if the server says that it
 * does not. An optimistic lock writes: LB_OK, or LB_BUSY if another client has written since (the
 * core counts a retry and reads again). */
typedef enum lb_outcome lb_release_fn(struct lb_session *session, const struct lb_request *request,
                                      struct lb_grant *grant);
/* Extends a held lease to request->lease_ns from now and updates grant->lease_end_ns. */
typedef enum lb_outcome lb_renew_fn(struct lb_session *session, const struct lb_request *request,
                                    struct lb_grant *grant);
/* Called after LB_UNKNOWN, on a new connection: makes sure that nothing of that attempt is held or queued on
 * the server. LB_OK = that is certain. NULL in the table = the end of the session is enough (for locks that
 * live as long as a connection). */
typedef enum lb_outcome lb_settle_fn(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant);

/* The things that a lock left on the server. */
struct lb_residue {
    uint64_t count;
    char example[160]; /* one of these things: "znode /locks/a/_c_..." */
};

/* Adds count more; the first of them gives the example. */
void lb_left(struct lb_residue *residue, uint64_t count, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Counts what this lock left on the server under keys that begin with prefix (keys, znodes, rows,
 * leases, locks, subscriptions), but not what the lock keeps there by design (lock->keeps). Called
 * on a fresh session when all others have ended. session->only limits what it may ask. Returns 0
 * with *residue, which is zeroed before, or -1 with err. */
typedef int lb_residue_fn(struct lb_session *session, const char *prefix,
                          struct lb_residue *residue, struct lb_err *err);

struct lb_cleaning;
/* Looks for the things that lockbench left on the server, calls cleaning->found for each of them, and
 * removes those for which found returns true (clean.h). The session's lock has no functions, except with
 * LB_CLEAN_STAGE: then it is the stage's lock. Ends early at the cut-off. Returns 0, or -1 with err. */
typedef int lb_clean_fn(struct lb_session *session, struct lb_cleaning *cleaning,
                        struct lb_err *err);

struct lb_names;
/* Adds the names that request->key has on the server (key_names.h). The driver must make them by the functions that
 * acquire uses. The session is not connected and has no server: it has lock, options and lease_ns. */
typedef void lb_names_fn(const struct lb_session *session, const struct lb_request *request,
                         struct lb_names *names);

/* Returns the most file descriptors that one session of session->lock takes in a stage of `keys`
 * keys. The session is not connected; its server is open. */
typedef int lb_descriptors_fn(const struct lb_session *session, uint32_t keys);

/* Writes the name and the version of the client library that is linked, "hiredis 0.14.1". Returns
 * text. */
typedef const char *lb_library_fn(char *text, size_t size);

/* The functions of a backend. If the client library is missing, their files are left out of the build. */
struct lb_connector {
    const struct lb_option *options; /* ends with a NULL name; may be NULL */
    size_t options_bytes, server_bytes, session_bytes, shared_bytes;
    lb_open_fn *open;             /* may be NULL */
    lb_close_fn *close;           /* may be NULL */
    lb_connect_fn *connect;       /* may be NULL */
    lb_disconnect_fn *disconnect; /* may be NULL */
    lb_describe_fn *describe;
    lb_ping_fn *ping;               /* NULL = there is no server to ping */
    lb_library_fn *library;         /* NULL = the backend needs none */
    lb_clean_fn *clean;             /* NULL = nothing outlives the run */
    lb_descriptors_fn *descriptors; /* NULL = one: its connection */
};

/* A backend: its name, its servers, and its functions. */
struct lb_backend {
    const char *name;           /* "redis" */
    const char *summary;        /* one line */
    const char *const *schemes; /* URL schemes it takes, NULL-terminated; NULL = embedded */
    /* Scripts in compose/local that its locks can run on (unless a lock has a list of its own), the
     * default first, NULL-terminated; NULL = embedded, no server. */
    const char *const *topologies;
    /* Embedded backends: a word of bench/base/verdict.h. NULL = the topology's script states it. */
    const char *durability_class;
    /* The clients are other programs, which speak to the server themselves: session->commands counts the requests to
     * the program, and it is not known what the program sends to the server. */
    bool program_speaks;
    const char *missing; /* why connector is NULL: "built without hiredis" */
    const char *install; /* the Debian packages to install then */
    /* NULL = this build lacks the client library, and so all locks of the backend */
    const struct lb_connector *connector;
};

/* The functions by which the locks of a family are taken and freed, and the sizes of the memory that the functions
 * need. If the family has one lock only, the algorithm is in the lock's file. */
struct lb_algorithm {
    const struct lb_option *options; /* ends with a NULL name; may be NULL */
    size_t options_bytes, session_bytes, grant_bytes;
    int connections;                     /* of a session to each server that it uses; 0 = one */
    const struct lb_known_cause *causes; /* may be NULL */
    lb_setup_fn *setup;                  /* may be NULL */
    /* Prepares each session for this lock (prepared statements): called by the backend's connect when the
     * session is connected. May be NULL. */
    lb_connect_fn *prepare;
    lb_arm_fn *arm, *disarm;                   /* may be NULL */
    lb_arm_range_fn *arm_range, *disarm_range; /* may be NULL */
    lb_acquire_fn *acquire;
    lb_release_fn *release;
    lb_renew_fn *renew;     /* NULL without LB_CAP_RENEW */
    lb_settle_fn *settle;   /* may be NULL */
    lb_residue_fn *residue; /* NULL only if the lock has no server */
    lb_names_fn *names;     /* NULL only if no other program can reach the lock */
};

/* A lock: its name, its capabilities, its promises, and its functions. */
struct lb_lock {
    const char *name;    /* "<backend>-<algorithm>", or "unsafe-..." */
    const char *summary; /* one line: the algorithm and the real client it is compatible with */
    const struct lb_backend *backend;
    enum lb_primitive primitive;
    unsigned caps;     /* enum lb_cap */
    unsigned claims;   /* enum lb_claim */
    const char *waits; /* how a waiter learns: "poll", "watch predecessor", "server queue" */
    /* The durability of this lock's own state (a word of bench/base/verdict.h), if it differs from its
     * server's; the same in words. Either may be NULL. */
    const char *durability_class, *durability_note;
    /* the things that the lock leaves on the server by design, in words; NULL = none */
    const char *keeps;
    /* an option that the user has to set: a lock with such an option runs only if the user names the lock; NULL =
     * none */
    const char *needs;
    /* for a lock that needs other servers than its backend's topologies; NULL = the backend's */
    const char *const *topologies;
    struct lb_about about;
    /* never NULL; if the backend is unavailable, an algorithm without functions */
    const struct lb_algorithm *algorithm;
    const void *recipe; /* this lock's data for the family's algorithm; the family gives the type */
};

/* Why this build cannot use the backend, "built without hiredis"; NULL = it can. */
const char *lb_unavailable(const struct lb_backend *backend);
/* The backend's options; NULL where it has none or is unavailable. */
const struct lb_option *lb_backend_options(const struct lb_backend *backend);

/* Adds a fact, for lb_describe_fn: "version", "7.0.15". Copies both texts; a later fact of the same name replaces an
 * earlier one. */
void lb_fact(struct lb_facts *facts, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Writes random bytes in lower-case hex: 2 * bytes characters (at most 64) and a NUL. */
void lb_random_hex(struct lb_rng *rng, char *out, int bytes);
#define LB_UUID_CHARS 36
/* Writes a random (version 4) UUID in lower-case hex, as Java prints it. */
void lb_random_uuid(struct lb_rng *rng, char out[LB_UUID_CHARS + 1]);

/* Fails an operation: writes session->err (unless set) and returns outcome. */
enum lb_outcome lb_fail(struct lb_session *session, enum lb_outcome outcome, const char *format,
                        ...) __attribute__((format(printf, 3, 4)));

/* To be called on the session's thread when the session is over (expired, connection closed), and so are all grants that
 * live as long as the session. The core tells the clients that hold, and does not take a grant of theirs that overlaps
 * another one for a fault of the lock; one call for each session is enough. */
void lb_session_lost(struct lb_session *session);

/* For sessions that the server ends after a time-out: says that the session lasts at least until until_ns,
 * by lb_now(). The driver counts the time-out from before it sent the last request that was answered. To
 * be called on the session's thread. */
void lb_session_renewed(struct lb_session *session, int64_t until_ns);

/* The topologies that a lock can run on, the default first; NULL = embedded. */
const char *const *lb_topologies(const struct lb_lock *lock);

/* Returns what the lock is expected to do in a scenario: by the rows of its name in drivers/<backend>/expected.txt, or
 * else by those of its backend's name. Never NULL. */
const struct lb_expectation *lb_expected(const struct lb_lock *lock, enum lb_scenario scenario);

const char *lb_outcome_name(enum lb_outcome outcome);
const char *lb_primitive_name(enum lb_primitive primitive);
const char *lb_crash_name(enum lb_crash crash); /* "never", "at-once", "lease", "session" */
/* The name of one bit, "safe-pause"; NULL if no claim has that bit. */
const char *lb_claim_name(enum lb_claim claim);
/* The verdict of a stage in which a control failed in this way. */
enum verdict lb_exposed_verdict(enum lb_exposed as);

#endif
