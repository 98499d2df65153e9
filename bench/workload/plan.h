/* plan: the complete description of a run. A workload is the settings of a file and of --set; a plan is a
 * workload that was checked and in which all defaults are filled in. A finished plan does not change, and can
 * be printed; the same plan and seed give the same schedule. (The command `lockbench plan` is something else.)
 *
 * This module uses the tables of locks and options, but starts nothing and asks no server. */
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

#define PLAN_CLIENTS_MAX 2000000
#define PLAN_LADDER_MAX 64
#define NO_DURATION INT64_C(-1)
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

#define PLAN_KEY_PREFIX_MAX 40
#define PLAN_KEY_NAME_MAX 95 /* bytes */

/* Names that the keys have, in their order. Text: "orders/7,orders/8". */
struct key_names {
    const char *const *item; /* the plan's */
    int count;               /* 0 = each stage makes new names */
};

enum acquire_mode { MODE_WAIT, MODE_TRY, MODE_TIMED };

#define PLAN_FAULTS_MAX 8

/* What an injection acts on: the worker process of a client, so all clients of that process; servers; connections. */
enum fault_on { ON_NOTHING, ON_CLIENTS, ON_SERVERS, ON_WIRES };

/* It lasts for a time (.for_ns), and is undone after that; no client is served meanwhile, unless it is aimed at some of
 * them; the servers' script does it (topo_act). */
enum { INJECTION_LASTS = 1 << 0, INJECTION_STOPS = 1 << 1, INJECTION_SCRIPT = 1 << 2 };

/* The actions on clients, servers and connections during the load ("[fault]", "[fault.2]", ...): ROW(constant, name,
 * what it acts on, properties, a set of 1 << enum fault_target). A new one is a row here, a row with its functions in
 * bench/faults/schedule.c, of servers also one in fault_servers_begin, and a row in workloads/README.md, which says what
 * each does. */
#define INJECTIONS_EACH(ROW)                                                                         \
    ROW(INJECT_PAUSE, "pause", ON_CLIENTS, LASTS, CLIENTS)                                           \
    ROW(INJECT_KILL, "kill", ON_CLIENTS, 0, CLIENTS)                                                 \
    /* renewals are held back, those of all clients that share a session if sessions are what is   \
     * renewed; the process runs on */ \
    ROW(INJECT_STARVE, "starve", ON_CLIENTS, LASTS, CLIENTS)                                         \
    ROW(INJECT_CLIENT_CLOCK, "client-clock", ON_CLIENTS, LASTS, CLIENTS)                             \
    ROW(INJECT_SERVER_PAUSE, "server-pause", ON_SERVERS, LASTS | STOPS, SERVERS)                     \
    ROW(INJECT_SERVER_KILL, "server-kill", ON_SERVERS, LASTS | STOPS, SERVERS)                       \
    ROW(INJECT_SERVER_EMPTY, "server-empty", ON_SERVERS, LASTS | STOPS, SERVERS)                     \
    ROW(INJECT_PROMOTE, "promote", ON_SERVERS, SCRIPT, ONE_SERVER)                                   \
    ROW(INJECT_UNFOLLOW, "unfollow", ON_SERVERS, SCRIPT, ONE_SERVER)                                 \
    ROW(INJECT_ISOLATE, "isolate", ON_SERVERS, LASTS | STOPS | SCRIPT, SERVERS)                      \
    ROW(INJECT_TERMINATE, "terminate", ON_SERVERS, STOPS | SCRIPT, CLIENTS)                          \
    ROW(INJECT_EVICT, "evict", ON_SERVERS, SCRIPT, SERVERS)                                          \
    ROW(INJECT_CLOCK, "clock", ON_SERVERS, 0, SERVERS)                                               \
    ROW(INJECT_WIRE_DELAY, "wire-delay", ON_WIRES, LASTS, BETWEEN)                                   \
    ROW(INJECT_WIRE_CUT, "wire-cut", ON_WIRES, LASTS | STOPS, BETWEEN)                               \
    ROW(INJECT_WIRE_RESET, "wire-reset", ON_WIRES, STOPS, BETWEEN)                                   \
    ROW(INJECT_WIRE_DROP, "wire-drop", ON_WIRES, LASTS | STOPS, WIRES)

#define INJECTION_CONSTANT(kind, ...) kind,
enum injection { INJECT_NONE, INJECTIONS_EACH(INJECTION_CONSTANT) INJECTIONS };

extern const struct injection_traits {
    const char *name; /* "server-kill": the value of the key */
    enum fault_on on;
    unsigned properties, targets;
} injections[INJECTIONS];

/* The target. For clients: any, holder, waiter; for starve also all. For wires and terminate: the connections of such
 * clients, or all; connections between servers: replication. For servers: any (of several the
 * leader or primary, if there is one), one, and so on. */
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

struct plan_fault {
    enum injection kind;
    enum fault_target target;
    int node;
    int64_t first_ns; /* from the begin of the window to the first injection */
    int64_t every_ns; /* from one injection to the next; 0 = only one */
    int64_t for_ns;   /* 0 = to the end of the load */
    int times;        /* at most this many injections; 0 = no limit */
    /* AFTER_HOLDER: waits up to 2 s for a holder whose grant began after the previous section
     * acted */
    enum fault_after after;
    int64_t by_ns;
    enum fault_way way;
};

struct plan_lock {
    const struct lb_lock *lock;
    const void *options;         /* lock->algorithm->options_bytes, owned by the plan */
    const void *backend_options; /* backend->connector->options_bytes, owned by the plan */
    /* named by the user, not chosen by "all": a control is then judged like any lock; see run/conclusion.h */
    bool chosen;
};

/* In the order of the choices of servers.tls. */
enum plan_tls { PLAN_TLS_NO, PLAN_TLS_YES, PLAN_TLS_BOTH };

/* How clients reach servers: directly, or through the wire, which adds rtt_ns (0 =
 * nothing) to a round trip, half of it in each direction. */
struct distance {
    bool wired;
    int64_t rtt_ns;
};

struct plan {
    const char *source; /* the file it was read from */
#define SECTION(name)
#define SECTION_END
#define KEY(c_type, member, ...) c_type member;
#define LIST(c_type, member, count, ...)                                                           \
    c_type member[PLAN_LADDER_MAX];                                                                \
    int count;
#include "bench/workload/keys.def"
    struct plan_fault faults[PLAN_FAULTS_MAX]; /* sections with INJECT_NONE are unused */

    struct plan_lock *locks;
    int lock_count;
    json_t *skipped; /* array of {lock, backend, reason, install}: locks that "all" left out */
    /* array of texts about settings that are allowed but perhaps not what was meant */
    json_t *warnings;
    void *memory; /* owns the texts and option structs */
};

struct plan_ask {
    const char
        *workload;      /* a name in folder, or a file's path: one with a '/' or an ending ".ini" */
    const char *folder; /* where the shipped workloads are: home_path("workloads", ...) */
    /* separated by commas: names of locks (with a "?": only if the lock can run here), of backends,
     * of primitives; "all"; "one-of-each" (the first of each backend); "controls". NULL = what the
     * workload says, or else all */
    const char *locks;
    const char *const *sets;
    int set_count;
    /* --slo: promises beside those of the workload */
    const char *const *promises;
    int promise_count;
    /* Returns the reason why a lock can't run here on this topology (NULL = embedded) with the servers that the plan
     * asks for; NULL if it can. For example a program is not installed. The caller provides this function, because
     * this module asks no server; may be NULL. ret_install: what to install, or NULL. Both texts are copied. */
    const char *(*why_not)(void *context, const struct lb_lock *lock, const char *topology,
                           const struct plan *plan, const char **ret_install);
    void *why_not_context;
};

/* Reads a workload, fills in defaults and validates. Returns NULL with err: file, line, key and
 * what is allowed; the nearest name for an unknown one. A lock named by the user that can't run is
 * an error (LB_EXIT_MACHINE); one that "all" chose is skipped. */
struct plan *plan_load(const struct plan_ask *ask, struct lb_err *err);
void plan_free(struct plan *plan);

/* Returns the number of stages (stages.h lists them). *ret_time_ns: their warm-ups and windows together; connecting and
 * draining add to it. */
int plan_stages(const struct plan *plan, int64_t *ret_time_ns);

/* The plan as run.json's .plan: new reference, NULL when out of memory. */
json_t *plan_json(const struct plan *plan);

/* Prints the plan as a workload file that gives the same plan, with every key; for --dry-run. */
void plan_print(const struct plan *plan, FILE *out);

/* Text forms, also used in results: of a key's value, "exponential:5ms"; "poisson:500/s".
 * Each writes at most size bytes and returns text. */
char *plan_key_text(const struct plan *plan, const char *section, const char *key, char *text,
                    size_t size);
char *arrival_text(const struct arrival *arrival, char *text, size_t size);

/* "holder": the value of the key. Returns text. */
char *fault_target_text(const struct plan_fault *fault, char *text, size_t size);
/* Whether a fault acts on a single worker process, or on the connections of one. */
bool fault_needs_processes(const struct plan_fault *fault);
/* Whether the plan has faults with such a target. */
bool plan_acts_on(const struct plan *plan, enum fault_on on);

/* Whether the plan changes servers' clocks. */
bool plan_steps_clocks(const struct plan *plan);

/* The targets that an injection can have, in words. Returns text. */
char *fault_targets_text(enum injection kind, char *text, size_t size);
/* The injections of all sections, joined with "+"; "none". Returns text. */
char *faults_text(const struct plan *plan, char *text, size_t size);

/* How many clients of a lock share a session. */
static inline int plan_session_clients(const struct plan *plan, const struct lb_lock *lock) {
    bool share = (lock->caps & LB_CAP_SHARE) && plan->clients_per_session > 1;
    return share ? plan->clients_per_session : 1;
}

/* Draws a duration, 0 ns to one day: the far tail of a lognormal distribution is cut there. */
int64_t dist_draw(const struct dist *dist, struct lb_rng *rng);

/* lock_words: the words of --lock. A word is the name of a lock or of a group of locks: a backend, a
 * primitive, "all", "one-of-each", "controls". */

/* Whether a word means this lock: by its name, with or without a "?" behind it, or by a group. */
bool lock_word_means(const char *word, const struct lb_lock *lock);

/* Checks that the word means at least one lock. 0; or -1 with err (LB_EXIT_USAGE), which has the nearest name. */
int lock_word_check(const char *word, struct lb_err *err);

#endif
