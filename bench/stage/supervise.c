/* supervise: see supervise.h. */
#define _GNU_SOURCE
#include "bench/stage/supervise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/evidence/stage_history.h"
#include "bench/faults/faults.h"
#include "bench/load/worker.h"
#include "bench/stage/harvest.h"
#include "bench/stage/machine.h"
#include "bench/stage/peers.h"
#include "bench/stage/stuck.h"
#include "drivers/clean.h"
#include "results/format/write.h"

#define CONNECT_NS (30 * LB_S_NS)       /* for all clients to open their sessions, and ... */
#define CONNECT_EACH_NS (10 * LB_MS_NS) /* ... so much more for each of them */
#define ARM_NS (2 * LB_MS_NS)           /* and a round trip, for each key that is made ready */
#define PING_NS (30 * LB_S_NS)        /* for the first ping, and for all processes to know of it */
#define LOOK_NS (2 * LB_MS_NS)        /* between two looks at what clients have reached */
#define CLOSE_NS (3 * LB_S_NS)        /* for sessions to end politely */
#define STUCK_NS (10 * LB_S_NS)       /* past the cut-off: a driver that does not come back */
#define IDLE_PART 20                  /* of the window, for which all idle before the load ... */
#define IDLE_LEAST_NS (30 * LB_MS_NS) /* ... but for so long at least ... */
#define IDLE_MOST_NS LB_S_NS          /* ... and so long at most */
#define HEAD_START_NS (20 * LB_MS_NS) /* between PHASE_GO and the load's begin */

struct supervisor {
    const struct stage_ask *ask;
    struct stage *stage;
    struct shared *shared;
    struct workers *workers;
    struct stuck stuck;
    struct faults faults;
    struct wall wall;
    struct server_use use;
    struct harvest harvest;
};

/* Keeps the first reason why the stage is not complete. */
static void spoil_stage(struct supervisor *sup, enum stage_status status, int code,
                        const char *text) {
    if (sup->stage->status == STAGE_COMPLETE) {
        sup->stage->status = status;
        sup->stage->err.code = 0;
        err_set(&sup->stage->err, code, "%s", text);
    }
}

static void sleep_to(int64_t when_ns) {
    int64_t left_ns = when_ns - lb_now();
    if (left_ns <= 0) return;
    nanosleep(&(struct timespec){.tv_sec = left_ns / LB_S_NS, .tv_nsec = left_ns % LB_S_NS}, NULL);
}

/* Ends the window now; attempts in flight still drain. */
static void end_early(struct supervisor *sup) {
    int64_t now_ns = lb_now();
    struct shared *shared = sup->shared;
    if (sup->ask->peers) sup->ask->peers->end(sup->ask->peers, &sup->stage->err);
    if (atomic_load(&shared->window_end_ns) > now_ns) atomic_store(&shared->window_end_ns, now_ns);
    int64_t cutoff_ns = now_ns + sup->ask->of.plan->drain_ns;
    if (atomic_load(&shared->cutoff_ns) > cutoff_ns) atomic_store(&shared->cutoff_ns, cutoff_ns);
}

/* Looks for what ends a stage early: Ctrl-C, the end of its server or of a worker, trouble of other processes. */
static void watch_for_trouble(struct supervisor *sup) {
    struct lb_err err = {0};
    if (sup->ask->peers && sup->ask->peers->look(sup->ask->peers, &err) != 0) {
        spoil_stage(sup, STAGE_PARTIAL, err.code, err.text);
        end_early(sup);
    }
    /* The signal handler may have run on another thread. */
    bool interrupted = __atomic_load_n(sup->ask->interrupts, __ATOMIC_RELAXED) > 0;
    if (interrupted && sup->stage->status == STAGE_COMPLETE) {
        spoil_stage(sup, STAGE_PARTIAL, LB_EXIT_INTERRUPTED, "interrupted");
        end_early(sup);
    }
    if (sup->stage->status != STAGE_COMPLETE) return;
    bool server_ended = sup->ask->place->topo && topo_check(sup->ask->place->topo, &err) != 0;
    if (server_ended || (sup->workers && workers_check(sup->workers, &err) != 0)) {
        spoil_stage(sup, STAGE_PARTIAL, LB_EXIT_MACHINE, err.text);
        end_early(sup);
        /* No server will answer, so there is no need to wait for the drain limit. */
        if (server_ended) atomic_store(&sup->shared->cutoff_ns, lb_now() + LB_S_NS);
    }
}

/* Carries out the injections that are due; after one, the watch for stuck keys starts again. Returns
 * when the next one is due. */
static int64_t go_on_with_faults(struct supervisor *sup, int64_t now_ns) {
    int64_t next_ns;
    bool did = faults_turn(&sup->faults, now_ns, &next_ns);
    if (did || faults_acting(&sup->faults)) sup->stuck.disturbed_ns = lb_now();
    return next_ns;
}

/* One turn of the supervisor during the load: does what is due, then sleeps until `until_ns`, at most
 * 50 ms. */
static void supervise_turn(struct supervisor *sup, int64_t until_ns) {
    int64_t now_ns = lb_now(), next_ns = now_ns + 50 * LB_MS_NS;
    int64_t fault_ns = go_on_with_faults(sup, now_ns);
    stuck_look(&sup->stuck, now_ns);
    wall_look(&sup->wall);
    if (fault_ns < next_ns) next_ns = fault_ns;
    sleep_to(next_ns < until_ns ? next_ns : until_ns);
    watch_for_trouble(sup);
}

/* Waits until a counter of clients has reached the goal. False when time ran out, or a worker
 * process ended so that it never will. The time for which the machine stood still does not count,
 * because the clients stood still, too. */
static bool wait_count(struct supervisor *sup, _Atomic int *counter, int goal,
                       int64_t deadline_ns) {
    while (atomic_load(counter) < goal) {
        int64_t now_ns = lb_now();
        if (now_ns >= deadline_ns) return false;
        sleep_to(now_ns + LOOK_NS);
        int64_t late_ns = lb_now() - now_ns - LOOK_NS;
        if (late_ns > STUCK_STALL_NS) deadline_ns = lb_after(deadline_ns, late_ns);
        watch_for_trouble(sup);
        struct lb_err err = {0};
        if (sup->workers && workers_check(sup->workers, &err) != 0) return false;
    }
    return true;
}

/* Waits until all clients of this process are connected. -1: the stage has failed and says why. */
static int connect_clients(struct supervisor *sup) {
    struct shared *shared = sup->shared;
    int end, first = shared_own_clients(shared, &end), clients = end - first;
    int64_t deadline_ns = shared->connect_deadline_ns + shared->arm_ns + 2 * LB_S_NS;
    bool all = false;
    while (!all && sup->stage->status == STAGE_COMPLETE && lb_now() < deadline_ns)
        all = wait_count(sup, &shared->connected, clients, lb_now() + 100 * LB_MS_NS);
    if (sup->stage->status != STAGE_COMPLETE) { /* Ctrl-C, or its server or a worker ended */
        sup->stage->status = STAGE_FAILED;
        return -1;
    }
    int failed = atomic_load(&shared->failed);
    if (!all || failed > 0) {
        char text[600];
        const struct lb_err *err = NULL;
        for (int i = 0; i < shared->threads && !err; i++) {
            if (shared->worker[i].err.code) err = &shared->worker[i].err;
        }
        int missing = clients - atomic_load(&shared->connected) + failed;
        snprintf(text, sizeof text, "%d of %d clients could not connect%s%s", missing, clients,
                 err ? ": " : " in time", err ? err->text : "");
        spoil_stage(sup, STAGE_FAILED, err ? err->code : LB_EXIT_MACHINE, text);
        return -1;
    }
    return 0;
}

/* All processes wait for each other; where one can't go on, the stage has failed. */
static int meet_peers(struct supervisor *sup, enum moment moment, int64_t deadline_ns) {
    struct lb_err err = {0};
    const struct lb_err *trouble = sup->stage->status == STAGE_FAILED ? &sup->stage->err : NULL;
    if (!sup->ask->peers ||
        sup->ask->peers->meet(sup->ask->peers, moment, trouble, deadline_ns, &err) == 0)
        return 0;
    spoil_stage(sup, moment == MOMENT_DRAINED ? STAGE_PARTIAL : STAGE_FAILED, err.code, err.text);
    return -1;
}

/* Whether client 0, who prepares the server and pings, is in this process. */
static bool has_first(const struct supervisor *sup) {
    int end, first = shared_own_clients(sup->shared, &end);
    return first == 0 && end > 0;
}

/* Waits until all clients are connected, in every process, and the first one has pinged. -1: the stage has failed and
 * says why. */
static int get_ready(struct supervisor *sup) {
    struct shared *shared = sup->shared;
    int64_t deadline_ns = shared->connect_deadline_ns + shared->arm_ns + 2 * LB_S_NS;
    int failed = connect_clients(sup);
    if (meet_peers(sup, MOMENT_CONNECTED, deadline_ns) != 0 || failed) return -1;
    atomic_store(&shared->phase, PHASE_PING);
    if (has_first(sup)) wait_count(sup, &shared->pinged, 1, lb_now() + PING_NS);
    return meet_peers(sup, MOMENT_PINGED, lb_now() + PING_NS);
}

/* Lets everything that is connected idle for a twentieth of the window (for the least time if nobody knows
 * how long the window will be, and for a promise that may end it), and notes the processor time that this takes:
 * clients' heartbeats and keep-alives, servers' own life. No grant costs it, although it falls into the window, too. */
static void measure_idle(struct supervisor *sup) {
    struct shared *shared = sup->shared;
    const struct topo *topo = sup->ask->place->topo;
    int64_t for_ns = sup->ask->of.window_ns / IDLE_PART;
    if (sup->ask->enough) for_ns = 0;
    for_ns = for_ns < IDLE_LEAST_NS ? IDLE_LEAST_NS : for_ns > IDLE_MOST_NS ? IDLE_MOST_NS : for_ns;
    int64_t begin_ns = lb_now(), end_ns = begin_ns + for_ns;
    int64_t cpu_begin_ns = topo ? topo_cpu_ns(topo) : -1;
    atomic_store(&shared->idle_end_ns, end_ns);
    atomic_store(&shared->idle_begin_ns, begin_ns);
    while (lb_now() < end_ns && sup->stage->status == STAGE_COMPLETE) {
        int64_t next_ns = lb_now() + 50 * LB_MS_NS;
        sleep_to(next_ns < end_ns ? next_ns : end_ns);
        watch_for_trouble(sup);
    }
    int64_t cpu_end_ns = topo ? topo_cpu_ns(topo) : -1, took_ns = lb_now() - begin_ns;
    sup->stage->result.idle_s = (double)took_ns / 1e9;
    if (cpu_begin_ns >= 0 && cpu_end_ns >= cpu_begin_ns)
        sup->stage->result.server_idle_ns_per_s =
            (double)(cpu_end_ns - cpu_begin_ns) * 1e9 / (double)took_ns;
}

/* The first error of an operation of any worker; NULL if none failed. */
static const struct lb_err *first_err(const struct shared *shared) {
    for (int i = 0; i < shared->threads; i++) {
        if (shared->worker[i].first_err.code) return &shared->worker[i].first_err;
    }
    return NULL;
}

/* Sets the window's times and lets the load begin. Returns when the window begins. */
static int64_t begin_load(struct supervisor *sup) {
    struct shared *shared = sup->shared;
    const struct plan *plan = sup->ask->of.plan;
    shared->go_ns = sup->ask->peers ? sup->ask->peers->go_ns : lb_now() + HEAD_START_NS;
    int64_t begin_ns = shared->go_ns + plan->warmup_ns, end_ns = begin_ns + sup->ask->of.window_ns;
    atomic_store(&shared->window_begin_ns, begin_ns);
    atomic_store(&shared->window_end_ns, end_ns);
    atomic_store(&shared->cutoff_ns, lb_after(end_ns, plan->drain_ns));
    watch_for_trouble(sup);
    /* the stage was spoiled before the window had an end */
    if (sup->stage->status != STAGE_COMPLETE) end_early(sup);
    atomic_store(&shared->phase, PHASE_GO);
    faults_begin(&sup->faults, sup->ask->place, &sup->stage->faults, shared, sup->workers,
                 begin_ns);
    while (lb_now() < begin_ns && lb_now() < atomic_load(&shared->window_end_ns))
        supervise_turn(sup, begin_ns);
    return begin_ns;
}

/* From the window's begin to its end, which may come nearer meanwhile. */
static void supervise_window(struct supervisor *sup, int64_t begin_ns) {
    struct topo *topo = sup->ask->place->topo;
    int64_t cpu_begin_ns = topo ? topo_cpu_ns(topo) : -1;
    int64_t interval_ns = sup->ask->promise.limit_ns ? LB_S_NS / 2 : LB_S_NS;
    sup->stage->harvested_ns = begin_ns;
    for (;;) {
        int64_t now_ns = lb_now(), end_ns = atomic_load(&sup->shared->window_end_ns);
        if (now_ns >= end_ns) break;
        int64_t tick_ns = sup->stage->harvested_ns + interval_ns;
        /* If less than half an interval of the window is left, it is added to the interval before
         * it. */
        if (now_ns >= tick_ns && end_ns - tick_ns > interval_ns / 2 && sup->workers)
            harvest_interval(&sup->harvest, tick_ns);
        sup->stage->enough = sup->ask->enough && sup->ask->enough(sup->ask->enough_arg, sup->stage);
        if (sup->stage->enough) end_early(sup);
        supervise_turn(sup, end_ns);
    }
    faults_end(&sup->faults);
    int64_t cpu_end_ns = topo ? topo_cpu_ns(topo) : -1;
    if (cpu_begin_ns >= 0 && cpu_end_ns >= cpu_begin_ns)
        sup->stage->server_cpu_ns = (double)(cpu_end_ns - cpu_begin_ns);
    if (atomic_load(&sup->shared->window_end_ns) > begin_ns && sup->workers)
        harvest_window_end(&sup->harvest);
}

/* Until all clients have drained, or are given up. */
static void supervise_drain(struct supervisor *sup) {
    struct shared *shared = sup->shared;
    int end, first = shared_own_clients(shared, &end);
    for (;;) {
        bool all = wait_count(sup, &shared->drained, end - first, lb_now() + 100 * LB_MS_NS);
        stuck_look(&sup->stuck, lb_now());
        if (all) return;
        go_on_with_faults(sup, lb_now());
        wall_look(&sup->wall);
        int64_t cutoff_ns = atomic_load(&shared->cutoff_ns), stood_ns = sup->stuck.stalled_ns;
        int64_t limit_ns = lb_after(stood_ns > cutoff_ns ? stood_ns : cutoff_ns, STUCK_NS);
        struct lb_err err = {0};
        if (sup->workers && workers_check(sup->workers, &err) != 0) return;
        if (lb_now() >= limit_ns) {
            spoil_stage(sup, STAGE_PARTIAL, LB_EXIT_MACHINE,
                        "a client did not come back from its driver after the drain limit");
            sup->stage->hung = true;
            return;
        }
    }
}

/* Waits for servers that were started again: clients may be through before these are. */
static void end_faults(struct supervisor *sup) {
    while (faults_returning(&sup->faults) && sup->stage->status == STAGE_COMPLETE) {
        go_on_with_faults(sup, lb_now());
        sleep_to(lb_now() + LOOK_NS);
        watch_for_trouble(sup);
    }
    faults_done(&sup->faults);
}

/* Looks for clients that lost a server which lockbench did not start, and so does not watch. */
static void look_for_adrift(struct supervisor *sup) {
    const struct shared *shared = sup->shared;
    int adrift = atomic_load(&shared->adrift);
    if (adrift == 0 || sup->stage->faults.servers_lost) return;
    char text[600];
    const struct lb_err *err = first_err(shared);
    snprintf(text, sizeof text, "%d of %d clients had lost the server when the load ended%s%s",
             adrift, shared->clients, err ? ": " : "", err ? err->text : "");
    spoil_stage(sup, STAGE_PARTIAL, LB_EXIT_MACHINE, text);
}

/* Warm-up, window and drain. */
static void supervise_load(struct supervisor *sup) {
    struct stage *stage = sup->stage;
    server_use_ready(&sup->use, stage);
    int64_t begin_ns = begin_load(sup), stolen_begin_ns = steal_now_ns();
    supervise_window(sup, begin_ns);
    supervise_drain(sup);
    meet_peers(sup, MOMENT_DRAINED, lb_after(atomic_load(&sup->shared->cutoff_ns), 2 * STUCK_NS));
    int64_t drained_ns = lb_now();
    server_use_drained(&sup->use, stage);
    wall_look(&sup->wall);
    stage->wall_largest_ns = sup->wall.largest_ns;
    stage->result.wall_step_ns = (double)sup->wall.step_ns;
    /* Not before: a processor that stands still counts what it lost when it goes on. */
    stage->stolen_ns = steal_between_ns(stolen_begin_ns, steal_now_ns());
    end_faults(sup);
    look_for_adrift(sup);
    stage->disturbed = stuck_is_explained(&sup->stuck, drained_ns);
    stage->stood_from_ns = sup->stuck.stalled_from_ns;
    stage->stood_until_ns = sup->stuck.stalled_ns;
    stage->cut = drained_ns >= atomic_load(&sup->shared->cutoff_ns);
    int64_t end_ns = atomic_load(&sup->shared->window_end_ns);
    stage->window_begin_ns = begin_ns;
    stage->window_ns = end_ns > begin_ns ? end_ns - begin_ns : 0;
    stage->warmup_ns = sup->ask->of.plan->warmup_ns;
    stage->drain_ns = drained_ns > end_ns ? drained_ns - end_ns : 0;
    struct lb_err ignored = {0};
    if (stage->window_ns > 0 && sup->workers)
        harvest_last(&sup->harvest, drained_ns, workers_check(sup->workers, &ignored) == 0);
}

/* The second ping, and the end of all sessions. */
static void close_sessions(struct supervisor *sup) {
    struct shared *shared = sup->shared;
    int64_t deadline_ns = lb_now() + CLOSE_NS;
    /* The cut-off moves on, so that pings and disconnects can wait for their answers. */
    atomic_store(&shared->cutoff_ns, deadline_ns);
    if (sup->stage->status == STAGE_COMPLETE && !shared->client[0].dead) {
        atomic_store(&shared->phase, PHASE_PING2);
        if (has_first(sup)) wait_count(sup, &shared->pinged, 2, deadline_ns);
    }
    int end, first = shared_own_clients(shared, &end);
    atomic_store(&shared->phase, PHASE_CLOSE);
    if (!wait_count(sup, &shared->closed, end - first, deadline_ns + STUCK_NS)) {
        spoil_stage(sup, STAGE_PARTIAL, LB_EXIT_MACHINE,
                    "a client did not come back from closing its session");
        sup->stage->hung = shared->processes == 1;
    }
}

/* The process that sums up gets what the others measured. */
static void exchange_parts(struct supervisor *sup) {
    struct lb_err err = {0};
    if (!sup->ask->peers || sup->stage->status == STAGE_FAILED) return;
    if (sup->ask->peers->exchange(sup->ask->peers, sup->stage, sup->shared, &err) != 0)
        spoil_stage(sup, STAGE_PARTIAL, err.code, err.text);
}

static void close_down(struct supervisor *sup) {
    struct shared *shared = sup->shared;
    if (!sup->stage->hung && sup->workers) close_sessions(sup);
    /* threads can't be ended from outside ... */
    if (sup->stage->hung && shared->processes == 1) return;
    struct lb_err err = {0};
    if (workers_join(sup->workers, sup->stage->hung ? 0 : lb_now() + CLOSE_NS, &err) != 0)
        spoil_stage(sup, STAGE_PARTIAL, err.code, err.text);
    sup->workers = NULL; /* ... processes can */
    sup->stage->hung = false;
    harvest_rest(&sup->harvest);
    exchange_parts(sup);
}

/* New keys for each stage, so that the stage can't meet what an earlier one left; never drawn from the seed. */
static void name_keys(struct shared *shared, const struct stage_ask *ask) {
    struct lb_rng rng;
    rng_seed_unique(&rng);
    snprintf(shared->key_prefix, sizeof shared->key_prefix, "%s" LB_MARK "%08x-",
             ask->of.plan->key_prefix, (unsigned)rng_u64(&rng));
    shared->key_salt = rng_u64(&rng) >> 2;
    if (!ask->peers || !ask->peers->key_prefix) return;
    snprintf(shared->key_prefix, sizeof shared->key_prefix, "%s", ask->peers->key_prefix);
    shared->key_salt = ask->peers->key_salt;
}

/* The memory that the workers share, in the shape that the stage is asked for. NULL with err. */
static struct shared *shape_shared(const struct stage_ask *ask, struct lb_err *err) {
    const struct part *part = ask->peers ? &ask->peers->part : NULL;
    struct shared *shared = shared_new(&ask->of, &ask->place->server, part, err);
    if (!shared) return NULL;
    shared->seed = ask->of.plan->seed + (uint64_t)ask->of.repeat;
    shared->patience_ns = ask->promise.limit_ns;
    shared->connect_deadline_ns = lb_now() + CONNECT_NS + ask->of.clients * CONNECT_EACH_NS;
    if (ask->of.lock->lock->algorithm->arm)
        shared->arm_ns = (ARM_NS + ask->of.distance.rtt_ns) * (int64_t)shared->key_count;
    name_keys(shared, ask);
    return shared;
}

static int prepare_stage(struct supervisor *sup, struct lb_err *err) {
    const struct stage_ask *ask = sup->ask;
    sup->stage = calloc(1, sizeof *sup->stage);
    if (!sup->stage) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    sup->stage->ask = ask;
    result_field_clear_all(run_stage_fields(), &sup->stage->result);
    sup->stage->server_cpu_ns = sup->stage->client_cpu_ns = NAN;
    sup->stage->written_bytes = sup->stage->fsyncs = sup->stage->sessions_memory_bytes = NAN;
    sup->stage->stolen_ns = -1;
    sup->shared = sup->stage->shared = shape_shared(ask, err);
    if (!sup->shared) return -1;
    stuck_init(&sup->stuck, sup->shared);
    return harvest_begin(&sup->harvest, sup->stage, sup->shared, err);
}

/* Without clients there are no workers. False: the stage has failed. */
static bool start_workers(struct supervisor *sup) {
    struct lb_err *err = &sup->stage->err;
    if (sup->shared->part.self == PART_NONE)
        return sup->ask->peers->begin(sup->ask->peers, sup->ask, sup->shared, err) == 0;
    sup->workers = workers_start(sup->shared, err);
    return sup->workers != NULL;
}

struct stage *stage_run(const struct stage_ask *ask, struct lb_err *err) {
    struct supervisor sup = {.ask = ask};
    struct stage *stage = NULL;
    if (prepare_stage(&sup, err) != 0) goto out;
    server_use_begin(&sup.use, ask->place->topo);
    if (start_workers(&sup)) {
        sup.stage->history = stage_history_begin(sup.shared, ask->hlog_path);
        if (get_ready(&sup) == 0) {
            measure_idle(&sup);
            supervise_load(&sup);
        } else {
            /* No client may load: the window ends before it begins. */
            atomic_store(&sup.shared->window_end_ns, 0);
            atomic_store(&sup.shared->cutoff_ns, 0);
        }
        close_down(&sup);
    } else {
        sup.stage->status = STAGE_FAILED;
        meet_peers(&sup, MOMENT_CONNECTED, lb_now());
    }
    stuck_conclude(&sup.stuck, &sup.stage->stuck_keys, &sup.stage->idle_keys);
    stage = sup.stage;
    sup.stage = NULL;
out:
    harvest_done(&sup.harvest);
    stage_free(sup.stage);
    stuck_done(&sup.stuck);
    return stage;
}

void stage_free(struct stage *stage) {
    if (!stage) return;
    for (int metric = 0; metric < METRICS; metric++) hist_free(stage->hist[metric]);
    json_decref(stage->result.kept);
    free(stage->seconds);
    fault_log_done(&stage->faults);
    stage_history_free(stage->history);
    if (!stage->hung) shared_free(stage->shared);
    free(stage);
}
