/* capacity_run: searches for the greatest load that locks carry: for each lock a search over stages
 * of one run, and capacity.json beside run.json.
 *
 * It provides run_ask.next and run_ask.took: a stage is a probe, the next load follows from all
 * probes of its lock so far, and a lock's servers are started once. Where the servers of all locks
 * can be up at a time, the locks probe by turns, so that a drift of the machine touches all alike.
 * A search by rate begins with a short closed loop, which shows roughly how many grants a second
 * one key can have. This file prints nothing. */
#ifndef BENCH_TOOLS_CAPACITY_CAPACITY_RUN_H
#define BENCH_TOOLS_CAPACITY_CAPACITY_RUN_H

#include "bench/run/run.h"
#include "bench/tools/capacity/probe.h"
#include "bench/tools/capacity/search.h"

/* News for the user: a search begins, or a probe was measured. */
struct capacity_run_news {
    const char *lock;
    const struct probe *probe; /* NULL = a search begins */
    int number;                /* from 1, for each lock */
    bool by_clients;
    /* when a search begins: the time for all its probes, and for one of them */
    double budget_s, probe_s;
};

struct capacity_run_ask {
    const struct plan *plan; /* has the locks; its loads are not used, but its pool of clients is */
    struct stage_promise slo;
    bool by_clients; /* true: the loads are numbers of clients; false: rates */
    double most;     /* the greatest load */
    /* the time for the probes of each lock, 0 = as long as the promise takes (search.h) */
    int64_t budget_ns;
    const char *version, *command;
    void (*news)(void *arg, const struct capacity_run_news *news); /* may be NULL */
    void *news_arg;
};

struct capacity_run;

/* NULL with err (LB_EXIT_MACHINE) when out of memory. Everything in ask is borrowed. */
struct capacity_run *capacity_run_new(const struct capacity_run_ask *ask, struct lb_err *err);
void capacity_run_free(struct capacity_run *capacity_run); /* takes NULL */

/* For run_ask.next and .took; arg is the struct capacity_run. */
bool capacity_run_next(void *arg, bool together, struct plan_stage *ret,
                       struct stage_promise *ret_promise);
void capacity_run_took(void *arg, const struct stage *stage, const char *folder);

/* Writes capacity.json for the last time. partial: why it is incomplete, or NULL. *ret_result: what is in it, with or
 * without a file, for json_decref; NULL if nothing was measured or memory ran out. *ret_path: the file; it stays as it
 * was if there is none. Returns 0, or -1 with err: nothing could be written, or only elsewhere, as outdir_rescue does. */
int capacity_run_end(struct capacity_run *capacity_run, const char *partial, json_t **ret_result,
                     char *ret_path, size_t size, struct lb_err *err);

/* The number of locks without an answer. */
int capacity_run_unanswered(const struct capacity_run *capacity_run);

#endif
