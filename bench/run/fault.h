/* fault: what the supervisor does to the clients' worker processes while they load: stops one for a time
 * (SIGSTOP, SIGCONT) or kills it (SIGKILL), by the plan's schedule.
 *
 * The first victim is drawn from the stage's seed, the next one is the next process that can be hit. The last
 * living process is never killed. Needs worker processes: threads of this one can't be hit apart.
 */
#ifndef BENCH_RUN_FAULT_H
#define BENCH_RUN_FAULT_H

#include "bench/run/stage.h"
#include "bench/run/worker.h"

struct faults {
    const struct plan_fault *plan;
    struct shared *shared;
    struct workers *workers;
    struct stage *stage; /* .faults: the log */
    int64_t begin_ns, next_ns;
    int next_process;
};

/* From the window's begin on. */
void faults_begin(struct faults *faults, struct stage *stage, struct shared *shared, struct workers *workers,
                  int64_t begin_ns);

/* Does what is due. True if anything was done; *ret_next_ns: when there is something to do again. */
bool faults_turn(struct faults *faults, int64_t now_ns, int64_t *ret_next_ns);

/* Whether anybody is stopped now. */
bool faults_acting(const struct faults *faults);

/* The window is over: whoever is stopped goes on. */
void faults_end(struct faults *faults);

#endif
