/* run: a whole plan, stage by stage, and its run.json.
 *
 * One backend's servers run at a time, so that they do not take each other's processors. What was
 * measured is on disk soon after each stage, and at the end in any case: an error, a lost server or
 * Ctrl-C costs only what it hit. */
#ifndef BENCH_RUN_RUN_H
#define BENCH_RUN_RUN_H

#include <signal.h>

#include "bench/run/place.h"
#include "bench/run/stage.h"
#include "bench/workload/plan.h"
#include "bench/workload/stages.h"

/* What became of a stage that run_ask.next asked for. */
struct run_took {
    const struct plan_stage *of;
    const struct stage_ask *ask; /* NULL: it could not be begun, and why has been said */
    const struct stage *stage;   /* NULL likewise */
    const struct place *place;   /* that it ran on; NULL likewise */
    const char *folder;          /* of the run */
};

struct run_ask {
    const struct plan *plan;
    const struct place_url *urls;
    int url_count;
    const char *out;        /* --out, or NULL */
    const char *results;    /* the folder results/ */
    const char *topologies; /* the folder compose/local */
    const char *version;
    const char *command; /* what repeats the run; no password */
    const volatile sig_atomic_t *interrupts;
    /* Instead of the plan's stages in their order: each as the last one's result makes it. next
     * fills in the stage, of the plan's locks, by the plan or a changed copy of it that lives until
     * `took`; false: there are no more. Neighbours on the same servers keep them. Both NULL: the
     * plan's stages. */
    bool (*next)(void *arg, struct plan_stage *ret, struct stage_promise *ret_promise);
    void (*took)(void *arg, const struct run_took *took);
    void *next_arg;
    void (*news)(void *arg, const struct stage_news *news); /* each second; may be NULL */
    /* after each stage, its figures; never NULL */
    void (*done)(void *arg, const char *line);
    void (*say)(void *arg, const char *line); /* trouble, when it comes; never NULL */
    void *arg;
};

struct run_end {
    char
        saved[600]; /* the run's folder, or the file that the result was rescued to; "" = nowhere */
    int stages;     /* that the result has, whole or partial */
    int exit_code;  /* enum lb_exit */
    char verdict[32];
    char why[1200]; /* what a non-zero code is about, in one line; "" = nothing */
};

/* Runs it. 0 with *ret_end, also when stages failed; -1 with err when nothing could be begun. */
int run_execute(const struct run_ask *ask, struct run_end *ret_end, struct lb_err *err);

#endif
