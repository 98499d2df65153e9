/* clients: injections on clients, and how their victims are chosen; see kinds.h.
 *
 * The state of a client is read from the memory that the client shares while it runs, so the answer may
 * be out of date at once. A client that must be hit while it holds is therefore stopped first and
 * looked at again, and resumed if it has left meanwhile. */
#include "bench/faults/kinds.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "bench/servers/proc.h"

#define STAND_LOOKS 4000         /* for a process to stand still, 50 us apart */
#define WAITED_NS (2 * LB_MS_NS) /* a client that waits for so long has asked its server */
#define TRIES_MAX 32             /* stops in one go */

/* Since when the client holds a grant, and of which key. 0 = it holds none. */
static int64_t holds_since(const struct shared *shared, uint32_t client, uint32_t *ret_key) {
    uint32_t key = atomic_load(&shared->client[client].waiting_key);
    *ret_key = key;
    if (shared->crowds.crowd) {
        const struct presence *presence = &shared->crowds.presence[client];
        int64_t since_ns = atomic_load(&presence->acquired_ns);
        if (since_ns != 0) *ret_key = atomic_load(&presence->key);
        return since_ns;
    }
    const struct cell *cell = &shared->cells[shared->own_cells ? client : key];
    return atomic_load(&cell->owner) == (uint64_t)client + 1 ? atomic_load(&cell->acquired_ns) : 0;
}

/* Since when the client waits, if it has asked its server. 0 = it does not wait. */
static int64_t waits_since(const struct shared *shared, uint32_t client, uint32_t *ret_key) {
    int64_t since_ns = atomic_load(&shared->client[client].waiting_ns);
    *ret_key = atomic_load(&shared->client[client].waiting_key);
    return since_ns != 0 && lb_now() - since_ns > WAITED_NS ? since_ns : 0;
}

/* Since when the client is as the target asks; 0 = it is not. */
static int64_t is_since(const struct shared *shared, enum fault_target target, uint32_t client,
                        uint32_t *ret_key) {
    *ret_key = 0;
    return target == TARGET_ANY      ? 1
           : target == TARGET_HOLDER ? holds_since(shared, client, ret_key)
                                     : waits_since(shared, client, ret_key);
}

bool fault_anybody_holds(const struct faults *faults, int64_t since_ns) {
    uint32_t key;
    for (uint32_t i = 0; i < (uint32_t)faults->shared->clients; i++) {
        if (faults->shared->client[i].dead) continue;
        if (holds_since(faults->shared, i, &key) > since_ns) return true;
    }
    return false;
}

/* Whether another injection keeps the process still or cut off: a process that is hit twice at the
 * same time is no second trial. */
static bool is_hit(const struct faults *faults, int process) {
    for (int i = 0; i < FAULT_ACTS_MAX; i++) {
        const struct fault_act *act = &faults->acts[i];
        bool lasts =
            act->plan && (act->plan->kind == INJECT_PAUSE || act->plan->kind == INJECT_WIRE_CUT);
        if (lasts && act->process == process) return true;
    }
    return false;
}

/* Whether an earlier injection on the process has hit this grant, which began at since_ns. To hit the same grant again
 * tests nothing new. */
static bool was_hit(const struct faults *faults, int process, int64_t since_ns) {
    for (int i = 0; i < faults->log->count; i++) {
        const struct fault_event *event = &faults->log->events[i];
        if (event->process == process && event->begin_ns >= since_ns) return true;
    }
    return false;
}

static bool can_be_hit(const struct faults *faults, int process) {
    return workers_alive(faults->workers, process) && !is_hit(faults, process);
}

/* Counts looks and not time, because a machine that stands still gives the process no chance to
 * stop. */
static void wait_until_stopped(pid_t pid) {
    for (int looks = 0; looks < STAND_LOOKS && !proc_stands(pid); looks++) lb_nap(LB_MS_NS / 20);
}

/* Looks for a client that is as the target asks, from the next client on. */
static bool next_that_is(struct faults *faults, enum fault_target target, bool by_process,
                         uint32_t *skip, struct fault_victim *ret) {
    const struct shared *shared = faults->shared;
    uint32_t clients = (uint32_t)shared->clients;
    for (; *skip < clients; ++*skip) {
        uint32_t client = (faults->next_client + *skip) % clients;
        *ret =
            (struct fault_victim){.client = client, .found = target != TARGET_ANY, .process = -1};
        int64_t since_ns = is_since(shared, target, client, &ret->key);
        if (shared->client[client].dead || since_ns == 0) continue;
        ret->process = workers_process_of(shared, client);
        if (by_process && !can_be_hit(faults, ret->process)) continue;
        bool again = by_process && target == TARGET_HOLDER;
        if (again && was_hit(faults, ret->process, since_ns)) continue;
        ret->first = workers_clients(shared, ret->process, &ret->end);
        ++*skip;
        return true;
    }
    return false;
}

bool fault_is_still(const struct faults *faults, enum fault_target target,
                    const struct fault_victim *victim) {
    uint32_t key;
    return is_since(faults->shared, target, victim->client, &key) != 0 && key == victim->key;
}

bool fault_catch(struct faults *faults, enum fault_target target, bool spare,
                 struct fault_victim *ret) {
    int alive = 0;
    for (int i = 0; i < faults->shared->processes; i++) alive += workers_alive(faults->workers, i);
    if (alive == 0 || (spare && alive < 2)) return false;
    uint32_t skip = 0;
    for (int tries = 0; tries < TRIES_MAX && next_that_is(faults, target, true, &skip, ret);
         tries++) {
        if (workers_pause(faults->workers, ret->process, true) != 0) continue;
        wait_until_stopped(workers_pid(faults->workers, ret->process));
        if (fault_is_still(faults, target, ret)) {
            faults->next_client = ret->end % (uint32_t)faults->shared->clients;
            return true;
        }
        workers_pause(faults->workers, ret->process, false); /* it has left meanwhile */
    }
    return false;
}

bool fault_find(struct faults *faults, enum fault_target target, struct fault_victim *ret) {
    uint32_t skip = 0;
    if (!next_that_is(faults, target, false, &skip, ret)) return false;
    faults->next_client = (ret->client + 1) % (uint32_t)faults->shared->clients;
    return true;
}

void fault_log_victim(struct fault_event *fault, const struct fault_victim *victim) {
    fault->process = victim->process;
    if (victim->found) {
        fault->client = victim->client;
        fault->key = victim->key;
    } else if (victim->end - victim->first == 1) {
        fault->client = victim->client;
    }
}

/* Worker processes that are stopped or killed; see kinds.h.
 *
 * An injection hits all clients that a process carries. A pause also stops the processes that the worker process has
 * started, because a client's library may run in one of them. */

static int64_t last_beat(const struct shared *shared, int process) {
    int64_t last_ns = 0;
    int end = shared_first_thread(shared, process + 1);
    for (int i = shared_first_thread(shared, process); i < end; i++) {
        int64_t beat_ns = atomic_load(&shared->worker[i].beat_ns);
        if (beat_ns > last_ns) last_ns = beat_ns;
    }
    return last_ns;
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

enum fault_tried fault_pause_begin(struct faults *faults, struct fault_section *section) {
    struct fault_victim victim;
    if (!fault_catch(faults, section->plan->target, false, &victim)) {
        return no_victim(faults, section);
    }
    int64_t begin_ns = lb_now(); /* after the victim was caught, so that it holds by then */
    struct fault_act *act = fault_log_begin(faults, section, begin_ns, &victim);
    if (!act) {
        workers_pause(faults->workers, victim.process, false);
        return FAULT_DONE;
    }
    act->beat_ns = last_beat(faults->shared, victim.process);
    pid_t pid = workers_pid(faults->workers, victim.process);
    act->stood = proc_signal_tree(pid, SIGSTOP) == 0 && proc_stands(pid);
    fault_act_oplog(faults, OPLOG_STALL, act);
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
    /* A lock that blocks its thread blocks the heartbeat, too. */
    if (!(faults->shared->lock->lock->caps & LB_CAP_BLOCKS_THREAD)) {
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
    fault_act_oplog(faults, OPLOG_STALL, act);
}

enum fault_tried fault_kill_begin(struct faults *faults, struct fault_section *section) {
    struct fault_victim victim;
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
