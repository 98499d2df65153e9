/* capacity: a search for the greatest load that locks carry: for each lock a search over probes, and capacity.json
 * beside the probes' folders.
 *
 * A probe is a `lockbench run` of one stage, a process of its own, with --url of servers that stay up here; its files
 * are what it is judged by. The next load follows from all probes of its lock so far. Where the servers of all locks can
 * be up at a time, the locks probe by turns, so that a drift of the machine touches all alike. A search by rate begins
 * with a short closed loop, which shows roughly how many grants a second one key can have. */
#ifndef BENCH_TOOLS_CAPACITY_CAPACITY_H
#define BENCH_TOOLS_CAPACITY_CAPACITY_H

#include "bench/cli/progress.h"
#include "bench/cli/urls.h"
#include "bench/run/outdir.h"
#include "bench/servers/jobs.h"
#include "bench/tools/capacity/probe.h"
#include "results/format/write.h"

/* The search for one lock. */
struct lock_search {
    const struct plan_lock *lock;
    const char *url;          /* --url of servers that the user started, as a word; NULL = none */
    const char *topology;     /* of servers of our own; NULL = none are needed */
    struct lock_search *host; /* the first lock on the same servers, which has their place */
    struct place *place;      /* NULL = not up */
    struct place was;         /* the place at its last run, for its words alone: it may be closed */
    struct run *last; /* its last run, which says where the lock ran; NULL = none has a stage */
    struct search search;
    struct probe probes[EDGE_POINTS_MAX];
    int probe_count;
    bool violated;        /* one of its probes found two holders at once */
    struct lb_err missed; /* of a control that a probe was meant to show, and did not */
    bool begun, done;
};

struct capacity_search {
    const struct plan *plan; /* has the locks; its loads are not used, but its pool of clients is */
    const struct urls *urls; /* servers that run already */
    struct stage_promise slo;
    bool by_clients; /* true: the loads are numbers of clients; false: rates */
    double most;     /* the greatest load */
    int64_t
        asked_ns; /* the time for the probes of each lock, 0 = as long as the promise takes (search.h) */
    const char *topologies; /* the folder compose/local */
    const char *command;
    const volatile sig_atomic_t *interrupts;
    bool quiet;
    struct outdir out;

    /* from here on for capacity_search_run */
    struct lock_search *locks;
    int count;
    bool together; /* all servers may be up at a time */
    int threads;   /* of a run whose plan leaves it open; 0 = it knows itself */
    int turn;      /* the lock that may probe next */
    int number;    /* of the next run */
    struct jobs jobs;
    json_t *environment;
    json_t *told; /* the warnings of runs that were printed: its members */
    char started_at[RESULT_DATE_MAX];
    bool measured, granted;                   /* a run has a stage; a grant in its window */
    struct lb_err violated, trouble, nothing; /* the first of each; nothing: a probe had no grant */
    char said[400];
};

/* Makes the locks' searches, and prepares this process for the first server. 0, or -1 with err; capacity_search_free in
 * any case. */
int capacity_search_begin(struct capacity_search *search, struct lb_err *err);
/* Makes the folder of --out (wanted; NULL = a new one below results) and that of the probes, before any server starts.
 * 0, or -1 with err. */
int capacity_search_out(struct capacity_search *search, const char *wanted, const char *results,
                        struct lb_err *err);
/* Runs all, in that folder. */
void capacity_search_run(struct capacity_search *search);
void capacity_search_free(struct capacity_search *search);

/* Why the search failed: what was found of exclusion comes first, then Ctrl-C, then what went wrong. .code 0: it did
 * not. */
struct lb_err capacity_search_why(const struct capacity_search *search);

/* Writes capacity.json. partial: why it is incomplete, or NULL. *ret: what is in it, for json_decref; NULL when out of
 * memory. 0, or -1 with err. */
int capacity_search_save(const struct capacity_search *search, const char *partial, bool ended,
                         json_t **ret, struct lb_err *err);

/* capacity.json as it is now: new reference, NULL when out of memory. */
json_t *capacity_result_json(const struct capacity_search *search, const char *partial, bool ended);

#endif
