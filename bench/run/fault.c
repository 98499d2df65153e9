/* fault: see fault.h. */
#include "bench/run/fault.h"

#include <stdlib.h>

void faults_begin(struct faults *faults, struct stage *stage, struct shared *shared, struct workers *workers,
                  int64_t begin_ns) {
    const struct plan_fault *plan = &shared->plan->faults[0];
    bool able = plan->kind != FAULT_NONE && shared->processes > 1;
    struct lb_rng rng;
    rng_seed(&rng, shared->seed, UINT64_MAX); /* a stream of its own: no client has this number */
    *faults = (struct faults){
        .plan = plan,
        .shared = shared,
        .workers = workers,
        .stage = stage,
        .begin_ns = begin_ns,
        .next_ns = able ? begin_ns + plan->first.from_ns : LB_NEVER,
        .next_process = (int)rng_below(&rng, (uint64_t)shared->processes),
    };
}

static struct stage_fault *paused_entry(const struct faults *faults, int process) {
    for (int i = 0; i < faults->stage->fault_count; i++) {
        struct stage_fault *fault = &faults->stage->faults[i];
        if (fault->process == process && fault->kind == FAULT_PAUSE && fault->end_ns == 0) return fault;
    }
    return NULL;
}

/* The next process that can be hit, or -1. */
static int choose_process(struct faults *faults) {
    int processes = faults->shared->processes, alive = 0, chosen = -1;
    for (int i = 0; i < processes; i++) alive += workers_alive(faults->workers, i);
    if (faults->plan->kind == FAULT_KILL && alive < 2) return -1;
    for (int i = 0; i < processes && chosen < 0; i++) {
        int process = (faults->next_process + i) % processes;
        if (workers_alive(faults->workers, process) && !paused_entry(faults, process)) chosen = process;
    }
    if (chosen >= 0) faults->next_process = (chosen + 1) % processes;
    return chosen;
}

static void hit(struct faults *faults, int process) {
    struct stage *stage = faults->stage;
    struct stage_fault *grown =
        realloc(stage->faults, (size_t)(stage->fault_count + 1) * sizeof *stage->faults);
    if (!grown) return;
    stage->faults = grown;
    struct stage_fault *fault = &stage->faults[stage->fault_count];
    *fault = (struct stage_fault){.kind = faults->plan->kind, .process = process, .begin_ns = lb_now()};
    if (fault->kind == FAULT_KILL) {
        workers_kill(faults->workers, process);
        fault->end_ns = lb_now();
    } else if (workers_pause(faults->workers, process, true) != 0) {
        return; /* it ended by itself: the supervisor will see that */
    }
    stage->fault_count++;
}

static void go_on(struct faults *faults, struct stage_fault *fault) {
    workers_pause(faults->workers, fault->process, false);
    fault->end_ns = lb_now();
}

bool faults_turn(struct faults *faults, int64_t now_ns, int64_t *ret_next_ns) {
    bool did = false;
    if (now_ns >= faults->next_ns) {
        int process = choose_process(faults);
        if (process >= 0) hit(faults, process);
        did = true;
        faults->next_ns =
            faults->plan->every.from_ns > 0 ? faults->next_ns + faults->plan->every.from_ns : LB_NEVER;
    }
    int64_t next_ns = faults->next_ns;
    for (int i = 0; i < faults->stage->fault_count; i++) {
        struct stage_fault *fault = &faults->stage->faults[i];
        if (fault->end_ns != 0) continue;
        int64_t until_ns = fault->begin_ns + faults->plan->for_ns;
        if (now_ns >= until_ns) {
            go_on(faults, fault);
            did = true;
        } else if (until_ns < next_ns) {
            next_ns = until_ns;
        }
    }
    *ret_next_ns = next_ns;
    return did;
}

bool faults_acting(const struct faults *faults) {
    for (int i = 0; i < faults->stage->fault_count; i++) {
        if (faults->stage->faults[i].end_ns == 0) return true;
    }
    return false;
}

void faults_end(struct faults *faults) {
    faults->next_ns = LB_NEVER;
    for (int i = 0; i < faults->stage->fault_count; i++) {
        if (faults->stage->faults[i].end_ns == 0) go_on(faults, &faults->stage->faults[i]);
    }
}
