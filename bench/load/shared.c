/* shared: the shape of a stage, its one mapping, and how its clients are divided; see shared.h. */
#define _GNU_SOURCE
#include "bench/load/shared.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "bench/base/processors.h"

#define SPARE 256 /* descriptors that belong to no client: of wires, pipes of servers, results */
#define OF_A_THREAD 2 /* descriptors of a thread: its epoll, and the one that wakes it */
#define OF_A_WIRE                                                                                  \
    2 /* descriptors of a connection that passes through this process: its two sides */

/* Raises the limit on open files as far as the system lets it, and never lowers it. Returns the limit in force. */
static uint64_t raise_limit(uint64_t wanted) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
    if (limit.rlim_cur >= wanted) return limit.rlim_cur;
    if (limit.rlim_max < wanted) { /* root may raise the hard limit, too */
        struct rlimit higher = {.rlim_cur = wanted, .rlim_max = wanted};
        if (setrlimit(RLIMIT_NOFILE, &higher) == 0) return wanted;
    }
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur;
}

void descriptors_for_servers(int clients) {
    raise_limit((uint64_t)clients * 2 + SPARE);
}

static int each_session(const struct shared *shape) {
    const struct lb_connector *connector = shape->lock->lock->backend->connector;
    const struct lb_session session = {
        .server = shape->server, .lock = shape->lock->lock, .options = shape->lock->options};
    if (!connector || !connector->descriptors) return 1;
    return connector->descriptors(&session,
                                  shape->plan->keys.pick == KEYS_OWN ? 1 : shape->key_count);
}

static int divide_up(int number, int by) {
    return (number + by - 1) / by;
}

/* The descriptors that the process with the most clients needs. */
static uint64_t needed(const struct shared *shape) {
    bool wired = shape->processes == 1 && shape->server && shape->server->route_count > 0;
    int of_a_session = each_session(shape) + (wired ? OF_A_WIRE : 0);
    int clients = divide_up(shape->clients, shape->threads);
    int sessions = divide_up(clients, plan_session_clients(shape->plan, shape->lock->lock));
    int of_a_thread = OF_A_THREAD + sessions * of_a_session;
    return (uint64_t)divide_up(shape->threads, shape->processes) * (uint64_t)of_a_thread + SPARE;
}

/* 0, or -1 with err (LB_EXIT_MACHINE) if the limit of this machine is too low for the stage's clients. */
static int descriptors_check(const struct shared *shape, struct lb_err *err) {
    uint64_t wanted = needed(shape), limit = raise_limit(wanted);
    if (wanted <= limit) return 0;
    const char *more = shape->processes < shape->clients ? "load.processes higher, or " : "";
    return err_set(
        err, LB_EXIT_MACHINE,
        "with %d clients each of %d processes needs %llu file descriptors, and the limit here is "
        "%llu: run `ulimit -n %llu` first, or set %sload.clients lower",
        shape->clients, shape->processes, (unsigned long long)wanted, (unsigned long long)limit,
        (unsigned long long)wanted, more);
}

/* The number of threads for so many clients: one for each client if the lock's waits block the
 * thread; else what the plan says; else one for each two processors that we may use,
 * because the servers need some too. */
static int thread_count(const struct plan *plan, const struct lb_lock *lock, int clients) {
    if (lock->caps & LB_CAP_BLOCKS_THREAD) return clients;
    struct processors here = processors_look();
    int threads = plan->threads ? plan->threads : processors_usable(&here) / 2;
    if (threads < 1) threads = 1;
    if (threads < plan->processes) threads = plan->processes;
    return threads < clients ? threads : clients;
}

/* The number of ticks that a stage of this plan has, from the begin of the load; 0 = the plan has no ticks. */
static uint32_t tick_count(const struct plan *plan) {
    if (plan->tick_ns == 0) return 0;
    return (uint32_t)((plan->warmup_ns + plan->duration_ns) / plan->tick_ns + 1);
}

/* Whether the operations of this lock can be judged: its clients hold it for a time. */
static bool is_judged(const struct lb_lock *lock) {
    return !(lock->caps & LB_CAP_BASELINE) && lock->primitive != LB_OPTIMISTIC;
}

/* Divides the mapping into parts. Used twice: first without memory, to find the size. */
struct carver {
    char *base;
    size_t at;
};

static void *carve_part(struct carver *carver, size_t bytes) {
    void *part = carver->base ? carver->base + carver->at : NULL;
    carver->at += (bytes + 63) & ~(size_t)63;
    return part;
}

static void lay_out(struct shared *shared, const struct shared *shape, struct carver *carver) {
    const struct lb_lock *lock = shape->lock->lock;
    size_t clients = (size_t)shape->clients, cells = shape->cell_count, keys = shape->key_count;
    bool crowd = shape->entry == ENTRY_READERS || shape->entry == ENTRY_PERMITS;
    struct shared parts = *shape;
    carve_part(carver, sizeof(struct shared));
    parts.cells = carve_part(carver, cells * sizeof *parts.cells);
    parts.client = carve_part(carver, clients * sizeof *parts.client);
    if (crowd) {
        parts.crowds.crowd = carve_part(carver, keys * sizeof *parts.crowds.crowd);
        parts.crowds.presence = carve_part(carver, clients * sizeof *parts.crowds.presence);
        parts.crowds.clients = (uint32_t)clients;
    }
    if (lock->primitive == LB_OPTIMISTIC)
        parts.versions = carve_part(carver, keys * sizeof *parts.versions);
    if (shape->store.kept) parts.store.keys = carve_part(carver, cells * sizeof *parts.store.keys);
    if (shape->ticks) parts.tick_runs = carve_part(carver, shape->ticks * sizeof *parts.tick_runs);
    parts.worker = carve_part(carver, (size_t)shape->threads * sizeof *parts.worker);
    if (is_judged(lock))
        parts.oplog = carve_part(carver, oplog_bytes(shape->threads, shape->recorded));
    if (!shared) {
        carve_part(carver, (size_t)shape->threads * recorder_bytes());
        return;
    }
    *shared = parts;
    if (parts.oplog) shared->oplog = oplog_init(parts.oplog, shape->threads, shape->recorded);
    shared->observed = parts.store.kept || parts.recorded || parts.tick_runs;
    for (int i = 0; i < shape->threads; i++) {
        recorder_init(&shared->worker[i].recorder, carve_part(carver, recorder_bytes()));
    }
}

/* Spreads the clients over threads and processes; each part gets equally many threads. 0, or -1 with err. */
static int spread_clients(struct shared *shape, struct lb_err *err) {
    const struct plan *plan = shape->plan;
    const struct lb_lock *lock = shape->lock->lock;
    int parts = shape->part.count > 0 ? shape->part.count : 1;
    shape->threads = shape->part.threads;
    shape->processes = shape->part.processes;
    if (shape->threads == 0) {
        int each = (shape->clients + parts - 1) / parts;
        int threads = thread_count(plan, lock, each) * parts;
        shape->threads = threads < shape->clients ? threads : shape->clients;
        int own = shape->threads / parts; /* of each part, at least */
        shape->processes = (plan->processes < own ? plan->processes : own) * parts;
    }
    return descriptors_check(shape, err);
}

_Static_assert(PLAN_CLIENTS_MAX < CROWD_ALL, "readers never add up to a writer's units");

/* The stage's shape: how many of each thing, and which of the checks apply. 0, or -1 with err. */
static int take_shape(struct shared *shape, struct lb_err *err) {
    const struct plan *plan = shape->plan;
    const struct lb_lock *lock = shape->lock->lock;
    int clients = shape->clients;
    shape->entry = lock->caps & LB_CAP_BASELINE      ? ENTRY_CELL
                   : lock->primitive == LB_SEMAPHORE ? ENTRY_PERMITS
                   : lock->primitive == LB_RWLOCK    ? ENTRY_READERS
                                                     : ENTRY_CELL;
    shape->key_count = keys_count(&plan->keys, clients);
    shape->depth = 1;
    /* The baseline, which measures the tool's own cost, has no lock: each client gets a cell of its
     * own, so that the checks cost as much as with a lock. */
    shape->own_cells = lock->caps & LB_CAP_BASELINE;
    shape->cell_count = shape->own_cells ? (uint32_t)clients : shape->key_count;
    if ((lock->caps & LB_CAP_REENTRANT) && plan->depth > 1) shape->depth = (uint32_t)plan->depth;
    for (int i = 0; i < PLAN_FAULTS_MAX; i++) shape->faulted |= plan->faults[i].kind != INJECT_NONE;
    shape->churn = plan->churn && plan->clients_per_session <= 1;
    shape->due_apart = plan->arrival.kind != ARRIVAL_CLOSED || plan->think.mean_ns > 0 ||
                       plan->tick_ns > 0 || shape->churn || lock->primitive == LB_OPTIMISTIC;
    bool can_meet = clients > 1 && plan->keys.pick != KEYS_OWN;
    shape->ticks = tick_count(plan);
    shape->no_hold = plan->hold.mean_ns == 0 && plan->at_least_ns == 0 && shape->depth == 1 &&
                     !(plan->gap_yields && can_meet);
    shape->one_key = (plan->keys.pick == KEYS_OWN || shape->key_count == 1) && shape->readers == 0;
    shape->split = shape->part.count > 1 && plan->keys.pick != KEYS_OWN && !shape->own_cells;
    shape->recorded = (plan->history || shape->split) && is_judged(lock);
    if (spread_clients(shape, err) != 0) return -1;
    bool exclusive = !(lock->caps & LB_CAP_BASELINE) &&
                     (lock->primitive == LB_MUTEX || lock->primitive == LB_RWLOCK);
    shape->store.kept = plan->store && exclusive;
    shape->store.fenced = lock->caps & LB_CAP_FENCE;
    return 0;
}

struct shared *shared_new(const struct plan_stage *of, struct lb_server *server,
                          const struct part *part, struct lb_err *err) {
    struct shared shape = {.plan = of->plan,
                           .lock = of->lock,
                           .lease_ns = of->lease_ns,
                           .server = server,
                           .arrival = stage_arrival(of),
                           .clients = of->clients};
    if (of->lock->lock->caps & LB_CAP_SHARED) shape.readers = of->readers;
    if (part) shape.part = *part;
    if (take_shape(&shape, err) != 0) return NULL;
    struct carver carver = {0};
    lay_out(NULL, &shape, &carver);
    size_t bytes = carver.at;
    char *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) {
        err_set(err, LB_EXIT_MACHINE,
                "%zu MB of shared memory for %u keys and %d threads: %s; lower load.keys or "
                "load.threads",
                bytes >> 20, shape.key_count, shape.threads, strerror(errno));
        return NULL;
    }
    struct shared *shared = (struct shared *)(void *)map;
    carver = (struct carver){.base = map};
    lay_out(shared, &shape, &carver);
    shared->bytes = bytes;
    keys_init(&shared->keys, &of->plan->keys, of->clients);
    atomic_store(&shared->cutoff_ns, LB_NEVER);
    atomic_store(&shared->window_begin_ns, LB_NEVER);
    atomic_store(&shared->window_end_ns, LB_NEVER);
    atomic_store(&shared->idle_begin_ns, LB_NEVER);
    atomic_store(&shared->idle_end_ns, LB_NEVER);
    /* Not the memory of other parts' clients, which may be a million, unless this process sums them up. */
    bool all = shared->part.self == PART_NONE;
    int end, first = shared_own_clients(shared, &end);
    for (int i = all ? 0 : first; i < (all ? of->clients : end); i++) {
        shared->client[i].connect_ns = -1;
        shared->client[i].max_wait_ns = -1;
    }
    return shared;
}

uint64_t shared_key_number(const struct shared *shared, uint32_t index) {
    const struct key_names *names = &shared->plan->key_names;
    if (names->count > 0) return lb_key_number(names->item[index], strlen(names->item[index]));
    return (shared->key_salt + index) & (UINT64_MAX >> 1);
}

static size_t write_key_name(const struct shared *shared, uint32_t index, char *text) {
    const struct key_names *names = &shared->plan->key_names;
    if (names->count > 0) {
        size_t named = strlen(names->item[index]);
        memcpy(text, names->item[index], named + 1);
        return named;
    }
    char digits[12];
    int count = 0;
    do digits[count++] = (char)('0' + index % 10);
    while ((index /= 10) > 0);
    size_t len = strlen(shared->key_prefix);
    memcpy(text, shared->key_prefix, len);
    while (count > 0) text[len++] = digits[--count];
    text[len] = '\0';
    return len;
}

void shared_choose_key(const struct shared *shared, uint32_t index, struct lb_request *request,
                       char *name) {
    request->key = name;
    request->key_len = write_key_name(shared, index, name);
    request->key_number = shared_key_number(shared, index);
    request->key_index = index;
}

struct lb_request shared_request(const struct shared *shared, uint32_t index, char *name) {
    const struct plan *plan = shared->plan;
    struct lb_request request = {.deadline_ns = LB_NEVER,
                                 .lease_ns = shared->lease_ns,
                                 .permits = plan->permits > 0 ? plan->permits : 1,
                                 .bound = plan->bound > 0 ? plan->bound : 1};
    shared_choose_key(shared, index, &request, name);
    return request;
}

void shared_free(struct shared *shared) {
    if (shared) munmap(shared, shared->bytes);
}

void shared_slice(const struct shared *shared, int thread, uint32_t *ret_first,
                  uint32_t *ret_count) {
    uint32_t clients = (uint32_t)shared->clients, threads = (uint32_t)shared->threads,
             index = (uint32_t)thread;
    uint32_t each = clients / threads, more = clients % threads;
    *ret_first = index * each + (index < more ? index : more);
    *ret_count = each + (index < more ? 1 : 0);
}

uint32_t shared_session_clients(const struct shared *shared, uint32_t client, uint32_t *ret_end) {
    uint32_t each = (uint32_t)plan_session_clients(shared->plan, shared->lock->lock), first = 0,
             count = 0;
    for (int thread = 0; thread < shared->threads && client >= first + count; thread++)
        shared_slice(shared, thread, &first, &count);
    uint32_t from = first + (client - first) / each * each;
    *ret_end = from + each < first + count ? from + each : first + count;
    return from;
}

int shared_first_thread(const struct shared *shared, int process) {
    return (int)((int64_t)shared->threads * process / shared->processes);
}

bool shared_sums_up(const struct shared *shared) {
    return shared->part.count == 0 || shared->part.self == PART_NONE;
}

int shared_own_processes(const struct shared *shared, int *ret_end) {
    const struct part *part = &shared->part;
    if (part->count == 0) {
        *ret_end = shared->processes;
        return 0;
    }
    int each = shared->processes / part->count;
    int first = part->self == PART_NONE ? 0 : part->self * each;
    *ret_end = part->self == PART_NONE ? 0 : first + each;
    return first;
}

int shared_own_threads(const struct shared *shared, int *ret_end) {
    int end, first = shared_own_processes(shared, &end);
    *ret_end = shared_first_thread(shared, end);
    return shared_first_thread(shared, first);
}

/* The clients of threads first .. end - 1; none of none. */
static uint32_t clients_of(const struct shared *shared, int first, int end, uint32_t *ret_end) {
    uint32_t from = 0, last = 0, count = 0;
    if (first < end) {
        shared_slice(shared, first, &from, &count);
        shared_slice(shared, end - 1, &last, &count);
    }
    *ret_end = last + count;
    return from;
}

uint32_t workers_clients(const struct shared *shared, int process, uint32_t *ret_end) {
    int end = shared_first_thread(shared, process + 1);
    return clients_of(shared, shared_first_thread(shared, process), end, ret_end);
}

int shared_own_clients(const struct shared *shared, int *ret_end) {
    int end, first = shared_own_threads(shared, &end);
    uint32_t last, from = clients_of(shared, first, end, &last);
    *ret_end = (int)last;
    return (int)from;
}
