/* wires: injections on the bytes between clients and servers, and between servers; see kinds.h. The wire
 * is a separate process (servers/wire.h); its counts are the sign that an injection took effect. */
#include "bench/faults/kinds.h"
#include "bench/servers/wire.h"

static uint64_t ends_of(const struct faults *faults, const struct plan_fault *plan) {
    const struct place_wire *wiring = faults->place->wiring;
    if (!wiring) return 0;
    return plan->target == TARGET_REPLICATION ? wiring->peer_ends : wiring->client_ends;
}

/* The injection in the form that the wire takes. */
static struct wire_fault wire_fault_of(const struct faults *faults, const struct plan_fault *plan) {
    static const enum wire_kind kinds[INJECTIONS] = {[INJECT_WIRE_DELAY] = WIRE_DELAY,
                                                     [INJECT_WIRE_CUT] = WIRE_SWALLOW,
                                                     [INJECT_WIRE_RESET] = WIRE_RESET,
                                                     [INJECT_WIRE_DROP] = WIRE_DROP};
    static const enum wire_way ways[] = {WIRE_BOTH, WIRE_REQUESTS, WIRE_ANSWERS};
    return (struct wire_fault){.kind = kinds[plan->kind],
                               .ends = ends_of(faults, plan),
                               .by_ns = plan->by_ns,
                               .way = plan->kind == INJECT_WIRE_CUT ? ways[plan->way] : WIRE_BOTH};
}

/* Delayed bytes end a session only if its signs of life come too late. */
static bool is_silent(const struct faults *faults, const struct plan_fault *plan) {
    if (plan->kind == INJECT_WIRE_DELAY) return plan->by_ns >= faults->shared->lease_ns / 2;
    return plan->kind == INJECT_WIRE_CUT;
}

static bool ends_connections(const struct plan_fault *plan) {
    return plan->kind == INJECT_WIRE_RESET || plan->kind == INJECT_WIRE_DROP;
}

/* Logs the wire's counts as the sign. lift: the error of wire_lift, if there was one. */
static void log_wire_sign(struct faults *faults, int number, struct fault_event *fault,
                          const struct lb_err *lift) {
    struct wire_sign seen;
    wire_sign(faults->place->wiring->wire, number, &seen);
    fault_log_sign(fault, seen.struck > 0, "struck %llu times, %llu bytes, of %llu connections%s%s",
                   (unsigned long long)seen.struck, (unsigned long long)seen.bytes,
                   (unsigned long long)seen.matched, lift->code ? "; not lifted: " : "",
                   lift->text);
}

/* Begins the injection, for the victim's process or for all. */
static void set_wire(struct faults *faults, struct fault_section *section,
                     const struct fault_victim *victim) {
    const struct plan_fault *plan = section->plan;
    bool of_clients = plan->target != TARGET_REPLICATION;
    uint32_t count = victim->end - victim->first;
    struct fault_event *fault = fault_log_add(faults, section, lb_now());
    struct wire_fault wire_fault = wire_fault_of(faults, plan);
    struct lb_err err = {0};
    pid_t pid = 0;
    if (!fault) return;
    if (victim->process >= 0) {
        pid = workers_pid(faults->workers, victim->process);
        wire_fault.pids = &pid;
        wire_fault.pid_count = 1;
        fault_log_victim(fault, victim);
    }
    bool ends = of_clients && ends_connections(plan);
    int number = wire_set(faults->place->wiring->wire, &wire_fault, &err);
    struct fault_act *act = number >= 0 && (injections[plan->kind].properties & INJECTION_LASTS)
                                ? fault_log_lasting(faults, section)
                                : NULL;
    if (act) {
        act->wire_fault = number;
        act->process = victim->process;
        act->first_client = victim->first;
        act->client_count = count;
        act->cut_open = of_clients && is_silent(faults, plan) && fault_ends_silent(faults);
        fault_act_oplog(faults, OPLOG_CUT, act);
        return;
    }
    fault->end_ns = lb_now();
    if (number < 0) {
        fault_log_sign(fault, false, "%s", err.text);
        return;
    }
    if (ends) fault_oplog(faults, OPLOG_CUT, victim->first, count, fault->begin_ns, fault->end_ns);
    wire_lift(faults->place->wiring->wire, number, &err);
    log_wire_sign(faults, number, fault, &err);
}

enum fault_tried fault_wire_begin(struct faults *faults, struct fault_section *section) {
    const struct plan_fault *plan = section->plan;
    struct fault_victim victim = {.process = -1, .end = (uint32_t)faults->shared->clients};
    if (ends_of(faults, plan) == 0) {
        fault_log_not(faults, section, "lockbench has no wire for this target");
        return FAULT_DONE;
    }
    bool one = plan->target != TARGET_ALL && plan->target != TARGET_REPLICATION;
    if (one && !fault_catch(faults, plan->target, false, &victim)) return FAULT_LATER;
    set_wire(faults, section, &victim);
    if (one) workers_pause(faults->workers, victim.process, false);
    return FAULT_DONE;
}

bool fault_wire_look(struct faults *faults, struct fault_act *act, int64_t now_ns) {
    (void)now_ns;
    struct wire_sign seen;
    wire_sign(faults->place->wiring->wire, act->wire_fault, &seen);
    return seen.struck > 0;
}

void fault_wire_end(struct faults *faults, struct fault_act *act) {
    struct fault_event *fault = fault_log_of(faults, act);
    struct lb_err err = {0};
    bool of_clients = act->plan->target != TARGET_REPLICATION;
    int64_t begin_ns = lb_now();
    /* Connections that lost bytes are reset now, and what ends with a connection ends. */
    bool resets = of_clients && act->plan->kind == INJECT_WIRE_CUT;
    wire_lift(faults->place->wiring->wire, act->wire_fault, &err);
    fault->end_ns = lb_now();
    uint32_t first = act->first_client, count = act->client_count;
    if (resets) fault_oplog(faults, OPLOG_CUT, first, count, begin_ns, fault->end_ns);
    if (of_clients && ends_connections(act->plan)) {
        struct wire_sign seen;
        wire_sign(faults->place->wiring->wire, act->wire_fault, &seen);
        if (seen.struck > 0)
            fault_oplog(faults, OPLOG_CUT, first, count, seen.first_ns, fault->end_ns);
    } else {
        fault_act_oplog(faults, OPLOG_CUT, act);
    }
    log_wire_sign(faults, act->wire_fault, fault, &err);
}
