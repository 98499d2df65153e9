/* fault: the schedule; see fault.h. */
#include "bench/faults/fault.h"

#include <stdlib.h>

#include "bench/faults/fault_inside.h"

#define POLL_NS LB_MS_NS /* while a section waits for a holder, or a wire's fault for its moment */

/* A stream of its own: no client has this number. */
#define SECTION_STREAM(section) (UINT64_MAX - 1 - (uint64_t)(section))

void fault_clock_begin(struct fault_clock *clock, const struct plan_fault *plan, uint64_t seed,
                       int section, int64_t begin_ns) {
    rng_seed(&clock->rng, seed, SECTION_STREAM(section));
    clock->left = plan->times > 0 ? plan->times : -1;
    clock->next_ns = plan->kind == INJECT_NONE
                         ? LB_NEVER
                         : lb_after(begin_ns, span_draw(&plan->first, &clock->rng));
}

void fault_clock_next(struct fault_clock *clock, const struct plan_fault *plan) {
    if (clock->left > 0) clock->left--;
    bool more = !span_is_none(&plan->every) && clock->left != 0;
    clock->next_ns =
        more ? lb_after(clock->next_ns, span_draw(&plan->every, &clock->rng)) : LB_NEVER;
}

void faults_begin(struct faults *faults, const struct stage_ask *ask, struct stage *stage,
                  struct shared *shared, struct workers *workers, int64_t begin_ns) {
    struct lb_rng rng;
    rng_seed(&rng, shared->seed, UINT64_MAX);
    *faults = (struct faults){.ask = ask,
                              .stage = stage,
                              .shared = shared,
                              .workers = workers,
                              .begin_ns = begin_ns,
                              .next_process = (int)rng_below(&rng, (uint64_t)shared->processes),
                              .next_client = (uint32_t)rng_below(&rng, (uint64_t)shared->clients)};
    if (ask->topo) {
        faults->next_node = (int)rng_below(&rng, (uint64_t)topo_about(ask->topo)->nodes);
    }
    fault_cut_begin(faults);
    for (int i = 0; i < PLAN_FAULTS_MAX; i++) {
        struct fault_section *section = &faults->sections[i];
        section->plan = &shared->plan->faults[i];
        fault_clock_begin(&section->clock, section->plan, shared->seed, i, begin_ns);
    }
}

struct fault_act *fault_lasting(struct faults *faults, const struct fault_section *section) {
    for (int i = 0; i < FAULT_ACTS_MAX; i++) {
        struct fault_act *act = &faults->acts[i];
        if (act->plan) continue;
        const struct plan_fault *plan = section->plan;
        int64_t begin_ns = faults->stage->faults[faults->stage->fault_count - 1].begin_ns;
        *act = (struct fault_act){.plan = plan,
                                  .log = faults->stage->fault_count - 1,
                                  .until_ns = plan->for_ns > 0 ? lb_after(begin_ns, plan->for_ns)
                                                               : LB_NEVER,
                                  .process = -1,
                                  .node = -1};
        return act;
    }
    return NULL;
}

static enum fault_tried hit(struct faults *faults, struct fault_section *section) {
    switch (injection_acts_on(section->plan->kind)) {
    case ON_CLIENTS:
        return fault_clients_hit(faults, section);
    case ON_SERVERS:
        return fault_servers_hit(faults, section);
    case ON_WIRES:
        return fault_wires_hit(faults, section);
    case ON_NOTHING:
        break;
    }
    return FAULT_DONE;
}

static void undo(struct faults *faults, struct fault_act *act) {
    switch (injection_acts_on(act->plan->kind)) {
    case ON_CLIENTS:
        fault_clients_undo(faults, act);
        break;
    case ON_SERVERS:
        fault_servers_undo(faults, act);
        break;
    case ON_WIRES:
        fault_wires_undo(faults, act);
        break;
    case ON_NOTHING:
        break;
    }
    if (!act->returning) act->plan = NULL;
}

/* Whether there is something to look at between its begin and its end. */
static bool is_watched(const struct fault_act *act) {
    return act->returning || act->plan->kind == INJECT_WIRE_MIDWAY ||
           act->plan->kind == INJECT_WIRE_DROP;
}

/* What lasts: ends in its time. */
static bool turn_acts(struct faults *faults, int64_t now_ns, int64_t *next_ns) {
    bool did = false;
    for (int i = 0; i < FAULT_ACTS_MAX; i++) {
        struct fault_act *act = &faults->acts[i];
        if (!act->plan) continue;
        if (act->returning) {
            if (fault_servers_back(faults, act, now_ns)) {
                act->plan = NULL;
                did = true;
            }
        } else if (now_ns >= act->until_ns || (is_watched(act) && fault_wires_look(faults, act))) {
            undo(faults, act);
            did = true;
        }
        if (!act->plan) continue;
        int64_t look_ns = is_watched(act) ? now_ns + POLL_NS : act->until_ns;
        if (look_ns < *next_ns) *next_ns = look_ns;
    }
    return did;
}

/* When the section above one acted last, or the window began. */
static int64_t acted_before(const struct faults *faults, int index) {
    int64_t last_ns = faults->begin_ns;
    for (int i = 0; i < index; i++) {
        if (faults->sections[i].acted_ns > last_ns) last_ns = faults->sections[i].acted_ns;
    }
    return last_ns;
}

/* A section's time has come. True if it is over, false to wait a little. */
static bool turn_section(struct faults *faults, int index, int64_t now_ns) {
    struct fault_section *section = &faults->sections[index];
    if (section->patience_until == 0) section->patience_until = now_ns + FAULT_PATIENCE_NS;
    bool patient = now_ns < section->patience_until;
    if (section->plan->after == AFTER_HOLDER && patient &&
        !fault_anybody_holds(faults, acted_before(faults, index))) {
        return false;
    }
    if (hit(faults, section) == FAULT_LATER) {
        if (patient) return false;
        char target[24];
        fault_log_not(faults, section, "no %s was found in 2 s",
                      section->plan->target == TARGET_ANY
                          ? "client"
                          : fault_target_text(section->plan, target, sizeof target));
    }
    section->patience_until = 0;
    section->acted_ns = lb_now();
    /* Those below that have not begun keep their distance from it. */
    int64_t late_ns = section->acted_ns - section->clock.next_ns;
    bool waits = section->plan->after == AFTER_HOLDER;
    for (int i = index + 1; waits && i < PLAN_FAULTS_MAX; i++) {
        struct fault_section *below = &faults->sections[i];
        bool later =
            below->clock.next_ns < LB_NEVER && below->clock.next_ns >= section->clock.next_ns;
        if (below->acted_ns == 0 && later) below->clock.next_ns += late_ns;
    }
    fault_clock_next(&section->clock, section->plan);
    return true;
}

bool faults_turn(struct faults *faults, int64_t now_ns, int64_t *ret_next_ns) {
    int64_t next_ns = LB_NEVER;
    bool did = turn_acts(faults, now_ns, &next_ns);
    for (int i = 0; i < PLAN_FAULTS_MAX; i++) {
        struct fault_clock *clock = &faults->sections[i].clock;
        if (now_ns >= clock->next_ns) {
            if (!turn_section(faults, i, now_ns)) {
                /* Those below it wait as well. */
                if (now_ns + POLL_NS < next_ns) next_ns = now_ns + POLL_NS;
                break;
            }
            did = true;
            next_ns = now_ns; /* what lasts has an end to be waited for */
        }
        if (clock->next_ns < next_ns) next_ns = clock->next_ns;
    }
    *ret_next_ns = next_ns;
    return did;
}

bool faults_acting(const struct faults *faults) {
    for (int i = 0; i < FAULT_ACTS_MAX; i++) {
        const struct fault_act *act = &faults->acts[i];
        /* What only waits for its moment keeps nobody away. */
        if (act->plan && (act->returning || !is_watched(act))) return true;
    }
    return false;
}

void faults_end(struct faults *faults) {
    for (int i = 0; i < PLAN_FAULTS_MAX; i++) faults->sections[i].clock.next_ns = LB_NEVER;
    for (int i = 0; i < FAULT_ACTS_MAX; i++) {
        if (faults->acts[i].plan && !faults->acts[i].returning) undo(faults, &faults->acts[i]);
    }
}

bool faults_returning(const struct faults *faults) {
    for (int i = 0; i < FAULT_ACTS_MAX; i++) {
        if (faults->acts[i].plan && faults->acts[i].returning) return true;
    }
    return false;
}

void faults_done(struct faults *faults) {
    for (int i = 0; i < FAULT_ACTS_MAX; i++) {
        if (faults->acts[i].plan && faults->acts[i].returning) {
            fault_servers_back(faults, &faults->acts[i], LB_NEVER);
        }
        faults->acts[i].plan = NULL;
    }
}
