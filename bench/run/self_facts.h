/* self_facts: the facts about a stage that its self-checks need, as plain numbers, so that a test can set them
 * too. */
#ifndef BENCH_RUN_SELF_FACTS_H
#define BENCH_RUN_SELF_FACTS_H

#include "bench/load/shared.h"
#include "bench/run/stage.h"

struct self_facts {
    bool whole;     /* the stage is complete, and no client was killed */
    bool early;     /* the window ended before its planned end */
    bool rounds;    /* of a latch: its count-downs are attempts without a wait */
    bool disturbed; /* a fault acted on clients, servers or wires */

    /* Counted in three ways: by threads, by clients, by histograms. */
    double attempts, outcomes, grants_of_clients, grants_recorded, failed_recorded;
    bool log_read;     /* the .hlog could be read back */
    double log_apart;  /* the greatest difference of its counts to a metric's histogram */
    double clients_ns; /* clients x window */
    double states_ns;  /* the clients' time in the window by what they did */

    /* Arrivals by a schedule. */
    enum arrival_kind arrival;
    double due_expected, due; /* in the window: rate x window, and counted */
    double *gaps;             /* a sample, in mean gaps; owned */
    int gap_count;
    double grid_off_ns; /* constant: the greatest distance of an arrival from its place */

    /* Of each whole second: an open loop's mean wait from due, a closed loop's grants; owned. */
    double *seconds;
    int second_count;
};

/* Takes the facts of a stage that has been summed up and whose log is closed. 0, or -1 with err when
 * out of memory; self_facts_done in any case. */
int self_facts_take(struct self_facts *facts, const struct stage *stage,
                    const struct stage_ask *ask, const struct shared *shared, struct lb_err *err);
void self_facts_done(struct self_facts *facts);

#endif
