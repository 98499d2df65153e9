/* descriptors: see descriptors.h. */
#include "bench/load/descriptors.h"

#include <sys/resource.h>

#define SPARE 256 /* descriptors that belong to no client: of wires, pipes of servers, results */
#define OF_A_THREAD 2 /* descriptors of a thread: its epoll, and the one that wakes it */
#define OF_A_WIRE                                                                                  \
    2 /* descriptors of a connection that passes through this process: its two sides */
#define PROCESSES_MAX 256 /* as load.processes */

uint64_t descriptors_raise(uint64_t wanted) {
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

uint64_t descriptors_of_servers(int clients) {
    return (uint64_t)clients * 2 + SPARE;
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

static int sessions_of_thread(const struct shared *shape, int threads) {
    int each = plan_session_clients(shape->plan, shape->lock->lock);
    return divide_up(divide_up(shape->clients, threads), each);
}

/* The descriptors that a process with the most clients needs, if there are so many processes. */
static uint64_t needed(const struct shared *shape, int processes) {
    int threads = shape->threads < processes ? processes : shape->threads;
    bool wired = processes == 1 && shape->server && shape->server->route_count > 0;
    int of_a_session = each_session(shape) + (wired ? OF_A_WIRE : 0);
    int of_a_thread = OF_A_THREAD + sessions_of_thread(shape, threads) * of_a_session;
    return (uint64_t)divide_up(threads, processes) * (uint64_t)of_a_thread + SPARE;
}

int descriptors_check(const struct shared *shape, struct lb_err *err) {
    uint64_t wanted = needed(shape, shape->processes), limit = descriptors_raise(wanted);
    if (wanted <= limit) return 0;
    return err_set(
        err, LB_EXIT_MACHINE,
        "each of %d processes needs %llu file descriptors, and the limit of a process here is "
        "%llu: run `ulimit -n %llu` first",
        shape->processes, (unsigned long long)wanted, (unsigned long long)limit,
        (unsigned long long)wanted);
}

int descriptors_processes(const struct shared *shape, struct lb_err *err) {
    uint64_t wanted = needed(shape, shape->processes), limit = descriptors_raise(wanted);
    int processes = shape->processes;
    int step = shape->host.count > 0 ? shape->host.count : 1; /* as many on each host */
    int most = shape->clients < PROCESSES_MAX * step ? shape->clients : PROCESSES_MAX * step;
    while (needed(shape, processes) > limit && processes + step <= most) processes += step;
    if (needed(shape, processes) <= limit) return processes;
    return err_set(
        err, LB_EXIT_MACHINE,
        "%d clients need %llu file descriptors, and %llu in each of %d processes; the limit of a "
        "process is %llu: run `ulimit -n %llu` first, or lower load.clients",
        shape->clients, (unsigned long long)wanted, (unsigned long long)needed(shape, processes),
        processes, (unsigned long long)limit, (unsigned long long)wanted);
}
