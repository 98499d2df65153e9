/* stage_pieces: see stage_pieces.h. */
#include "bench/run/stage_hosts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/load/parts.h"
#include "bench/run/stage_history.h"
#include "results/format/hlog.h"
#include "results/format/write.h"

#define GATHER_NS (120 * LB_S_NS) /* for all that a host has, as long as it goes on sending */
#define RECORDS_AT_ONCE 20000     /* of a history, in a message of a megabyte */
#define PATH_BYTES 800

/* The pieces that a load host sends, each in a message. For a log, and for a history's end: text = why it is missing or
 * incomplete, value[2] = the exit code for that; 0 = it is whole. */
enum piece {
    PIECE_MEMORY,
    PIECE_HISTOGRAMS,
    PIECE_STAGE,
    PIECE_LOG,
    PIECE_HISTORY,     /* several */
    PIECE_HISTORY_END, /* value[1] = operations that were dropped */
    PIECE_LAST
};

/* Further figures of a load host's stage; its seconds follow. */
struct facts {
    int64_t stolen_ns, window_ns, drain_ns, wall_largest_ns;
    int32_t second_count, code;
    double idle_s;
    char error[200]; /* "" = the host's part of the stage is whole */
};

/* ---- a load host ---- */

static int send_piece(struct hosts *hosts, enum piece piece, void *bytes, size_t length,
                      struct lb_err *err) {
    struct message message = {
        .word = WORD_PARTS, .value = {piece}, .blob = bytes, .blob_bytes = length};
    return hosts_report(hosts, &message, err);
}

static int write_memory(const struct stage *stage, const struct shared *shared, FILE *out) {
    (void)stage;
    return parts_write(shared, out);
}

static int write_histograms(const struct stage *stage, const struct shared *shared, FILE *out) {
    (void)shared;
    size_t bytes = hist_bytes(HIST_DIGITS, HIST_HIGHEST_NS);
    for (int metric = 0; metric < METRICS; metric++) {
        if (fwrite(stage->hist[metric], bytes, 1, out) != 1) return -1;
    }
    return 0;
}

static int write_facts(const struct stage *stage, const struct shared *shared, FILE *out) {
    (void)shared;
    struct facts facts = {.stolen_ns = stage->stolen_ns,
                          .window_ns = stage->window_ns,
                          .drain_ns = stage->drain_ns,
                          .wall_largest_ns = stage->wall_largest_ns,
                          .second_count = stage->second_count,
                          .idle_s = stage->result.idle_s};
    if (stage->status != STAGE_COMPLETE) {
        facts.code = stage->err.code;
        snprintf(facts.error, sizeof facts.error, "%.190s", stage->err.text);
    }
    size_t count = (size_t)stage->second_count;
    if (fwrite(&facts, sizeof facts, 1, out) != 1) return -1;
    return count == 0 || fwrite(stage->seconds, sizeof *stage->seconds, count, out) == count ? 0
                                                                                             : -1;
}

typedef int piece_writer(const struct stage *stage, const struct shared *shared, FILE *out);

static int deliver_piece(struct hosts *hosts, enum piece piece, piece_writer *write,
                         const struct stage *stage, const struct shared *shared,
                         struct lb_err *err) {
    char *bytes = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&bytes, &length);
    int failed = !out || write(stage, shared, out) != 0;
    if (out && fclose(out) != 0) failed = 1;
    failed = failed ? err_set(err, LB_EXIT_MACHINE, "out of memory for what was measured")
                    : send_piece(hosts, piece, bytes, length, err);
    free(bytes);
    return failed;
}

/* A piece that may be incomplete, and why. */
static int send_flawed(struct hosts *hosts, struct message *message, const struct lb_err *why,
                       struct lb_err *err) {
    message->word = WORD_PARTS;
    message->value[2] = why->code;
    snprintf(message->text, sizeof message->text, "%.230s", why->text);
    return hosts_report(hosts, message, err);
}

static int deliver_log(struct hosts *hosts, const struct stage *stage, const char *path,
                       struct lb_err *err) {
    struct lb_err why = stage->log_err;
    FILE *file = fopen(path, "re");
    char *bytes = NULL;
    long length = -1;
    if (file && fseek(file, 0, SEEK_END) == 0) length = ftell(file);
    if (length >= 0) bytes = malloc((size_t)length + 1);
    if (bytes) rewind(file);
    if (!bytes || fread(bytes, 1, (size_t)length, file) != (size_t)length) {
        length = 0;
        err_set(&why, LB_EXIT_MACHINE, "its log can't be read back");
    }
    struct message log = {.value = {PIECE_LOG}, .blob = bytes, .blob_bytes = (size_t)length};
    int failed = send_flawed(hosts, &log, &why, err);
    free(bytes);
    if (file) fclose(file);
    return failed;
}

static int send_records(struct hosts *hosts, const struct oplog_record *records, size_t count,
                        struct lb_err *err) {
    int failed = 0;
    for (size_t at = 0; at < count && !failed; at += RECORDS_AT_ONCE) {
        size_t some = count - at < RECORDS_AT_ONCE ? count - at : RECORDS_AT_ONCE;
        failed = send_piece(hosts, PIECE_HISTORY, (void *)(uintptr_t)(records + at),
                            some * sizeof *records, err);
    }
    return failed;
}

/* Sends the records in the history's file. why: the reason, if the file can't be read back. */
static int deliver_file(struct hosts *hosts, const struct stage_history *history,
                        struct lb_err *why, struct lb_err *err) {
    struct oplog_file file;
    if (!history->writer || oplog_reopen(&file, history->writer, why) != 0) return 0;
    int failed = send_records(hosts, file.records, file.count, err);
    oplog_close(&file);
    return failed;
}

/* Sends the records that the file could not take, which are still in the rings. */
static int deliver_rings(struct hosts *hosts, const struct oplog *oplog, struct lb_err *err) {
    for (int i = 0; i <= oplog->threads; i++) {
        const struct oplog_record *records;
        uint64_t tail = atomic_load(&oplog->rings[i].tail);
        for (size_t count; (count = oplog_rest(&oplog->rings[i], &tail, &records)) > 0;) {
            if (send_records(hosts, records, count, err) != 0) return -1;
        }
    }
    return 0;
}

static int deliver_history(struct hosts *hosts, const struct stage *stage,
                           const struct shared *shared, struct lb_err *err) {
    struct lb_err why = {0};
    if (!shared->oplog) return 0;
    if (!stage->history) {
        err_set(&why, LB_EXIT_MACHINE, "out of memory for the history");
    } else {
        why = stage->history->err;
        if (deliver_file(hosts, stage->history, &why, err) != 0) return -1;
    }
    if (deliver_rings(hosts, shared->oplog, err) != 0) return -1;
    struct message end = {.value = {PIECE_HISTORY_END, (int64_t)oplog_dropped(shared->oplog)}};
    return send_flawed(hosts, &end, &why, err);
}

int stage_pieces_deliver(struct hosts *hosts, const struct stage *stage,
                         const struct shared *shared, const char *hlog_path, struct lb_err *err) {
    static const struct {
        enum piece piece;
        piece_writer *write;
    } pieces[] = {{PIECE_MEMORY, write_memory},
                  {PIECE_HISTOGRAMS, write_histograms},
                  {PIECE_STAGE, write_facts}};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        if (deliver_piece(hosts, pieces[i].piece, pieces[i].write, stage, shared, err) != 0)
            return -1;
    }
    if (deliver_log(hosts, stage, hlog_path, err) != 0) return -1;
    if (deliver_history(hosts, stage, shared, err) != 0) return -1;
    return send_piece(hosts, PIECE_LAST, NULL, 0, err);
}

/* ---- the coordinator ---- */

/* The log of a host while it is read. */
struct host_log {
    struct hlog_reader *reader; /* NULL = there is none */
    struct hlog_line line;
    bool has_line; /* the next one */
};

/* The gathering. */
struct gathering {
    struct hosts *hosts;
    struct stage *stage;
    struct shared *shared;
    struct harvest *harvest;
    int host; /* whose pieces come */
    struct facts facts[HOSTS_MAX];
    bool whole[HOSTS_MAX];   /* all its pieces came */
    bool counted[HOSTS_MAX]; /* its memory came, with its clients' and threads' figures */
    bool timed[HOSTS_MAX];   /* its histograms came */
    int64_t lag[HOSTS_MAX], hiccup[HOSTS_MAX]; /* p99 */
    struct host_log log[HOSTS_MAX];
    bool logs_missing; /* the log of a host, or some of it */
};

static struct clock_offset clock_of(const struct gathering *all, int host) {
    return clock_at(&all->hosts->host[host].clock, atomic_load(&all->shared->window_begin_ns));
}

/* Why a host's log or history is incomplete goes to ret, unless that has an error already. False: it is whole. */
static bool take_flaw(const struct gathering *all, const struct message *message,
                      struct lb_err *ret) {
    if (message->value[2] == 0) return false;
    err_set(ret, (int)message->value[2], "host %d (%s): %s", all->host + 1,
            all->hosts->host[all->host].name, message->text);
    return true;
}

static int take_memory(struct gathering *all, const struct message *message, struct lb_err *err) {
    int failed = parts_add(all->shared, all->host, clock_of(all, all->host).offset_ns,
                           message->blob, message->blob_bytes, err);
    all->counted[all->host] = !failed;
    return failed;
}

static int take_histograms(struct gathering *all, const struct message *message,
                           struct lb_err *err) {
    size_t bytes = hist_bytes(HIST_DIGITS, HIST_HIGHEST_NS);
    if (message->blob_bytes != bytes * METRICS)
        return err_set(err, LB_EXIT_MACHINE, "its histograms are of another size");
    for (int metric = 0; metric < METRICS; metric++) {
        const struct hist *theirs =
            (const void *)((const char *)message->blob + (size_t)metric * bytes);
        hist_add(all->stage->hist[metric], theirs);
        if (metric == METRIC_LAG) all->lag[all->host] = hist_quantile(theirs, 0.99);
        if (metric == METRIC_HICCUP) all->hiccup[all->host] = hist_quantile(theirs, 0.99);
    }
    all->timed[all->host] = true;
    return 0;
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

static int take_facts(struct gathering *all, const struct message *message, struct lb_err *err) {
    struct facts *facts = &all->facts[all->host];
    struct stage *stage = all->stage;
    if (message->blob_bytes < sizeof *facts)
        return err_set(err, LB_EXIT_MACHINE, "its figures are cut off");
    memcpy(facts, message->blob, sizeof *facts);
    const char *seconds = (const char *)message->blob + sizeof *facts;
    size_t left = message->blob_bytes - sizeof *facts;
    if (facts->second_count < 0 ||
        left != (size_t)facts->second_count * sizeof(struct stage_second))
        return err_set(err, LB_EXIT_MACHINE, "its seconds are cut off");
    if (add_seconds(stage, (const void *)seconds, facts->second_count) != 0)
        return err_set(err, LB_EXIT_MACHINE, "out of memory for the hosts' seconds");
    /* The worst host decides what may have blurred the figures. */
    if (facts->stolen_ns > stage->stolen_ns) stage->stolen_ns = facts->stolen_ns;
    if (facts->drain_ns > stage->drain_ns) stage->drain_ns = facts->drain_ns;
    if (facts->wall_largest_ns > stage->wall_largest_ns)
        stage->wall_largest_ns = facts->wall_largest_ns;
    return 0;
}

/* "001-redis-setnx.host-2.hlog", beside the stage's own log. */
static void name_log(const struct gathering *all, int host, char *path) {
    const char *own = all->harvest->ask->hlog_path;
    size_t length = strlen(own);
    int stem = length > 5 && strcmp(own + length - 5, ".hlog") == 0 ? (int)length - 5 : (int)length;
    snprintf(path, PATH_BYTES, "%.*s.host-%d.hlog", stem, own, host + 1);
}

/* The stage goes on without the log. */
static void take_log(struct gathering *all, const struct message *message) {
    char path[PATH_BYTES];
    all->logs_missing |= take_flaw(all, message, &all->stage->log_err);
    all->logs_missing |= !all->harvest->ask->hlog_path;
    if (!all->harvest->ask->hlog_path) return;
    name_log(all, all->host, path);
    FILE *file = fopen(path, "we");
    size_t bytes = message->blob_bytes;
    bool written = file && (bytes == 0 || fwrite(message->blob, bytes, 1, file) == 1);
    if (file && fclose(file) != 0) written = false;
    all->logs_missing |= !written;
    if (!written) err_set(&all->stage->log_err, LB_EXIT_MACHINE, "cannot write %s", path);
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
static void take_history_end(struct gathering *all, const struct message *message) {
    struct stage_history *history = all->stage->history;
    if (!history || !history->writer) return;
    if (take_flaw(all, message, &history->err)) history->cut_off = true;
    add_history(history, NULL, 0, (uint64_t)message->value[1]);
}

/* 0, or -1 with err: figures of the host are missing. */
static int take_piece(struct gathering *all, struct message *message, struct lb_err *err) {
    switch ((enum piece)message->value[0]) {
    case PIECE_MEMORY:
        return take_memory(all, message, err);
    case PIECE_HISTOGRAMS:
        return take_histograms(all, message, err);
    case PIECE_STAGE:
        return take_facts(all, message, err);
    case PIECE_LOG:
        take_log(all, message);
        return 0;
    case PIECE_HISTORY:
        take_history(all, message);
        return 0;
    case PIECE_HISTORY_END:
        take_history_end(all, message);
        return 0;
    default:
        all->whole[all->host] = true;
        return 0;
    }
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

/* ---- the logs ---- */

static void next_line(struct host_log *log) {
    struct lb_err unread = {0}; /* a log that is not there, or cut, has its own message */
    log->has_line = log->reader && hlog_next(log->reader, &log->line, &unread) == 1;
}

static void open_logs(struct gathering *all) {
    struct lb_err unread = {0};
    for (int host = 0; host < all->hosts->count; host++) {
        char path[PATH_BYTES];
        if (!all->whole[host]) continue;
        name_log(all, host, path);
        all->log[host].reader = hlog_open(path, &unread);
        next_line(&all->log[host]);
    }
}

/* Adds a host's next interval, which has its metrics in their order. Returns its length; -1 = it has no more. */
static int64_t add_interval(struct host_log *log, struct hist *const *interval) {
    int64_t length_ns = -1;
    for (int last = -1; log->has_line; next_line(log)) {
        int metric = (int)metric_named(log->line.tag);
        if (metric == METRICS) continue;
        if (metric <= last) break;
        last = metric;
        hist_add(interval[metric], log->line.hist);
        if (log->line.length_ns > length_ns) length_ns = log->line.length_ns;
    }
    return length_ns;
}

/* Gives the second the quantiles of all hosts. */
static void mend_second(struct stage *stage, int index, struct hist *const *merged) {
    if (index >= stage->second_count || stage->seconds[index].draining) return;
    struct stage_second *second = &stage->seconds[index];
    second->acquire_p50_ns = hist_quantile(merged[METRIC_ACQUIRE], 0.5);
    second->acquire_p99_ns = hist_quantile(merged[METRIC_ACQUIRE], 0.99);
    second->due_mean_ns = hist_mean(merged[METRIC_ACQUIRE_DUE]);
}

/* The quantiles that a second has are those of some hosts only. */
static void forget_quantiles(struct stage *stage) {
    for (int i = 0; i < stage->second_count; i++) {
        stage->seconds[i].acquire_p50_ns = stage->seconds[i].acquire_p99_ns = -1;
        stage->seconds[i].due_mean_ns = NAN;
    }
}

/* Adds up the hosts' logs, interval by interval, and writes the stage's own. Each log is read once. */
static void add_logs(struct gathering *all) {
    struct harvest *harvest = all->harvest;
    int64_t begin_ns = atomic_load(&all->shared->window_begin_ns);
    if (!harvest->ask->hlog_path) return;
    open_logs(all);
    for (int interval = 0;; interval++) {
        int64_t length_ns = -1;
        for (int host = 0; host < all->hosts->count; host++) {
            int64_t theirs_ns = add_interval(&all->log[host], harvest->interval);
            if (theirs_ns > length_ns) length_ns = theirs_ns;
        }
        if (length_ns < 0) break;
        mend_second(all->stage, interval, harvest->interval);
        harvest_write(harvest, begin_ns, begin_ns + length_ns);
        begin_ns += length_ns;
    }
    for (int host = 0; host < all->hosts->count; host++) hlog_close(all->log[host].reader);
}

/* ---- the table of hosts ---- */

/* Figures from one host's memory. */
struct host_sum {
    int clients;
    int64_t grants;   /* of a host whose memory did not come, by its last news; -1 = not known */
    int64_t first_ns; /* when its first attempt started; 0 = not known */
    double cpu;       /* processor time a second, of a thread; below 0 = not known */
};

static struct host_sum sum_host(const struct gathering *all, int host) {
    struct shared there = *all->shared;
    there.host.self = host;
    int end, first = shared_own_clients(&there, &end);
    struct host_sum sum = {
        .clients = end - first, .grants = all->hosts->host[host].grants, .cpu = -1};
    if (!all->counted[host]) return sum;
    sum.grants = 0;
    for (int i = first; i < end; i++) sum.grants += (int64_t)there.client[i].grants;
    first = shared_own_threads(&there, &end);
    double cpu_ns = 0, span_ns = 0;
    for (int i = first; i < end; i++) {
        const struct worker_stats *worker = &there.worker[i];
        if (worker->first_start_ns && (!sum.first_ns || worker->first_start_ns < sum.first_ns))
            sum.first_ns = worker->first_start_ns;
        cpu_ns += (double)(worker->cpu.end_cpu_ns - worker->cpu.begin_cpu_ns);
        span_ns += (double)(worker->cpu.end_ns - worker->cpu.begin_ns);
    }
    if (span_ns > 0) sum.cpu = cpu_ns / span_ns;
    return sum;
}

static json_t *count_or_null(bool known, int64_t count) {
    return known ? json_integer((json_int_t)count) : json_null();
}

static json_t *share_or_null(bool known, double share) {
    return known ? json_real(share) : json_null();
}

/* Figures that did not arrive from a lost host are null, and not 0. */
static json_t *host_json(const struct gathering *all, int host) {
    const struct host *of = &all->hosts->host[host];
    const struct facts *facts = &all->facts[host];
    const struct host_sum sum = sum_host(all, host);
    double took_ns = (double)(facts->window_ns + facts->drain_ns);
    bool timed = all->timed[host];
    return json_pack(
        "{s:s, s:i, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", of->name, "clients",
        sum.clients, "clock_offset_ns", (json_int_t)clock_of(all, host).offset_ns, "clock_error_ns",
        (json_int_t)clock_error_ns(&of->clock, all->shared->go_ns, lb_now()), "start_ns",
        count_or_null(sum.first_ns != 0, sum.first_ns - all->shared->go_ns), "grants",
        count_or_null(sum.grants >= 0, sum.grants), "cpu_share",
        share_or_null(sum.cpu >= 0, sum.cpu), "lag_p99_ns", count_or_null(timed, all->lag[host]),
        "hiccup_p99_ns", count_or_null(timed, all->hiccup[host]), "stolen_share",
        share_or_null(all->whole[host] && facts->stolen_ns >= 0 && took_ns > 0,
                      took_ns > 0 ? (double)facts->stolen_ns / took_ns : 0),
        "lost", of->lost ? json_string(of->why) : json_null());
}

/* The greatest error of any host's clock while the load ran: the clocks were measured before it and after the drain. */
static void note_error(struct gathering *all) {
    int64_t from_ns = all->shared->go_ns;
    for (int i = 0; all->stage->history && i < all->hosts->count; i++) {
        int64_t error_ns = clock_error_ns(&all->hosts->host[i].clock, from_ns, lb_now());
        if (error_ns > all->stage->history->error_ns) all->stage->history->error_ns = error_ns;
    }
}

int stage_pieces_gather(struct hosts *hosts, struct stage *stage, struct shared *shared,
                        struct harvest *harvest, struct lb_err *err) {
    struct gathering *all = calloc(1, sizeof *all);
    json_t *table = json_array();
    int failed = 0;
    if (!all || !table) {
        free(all);
        json_decref(table);
        return err_set(err, LB_EXIT_MACHINE, "out of memory for the hosts' figures");
    }
    *all = (struct gathering){.hosts = hosts, .stage = stage, .shared = shared, .harvest = harvest};
    note_error(all);
    for (all->host = 0; all->host < hosts->count; all->host++) {
        if (take_host(all, err) != 0) failed = -1;
        if (stage->history && !all->whole[all->host]) stage->history->cut_off = true;
    }
    add_logs(all);
    if (all->logs_missing) forget_quantiles(stage);
    for (int i = 0; i < hosts->count; i++) json_array_append_new(table, host_json(all, i));
    stage->result.hosts = run_stage_keep(&stage->result, table);
    free(all);
    return failed;
}
