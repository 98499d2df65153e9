/* shared: see shared.h. */
#define _GNU_SOURCE
#include "bench/run/shared.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Threads for so many clients: what the plan says; one a client when the lock's waits block the thread; else
 * one for each two processors, since the servers want some too. */
static int thread_count(const struct plan *plan, const struct lb_lock *lock, int clients) {
    if (lock->caps & LB_CAP_BLOCKS_THREAD) return clients;
    int threads = plan->threads ? plan->threads : (int)sysconf(_SC_NPROCESSORS_ONLN) / 2;
    if (threads < 1) threads = 1;
    if (threads < plan->processes) threads = plan->processes;
    return threads < clients ? threads : clients;
}

static size_t aligned(size_t bytes) {
    return (bytes + 63) & ~(size_t)63;
}

struct shared *shared_new(const struct plan *plan, const struct plan_lock *lock, int clients,
                          struct lb_err *err) {
    int threads = thread_count(plan, lock->lock, clients);
    /* The tool's own cost has no lock: each client gets a cell of its own, so that the checks cost what they
     * do. */
    bool own_cells = lock->lock->caps & LB_CAP_BASELINE;
    uint32_t cells = own_cells ? (uint32_t)clients : keys_count(&plan->keys, clients);
    size_t bytes = aligned(sizeof(struct shared)) + cells * sizeof(struct cell) +
                   (size_t)clients * sizeof(struct client_stats) +
                   aligned((size_t)clients * sizeof(struct found)) +
                   (size_t)threads * (sizeof(struct worker_stats) + recorder_bytes());
    char *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) {
        err_set(err, LB_EXIT_MACHINE,
                "%zu MB of shared memory for %u keys and %d threads: %s; lower load.keys or "
                "load.threads",
                bytes >> 20, cells, threads, strerror(errno));
        return NULL;
    }
    struct shared *shared = (struct shared *)(void *)map;
    shared->bytes = bytes;
    shared->plan = plan;
    shared->lock = lock;
    shared->clients = clients;
    shared->threads = threads;
    shared->processes = plan->processes < threads ? plan->processes : threads;
    shared->cell_count = cells;
    keys_init(&shared->keys, &plan->keys, clients);
    atomic_store(&shared->cutoff_ns, LB_NEVER);
    atomic_store(&shared->window_begin_ns, LB_NEVER);
    atomic_store(&shared->window_end_ns, LB_NEVER);
    char *at = map + aligned(sizeof(struct shared));
    shared->cells = (struct cell *)(void *)at;
    at += cells * sizeof(struct cell);
    shared->client = (struct client_stats *)(void *)at;
    at += (size_t)clients * sizeof(struct client_stats);
    shared->findings.holders = (struct found *)(void *)at;
    at += aligned((size_t)clients * sizeof(struct found));
    shared->worker = (struct worker_stats *)(void *)at;
    at += (size_t)threads * sizeof(struct worker_stats);
    for (int i = 0; i < threads; i++, at += recorder_bytes()) recorder_init(&shared->worker[i].recorder, at);
    for (int i = 0; i < clients; i++) shared->client[i].connect_ns = -1;
    return shared;
}

void shared_free(struct shared *shared) {
    if (shared) munmap(shared, shared->bytes);
}

void shared_slice(const struct shared *shared, int thread, uint32_t *ret_first, uint32_t *ret_count) {
    uint32_t clients = (uint32_t)shared->clients, threads = (uint32_t)shared->threads,
             index = (uint32_t)thread;
    uint32_t each = clients / threads, more = clients % threads;
    *ret_first = index * each + (index < more ? index : more);
    *ret_count = each + (index < more ? 1 : 0);
}
