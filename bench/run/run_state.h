/* run_state: the state of a run while it runs. Only run_execute.c, run_stages.c and run_places.c include this header.
 * One thread. */
#ifndef BENCH_RUN_RUN_STATE_H
#define BENCH_RUN_RUN_STATE_H

#include "bench/place/guest.h"
#include "bench/run/conclusion.h"
#include "bench/run/outdir.h"
#include "bench/run/run.h"
#include "bench/run/thresholds.h"
#include "bench/workload/stages.h"

/* What came between the stages of a round and their figures. */
struct round {
    double window_ns; /* of all its stages */
    double stood_ns;  /* lockbench itself stood still */
    double stolen_ns; /* the host of this virtual machine took */
};

struct run_state {
    const struct run_ask *ask;
    struct outdir out;
    json_t *json;                                  /* run.json, ... */
    json_t *stages, *servers, *skipped, *warnings; /* ... and parts of it */
    int64_t written_ns;
    int number;          /* of the next stage */
    struct round *round; /* one for each that may come; NULL = there are none */
    bool paired; /* the stages are in rounds over all servers, of which round 0 warms them */
    struct conclusion conclusion;
    struct thresholds thresholds;
    int stages_planned;
    bool mostly_failed;   /* that most requests of a stage failed was said */
    struct lb_err err;    /* the first thing that went wrong */
    char failed[600];     /* a request that failed, the first one; "" = none did */
    struct guests guests; /* the run, on the servers of --url */
};

/* --- run_execute.c --- */

/* Prints a line for the user at once. */
void run_say(const struct run_state *run, const char *text);
/* Notes something for the result and the exit code; no figure is missing because of it. */
void run_note_warning(struct run_state *run, const struct lb_err *err);
/* Notes that something is missing from the result; the run goes on. */
void run_note_trouble(struct run_state *run, const struct lb_err *err);
/* Writes the result so far, marked as partial; not after every short stage. */
void run_write_so_far(struct run_state *run);

/* --- run_stages.c --- */

/* Runs one stage and adds it to the result. False when the other stages of the place need a new place. */
bool run_stage(struct run_state *run, struct place *place, const struct plan_stage *of);

/* --- run_places.c --- */

/* The place that a stage asks for; .url is NULL where lockbench starts the servers. */
struct place_ask run_place_ask(const struct run_ask *ask, const struct plan_stage *of);
/* Runs all stages of the plan: in rounds, if there are repeats and all servers can be up at a time; if they can't, the
 * result's warnings say why. 0, or -1 with err when out of memory. */
int run_all_places(struct run_state *run, struct lb_err *err);

#endif
