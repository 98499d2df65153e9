/* fault_clients: worker processes that are stopped or killed, and renewals that are held back; see
 * fault.h.
 *
 * A process that carries several clients takes all of them along. Renewals are held back where the
 * suite makes them (watchdog.c): a session that a helper of the driver's keeps alive (ZooKeeper's
 * pings, an etcd lease's keep-alive) is out of reach, and the log says so. */
#include <sys/wait.h>

#include "bench/faults/fault_inside.h"
#include "bench/servers/proc.h"

static int64_t last_beat(const struct shared *shared, int process) {
    int first, end = workers_threads(shared, process, &first);
    int64_t last_ns = 0;
    for (int i = first; i < end; i++) {
        int64_t beat_ns = atomic_load(&shared->worker[i].pulse.beat_ns);
        if (beat_ns != LB_NEVER && beat_ns > last_ns) last_ns = beat_ns;
    }
    return last_ns;
}

/* Keepers beat on their threads' loops; a lock that blocks its thread blocks the beat as well. */
static bool has_pulse(const struct shared *shared) {
    return !(shared->lock->lock->caps & LB_CAP_BLOCKS_THREAD);
}

/* Nobody could be caught. Where anybody would do it is not waited for. */
static enum fault_tried nobody(struct faults *faults, const struct fault_section *section) {
    if (section->plan->target != TARGET_ANY) return FAULT_LATER;
    const struct stage *stage = faults->stage;
    const struct stage_fault *last =
        stage->fault_count ? &stage->faults[stage->fault_count - 1] : NULL;
    bool said = last && last->section == (int)(section - faults->sections) && last->process < 0;
    if (!said) fault_log_not(faults, section, "no client is left that could be hit");
    return FAULT_DONE;
}

static enum fault_tried pause_one(struct faults *faults, struct fault_section *section) {
    struct victim victim;
    if (!fault_catch(faults, section->plan->target, false, &victim)) {
        return nobody(faults, section);
    }
    int64_t begin_ns = lb_now(); /* after it was caught: by then it holds what it was caught with */
    struct stage_fault *fault = fault_log(faults, section, begin_ns);
    struct fault_act *act = fault ? fault_lasting(faults, section) : NULL;
    if (fault) fault_log_victim(fault, &victim);
    if (!act) {
        workers_pause(faults->workers, victim.process, false);
        if (fault) fault_sign(fault, false, "too many faults at one time");
        return FAULT_DONE;
    }
    act->process = victim.process;
    act->first_client = victim.first;
    act->client_count = victim.end - victim.first;
    act->beat_ns = last_beat(faults->shared, victim.process);
    act->stood = proc_stands(workers_pid(faults->workers, victim.process));
    fault_history_stall(faults, act, begin_ns, LB_NEVER);
    return FAULT_DONE;
}

static void end_pause(struct faults *faults, struct fault_act *act) {
    struct stage_fault *fault = fault_of(faults, act);
    pid_t pid = workers_pid(faults->workers, act->process);
    int64_t now_ns = lb_now();
    if (pid <= 0) {
        fault->end_ns = now_ns;
        fault_sign(fault, false, "its process ended meanwhile");
        return;
    }
    bool stood = act->stood && proc_stands(pid);
    int64_t beat_ns = last_beat(faults->shared, act->process);
    if (has_pulse(faults->shared)) {
        bool still = beat_ns == act->beat_ns && beat_ns > 0;
        fault_sign(fault, stood && still,
                   still ? "its pulse stood still for %.3f s" : "its pulse went on: %.3f s",
                   (double)(now_ns - beat_ns) / 1e9);
    } else {
        fault_sign(fault, stood, "its threads %s for %.3f s", stood ? "stood still" : "went on",
                   (double)(now_ns - fault->begin_ns) / 1e9);
    }
    workers_pause(faults->workers, act->process, false);
    fault->end_ns = lb_now();
    fault_history_stall(faults, act, fault->begin_ns, fault->end_ns);
}

static enum fault_tried kill_one(struct faults *faults, struct fault_section *section) {
    struct victim victim;
    if (!fault_catch(faults, section->plan->target, true, &victim)) {
        return nobody(faults, section);
    }
    struct stage_fault *fault = fault_log(faults, section, lb_now());
    int status = workers_kill(faults->workers, victim.process);
    fault_history_death(faults, victim.first, victim.end - victim.first);
    if (!fault) return FAULT_DONE;
    fault_log_victim(fault, &victim);
    fault->end_ns = lb_now();
    fault_sign(fault, WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
               "its process ended by signal %d", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    return FAULT_DONE;
}

/* ---- renewals ---- */

static void hold_back(struct faults *faults, const struct fault_act *act, bool on) {
    for (uint32_t i = act->first_client; i < act->first_client + act->client_count; i++) {
        atomic_store(&faults->shared->client[i].starved, on);
    }
}

struct renewals {
    uint64_t made, held_back;
};

static struct renewals count_renewals(const struct faults *faults, const struct fault_act *act) {
    struct renewals sum = {0};
    for (uint32_t i = act->first_client; i < act->first_client + act->client_count; i++) {
        sum.made += atomic_load(&faults->shared->client[i].renewals);
        sum.held_back += atomic_load(&faults->shared->client[i].held_back);
    }
    return sum;
}

static enum fault_tried starve_one(struct faults *faults, struct fault_section *section) {
    const struct shared *shared = faults->shared;
    struct victim victim = {.process = -1, .end = (uint32_t)shared->clients};
    bool all = section->plan->target == TARGET_ALL;
    if (!shared->plan->renew || !shared->lock->lock->renew) {
        fault_log_not(
            faults, section,
            "nothing renews here that could be held back: the lock has no renewals, or a helper of "
            "its own makes them");
        return FAULT_DONE;
    }
    if (!all && !fault_find(faults, section->plan->target, &victim)) return FAULT_LATER;
    struct stage_fault *fault = fault_log(faults, section, lb_now());
    struct fault_act *act = fault ? fault_lasting(faults, section) : NULL;
    if (!act) return FAULT_DONE;
    act->first_client = all ? 0 : victim.client;
    act->client_count = all ? (uint32_t)shared->clients : 1;
    struct renewals before = count_renewals(faults, act);
    act->renewals = before.made;
    act->held_back = before.held_back;
    hold_back(faults, act, true);
    if (section->plan->target != TARGET_HOLDER || fault_still(faults, TARGET_HOLDER, &victim)) {
        if (!all) fault_log_victim(fault, &victim);
        if (!all) fault->client = victim.client;
        return FAULT_DONE;
    }
    hold_back(faults, act, false); /* it has left meanwhile */
    act->plan = NULL;
    faults->stage->fault_count--;
    return FAULT_LATER;
}

static void end_starve(struct faults *faults, struct fault_act *act) {
    struct stage_fault *fault = fault_of(faults, act);
    hold_back(faults, act, false);
    struct renewals now = count_renewals(faults, act);
    uint64_t held_back = now.held_back - act->held_back;
    fault->end_ns = lb_now();
    fault_sign(fault, held_back > 0,
               "%llu renewals before it, %llu while it lasted, %llu held back",
               (unsigned long long)act->renewals, (unsigned long long)(now.made - act->renewals),
               (unsigned long long)held_back);
}

enum fault_tried fault_clients_hit(struct faults *faults, struct fault_section *section) {
    if (section->plan->kind == INJECT_STARVE) return starve_one(faults, section);
    if (faults->shared->processes < 2) {
        fault_log_not(faults, section, "the clients run in one process, which is spared");
        return FAULT_DONE;
    }
    return section->plan->kind == INJECT_KILL ? kill_one(faults, section)
                                              : pause_one(faults, section);
}

void fault_clients_undo(struct faults *faults, struct fault_act *act) {
    if (act->plan->kind == INJECT_STARVE) {
        end_starve(faults, act);
    } else {
        end_pause(faults, act);
    }
}
