/* plan: what a run will do. A workload is what a file and --set say; a plan is that workload with
 * every default filled in and checked. A plan does not change once made and can be printed; the
 * same plan and seed give the same schedule. (`lockbench plan`, the capacity planner, is another
 * thing: report/planner.)
 *
 * It knows the tables of locks and options, but starts nothing and asks no server. */
#ifndef BENCH_WORKLOAD_PLAN_H
#define BENCH_WORKLOAD_PLAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bench/base/err.h"
#include "bench/base/rng.h"
#include "bench/option/text.h"
#include "drivers/driver.h"

#define PLAN_CLIENTS_MAX 100000
#define PLAN_LADDER_MAX 64
#define PLAN_KEYS_MAX 10000000

enum arrival_kind { ARRIVAL_CLOSED, ARRIVAL_CONSTANT, ARRIVAL_POISSON };

struct arrival {
    enum arrival_kind kind;
    double rate_per_s; /* of all clients together; 0 when closed */
};

enum dist_kind { DIST_CONSTANT, DIST_EXPONENTIAL, DIST_LOGNORMAL };

/* A distribution of durations, by its mean. Text: "0", "5ms", "exponential:5ms",
 * "lognormal:5ms:0.7". */
struct dist {
    enum dist_kind kind;
    int64_t mean_ns;
    double sigma; /* of the logarithm; lognormal only */
};

enum key_pick { KEYS_OWN, KEYS_UNIFORM, KEYS_ZIPF };

/* Text: "own" (each client its own), "1", "1000", "1000 uniform", "1000 zipf:0.99". */
struct keyspace {
    enum key_pick pick;
    uint32_t count; /* 0 when own */
    double zipf_s;
};

enum acquire_mode { MODE_WAIT, MODE_TRY, MODE_TIMED };

/* What separates the read and the write of the guarded counter, and so what overlap it can see. */
enum check_gap { GAP_NONE, GAP_YIELD, GAP_TIME };

/* Where holders write to a guarded store. */
enum check_store { STORE_NONE, STORE_MEMORY, STORE_BACKEND };

#define PLAN_FAULTS_MAX 8

/* What is done to clients, servers and the wires between them while they load: "[fault]",
 * "[fault.2]", ... */
enum injection {
    INJECT_NONE,
    /* To a client's worker process, and so to all clients that it carries. */
    INJECT_PAUSE,  /* SIGSTOP, after .for_ns SIGCONT */
    INJECT_KILL,   /* SIGKILL */
    INJECT_STARVE, /* its renewals are held back for .for_ns; to a client alone */
    /* To servers. */
    INJECT_SERVER_PAUSE,
    INJECT_SERVER_KILL,  /* after .for_ns started again with its data */
    INJECT_SERVER_EMPTY, /* after .for_ns started again without */
    INJECT_PROMOTE,      /* a replica is made the primary */
    INJECT_TERMINATE,    /* the server ends connections */
    INJECT_EVICT,        /* it is filled until it throws keys away */
    INJECT_CLOCK,        /* its wall clock jumps .by_ns */
    /* To wires. */
    INJECT_WIRE_DELAY,  /* each byte comes .by_ns later, and up to .jitter_ns more */
    INJECT_WIRE_SLOW,   /* .rate bytes a second pass */
    INJECT_WIRE_CUT,    /* swallows .way */
    INJECT_WIRE_RESET,  /* ends connections */
    INJECT_WIRE_MIDWAY, /* ends a connection after .bytes more bytes of answers */
    INJECT_WIRE_DROP,   /* swallows the .message-th answer that contains .holding */
    INJECTIONS
};

/* Whom it hits. Clients: any, holder, waiter. Wires and terminate: whose connections: also all;
 * wires between servers: replication. Servers: any (of several the leader or primary, if it has
 * one), one and so on. */
enum fault_target {
    TARGET_ANY,
    TARGET_HOLDER,
    TARGET_WAITER,
    TARGET_ALL,
    TARGET_REPLICATION,
    TARGET_LEADER,
    TARGET_PRIMARY,
    TARGET_ONE,
    TARGET_MINORITY,
    TARGET_MAJORITY,
    TARGET_NODE /* the .node-th server, from 0 */
};

enum fault_after { AFTER_NOTHING, AFTER_HOLDER };
enum fault_way { WAY_BOTH, WAY_REQUESTS, WAY_ANSWERS };
enum fault_then { THEN_RESET, THEN_GO_ON };

/* A time, or one drawn between two. Text: "2s", "random:2s..5s". */
struct span {
    int64_t from_ns, to_ns; /* the same = not drawn */
};

/* In which order the ladder of rates, or of clients, is climbed; sweep.h. */
enum sweep_order { SWEEP_LISTED, SWEEP_UP, SWEEP_DOWN, SWEEP_SHUFFLED, SWEEP_MIRROR };

struct plan_fault {
    enum injection kind;
    enum fault_target target;
    int node;
    struct span first; /* from the window's begin to the first */
    struct span every; /* from one to the next; 0 = just one */
    int64_t for_ns;    /* 0 = to the load's end */
    int times;         /* at most so often; 0 = no limit */
    /* waits up to 2 s until somebody holds since the section before it acted */
    enum fault_after after;
    int64_t by_ns, jitter_ns;
    uint64_t rate; /* bytes a second */
    enum fault_way way;
    uint64_t bytes;
    int message;
    const char *holding; /* only answers that contain it count; "" = all */
    enum fault_then then;
};

struct plan_lock {
    const struct lb_lock *lock;
    const void *options;         /* lock->options_bytes, owned by the plan */
    const void *backend_options; /* backend->options_bytes, owned by the plan */
    bool
        chosen; /* named by the user, not brought in by "all": a control is then judged like any lock */
    const struct plan
        *plan; /* run.controls = exposed: the workload that shows this control, owned by the
                                outer plan; NULL = this plan */
};

struct plan {
    const char *name; /* of the workload */
    const char *summary;
    const char *source; /* the file it was read from */
    const char *wished; /* the locks as they were asked for: "all", or names */

    int clients[PLAN_LADDER_MAX]; /* one stage each */
    int clients_count;
    int processes; /* at most the largest of clients; a stage with fewer clients uses fewer */
    /* over all processes; 0 = one for each two processors. A stage uses at most one a client */
    int threads;
    struct keyspace keys;
    struct arrival arrival;
    int rates[PLAN_LADDER_MAX]; /* arrivals a second in place of load.arrival's, one stage each */
    int rates_count;            /* 0 = load.arrival's own */
    enum sweep_order sweep;
    struct dist hold, think;
    uint64_t seed;
    int clients_per_session; /* above 1: only for locks with LB_CAP_SHARE */
    bool churn;              /* a session for each attempt: connect, acquire, release, close */

    /* per cent of attempts that are shared; one stage each; {0} = none */
    int readers[PLAN_LADDER_MAX];
    int readers_count;
    uint32_t permits; /* of a semaphore, that an attempt wants */
    /* of a semaphore, that there are; the count of a latch; slots of a segmented lock */
    uint32_t bound;
    int depth;        /* how often a client takes the key, one inside the other; at least 1 */
    int keys_at_once; /* at least 1 */

    enum acquire_mode mode;
    int64_t timeout_ns; /* timed mode; 0 = not given (never in timed mode) */
    int64_t lease_ns;   /* above 0; locks without LB_CAP_LEASE ignore it */
    bool renew;         /* every lock of the plan that has leases can renew them */

    int64_t warmup_ns, duration_ns, drain_ns;
    int repeat;
    /* a stage ends when it changes by less from second to second; 0 = not asked */
    double steady_percent;

    enum check_gap gap;
    int64_t gap_ns;
    enum check_store store;
    uint64_t stock; /* of each key, that the store's writes count down; 0 = they count up from 0 */
    bool careful;   /* a holder looks at its clock before it writes */
    bool history;   /* each operation is recorded, and judged when the stage is over */

    struct plan_fault faults[PLAN_FAULTS_MAX]; /* those that are INJECT_NONE do nothing */

    bool controls_exposed; /* "all" brings each control in its own workload, not just unsafe-none */
    const char *topologies
        [PLAN_LADDER_MAX];  /* run each backend's locks on those of these that they can; ... */
    int topology_count;     /* ... a lock that can on none runs on its default */
    const char *durability; /* "default", "none", "sync": handed to the topology scripts */

    struct plan_lock *locks;
    int lock_count;
    json_t *skipped;  /* array of {lock, backend, reason, install}: what "all" left out */
    json_t *warnings; /* array of texts: allowed, but perhaps not what was meant */
    void *memory;     /* what owns the texts and option structs */
};

/* One "SECTION.KEY=VALUE" of the command line. */
struct plan_set {
    const char *text;
};

struct plan_wish {
    const char
        *workload;      /* a name in folder, or a file's path: one with a '/' or an ending ".ini" */
    const char *folder; /* where the shipped workloads are: home_path("workloads", ...) */
    const char
        *locks; /* with commas between: names of locks (with a "?": only if it can run here), of
                             backends, of primitives; "all"; "one-of-each" (the first of each backend);
                             "controls". NULL: what the workload says, else all */
    const char *const *sets;
    int set_count;
    /* Why a lock can't run here on this topology (NULL = embedded) with this durability (missing
     * server), or NULL if it can. Given by the caller, since a plan asks no server; may be NULL.
     * ret_install: what to install, or NULL. Both are copied. */
    const char *(*why_not)(void *context, const struct lb_lock *lock, const char *topology,
                           const char *durability, const char **ret_install);
    void *why_not_context;
};

/* Reads, fills, checks. NULL with err: file, line, key and what is allowed; the nearest name for an
 * unknown one. A lock named by the user that can't run is an error (LB_EXIT_MACHINE); one that
 * "all" brought is skipped. */
struct plan *plan_load(const struct plan_wish *wish, struct lb_err *err);
void plan_free(struct plan *plan);

/* Stages (stages.h has them one by one), and the time that their warm-up and window take together;
 * connecting and draining come on top. */
int plan_stages(const struct plan *plan);
int64_t plan_time_ns(const struct plan *plan);

/* The plan as run.json's .plan: new reference, NULL when out of memory. */
json_t *plan_json(const struct plan *plan);

/* The plan as a workload file that gives it again, every key filled; for --dry-run. */
void plan_print(const struct plan *plan, FILE *out);

/* Text forms, also used in results: "closed", "poisson:500/s"; "exponential:5ms"; "1000 zipf:0.99".
 * Each writes at most size bytes and returns text. */
char *arrival_text(const struct arrival *arrival, char *text, size_t size);
char *dist_text(const struct dist *dist, char *text, size_t size);
char *keyspace_text(const struct keyspace *keys, char *text, size_t size);
char *span_text(const struct span *span, char *text, size_t size);
const char *mode_text(enum acquire_mode mode);

/* "server-kill", "holder", as the keys have them. The first writes at most size bytes and returns
 * text. */
char *fault_target_text(const struct plan_fault *fault, char *text, size_t size);
const char *injection_name(enum injection kind);
/* The kinds of all sections, with a "+" between; "none". Returns text. */
char *faults_text(const struct plan *plan, char *text, size_t size);

/* One draw of a span. */
int64_t span_draw(const struct span *span, struct lb_rng *rng);

/* One draw, 0 ns to one day: a lognormal's far tail is cut there. */
int64_t dist_draw(const struct dist *dist, struct lb_rng *rng);

#endif
