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
    PIECE_FIGURES, /* facts, histograms, seconds, and the clients and threads of its memory */
    PIECE_HISTORY, /* several */
    /* value[1] = operations that are not in the history; text = why it is incomplete, and value[2] = the exit code for
     * that; 0 = it is whole, or there is none */
    PIECE_LAST
};

/* The head of the figures. */
struct facts {
    uint64_t mapping_bytes;   /* shows whether the layout is the same */
    uint64_t grants, counter; /* of its cells: each host counts its own grants in its own cells */
    int64_t stolen_ns, drain_ns, wall_largest_ns, unsure_ns;
    int32_t second_count, code, adrift, lost;
    struct findings findings;
    struct exclusion found; /* by its judge, among its own clients */
    char error[200];        /* "" = the host's part of the stage is whole */
};

/* ---- a load host ---- */

static int write_figures(const struct stage *stage, const struct shared *shared, FILE *out) {
    int clients_end, clients = shared_own_clients(shared, &clients_end);
    int threads_end, threads = shared_own_threads(shared, &threads_end);
    struct exclusion cells =
        cells_sum(shared->cells, shared->cell_count, &(struct findings){.met = 0});
    struct facts facts = {.mapping_bytes = shared->bytes,
                          .grants = cells.grants,
                          .counter = cells.counter,
                          .stolen_ns = stage->stolen_ns,
                          .drain_ns = stage->drain_ns,
                          .wall_largest_ns = stage->wall_largest_ns,
                          .unsure_ns = atomic_load(&shared->unsure_ns),
                          .second_count = stage->second_count,
                          .adrift = atomic_load(&shared->adrift),
                          .lost = atomic_load(&shared->lost)};
    memcpy(&facts.findings, &shared->findings, sizeof facts.findings);
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
    stage_history_end(stage->history, shared, &stage->faults, stage->hung);
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

/* The gathering: of the host whose pieces come, and of all. */
struct gathering {
    struct hosts *hosts;
    struct stage *stage;
    struct shared *shared;
    int host;
    int64_t offset_ns; /* of its clock, when the window began */
    struct facts facts;
    bool counted;      /* its figures came */
    bool whole;        /* all its pieces came */
    int64_t hiccup_ns; /* p99 */
};

/* Converts a time of the host's clock to this host's clock; 0 and LB_NEVER are no times and stay. */
static int64_t here_ns(const struct gathering *all, int64_t theirs_ns) {
    if (theirs_ns == 0 || theirs_ns == LB_NEVER) return theirs_ns;
    return theirs_ns -
           clock_at(&all->hosts->host[all->host].clock, theirs_ns - all->offset_ns).offset_ns;
}

static void add_count(_Atomic uint64_t *into, const _Atomic uint64_t *from) {
    atomic_fetch_add(into, atomic_load(from));
}

/* Keeps this mapping's recorder: the pointers in the bytes point into the other host's mapping, and the recorder's
 * values are already in that host's totals. */
static void add_workers(struct shared *shared, int first, int end, const char *bytes) {
    for (int i = first; i < end; i++, bytes += sizeof(struct worker_stats)) {
        struct worker_stats *worker = &shared->worker[i];
        struct recorder recorder;
        memcpy(&recorder, &worker->recorder, sizeof recorder);
        memcpy(worker, bytes, sizeof *worker);
        memcpy(&worker->recorder, &recorder, sizeof recorder);
    }
}

/* The worst host decides what may have blurred the figures. */
static void add_facts(struct gathering *all) {
    const struct facts *facts = &all->facts;
    struct shared *shared = all->shared;
    struct stage *stage = all->stage;
    int64_t unsure_ns = here_ns(all, facts->unsure_ns);
    /* A lost update shows only between two clients of one host, so their keys need not be told apart. */
    atomic_fetch_add(&shared->cells[0].grants, facts->grants);
    atomic_fetch_add(&shared->cells[0].counter, facts->counter);
    add_count(&shared->findings.met, &facts->findings.met);
    add_count(&shared->findings.detected, &facts->findings.detected);
    atomic_fetch_add(&shared->adrift, facts->adrift);
    atomic_fetch_add(&shared->lost, facts->lost);
    if (unsure_ns > atomic_load(&shared->unsure_ns)) atomic_store(&shared->unsure_ns, unsure_ns);
    if (facts->stolen_ns > stage->stolen_ns) stage->stolen_ns = facts->stolen_ns;
    if (facts->drain_ns > stage->drain_ns) stage->drain_ns = facts->drain_ns;
    if (facts->wall_largest_ns > stage->wall_largest_ns)
        stage->wall_largest_ns = facts->wall_largest_ns;
    if (stage->history) stage_history_add(stage->history, &facts->found);
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

/* The clients and threads of a host: the first numbers, and one above the last. */
struct host_part {
    int clients, clients_end, threads, threads_end;
};

static struct host_part part_of(const struct gathering *all) {
    struct shared there = *all->shared;
    struct host_part part;
    there.part.self = all->host;
    part.clients = shared_own_clients(&there, &part.clients_end);
    part.threads = shared_own_threads(&there, &part.threads_end);
    return part;
}

static int take_figures(struct gathering *all, const struct message *message, struct lb_err *err) {
    struct stage *stage = all->stage;
    struct shared *shared = all->shared;
    struct facts *facts = &all->facts;
    struct host_part part = part_of(all);
    size_t of_clients = (size_t)(part.clients_end - part.clients) * sizeof *shared->client;
    size_t of_workers = (size_t)(part.threads_end - part.threads) * sizeof *shared->worker;
    size_t hist = hist_bytes(HIST_DIGITS, HIST_HIGHEST_NS);
    if (message->blob_bytes >= sizeof *facts) memcpy(facts, message->blob, sizeof *facts);
    size_t of_seconds = (size_t)facts->second_count * sizeof *stage->seconds;
    if (facts->mapping_bytes != shared->bytes || facts->second_count < 0 ||
        message->blob_bytes !=
            sizeof *facts + METRICS * hist + of_seconds + of_clients + of_workers)
        return err_set(err, LB_EXIT_MACHINE, "its figures are not those of its part of the stage");
    const char *bytes = message->blob, *seconds = bytes + sizeof *facts + METRICS * hist;
    const char *at = seconds + of_seconds;
    add_facts(all);
    memcpy(shared->client + part.clients, at, of_clients);
    add_workers(shared, part.threads, part.threads_end, at + of_clients);
    all->counted = true;
    for (int metric = 0; metric < METRICS; metric++) {
        const struct hist *theirs = (const void *)(bytes + sizeof *facts + (size_t)metric * hist);
        hist_add(stage->hist[metric], theirs);
        if (metric == METRIC_HICCUP) all->hiccup_ns = hist_quantile(theirs, 0.99);
    }
    if (add_seconds(stage, (const void *)seconds, facts->second_count) != 0)
        return err_set(err, LB_EXIT_MACHINE, "out of memory for the hosts' seconds");
    return 0;
}

/* Adds operations of the host to the history, by our clock; the history is cut off where that fails. */
static void take_history(struct gathering *all, struct message *message) {
    struct stage_history *history = all->stage->history;
    struct oplog_record *records = message->blob;
    size_t count = message->blob_bytes / sizeof *records;
    if (!history || !history->writer) return;
    for (size_t i = 0; i < count; i++) {
        records[i].begin_ns = here_ns(all, records[i].begin_ns);
        records[i].end_ns = here_ns(all, records[i].end_ns);
        records[i].lease_end_ns = here_ns(all, records[i].lease_end_ns);
    }
    /* Of a host that could not record all its operations it is not known which grants were released. */
    uint64_t dropped = message->value[0] == PIECE_LAST ? (uint64_t)message->value[1] : 0;
    if (oplog_writer_add(history->writer, records, count, dropped, &history->err) != 0)
        history->cut_off = true;
    if (message->value[0] != PIECE_LAST || message->value[2] == 0) return;
    err_set(&history->err, (int)message->value[2], "host %d (%s): %s", all->host + 1,
            all->hosts->host[all->host].name, message->text);
    history->cut_off = true;
}

/* All pieces of one host, also after one that is of no use: the host's next word is not one of them. 0, or -1 with
 * err: figures of the host are missing. */
static int take_host(struct gathering *all, struct lb_err *err) {
    struct hosts *hosts = all->hosts;
    struct lb_err why = {0};
    int64_t deadline_ns = lb_now() + GATHER_NS;
    bool ended = false;
    while (!all->whole && !ended) {
        struct message message = {.blob = NULL};
        if (hosts_hear(hosts, all->host, &message, deadline_ns) != 1) {
            hosts_lose(hosts, all->host, "its figures did not come in time");
            err_set(&why, LB_EXIT_MACHINE, "%s", hosts->host[all->host].why);
            ended = true;
        } else if (message.word == WORD_TROUBLE) {
            err_set(&why, (int)message.value[0], "%s", message.text);
            ended = true;
        } else if (message.word == WORD_PARTS) {
            if (message.value[0] == PIECE_FIGURES)
                take_figures(all, &message, &why);
            else
                take_history(all, &message);
            all->whole = message.value[0] == PIECE_LAST;
        }
        free(message.blob);
    }
    if (!why.code && all->facts.error[0]) err_set(&why, all->facts.code, "%s", all->facts.error);
    if (!why.code) return 0;
    return err_set(err, why.code, "host %d (%s): %s", all->host + 1, hosts->host[all->host].name,
                   why.text);
}

/* ---- the table of hosts ---- */

/* Figures that did not arrive from a lost host are null, and not 0. */
static json_t *host_json(const struct gathering *all) {
    const struct host *of = &all->hosts->host[all->host];
    struct host_part part = part_of(all);
    int64_t grants = 0;
    for (int i = part.clients; i < part.clients_end; i++)
        grants += (int64_t)all->shared->client[i].grants;
    return json_pack("{s:s, s:i, s:I, s:I, s:o, s:o, s:o}", "name", of->name, "clients",
                     part.clients_end - part.clients, "clock_offset_ns", (json_int_t)all->offset_ns,
                     "clock_error_ns",
                     (json_int_t)clock_error_ns(&of->clock, all->shared->go_ns, lb_now()), "grants",
                     all->counted ? json_integer((json_int_t)grants) : json_null(), "hiccup_p99_ns",
                     all->counted ? json_integer((json_int_t)all->hiccup_ns) : json_null(), "lost",
                     of->lost ? json_string(of->why) : json_null());
}

/* The greatest error of any host's clock while the load ran: the clocks were measured before it and after the drain. */
static void note_error(const struct hosts *hosts, struct stage *stage,
                       const struct shared *shared) {
    struct stage_history *history = stage->history;
    int64_t most_ns = 0;
    for (int i = 0; i < hosts->count; i++) {
        int64_t error_ns = clock_error_ns(&hosts->host[i].clock, shared->go_ns, lb_now());
        if (error_ns > most_ns) most_ns = error_ns;
    }
    if (!history) return;
    history->error_ns = most_ns < UINT32_MAX ? (uint32_t)most_ns : UINT32_MAX;
    if (!shared->split || most_ns <= UINT32_MAX) return;
    history->unclear = true;
    err_set(
        &history->err, LB_EXIT_MACHINE,
        "the clocks of the load hosts moved by %.3g s against each other: who held when is not known",
        (double)most_ns / 1e9);
}

int stage_pieces_gather(struct peers *peers, struct stage *stage, struct shared *shared,
                        struct lb_err *err) {
    struct hosts *hosts = peers->state;
    json_t *table = json_array();
    int failed = 0;
    for (int i = 0; i < hosts->count; i++) {
        const struct clock_series *clock = &hosts->host[i].clock;
        int64_t begin_ns = atomic_load(&shared->window_begin_ns);
        struct gathering all = {.hosts = hosts,
                                .stage = stage,
                                .shared = shared,
                                .host = i,
                                .offset_ns = clock_at(clock, begin_ns).offset_ns};
        if (take_host(&all, err) != 0) failed = -1;
        if (stage->history && !all.whole) stage->history->cut_off = true;
        json_array_append_new(table, host_json(&all));
    }
    note_error(hosts, stage, shared);
    /* The quantiles that a second has are those of one host. */
    for (int i = 0; i < stage->second_count; i++)
        stage->seconds[i].acquire_p50_ns = stage->seconds[i].acquire_p99_ns = -1;
    stage->result.hosts = run_stage_keep(&stage->result, table);
    return failed;
}
