/* seek: searches what locks carry: each lock's search over stages of one run, and capacity.json
 * beside run.json.
 *
 * It is what run_ask.next and run_ask.took are for: a stage is a probe, the next load follows from
 * all probes so far, and a lock's servers are started once. A search by rate begins with a short
 * closed loop, which says about how much one key can do. It prints nothing. */
#ifndef BENCH_CAPACITY_SEEK_H
#define BENCH_CAPACITY_SEEK_H

#include <signal.h>

#include "bench/capacity/probe.h"
#include "bench/capacity/search.h"
#include "bench/run/run.h"

/* A probe that was just measured. */
struct seek_news {
    const char *lock;
    const struct probe *probe;
    int number; /* from 1, of this lock's */
    bool by_clients;
};

struct seek_ask {
    const struct plan *plan; /* of the locks; its loads are not used, its pool of clients is */
    struct stage_promise slo;
    bool by_clients; /* else by rate */
    double most;     /* the greatest load */
    /* for each lock's probes; half as much again for those that a busy machine spoilt */
    int64_t budget_ns;
    /* never NULL; above 0: nothing is waited for any more */
    const volatile sig_atomic_t *interrupts;
    const char *version, *command;
    void (*news)(void *arg, const struct seek_news *news); /* may be NULL */
    void *news_arg;
};

struct seek;

/* NULL with err (LB_EXIT_MACHINE) when out of memory. Everything in ask is borrowed. */
struct seek *seek_new(const struct seek_ask *ask, struct lb_err *err);
void seek_free(struct seek *seek); /* takes NULL */

/* For run_ask.next and .took; arg is the struct seek. */
bool seek_next(void *arg, struct plan_stage *ret, struct stage_promise *ret_promise);
void seek_took(void *arg, const struct run_took *took);

/* Writes capacity.json for the last time. partial: why it is not whole, or NULL. 0, or -1 with
 * err. */
int seek_end(struct seek *seek, const char *partial, struct lb_err *err);

/* Locks without an answer. */
int seek_unanswered(const struct seek *seek);

#endif
