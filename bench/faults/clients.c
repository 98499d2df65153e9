/* clients: worker processes that are stopped or killed; see kinds.h.
 *
 * An injection hits all clients that a process carries. A pause also stops the processes that the worker process has
 * started, because a client's library may run in one of them. */
#include <signal.h>
#include <sys/wait.h>

#include "bench/faults/excuse.h"
#include "bench/faults/kinds.h"
#include "bench/faults/log.h"
#include "bench/faults/victims.h"
#include "bench/servers/proc_signal.h"

static int64_t last_beat(const struct shared *shared, int process) {
    int first, end = workers_threads(shared, process, &first);
    int64_t last_ns = 0;
    for (int i = first; i < end; i++) {
        int64_t beat_ns = atomic_load(&shared->worker[i].heartbeat.beat_ns);
        if (beat_ns != LB_NEVER && beat_ns > last_ns) last_ns = beat_ns;
    }
    return last_ns;
}

/* Heartbeats come from their threads' loops; a lock that blocks its thread blocks the beat as well. */
static bool has_heartbeat(const struct shared *shared) {
    return !(shared->lock->lock->caps & LB_CAP_BLOCKS_THREAD);
}

/* No client could be caught. For the target `any` there is no use in waiting. */
static enum fault_tried no_victim(struct faults *faults, const struct fault_section *section) {
    if (section->plan->target != TARGET_ANY) return FAULT_LATER;
    const struct fault_event *last =
        faults->log->count ? &faults->log->events[faults->log->count - 1] : NULL;
    bool said = last && last->section == (int)(section - faults->sections) && last->process < 0;
    if (!said) fault_log_not(faults, section, "no client is left that could be hit");
    return FAULT_DONE;
}

/* Processes are stopped or killed only where there are others. */
static bool has_processes(struct faults *faults, const struct fault_section *section) {
    if (faults->shared->processes > 1) return true;
    fault_log_not(faults, section, "the clients run in one process, which is spared");
    return false;
}

enum fault_tried fault_pause_begin(struct faults *faults, struct fault_section *section) {
    struct fault_victim victim;
    if (!has_processes(faults, section)) return FAULT_DONE;
    if (!fault_catch(faults, section->plan->target, false, &victim)) {
        return no_victim(faults, section);
    }
    int64_t begin_ns = lb_now(); /* after the victim was caught, so that it holds by then */
    struct fault_event *fault = fault_log_add(faults, section, begin_ns);
    struct fault_act *act = fault ? fault_log_lasting(faults, section) : NULL;
    if (fault) fault_log_victim(fault, &victim);
    if (!act) {
        workers_pause(faults->workers, victim.process, false);
        if (fault) fault_log_sign(fault, false, "too many faults at one time");
        return FAULT_DONE;
    }
    act->process = victim.process;
    act->first_client = victim.first;
    act->client_count = victim.end - victim.first;
    act->beat_ns = last_beat(faults->shared, victim.process);
    pid_t pid = workers_pid(faults->workers, victim.process);
    act->stood = proc_signal_tree(pid, SIGSTOP) == 0 && proc_stands(pid);
    fault_oplog(faults, OPLOG_STALL, act->first_client, act->client_count, begin_ns, LB_NEVER);
    return FAULT_DONE;
}

void fault_pause_end(struct faults *faults, struct fault_act *act) {
    struct fault_event *fault = fault_log_of(faults, act);
    pid_t pid = workers_pid(faults->workers, act->process);
    int64_t now_ns = lb_now();
    if (pid <= 0) {
        fault->end_ns = now_ns;
        fault_log_sign(fault, false, "its process ended meanwhile");
        return;
    }
    bool stood = act->stood && proc_stands(pid);
    int64_t beat_ns = last_beat(faults->shared, act->process);
    if (has_heartbeat(faults->shared)) {
        bool still = beat_ns == act->beat_ns && beat_ns > 0;
        fault_log_sign(fault, stood && still,
                       still ? "its heartbeat stood still for %.3f s"
                             : "its heartbeat went on: %.3f s",
                       (double)(now_ns - beat_ns) / 1e9);
    } else {
        fault_log_sign(fault, stood, "its threads %s for %.3f s", stood ? "stood still" : "went on",
                       (double)(now_ns - fault->begin_ns) / 1e9);
    }
    proc_signal_tree(pid, SIGCONT);
    workers_pause(faults->workers, act->process, false);
    fault->end_ns = lb_now();
    fault_oplog(faults, OPLOG_STALL, act->first_client, act->client_count, fault->begin_ns,
                fault->end_ns);
}

enum fault_tried fault_kill_begin(struct faults *faults, struct fault_section *section) {
    struct fault_victim victim;
    if (!has_processes(faults, section)) return FAULT_DONE;
    if (!fault_catch(faults, section->plan->target, true, &victim)) {
        return no_victim(faults, section);
    }
    struct fault_event *fault = fault_log_add(faults, section, lb_now());
    int status = workers_kill(faults->workers, victim.process);
    int64_t dead_ns = lb_now();
    fault_oplog(faults, OPLOG_DEATH, victim.first, victim.end - victim.first, dead_ns, dead_ns);
    if (!fault) return FAULT_DONE;
    fault_log_victim(fault, &victim);
    fault->end_ns = lb_now();
    fault_log_sign(fault, WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
                   "its process ended by signal %d", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    return FAULT_DONE;
}
