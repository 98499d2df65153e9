/* injected: injections that change a client while its process runs on: its renewals are held back, or its
 * wall clock is off; see kinds.h and drivers/injected.h.
 *
 * Renewals of a lease are held back where the core makes them (session.c), for one client. Renewals of a
 * session that its driver keeps alive by itself (etcd's keep-alive, ZooKeeper's pings) are held back by
 * that driver, for all clients of the session. lockbench can't hold back the renewals of a program (exec).
 *
 * A wall clock belongs to a process, so all clients of a process have the same. Only code that asks
 * lb_client_wall_now sees the change. */
#include "bench/faults/kinds.h"

/* The sums over the clients of an injection. */
static struct fault_counts count(const struct faults *faults, const struct fault_act *act) {
    struct fault_counts sum = {0};
    for (uint32_t i = act->first_client; i < act->first_client + act->client_count; i++) {
        const struct client_stats *client = &faults->shared->client[i];
        sum.renewals += atomic_load(&client->renewals);
        sum.held_back += atomic_load(&client->injected.held_back);
        sum.wall_reads += atomic_load(&client->injected.wall_reads);
    }
    return sum;
}

/* Begins to change the clients, or ends it. */
static void change(struct faults *faults, const struct fault_act *act, bool on) {
    for (uint32_t i = act->first_client; i < act->first_client + act->client_count; i++) {
        struct lb_injected *injected = &faults->shared->client[i].injected;
        if (act->plan->kind == INJECT_STARVE)
            atomic_store(&injected->starved, on);
        else
            atomic_store(&injected->wall_by_ns, on ? act->plan->by_ns : 0);
    }
}

/* ---- renewals ---- */

/* Whether the driver keeps the sessions alive that this lock's grants live by. */
static bool keeps_sessions(const struct shared *shared) {
    return shared->lock->lock->about.crash == LB_CRASH_SESSION;
}

enum fault_tried fault_starve_begin(struct faults *faults, struct fault_section *section) {
    const struct shared *shared = faults->shared;
    enum fault_target target = section->plan->target;
    struct fault_victim victim;
    bool renews = shared->plan->renew && shared->lock->lock->algorithm->renew;
    if (!renews && !keeps_sessions(shared)) {
        fault_log_not(faults, section,
                      "nothing renews here that could be held back: the lock has no renewals, or a "
                      "program of its own makes them");
        return FAULT_DONE;
    }
    if (!fault_find(faults, target, &victim)) return FAULT_LATER;
    victim.first = victim.client;
    victim.end = victim.client + 1;
    if (keeps_sessions(shared))
        victim.first = shared_session_clients(shared, victim.client, &victim.end);
    struct fault_act *act = fault_log_begin(faults, section, lb_now(), &victim);
    if (!act) return FAULT_DONE;
    struct fault_event *fault = fault_log_of(faults, act);
    fault->client = victim.client;
    act->before = count(faults, act);
    change(faults, act, true);
    if (target == TARGET_HOLDER && !fault_is_still(faults, target, &victim)) {
        change(faults, act, false); /* it has left meanwhile */
        act->plan = NULL;
        faults->log->count--;
        return FAULT_LATER;
    }
    /* A session that nobody renews ends like the session of a client that is cut off. */
    act->cut_open = fault_ends_silent(faults);
    fault_act_oplog(faults, OPLOG_CUT, act);
    return FAULT_DONE;
}

void fault_starve_end(struct faults *faults, struct fault_act *act) {
    struct fault_event *fault = fault_log_of(faults, act);
    change(faults, act, false);
    struct fault_counts now = count(faults, act);
    uint64_t held_back = now.held_back - act->before.held_back;
    fault->end_ns = lb_now();
    fault_act_oplog(faults, OPLOG_CUT, act);
    if (keeps_sessions(faults->shared)) {
        fault_log_sign(fault, held_back > 0, "%llu renewals of its session held back",
                       (unsigned long long)held_back);
        return;
    }
    fault_log_sign(
        fault, held_back > 0, "%llu renewals before it, %llu while it lasted, %llu held back",
        (unsigned long long)act->before.renewals,
        (unsigned long long)(now.renewals - act->before.renewals), (unsigned long long)held_back);
}

/* ---- wall clocks ---- */

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
    struct fault_victim victim;
    if (!find_right_clock(faults, section->plan->target, &victim)) return FAULT_LATER;
    struct fault_act *act = fault_log_begin(faults, section, lb_now(), &victim);
    if (!act) return FAULT_DONE;
    act->before = count(faults, act);
    change(faults, act, true);
    return FAULT_DONE;
}

void fault_client_clock_end(struct faults *faults, struct fault_act *act) {
    struct fault_event *fault = fault_log_of(faults, act);
    double by_s = (double)act->plan->by_ns / 1e9;
    change(faults, act, false);
    uint64_t reads = count(faults, act).wall_reads - act->before.wall_reads;
    fault->end_ns = lb_now();
    fault_log_sign(fault, reads > 0, "its wall clock was read %llu times while it was %.3f s %s",
                   (unsigned long long)reads, by_s < 0 ? -by_s : by_s,
                   by_s < 0 ? "behind" : "ahead");
}
