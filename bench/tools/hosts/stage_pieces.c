/* stage_pieces: see stage_hosts.h. */
#include "bench/tools/hosts/stage_hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/evidence/stage_history.h"
#include "results/format/write.h"

#define GATHER_NS (120 * LB_S_NS) /* for all that a host has, as long as it goes on sending */
#define RECORDS_AT_ONCE 20000     /* of a history, in a message of a megabyte */

/* The pieces that a load host sends, each in a message. */
enum piece {
    PIECE_FIGURES, /* facts, histograms, seconds, and the clients, threads and cells of its memory */
    PIECE_HISTORY, /* several */
    /* value[1] = operations that are not in the history; text = why it is incomplete, and value[2] = the exit code for
     * that; 0 = it is whole, or there is none */
    PIECE_LAST
};

/* The head of the figures. */
struct facts {
    uint64_t mapping_bytes; /* shows whether the layout is the same */
    uint64_t touched;       /* cells that this host's clients entered */
    int64_t stolen_ns, drain_ns, wall_largest_ns, unsure_ns;
    int32_t second_count, code, adrift, lost;
    struct findings findings;
    struct store_counts counts;
    struct exclusion found; /* by its judge, among its own clients */
    char error[200];        /* "" = the host's part of the stage is whole */
};

/* One touched cell, with its value of the guarded store, if there is one. */
struct touched {
    uint32_t index;
    struct cell cell;
    struct guarded guarded;
};

/* ---- a load host ---- */

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

static int write_figures(const struct stage *stage, const struct shared *shared, FILE *out) {
    int clients_end, clients = shared_own_clients(shared, &clients_end);
    int threads_end, threads = shared_own_threads(shared, &threads_end);
    struct facts facts = {.mapping_bytes = shared->bytes,
                          .touched = write_touched(shared, NULL),
                          .stolen_ns = stage->stolen_ns,
                          .drain_ns = stage->drain_ns,
                          .wall_largest_ns = stage->wall_largest_ns,
                          .unsure_ns = atomic_load(&shared->unsure_ns),
                          .second_count = stage->second_count,
                          .adrift = atomic_load(&shared->adrift),
                          .lost = atomic_load(&shared->lost)};
    memcpy(&facts.findings, &shared->findings, sizeof facts.findings);
    memcpy(&facts.counts, &shared->store.counts, sizeof facts.counts);
    if (stage->history) stage_history_sum(&facts.found, stage->history, false);
    if (stage->status != STAGE_COMPLETE) {
        facts.code = stage->err.code;
        snprintf(facts.error, sizeof facts.error, "%.190s", stage->err.text);
    }
    fwrite(&facts, sizeof facts, 1, out);
    for (int metric = 0; metric < METRICS; metric++)
        fwrite(stage->hist[metric], hist_bytes(HIST_DIGITS, HIST_HIGHEST_NS), 1, out);
    fwrite(stage->seconds, sizeof *stage->seconds, (size_t)stage->second_count, out);
    fwrite(shared->client + clients, sizeof *shared->client, (size_t)(clients_end - clients), out);
    fwrite(shared->worker + threads, sizeof *shared->worker, (size_t)(threads_end - threads), out);
    write_touched(shared, out);
    return ferror(out) ? -1 : 0;
}

static int deliver_figures(struct hosts *hosts, const struct stage *stage,
                           const struct shared *shared, struct lb_err *err) {
    struct message message = {.word = WORD_PARTS, .value = {PIECE_FIGURES}};
    char *bytes = NULL;
    FILE *out = open_memstream(&bytes, &message.blob_bytes);
    int failed = !out || write_figures(stage, shared, out) != 0;
    if (out && fclose(out) != 0) failed = 1;
    message.blob = bytes;
    failed = failed ? err_set(err, LB_EXIT_MACHINE, "out of memory for what was measured")
                    : hosts_report(hosts, &message, err);
    free(bytes);
    return failed;
}

/* Sends the records in the history's file. why: the reason, if the file can't be read back. */
static int deliver_records(struct hosts *hosts, const struct stage_history *history,
                           struct lb_err *why, struct lb_err *err) {
    struct oplog_file file;
    int failed = 0;
    if (!history->writer || oplog_reopen(&file, history->writer, why) != 0) return 0;
    for (size_t at = 0; at < file.count && !failed; at += RECORDS_AT_ONCE) {
        size_t some = file.count - at < RECORDS_AT_ONCE ? file.count - at : RECORDS_AT_ONCE;
        struct message message = {.word = WORD_PARTS,
                                  .value = {PIECE_HISTORY},
                                  .blob = (void *)(uintptr_t)(file.records + at),
                                  .blob_bytes = some * sizeof *file.records};
        failed = hosts_report(hosts, &message, err);
    }
    oplog_close(&file);
    return failed;
}

int stage_pieces_deliver(struct peers *peers, struct stage *stage, struct shared *shared,
                         struct lb_err *err) {
    struct hosts *hosts = peers->state;
    struct message last = {.word = WORD_PARTS, .value = {PIECE_LAST}};
    struct lb_err why = {0};
    if (deliver_figures(hosts, stage, shared, err) != 0) return -1;
    if (shared->oplog && !stage->history) {
        err_set(&why, LB_EXIT_MACHINE, "out of memory for the history");
    } else if (shared->oplog) {
        why = stage->history->err;
        if (deliver_records(hosts, stage->history, &why, err) != 0) return -1;
    }
    if (shared->oplog) last.value[1] = (int64_t)oplog_dropped(shared->oplog);
    last.value[2] = why.code;
    snprintf(last.text, sizeof last.text, "%.230s", why.text);
    return hosts_report(hosts, &last, err);
}

/* ---- the coordinator ---- */

/* Converts a time of another host's clock to this host's clock; 0 and LB_NEVER are no times and stay. */
static int64_t here_ns(int64_t theirs_ns, int64_t offset_ns) {
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
        worker->first_start_ns = here_ns(worker->first_start_ns, offset_ns);
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

static void add_head(struct shared *shared, const struct facts *head, int64_t offset_ns) {
    int64_t unsure_ns = here_ns(head->unsure_ns, offset_ns);
    add_count(&shared->findings.met, &head->findings.met);
    add_count(&shared->findings.detected, &head->findings.detected);
    add_count(&shared->store.counts.stale, &head->counts.stale);
    add_count(&shared->store.counts.stale_rejected, &head->counts.stale_rejected);
    add_count(&shared->store.counts.stale_accepted, &head->counts.stale_accepted);
    add_count(&shared->store.counts.refused, &head->counts.refused);
    atomic_fetch_add(&shared->adrift, head->adrift);
    atomic_fetch_add(&shared->lost, head->lost);
    if (unsure_ns > atomic_load(&shared->unsure_ns)) atomic_store(&shared->unsure_ns, unsure_ns);
}

/* The gathering. */
struct gathering {
    struct hosts *hosts;
    struct stage *stage;
    struct shared *shared;
    int host; /* whose pieces come */
    struct facts facts[HOSTS_MAX];
    bool counted[HOSTS_MAX];   /* its figures came */
    bool whole[HOSTS_MAX];     /* all its pieces came */
    int64_t hiccup[HOSTS_MAX]; /* p99 */
};

static struct clock_offset clock_of(const struct gathering *all, int host) {
    return clock_at(&all->hosts->host[host].clock, atomic_load(&all->shared->window_begin_ns));
}

/* Adds a host's seconds to those of the others: the windows of all hosts began at one moment. The drain stays the
 * last point, also where the window of this host was a second longer. */
static int add_seconds(struct stage *stage, const struct stage_second *theirs, int count) {
    for (int i = 0; i < count; i++) {
        int have = stage->second_count, at = have > 0 && stage->seconds[have - 1].draining;
        int in_window = have - at;
        at = theirs[i].draining || i > in_window ? in_window : i;
        if (at < have && stage->seconds[at].draining == theirs[i].draining) {
            stage->seconds[at].ok += theirs[i].ok;
            stage->seconds[at].recorded += theirs[i].recorded;
            continue;
        }
        struct stage_second *grown = realloc(stage->seconds, (size_t)(have + 1) * sizeof *grown);
        if (!grown) return -1;
        stage->seconds = grown;
        memmove(&grown[at + 1], &grown[at], (size_t)(have - at) * sizeof *grown);
        grown[at] = theirs[i];
        stage->second_count++;
    }
    return 0;
}

static int take_figures(struct gathering *all, const struct message *message, struct lb_err *err) {
    struct stage *stage = all->stage;
    struct shared *shared = all->shared, there = *shared;
    struct facts *facts = &all->facts[all->host];
    int64_t offset_ns = clock_of(all, all->host).offset_ns;
    there.part.self = all->host;
    int clients_end, clients = shared_own_clients(&there, &clients_end);
    int threads_end, threads = shared_own_threads(&there, &threads_end);
    size_t of_clients = (size_t)(clients_end - clients) * sizeof *shared->client;
    size_t of_workers = (size_t)(threads_end - threads) * sizeof *shared->worker;
    size_t hist = hist_bytes(HIST_DIGITS, HIST_HIGHEST_NS);
    if (message->blob_bytes >= sizeof *facts) memcpy(facts, message->blob, sizeof *facts);
    size_t of_seconds = (size_t)facts->second_count * sizeof *stage->seconds;
    if (facts->mapping_bytes != shared->bytes || facts->touched > shared->cell_count ||
        facts->second_count < 0 ||
        message->blob_bytes != sizeof *facts + METRICS * hist + of_seconds + of_clients +
                                   of_workers + facts->touched * sizeof(struct touched))
        return err_set(err, LB_EXIT_MACHINE, "its figures are not those of its part of the stage");
    const char *bytes = message->blob, *seconds = bytes + sizeof *facts + METRICS * hist;
    const char *at = seconds + of_seconds;
    add_head(shared, facts, offset_ns);
    memcpy(shared->client + clients, at, of_clients);
    add_workers(shared, threads, threads_end, offset_ns, at + of_clients);
    add_touched(shared, at + of_clients + of_workers, facts->touched);
    all->counted[all->host] = true;
    if (stage->history) stage_history_add(stage->history, &facts->found);
    for (int metric = 0; metric < METRICS; metric++) {
        const struct hist *theirs = (const void *)(bytes + sizeof *facts + (size_t)metric * hist);
        hist_add(stage->hist[metric], theirs);
        if (metric == METRIC_HICCUP) all->hiccup[all->host] = hist_quantile(theirs, 0.99);
    }
    if (add_seconds(stage, (const void *)seconds, facts->second_count) != 0)
        return err_set(err, LB_EXIT_MACHINE, "out of memory for the hosts' seconds");
    /* The worst host decides what may have blurred the figures. */
    if (facts->stolen_ns > stage->stolen_ns) stage->stolen_ns = facts->stolen_ns;
    if (facts->drain_ns > stage->drain_ns) stage->drain_ns = facts->drain_ns;
    if (facts->wall_largest_ns > stage->wall_largest_ns)
        stage->wall_largest_ns = facts->wall_largest_ns;
    return 0;
}

static int64_t our_time(const struct clock_series *clock, int64_t offset_ns, int64_t theirs_ns) {
    if (theirs_ns == 0 || theirs_ns == LB_NEVER) return theirs_ns;
    return theirs_ns - clock_at(clock, theirs_ns - offset_ns).offset_ns;
}

/* Adds operations of a host to the history, which is cut off where that fails. */
static void add_history(struct stage_history *history, const struct oplog_record *records,
                        size_t count, uint64_t dropped) {
    if (oplog_writer_add(history->writer, records, count, dropped, &history->err) != 0)
        history->cut_off = true;
}

/* The operations of a host, by our clock. */
static void take_history(struct gathering *all, struct message *message) {
    const struct clock_series *clock = &all->hosts->host[all->host].clock;
    int64_t offset_ns = clock_of(all, all->host).offset_ns;
    struct oplog_record *records = message->blob;
    size_t count = message->blob_bytes / sizeof *records;
    struct stage_history *history = all->stage->history;
    if (!history || !history->writer) return;
    for (size_t i = 0; i < count; i++) {
        records[i].begin_ns = our_time(clock, offset_ns, records[i].begin_ns);
        records[i].end_ns = our_time(clock, offset_ns, records[i].end_ns);
        records[i].lease_end_ns = our_time(clock, offset_ns, records[i].lease_end_ns);
    }
    add_history(history, records, count, 0);
}

/* Of a host that could not record all its operations it is not known which grants were released. */
static void take_last(struct gathering *all, const struct message *message) {
    struct stage_history *history = all->stage->history;
    all->whole[all->host] = true;
    if (!history || !history->writer) return;
    if (message->value[2] != 0) {
        err_set(&history->err, (int)message->value[2], "host %d (%s): %s", all->host + 1,
                all->hosts->host[all->host].name, message->text);
        history->cut_off = true;
    }
    add_history(history, NULL, 0, (uint64_t)message->value[1]);
}

/* 0, or -1 with err: figures of the host are missing. */
static int take_piece(struct gathering *all, struct message *message, struct lb_err *err) {
    if (message->value[0] == PIECE_FIGURES) return take_figures(all, message, err);
    if (message->value[0] == PIECE_HISTORY) take_history(all, message);
    if (message->value[0] == PIECE_LAST) take_last(all, message);
    return 0;
}

/* All pieces of one host, also after one that is of no use: the host's next word is not one of them. 0, or -1 with
 * err. */
static int take_host(struct gathering *all, struct lb_err *err) {
    struct hosts *hosts = all->hosts;
    struct lb_err why = {0};
    int64_t deadline_ns = lb_now() + GATHER_NS;
    bool ended = false;
    while (!all->whole[all->host] && !ended) {
        struct message message = {.blob = NULL};
        if (hosts_hear(hosts, all->host, &message, deadline_ns) != 1) {
            hosts_lose(hosts, all->host, "its figures did not come in time");
            err_set(&why, LB_EXIT_MACHINE, "%s", hosts->host[all->host].why);
            ended = true;
        } else if (message.word == WORD_PARTS) {
            take_piece(all, &message, &why);
        } else if (message.word == WORD_TROUBLE) {
            err_set(&why, (int)message.value[0], "%s", message.text);
            ended = true;
        }
        free(message.blob);
    }
    if (!why.code && all->facts[all->host].error[0])
        err_set(&why, all->facts[all->host].code, "%s", all->facts[all->host].error);
    if (!why.code) return 0;
    return err_set(err, why.code, "host %d (%s): %s", all->host + 1, hosts->host[all->host].name,
                   why.text);
}

/* ---- the table of hosts ---- */

static json_t *count_or_null(bool known, int64_t count) {
    return known ? json_integer((json_int_t)count) : json_null();
}

/* Figures that did not arrive from a lost host are null, and not 0. Its grants are those of its last news. */
static json_t *host_json(const struct gathering *all, int host) {
    const struct host *of = &all->hosts->host[host];
    struct shared there = *all->shared;
    there.part.self = host;
    int clients_end, clients = shared_own_clients(&there, &clients_end);
    int end, first = shared_own_threads(&there, &end);
    bool counted = all->counted[host];
    int64_t grants = counted ? 0 : of->grants, first_ns = 0;
    for (int i = clients; i < clients_end && counted; i++)
        grants += (int64_t)there.client[i].grants;
    for (int i = first; i < end && counted; i++) {
        int64_t start_ns = there.worker[i].first_start_ns;
        if (start_ns && (!first_ns || start_ns < first_ns)) first_ns = start_ns;
    }
    return json_pack("{s:s, s:i, s:I, s:I, s:o, s:o, s:o, s:o}", "name", of->name, "clients",
                     clients_end - clients, "clock_offset_ns",
                     (json_int_t)clock_of(all, host).offset_ns, "clock_error_ns",
                     (json_int_t)clock_error_ns(&of->clock, all->shared->go_ns, lb_now()),
                     "start_ns", count_or_null(first_ns != 0, first_ns - all->shared->go_ns),
                     "grants", count_or_null(grants >= 0, grants), "hiccup_p99_ns",
                     count_or_null(counted, all->hiccup[host]), "lost",
                     of->lost ? json_string(of->why) : json_null());
}

/* The greatest error of any host's clock while the load ran: the clocks were measured before it and after the drain. */
static void note_error(const struct gathering *all) {
    struct stage_history *history = all->stage->history;
    int64_t most_ns = 0;
    for (int i = 0; i < all->hosts->count; i++) {
        int64_t error_ns = clock_error_ns(&all->hosts->host[i].clock, all->shared->go_ns, lb_now());
        if (error_ns > most_ns) most_ns = error_ns;
    }
    if (!history) return;
    history->error_ns = most_ns < UINT32_MAX ? (uint32_t)most_ns : UINT32_MAX;
    if (!all->shared->split || most_ns <= UINT32_MAX) return;
    history->unclear = true;
    err_set(
        &history->err, LB_EXIT_MACHINE,
        "the clocks of the load hosts moved by %.3g s against each other: who held when is not known",
        (double)most_ns / 1e9);
}

int stage_pieces_gather(struct peers *peers, struct stage *stage, struct shared *shared,
                        struct lb_err *err) {
    struct hosts *hosts = peers->state;
    struct gathering *all = calloc(1, sizeof *all);
    json_t *table = json_array();
    int failed = 0;
    if (!all || !table) {
        free(all);
        json_decref(table);
        return err_set(err, LB_EXIT_MACHINE, "out of memory for the hosts' figures");
    }
    *all = (struct gathering){.hosts = hosts, .stage = stage, .shared = shared};
    for (all->host = 0; all->host < hosts->count; all->host++) {
        if (take_host(all, err) != 0) failed = -1;
        if (stage->history && !all->whole[all->host]) stage->history->cut_off = true;
    }
    note_error(all);
    /* The quantiles that a second has are those of one host. */
    for (int i = 0; i < stage->second_count; i++)
        stage->seconds[i].acquire_p50_ns = stage->seconds[i].acquire_p99_ns = -1;
    for (int i = 0; i < hosts->count; i++) json_array_append_new(table, host_json(all, i));
    stage->result.hosts = run_stage_keep(&stage->result, table);
    free(all);
    return failed;
}
