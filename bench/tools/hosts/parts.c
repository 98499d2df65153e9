/* parts: see parts.h. */
#include "bench/tools/hosts/parts.h"

#include <string.h>

/* The head of the bytes. */
struct parts_head {
    uint64_t mapping_bytes; /* shows whether the layout is the same */
    int64_t unsure_ns;
    int32_t adrift, lost;
    uint64_t touched; /* cells that this host's clients entered */
    struct findings findings;
    struct store_counts counts;
};

/* One touched cell, with its value of the guarded store, if there is one. */
struct touched {
    uint32_t index;
    struct cell cell;
    struct guarded guarded;
};

/* The cells that this host's clients can enter: all, or those of their own keys. Other cells are not looked at,
 * because a look at a page of the mapping makes the page resident. */
static uint32_t first_cell(const struct shared *shared, uint32_t *ret_end) {
    int end, first = shared_own_clients(shared, &end);
    *ret_end = shared->cell_count;
    if (shared->plan->keys.pick != KEYS_OWN && !shared->own_cells) return 0;
    uint32_t each = shared->cell_count / (uint32_t)shared->clients;
    *ret_end = each * (uint32_t)end;
    return each * (uint32_t)first;
}

/* Counts the cells that clients entered, and writes them to out, unless that is NULL. */
static uint64_t write_touched(const struct shared *shared, FILE *out) {
    uint64_t count = 0;
    uint32_t end, first = first_cell(shared, &end);
    for (uint32_t i = first; i < end; i++) {
        if (atomic_load(&shared->cells[i].grants) == 0) continue;
        struct touched touched = {.index = i};
        count++;
        memcpy(&touched.cell, &shared->cells[i], sizeof touched.cell);
        if (shared->store.keys)
            memcpy(&touched.guarded, &shared->store.keys[i], sizeof touched.guarded);
        if (out) fwrite(&touched, sizeof touched, 1, out);
    }
    return count;
}

int parts_write(const struct shared *shared, FILE *out) {
    int clients_end, clients = shared_own_clients(shared, &clients_end);
    int threads_end, threads = shared_own_threads(shared, &threads_end);
    size_t client_count = (size_t)(clients_end - clients);
    struct parts_head head = {.mapping_bytes = shared->bytes,
                              .unsure_ns = atomic_load(&shared->unsure_ns),
                              .adrift = atomic_load(&shared->adrift),
                              .lost = atomic_load(&shared->lost),
                              .touched = write_touched(shared, NULL)};
    memcpy(&head.findings, &shared->findings, sizeof head.findings);
    memcpy(&head.counts, &shared->store.counts, sizeof head.counts);
    fwrite(&head, sizeof head, 1, out);
    fwrite(shared->client + clients, sizeof *shared->client, client_count, out);
    fwrite(shared->worker + threads, sizeof *shared->worker, (size_t)(threads_end - threads), out);
    write_touched(shared, out);
    return ferror(out) ? -1 : 0;
}

/* Converts a time of another host's clock to this host's clock; 0 and LB_NEVER are no times and stay. */
static int64_t our_time(int64_t theirs_ns, int64_t offset_ns) {
    return theirs_ns == 0 || theirs_ns == LB_NEVER ? theirs_ns : theirs_ns - offset_ns;
}

static void add_count(_Atomic uint64_t *into, const _Atomic uint64_t *from) {
    atomic_fetch_add(into, atomic_load(from));
}

/* Keeps this mapping's recorder: the pointers in the bytes point into the other host's mapping, and the recorder's
 * values are already in that host's totals. */
static void add_workers(struct shared *shared, int first, int end, int64_t offset_ns,
                        const char *bytes) {
    for (int i = first; i < end; i++, bytes += sizeof(struct worker_stats)) {
        struct worker_stats *worker = &shared->worker[i];
        struct recorder recorder;
        memcpy(&recorder, &worker->recorder, sizeof recorder);
        memcpy(worker, bytes, sizeof *worker);
        memcpy(&worker->recorder, &recorder, sizeof recorder);
        worker->first_start_ns = our_time(worker->first_start_ns, offset_ns);
    }
}

/* Each host counts its own grants in its own cells, so a lost update shows only between two clients of one host. Of a
 * store in the backend each host counts the writes of its own clients. */
static void add_touched(struct shared *shared, const char *bytes, uint64_t count) {
    for (uint64_t i = 0; i < count; i++, bytes += sizeof(struct touched)) {
        struct touched theirs;
        memcpy(&theirs, bytes, sizeof theirs);
        if (theirs.index >= shared->cell_count) continue;
        struct cell *cell = &shared->cells[theirs.index];
        add_count(&cell->grants, &theirs.cell.grants);
        add_count(&cell->counter, &theirs.cell.counter);
        if (atomic_load(&theirs.cell.token) > atomic_load(&cell->token))
            atomic_store(&cell->token, atomic_load(&theirs.cell.token));
        if (!shared->store.keys) continue;
        struct guarded *guarded = &shared->store.keys[theirs.index];
        add_count(&guarded->unfenced, &theirs.guarded.unfenced);
        add_count(&guarded->writes, &theirs.guarded.writes);
        add_count(&guarded->fenced_writes, &theirs.guarded.fenced_writes);
    }
}

static void add_findings(struct findings *ours, const struct findings *theirs) {
    add_count(&ours->met, &theirs->met);
    add_count(&ours->detected, &theirs->detected);
    add_count(&ours->early, &theirs->early);
}

static void add_head(struct shared *shared, const struct parts_head *head, int64_t offset_ns) {
    int64_t unsure_ns = our_time(head->unsure_ns, offset_ns);
    add_findings(&shared->findings, &head->findings);
    add_count(&shared->store.counts.stale, &head->counts.stale);
    add_count(&shared->store.counts.stale_rejected, &head->counts.stale_rejected);
    add_count(&shared->store.counts.stale_accepted, &head->counts.stale_accepted);
    add_count(&shared->store.counts.refused, &head->counts.refused);
    atomic_fetch_add(&shared->adrift, head->adrift);
    atomic_fetch_add(&shared->lost, head->lost);
    if (unsure_ns > atomic_load(&shared->unsure_ns)) atomic_store(&shared->unsure_ns, unsure_ns);
}

int parts_add(struct shared *shared, int host, int64_t offset_ns, const void *bytes, size_t length,
              struct lb_err *err) {
    struct shared there = *shared;
    there.part.self = host;
    int clients_end, clients = shared_own_clients(&there, &clients_end);
    int threads_end, threads = shared_own_threads(&there, &threads_end);
    size_t of_clients = (size_t)(clients_end - clients) * sizeof *shared->client;
    size_t of_workers = (size_t)(threads_end - threads) * sizeof *shared->worker;
    size_t fixed = sizeof(struct parts_head) + of_clients + of_workers;
    struct parts_head head = {.touched = 0};
    if (length >= fixed) memcpy(&head, bytes, sizeof head);
    if (head.mapping_bytes != shared->bytes || head.touched > shared->cell_count ||
        length - fixed != head.touched * sizeof(struct touched))
        return err_set(err, LB_EXIT_MACHINE, "its figures are not those of its part of the stage");
    const char *at = (const char *)bytes + sizeof head;
    add_head(shared, &head, offset_ns);
    memcpy(shared->client + clients, at, of_clients);
    add_workers(shared, threads, threads_end, offset_ns, at + of_clients);
    add_touched(shared, at + of_clients + of_workers, head.touched);
    return 0;
}
