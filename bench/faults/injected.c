/* injected: injections that change a client while its process runs on: its renewals are held back, or its
 * wall clock is off; see kinds.h and drivers/injected.h.
 *
 * Renewals of a lease are held back where the core makes them (session.c), for one client. Renewals of a
 * session that its driver keeps alive by itself (etcd's keep-alive, ZooKeeper's pings) are held back by
 * that driver, for all clients of the session. With the target `all` the renewals of all clients are held
 * back. lockbench can't hold back the renewals of a program (exec).
 *
 * A wall clock belongs to a process, so all clients of a process have the same. Only code that asks
 * lb_client_wall_now sees the change. */
#include "bench/faults/kinds.h"

/* Sums over the clients of an injection. */
struct counts {
    uint64_t renewals, held_back, wall_reads;
};

static struct counts count(const struct faults *faults, const struct fault_act *act) {
    struct counts sum = {0};
    for (uint32_t i = act->first_client; i < act->first_client + act->client_count; i++) {
        const struct client_stats *client = &faults->shared->client[i];
        sum.renewals += atomic_load(&client->renewals);
        sum.held_back += atomic_load(&client->injected.held_back);
        sum.wall_reads += atomic_load(&client->injected.wall_reads);
    }
    return sum;
}

/* Stores the counts of the clients first .. end-1 at the injection's begin. */
static void begin_counting(struct faults *faults, struct fault_act *act, uint32_t first,
                           uint32_t end) {
    act->first_client = first;
    act->client_count = end - first;
    struct counts before = count(faults, act);
    act->renewals = before.renewals;
    act->held_back = before.held_back;
    act->wall_reads = before.wall_reads;
}

static enum fault_tried too_many(struct fault_event *fault) {
    if (fault) fault_log_sign(fault, false, "too many faults at one time");
    return FAULT_DONE;
}

/* ---- renewals ---- */

/* Whether the driver keeps the sessions alive that this lock's grants live by. */
static bool keeps_sessions(const struct shared *shared) {
    return shared->lock->lock->about.crash == LB_CRASH_SESSION;
}

static void hold_back(struct faults *faults, const struct fault_act *act, bool on) {
    for (uint32_t i = act->first_client; i < act->first_client + act->client_count; i++) {
        atomic_store(&faults->shared->client[i].injected.starved, on);
    }
}

/* A session that nobody renews ends like the session of a client that is cut off. */
static void excuse_silence(struct faults *faults, struct fault_act *act, int64_t begin_ns) {
    act->cut_open = fault_excuse_silent(faults, act->first_client, act->client_count, begin_ns);
    if (act->cut_open)
        fault_oplog(faults, OPLOG_CUT, act->first_client, act->client_count, begin_ns, LB_NEVER);
}

enum fault_tried fault_starve_begin(struct faults *faults, struct fault_section *section) {
    const struct shared *shared = faults->shared;
    enum fault_target target = section->plan->target;
    struct fault_victim victim = {.process = -1, .end = (uint32_t)shared->clients};
    bool renews = shared->plan->renew && shared->lock->lock->algorithm->renew;
    if (!renews && !keeps_sessions(shared)) {
        fault_log_not(faults, section,
                      "nothing renews here that could be held back: the lock has no renewals, or a "
                      "program of its own makes them");
        return FAULT_DONE;
    }
    if (target != TARGET_ALL) {
        if (!fault_find(faults, target, &victim)) return FAULT_LATER;
        victim.first = victim.client;
        victim.end = victim.client + 1;
        if (keeps_sessions(shared))
            victim.first = shared_session_clients(shared, victim.client, &victim.end);
    }
    struct fault_event *fault = fault_log_add(faults, section, lb_now());
    struct fault_act *act = fault ? fault_log_lasting(faults, section) : NULL;
    if (!act) return too_many(fault);
    begin_counting(faults, act, victim.first, victim.end);
    hold_back(faults, act, true);
    if (target == TARGET_HOLDER && !fault_is_still(faults, target, &victim)) {
        hold_back(faults, act, false); /* it has left meanwhile */
        act->plan = NULL;
        faults->log->count--;
        return FAULT_LATER;
    }
    excuse_silence(faults, act, fault->begin_ns);
    if (target == TARGET_ALL) return FAULT_DONE;
    fault_log_victim(fault, &victim);
    fault->client = victim.client;
    return FAULT_DONE;
}

void fault_starve_end(struct faults *faults, struct fault_act *act) {
    struct fault_event *fault = fault_log_of(faults, act);
    uint32_t first = act->first_client, clients = act->client_count;
    hold_back(faults, act, false);
    struct counts now = count(faults, act);
    uint64_t held_back = now.held_back - act->held_back;
    fault->end_ns = lb_now();
    if (act->cut_open) {
        fault_excuse_over(faults, first, clients, fault->begin_ns, fault->end_ns);
        fault_oplog(faults, OPLOG_CUT, first, clients, fault->begin_ns, fault->end_ns);
    }
    if (keeps_sessions(faults->shared)) {
        fault_log_sign(fault, held_back > 0, "%llu renewals of its session held back",
                       (unsigned long long)held_back);
        return;
    }
    fault_log_sign(
        fault, held_back > 0, "%llu renewals before it, %llu while it lasted, %llu held back",
        (unsigned long long)act->renewals, (unsigned long long)(now.renewals - act->renewals),
        (unsigned long long)held_back);
}

/* ---- wall clocks ---- */

static void set_wall(struct faults *faults, const struct fault_act *act, int64_t by_ns) {
    for (uint32_t i = act->first_client; i < act->first_client + act->client_count; i++) {
        atomic_store(&faults->shared->client[i].injected.wall_by_ns, by_ns);
    }
}

/* Finds a process whose clock is right. */
static bool find_right_clock(struct faults *faults, enum fault_target target,
                             struct fault_victim *ret) {
    const struct shared *shared = faults->shared;
    for (int tries = 0; tries < shared->clients && fault_find(faults, target, ret); tries++) {
        if (atomic_load(&shared->client[ret->client].injected.wall_by_ns) != 0) continue;
        ret->first = workers_clients(shared, ret->process, &ret->end);
        faults->next_client = ret->end % (uint32_t)shared->clients;
        return true;
    }
    return false;
}

enum fault_tried fault_client_clock_begin(struct faults *faults, struct fault_section *section) {
    const struct plan_fault *plan = section->plan;
    struct fault_victim victim;
    if (faults->shared->processes < 2) {
        fault_log_not(faults, section, "the clients run in one process, and so have one clock");
        return FAULT_DONE;
    }
    if (!find_right_clock(faults, plan->target, &victim)) return FAULT_LATER;
    struct fault_event *fault = fault_log_add(faults, section, lb_now());
    struct fault_act *act = fault ? fault_log_lasting(faults, section) : NULL;
    if (!act) return too_many(fault);
    fault_log_victim(fault, &victim);
    act->process = victim.process;
    begin_counting(faults, act, victim.first, victim.end);
    set_wall(faults, act, plan->by_ns);
    return FAULT_DONE;
}

void fault_client_clock_end(struct faults *faults, struct fault_act *act) {
    struct fault_event *fault = fault_log_of(faults, act);
    double by_s = (double)act->plan->by_ns / 1e9;
    set_wall(faults, act, 0);
    uint64_t reads = count(faults, act).wall_reads - act->wall_reads;
    fault->end_ns = lb_now();
    fault_log_sign(fault, reads > 0, "its wall clock was read %llu times while it was %.3f s %s",
                   (unsigned long long)reads, by_s < 0 ? -by_s : by_s,
                   by_s < 0 ? "behind" : "ahead");
}
