/* schedule: when each injection begins and ends; see faults.h. */
#include "bench/faults/faults.h"
#include "bench/faults/kinds.h"

#define PATIENCE_NS (2 * LB_S_NS) /* for a holder, or a victim, to come */

#define POLL_NS                                                                                    \
    LB_MS_NS /* while a section waits for a holder, or an injection on a wire for its moment */

void faults_begin(struct faults *faults, const struct place *place, struct fault_log *log,
                  struct shared *shared, struct workers *workers, int64_t begin_ns) {
    struct lb_rng rng;
    rng_seed(&rng, shared->seed, UINT64_MAX);
    rng_u64(&rng); /* was a process: a seed's servers stay those that its results name */
    *faults = (struct faults){.place = place,
                              .log = log,
                              .shared = shared,
                              .workers = workers,
                              .begin_ns = begin_ns,
                              .next_client = (uint32_t)rng_below(&rng, (uint64_t)shared->clients)};
    if (place->topo) {
        faults->next_node = (int)rng_below(&rng, (uint64_t)topo_about(place->topo)->nodes);
    }
    for (int i = 0; i < PLAN_FAULTS_MAX; i++) {
        struct fault_section *section = &faults->sections[i];
        section->plan = &shared->plan->faults[i];
        section->next_ns = section->plan->kind == INJECT_NONE
                               ? LB_NEVER
                               : lb_after(begin_ns, section->plan->first_ns);
    }
}

static const struct fault_kind {
    fault_begin_fn *begin;
    fault_end_fn *end;   /* NULL = the injection never lasts */
    fault_look_fn *look; /* NULL = nothing to look at before its end */
    bool looks_after;    /* look is called only after the end */
} kinds[] = {
    [INJECT_PAUSE] = {.begin = fault_pause_begin, .end = fault_pause_end},
    [INJECT_KILL] = {.begin = fault_kill_begin},
    [INJECT_STARVE] = {.begin = fault_starve_begin, .end = fault_starve_end},
    [INJECT_CLIENT_CLOCK] = {.begin = fault_client_clock_begin, .end = fault_client_clock_end},
    [INJECT_SERVER_PAUSE] = {.begin = fault_servers_begin, .end = fault_server_pause_end},
    [INJECT_SERVER_KILL] = {fault_servers_begin, fault_server_kill_end, fault_server_look, true},
    [INJECT_SERVER_EMPTY] = {fault_servers_begin, fault_server_kill_end, fault_server_look, true},
    [INJECT_PROMOTE] = {.begin = fault_servers_begin},
    [INJECT_UNFOLLOW] = {.begin = fault_servers_begin},
    [INJECT_ISOLATE] = {.begin = fault_servers_begin, .end = fault_isolate_end},
    [INJECT_TERMINATE] = {.begin = fault_terminate_begin},
    [INJECT_EVICT] = {.begin = fault_servers_begin},
    [INJECT_CLOCK] = {.begin = fault_servers_begin},
    [INJECT_WIRE_DELAY] = {.begin = fault_wire_begin, .end = fault_wire_end},
    [INJECT_WIRE_CUT] = {.begin = fault_wire_begin, .end = fault_wire_end},
    [INJECT_WIRE_RESET] = {.begin = fault_wire_begin, .end = fault_wire_end},
    [INJECT_WIRE_DROP] = {fault_wire_begin, fault_wire_end, fault_wire_look, false},
};

static void end_act(struct faults *faults, struct fault_act *act) {
    kinds[act->plan->kind].end(faults, act);
    if (!act->returning) act->plan = NULL;
}

/* Whether there is something to look at now. */
static bool is_watched(const struct fault_act *act) {
    const struct fault_kind *kind = &kinds[act->plan->kind];
    return kind->look && (act->returning || !kind->looks_after);
}

/* Ends what lasts, each in its time. */
static bool turn_acts(struct faults *faults, int64_t now_ns, int64_t *next_ns) {
    bool did = false;
    for (int i = 0; i < FAULT_ACTS_MAX; i++) {
        struct fault_act *act = &faults->acts[i];
        if (!act->plan) continue;
        bool over = !act->returning && now_ns >= act->until_ns;
        if (!over && is_watched(act)) over = kinds[act->plan->kind].look(faults, act, now_ns);
        if (over && act->returning) {
            act->plan = NULL;
        } else if (over) {
            end_act(faults, act);
        }
        did |= over;
        if (!act->plan) continue;
        int64_t look_ns = is_watched(act) ? now_ns + POLL_NS : act->until_ns;
        if (look_ns < *next_ns) *next_ns = look_ns;
    }
    return did;
}

/* When one of the sections above this one acted last; the window's begin if none did. */
static int64_t acted_before(const struct faults *faults, int index) {
    int64_t last_ns = faults->begin_ns;
    for (int i = 0; i < index; i++) {
        if (faults->sections[i].acted_ns > last_ns) last_ns = faults->sections[i].acted_ns;
    }
    return last_ns;
}

/* The time of a section has come. True: the section is done for this time; false: it waits a
 * little. */
static bool turn_section(struct faults *faults, int index, int64_t now_ns) {
    struct fault_section *section = &faults->sections[index];
    if (section->patience_until == 0) section->patience_until = now_ns + PATIENCE_NS;
    bool patient = now_ns < section->patience_until;
    if (section->plan->after == AFTER_HOLDER && patient &&
        !fault_anybody_holds(faults, acted_before(faults, index))) {
        return false;
    }
    if (kinds[section->plan->kind].begin(faults, section) == FAULT_LATER) {
        if (patient) return false;
        char target[24];
        fault_log_not(faults, section, "no %s was found in 2 s",
                      section->plan->target == TARGET_ANY
                          ? "client"
                          : fault_target_text(section->plan, target, sizeof target));
    }
    section->patience_until = 0;
    section->injections++;
    section->acted_ns = lb_now();
    /* The sections below that have not begun keep their distance from this one. */
    const struct plan_fault *plan = section->plan;
    int64_t late_ns = section->acted_ns - section->next_ns;
    for (int i = index + 1; plan->after == AFTER_HOLDER && i < PLAN_FAULTS_MAX; i++) {
        struct fault_section *below = &faults->sections[i];
        bool later = below->next_ns < LB_NEVER && below->next_ns >= section->next_ns;
        if (below->acted_ns == 0 && later) below->next_ns += late_ns;
    }
    bool more = plan->every_ns && (plan->times == 0 || section->injections < plan->times);
    section->next_ns = more ? lb_after(section->next_ns, plan->every_ns) : LB_NEVER;
    return true;
}

bool faults_turn(struct faults *faults, int64_t now_ns, int64_t *ret_next_ns) {
    int64_t next_ns = LB_NEVER;
    bool did = turn_acts(faults, now_ns, &next_ns);
    for (int i = 0; i < PLAN_FAULTS_MAX; i++) {
        const struct fault_section *section = &faults->sections[i];
        if (now_ns >= section->next_ns) {
            if (!turn_section(faults, i, now_ns)) {
                /* Those below it wait as well. */
                if (now_ns + POLL_NS < next_ns) next_ns = now_ns + POLL_NS;
                break;
            }
            did = true;
            next_ns = now_ns; /* what lasts has an end to be waited for */
        }
        if (section->next_ns < next_ns) next_ns = section->next_ns;
    }
    *ret_next_ns = next_ns;
    return did;
}

bool faults_acting(const struct faults *faults) {
    for (int i = 0; i < FAULT_ACTS_MAX; i++) {
        const struct fault_act *act = &faults->acts[i];
        /* An injection that only waits for its moment keeps no client from its lock. */
        if (act->plan && (act->returning || !is_watched(act))) return true;
    }
    return false;
}

void faults_end(struct faults *faults) {
    for (int i = 0; i < PLAN_FAULTS_MAX; i++) faults->sections[i].next_ns = LB_NEVER;
    for (int i = 0; i < FAULT_ACTS_MAX; i++) {
        if (faults->acts[i].plan && !faults->acts[i].returning) end_act(faults, &faults->acts[i]);
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
            kinds[faults->acts[i].plan->kind].look(faults, &faults->acts[i], LB_NEVER);
        }
        faults->acts[i].plan = NULL;
    }
}
