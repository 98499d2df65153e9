/* worker: see worker.h. */
#define _GNU_SOURCE
#include "bench/load/worker.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/base/process.h"
#include "bench/base/processors.h"
#include "bench/engine/loop.h"
#include "bench/load/account.h"
#include "bench/load/observe.h"
#include "bench/load/session.h"

#define HEARTBEAT_MOST_MS 20
#define THREADS_MANY 16

struct thread {
    struct worker worker;
    struct schedule schedule;
    struct client *clients;
    struct session *sessions;
    uint32_t first, count, session_count;
    pthread_t handle;
    bool running;
};

struct workers {
    struct shared *shared;
    struct thread *threads;
    pid_t *processes;     /* their process ids; 0 = ended */
    struct lb_err failed; /* how the first process failed that ended too early */
};

/* Processor time of the calling thread, user and system, in ns. */
static int64_t thread_cpu_ns(void) {
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void mark_span(struct cpu_span *span, int64_t now_ns, int64_t begin_ns, int64_t end_ns) {
    if (!span->begin_ns && now_ns >= begin_ns) {
        span->begin_ns = now_ns;
        span->begin_cpu_ns = thread_cpu_ns();
    }
    if (span->begin_ns && !span->end_ns && now_ns >= end_ns) {
        span->end_ns = now_ns;
        span->end_cpu_ns = thread_cpu_ns();
    }
}

void worker_mark(struct worker *worker, int64_t now_ns) {
    struct shared *shared = worker->shared;
    mark_span(&worker->stats->cpu, now_ns, stage_begin_ns(shared), stage_end_ns(shared));
}

/* The same at the two ends of the time for which all clients idle before the load. */
static void mark_idle(struct worker *worker, int64_t now_ns) {
    struct shared *shared = worker->shared;
    mark_span(&worker->stats->idle_cpu, now_ns,
              atomic_load_explicit(&shared->idle_begin_ns, memory_order_relaxed),
              atomic_load_explicit(&shared->idle_end_ns, memory_order_relaxed));
}

/* Wakes the clients that wait for their next attempt when the window ends early. */
static void wake_resting(const struct thread *thread, int64_t *end_ns) {
    int64_t now_end_ns = stage_end_ns(thread->worker.shared);
    if (now_end_ns < *end_ns) {
        for (uint32_t i = 0; i < thread->count; i++) {
            if (thread->clients[i].resting) lb_wake(thread->clients[i].fiber);
        }
    }
    *end_ns = now_end_ns;
}

/* The heartbeat fiber: wakes the thread's clients when the phase changes or the window ends early, hands over the
 * recorder's figures when asked, marks the ends of the window, and measures how late its own timer is. Many threads, and
 * threads that share processors, wake as often as one would, all together. */
static void heartbeat_run(void *arg) {
    struct thread *thread = arg;
    struct shared *shared = thread->worker.shared;
    int64_t end_ns = LB_NEVER; /* the window's, as it was at the last beat */
    int phase = PHASE_CONNECT;
    loop_shield(true);
    struct stalls *stalls = &thread->worker.stats->stalls;
    int end, first = shared_own_threads(shared, &end), threads = end - first;
    bool many = threads > THREADS_MANY;
    if (!many) { /* files are read for it, which a thousand threads need not do */
        struct processors here = processors_look();
        many = threads > processors_usable(&here);
    }
    int beat_ms = !many ? 1 : threads < HEARTBEAT_MOST_MS ? threads : HEARTBEAT_MOST_MS;
    stalls_begin(stalls, beat_ms * LB_MS_NS, lb_now()); /* the beats also measure the hiccups */
    for (;;) {
        lb_sleep_until(stalls->due_ns);
        int64_t now_ns = lb_now();
        stalls_beat(stalls, now_ns, stage_begin_ns(shared), stage_end_ns(shared),
                    thread->worker.stats->recorder.now[METRIC_HICCUP]);
        worker_mark(&thread->worker, now_ns);
        mark_idle(&thread->worker, now_ns);
        if (shared->oplog) trace_beat(shared, thread->worker.thread, now_ns);
        atomic_store(&thread->worker.stats->beat_ns, now_ns);
        recorder_turn(&thread->worker.stats->recorder);
        wake_resting(thread, &end_ns);
        int current = atomic_load(&shared->phase);
        if (current != phase) {
            phase = current;
            if (thread->worker.schedule && phase == PHASE_GO) {
                schedule_init(&thread->schedule, &shared->arrival, thread->first, thread->count,
                              (uint32_t)shared->clients, shared->go_ns, shared->seed);
            }
            for (uint32_t i = 0; i < thread->count; i++) {
                if (thread->clients[i].fiber) lb_wake(thread->clients[i].fiber);
            }
        }
        uint32_t left = 0;
        for (uint32_t i = 0; i < thread->count && phase == PHASE_CLOSE; i++)
            left += thread->clients[i].fiber != NULL;
        if (phase == PHASE_CLOSE && left == 0) return;
    }
}

static int make_sessions(struct thread *thread) {
    const struct shared *shared = thread->worker.shared;
    /* a thread's last session may have fewer */
    uint32_t each = (uint32_t)plan_session_clients(shared->plan, shared->lock->lock);
    thread->session_count = (thread->count + each - 1) / each;
    thread->sessions = calloc(thread->session_count, sizeof *thread->sessions);
    if (!thread->sessions) return -1;
    for (uint32_t i = 0; i < thread->session_count; i++) {
        uint32_t from = i * each, count = from + each > thread->count ? thread->count - from : each;
        if (session_init(&thread->sessions[i], &thread->worker, &thread->clients[from],
                         thread->first + from, count))
            return -1;
        for (uint32_t c = from; c < from + count; c++) {
            if (client_init(&thread->clients[c], &thread->worker, &thread->sessions[i],
                            thread->first + c))
                return -1;
        }
    }
    return 0;
}

static int spawn_clients(struct loop *loop, struct thread *thread, struct lb_err *err) {
    thread->clients = calloc(thread->count, sizeof *thread->clients);
    if (!thread->clients || make_sessions(thread) != 0) {
        return err_set(err, LB_EXIT_MACHINE, "out of memory for %u clients", thread->count);
    }
    for (uint32_t i = 0; i < thread->count; i++) {
        if (!loop_start_fiber(loop, "client", client_run, &thread->clients[i])) {
            return err_set(err, LB_EXIT_MACHINE,
                           "no memory for client %u: %s (vm.max_map_count may be too low)",
                           thread->first + i, strerror(errno));
        }
    }
    if (!loop_start_fiber(loop, "heartbeat", heartbeat_run, thread)) {
        return err_set(err, LB_EXIT_MACHINE, "no memory for a fiber: %s", strerror(errno));
    }
    return 0;
}

static void free_clients(struct thread *thread) {
    for (uint32_t i = 0; thread->clients && i < thread->count; i++)
        client_done(&thread->clients[i]);
    for (uint32_t i = 0; thread->sessions && i < thread->session_count; i++)
        session_done(&thread->sessions[i]);
    free(thread->clients);
    free(thread->sessions);
}

/* A thread that could not start counts its clients as failed, so that the supervisor does not wait
 * for them. */
static void count_out(struct shared *shared, uint32_t clients) {
    atomic_fetch_add(&shared->failed, (int)clients);
    atomic_fetch_add(&shared->connected, (int)clients);
    atomic_fetch_add(&shared->drained, (int)clients);
    atomic_fetch_add(&shared->closed, (int)clients);
}

static void *thread_main(void *arg) {
    struct thread *thread = arg;
    struct shared *shared = thread->worker.shared;
    struct worker_stats *stats = thread->worker.stats;
    struct loop_config config = {.cutoff_ns = &shared->cutoff_ns,
                                 .blocking = shared->lock->lock->caps & LB_CAP_BLOCKS_THREAD};
    struct loop *loop = loop_new(&config, &stats->err);
    if (loop && spawn_clients(loop, thread, &stats->err) == 0) {
        loop_run(loop);
        stats->blocked_max_ns = loop_blocked_ns(loop);
        loop_free(loop);
    } else {
        count_out(shared, thread->count); /* the loop and its fibers are left to the process' end */
    }
    free_clients(thread);
    return NULL;
}

/* Threads first..end-1 in this process. */
static int start_threads(struct workers *workers, int first, int end, struct lb_err *err) {
    struct shared *shared = workers->shared;
    /* The main thread handles all signals. */
    sigset_t all, old;
    sigfillset(&all);
    sigdelset(&all, SIGRTMIN); /* ends a blocking flock */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int failed = 0;
    for (int i = first; i < end && !failed; i++) {
        struct thread *thread = &workers->threads[i];
        thread->worker =
            (struct worker){.shared = shared, .stats = &shared->worker[i], .thread = i};
        if (shared->plan->arrival.kind != ARRIVAL_CLOSED)
            thread->worker.schedule = &thread->schedule;
        shared_slice(shared, i, &thread->first, &thread->count);
        failed = pthread_create(&thread->handle, NULL, thread_main, thread);
        thread->running = !failed;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (!failed) return 0;
    return err_set(err, LB_EXIT_MACHINE, "could not start %d threads: %s%s%s", end - first,
                   strerror(failed), too_many_remedy(failed),
                   failed == EAGAIN ? ", or lower load.threads" : "");
}

static void join_threads(struct workers *workers) {
    for (int i = 0; i < workers->shared->threads; i++) {
        if (workers->threads[i].running) pthread_join(workers->threads[i].handle, NULL);
        workers->threads[i].running = false;
    }
}

static _Noreturn void process_main(struct workers *workers, int index, pid_t parent) {
    struct shared *shared = workers->shared;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1); /* the parent died before the call above */
    /* Ctrl-C is for the supervisor: it tells us through the shared memory. */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    struct lb_err err = {0};
    int first = shared_first_thread(shared, index), end = shared_first_thread(shared, index + 1);
    if (start_threads(workers, first, end, &err) != 0) {
        shared->worker[first].err = err;
        _exit(1);
    }
    join_threads(workers);
    _exit(0);
}

struct workers *workers_start(struct shared *shared, struct lb_err *err) {
    struct workers *workers = calloc(1, sizeof *workers);
    if (workers) {
        workers->shared = shared;
        workers->threads = calloc((size_t)shared->threads, sizeof *workers->threads);
        workers->processes = calloc((size_t)shared->processes, sizeof *workers->processes);
    }
    if (!workers || !workers->threads || !workers->processes) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        goto failed;
    }
    if (shared->processes == 1) {
        if (start_threads(workers, 0, shared->threads, err) != 0) goto failed;
        return workers;
    }
    fflush(NULL);
    pid_t parent = getpid();
    int end, first = shared_own_processes(shared, &end);
    for (int i = first; i < end; i++) {
        pid_t pid = fork();
        if (pid == 0) process_main(workers, i, parent);
        if (pid < 0) {
            err_set(err, LB_EXIT_MACHINE, "could not start %d processes: %s%s%s", end - first,
                    strerror(errno), too_many_remedy(errno),
                    errno == EAGAIN ? ", or lower load.processes" : "");
            goto failed;
        }
        workers->processes[i] = pid;
    }
    return workers;
failed:
    if (workers) {
        /* The threads that did start see that the stage is over. */
        atomic_store(&shared->cutoff_ns, 0);
        atomic_store(&shared->window_end_ns, 0);
        atomic_store(&shared->phase, PHASE_CLOSE);
        struct lb_err ignored = {0}; /* err says why they could not start */
        workers_join(workers, lb_now() + LB_S_NS, &ignored);
    }
    return NULL;
}

int workers_process_of(const struct shared *shared, uint32_t client) {
    for (int process = 0; process < shared->processes; process++) {
        uint32_t end, first = workers_clients(shared, process, &end);
        if (client >= first && client < end) return process;
    }
    return 0;
}

pid_t workers_pid(const struct workers *workers, int process) {
    return workers->shared->processes == 1 ? getpid() : workers->processes[process];
}

bool workers_alive(const struct workers *workers, int process) {
    return workers->processes[process] > 0;
}

int workers_pause(struct workers *workers, int process, bool stop) {
    struct shared *shared = workers->shared;
    pid_t pid = workers->processes[process];
    int64_t now_ns = lb_now();
    for (int i = shared_first_thread(shared, process); i < shared_first_thread(shared, process + 1);
         i++) {
        struct stalls *stalls = &shared->worker[i].stalls;
        stalls_plan(stalls, stop ? now_ns : atomic_load(&stalls->planned_from_ns),
                    stop ? LB_NEVER : now_ns);
    }
    return pid > 0 ? kill(pid, stop ? SIGSTOP : SIGCONT) : -1;
}

int workers_kill(struct workers *workers, int process) {
    struct shared *shared = workers->shared;
    uint32_t end, first = workers_clients(shared, process, &end);
    /* Before the process dies, so that no overlap with a client of the dead process accuses the lock. */
    for (uint32_t i = first; i < end; i++) atomic_store(&shared->client[i].doomed, true);
    int status = 0;
    kill(workers->processes[process], SIGKILL);
    while (waitpid(workers->processes[process], &status, 0) < 0 && errno == EINTR) {
    }
    workers->processes[process] = 0;
    for (int i = shared_first_thread(shared, process); i < shared_first_thread(shared, process + 1);
         i++) {
        shared->worker[i].dead = true;
    }
    for (uint32_t i = first; i < end; i++) {
        struct client_stats *client = &shared->client[i];
        client->dead = true;
        if (shared->crowds.crowd) crowd_bury(&shared->crowds, i);
        if (!client->drained) atomic_fetch_add(&shared->drained, 1);
        if (!client->closed) atomic_fetch_add(&shared->closed, 1);
    }
    atomic_fetch_add(&shared->lost, (int)(end - first));
    return status;
}

static void note_death(struct workers *workers, int index, int status) {
    struct shared *shared = workers->shared;
    const struct lb_err *own = &shared->worker[shared_first_thread(shared, index)].err;
    workers->processes[index] = 0;
    if (status == 0) return; /* all its clients have closed: a normal end */
    uint32_t end, first = workers_clients(shared, index, &end);
    for (uint32_t i = first; i < end; i++) shared->client[i].dead |= !shared->client[i].closed;
    if (err_pass(&workers->failed, own) != 0) return;
    if (WIFSIGNALED(status)) {
        err_set(&workers->failed, LB_EXIT_MACHINE, "worker process %d was killed by signal %d",
                index, WTERMSIG(status));
    } else {
        err_set(&workers->failed, LB_EXIT_MACHINE, "worker process %d ended with code %d", index,
                WEXITSTATUS(status));
    }
}

int workers_check(struct workers *workers, struct lb_err *err) {
    for (int i = 0; i < workers->shared->processes; i++) {
        int status;
        pid_t pid = workers->processes[i];
        if (pid > 0 && waitpid(pid, &status, WNOHANG) == pid) note_death(workers, i, status);
    }
    return err_pass(err, &workers->failed);
}

/* Waits for a process to end, and kills it at deadline_ns. Its death by that is no failure. */
static void join_process(struct workers *workers, int index, int64_t deadline_ns) {
    struct lb_err before = workers->failed;
    pid_t pid = workers->processes[index];
    bool killed = false;
    int status = 0;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (lb_now() >= deadline_ns) {
            kill(pid, SIGKILL);
            killed = true;
        }
        lb_nap(LB_MS_NS);
    }
    note_death(workers, index, status);
    if (killed) workers->failed = before;
}

int workers_join(struct workers *workers, int64_t deadline_ns, struct lb_err *err) {
    if (!workers) return 0;
    if (workers->threads) join_threads(workers);
    for (int i = 0; workers->processes && i < workers->shared->processes; i++) {
        if (workers->processes[i] > 0) join_process(workers, i, deadline_ns);
    }
    int failed = err_pass(err, &workers->failed);
    free(workers->threads);
    free(workers->processes);
    free(workers);
    return failed;
}
