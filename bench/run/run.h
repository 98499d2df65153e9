/* run: runs a whole plan, stage by stage, and writes its run.json.
 *
 * With repeats the servers of all backends stay up, and a repeat is a round over all of them; else only one backend's
 * servers run at a time. Results are on disk soon after each stage, and at the end in any case: an error, a lost server or
 * Ctrl-C costs only the stage that it hits. */
#ifndef BENCH_RUN_RUN_H
#define BENCH_RUN_RUN_H

#include <jansson.h>
#include <signal.h>

#include "bench/place/place.h"
#include "bench/stage/stage.h"
#include "bench/workload/plan.h"
#include "bench/workload/stages.h"
#include "results/format/run_read.h"

/* News of a run, for progress displays: one of the three. */
struct run_news {
    int64_t expected_ns;       /* the run begins, and will take so long, an estimate; */
    const struct stage *stage; /* a stage is over; */
    const char *line;          /* what is made on a server at --url, or left there */
    int number;                /* of the stage, from 1 */
    int count;                 /* of all stages */
};

struct run_ask {
    const struct plan *plan;
    const struct place_url *urls;
    int url_count;
    const char *out;        /* --out, or NULL */
    const char *results;    /* the folder results/ */
    const char *topologies; /* the folder compose/local */
    const char *version;
    const char *command; /* the command that repeats the run; without a password */
    struct peers *peers; /* that have the clients; NULL = this process does everything */
    const volatile sig_atomic_t *interrupts;
    void (*news)(void *arg, const struct run_news *news); /* never NULL */
    void (*say)(void *arg, const char *line);             /* called for each problem; never NULL */
    void *arg;
};

struct run_end {
    /* the run's folder, or the file to which the result was saved instead; "" = nowhere */
    char saved[600];
    bool in_folder; /* `saved` is the run's folder */
    /* the result itself, if it is saved nowhere; a reference that the caller drops. NULL = it is saved */
    json_t *unsaved;
    int stages;     /* stages in the result, whole or partial */
    int exit_code;  /* enum lb_exit */
    char why[1200]; /* the reason for a non-zero code in one line; "" = none */
    bool said;      /* the reason was already passed to run_ask.say */
};

/* Runs the plan. Returns 0 with *ret_end, also when stages failed; -1 with err when nothing could
 * be started. */
int run_execute(const struct run_ask *ask, struct run_end *ret_end, struct lb_err *err);

/* planned: the stages of a plan in the form of a run that was read: their locks and loads, and no figures. Code
 * that reads runs can so be asked about a run before it is made. */

/* NULL with err when out of memory. The caller frees the result with run_free; it borrows from the plan. */
struct run *planned_run(const struct plan *plan, struct lb_err *err);

#endif
