/* run_read: see run_read.h. It refuses to guess: a figure of the wrong type, a negative or an
 * infinite one, or a latency without its histogram is an error with its path, never a zero. */
#define _GNU_SOURCE
#include "results/format/run_read.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/base/verdict.h"
#include "results/format/hdr.h"
#include "results/format/metric.h"
#include "results/format/tree.h"
#include "results/stats/quantile.h"

/* room for forty locks, twenty loads and twenty repeats; a report of so many stages is still
 * quick */
#define STAGES_MAX 20000
#define CLIENTS_MAX 1e7

/* 0 if the text is sound, and holds as many values as the latency's count says; -1 with err. */
static int decode_hist(const struct run_latency *latency, struct lb_err *err) {
    struct hist *hist = hdr_decode(latency->hdr, err);
    if (!hist) return -1;
    /* Values beyond the range are not in the text; the writer may have included them in count or
     * not. */
    double over = latency->over > 0 ? latency->over : 0, held = (double)hist->count;
    hist_free(hist);
    if (held == latency->count || held + over == latency->count) return 0;
    return err_set(err, LB_EXIT_USAGE, "the histogram holds %.0f values, its count says %.0f", held,
                   latency->count);
}

/* A histogram is required, since a latency without it would be taken for a whole one; and each is
 * decoded here, so that a damaged one is seen by every report, not by the page alone. */
static int check_hdr(struct tree_place *place, enum metric metric, const struct run_stage *stage) {
    const struct run_latency *latency = &stage->latency[metric];
    const char *id = stage->id ? stage->id : stage->lock;
    struct lb_err why = {0};
    char path[64];
    if (!(latency->count > 0) || (metric == METRIC_HICCUP && !latency->hdr)) return 0;
    if (latency->hdr && decode_hist(latency, &why) == 0) return 0;
    snprintf(path, sizeof path, metric == METRIC_HICCUP ? "executor.%s_ns" : "latency_ns.%s",
             metric_name(metric));
    if (!latency->hdr)
        return tree_bad(place, path,
                        "has no histogram (hdr): the file is not lockbench's own, or was cut down");
    return err_set(place->err, why.code, "%s: %s.%s.hdr (stage %.60s): %s", place->file,
                   place->where, path, id, why.text);
}

/* Clears the percentiles that so few values do not support. The reader calls it too, since it trusts no file. */
static void latency_trim(struct run_latency *latency) {
    if (!quantile_supported(latency->count, 0.5)) latency->p50 = NAN;
    if (!quantile_supported(latency->count, 0.9)) latency->p90 = NAN;
    if (!quantile_supported(latency->count, 0.99)) latency->p99 = NAN;
    if (!quantile_supported(latency->count, 0.999)) latency->p999 = NAN;
}

void run_latency_of(struct run_latency *latency, const struct hist *hist) {
    latency->count = (double)hist->count;
    latency->min = (double)hist->min;
    latency->mean = hist_mean(hist);
    latency->p50 = (double)hist_quantile(hist, 0.5);
    latency->p90 = (double)hist_quantile(hist, 0.9);
    latency->p99 = (double)hist_quantile(hist, 0.99);
    latency->p999 = (double)hist_quantile(hist, 0.999);
    latency->max = (double)hist->max;
    latency->over = (double)hist->over;
    latency_trim(latency);
}

/* ---- what is not granted ---- */

static double share_not_granted(const struct run_stage *stage) {
    double asked = stage->due > 0 ? stage->due : stage->attempts;
    if (!(asked > 0) || isnan(stage->grants)) return NAN;
    return stage->grants < asked ? 1 - stage->grants / asked : 0;
}

void run_fill_response(struct run_stage *stage, const struct hist *granted) {
    bool has_times = granted && granted->count > 0;
    stage->not_granted = share_not_granted(stage);
    if (!(stage->due > 0) || (stage->grants > 0 && !has_times)) return;
    /* There are as many times as grants, unless a worker was killed between the two counts. */
    double asked = stage->due;
    if (has_times && stage->grants > 0) asked *= (double)granted->count / stage->grants;
    stage->response_p50 = response_supported_quantile(granted, asked, 0.5);
    stage->response_p90 = response_supported_quantile(granted, asked, 0.9);
    stage->response_p99 = response_supported_quantile(granted, asked, 0.99);
    stage->response_p999 = response_supported_quantile(granted, asked, 0.999);
}

static int check_stage(struct tree_place *place, struct run_stage *stage) {
    if (!stage->lock || !*stage->lock) return tree_bad(place, "lock", "is missing");
    if (!(stage->clients >= 1 && stage->clients <= CLIENTS_MAX))
        return tree_bad(place, "clients", "is missing or absurd");
    if (stage->overlap && !json_is_object(stage->overlap))
        return tree_bad(place, "exclusion.first", "is not an object");
    for (int m = 0; m < METRICS; m++) {
        if (check_hdr(place, (enum metric)m, stage)) return -1;
        latency_trim(&stage->latency[m]);
    }
    return 0;
}

static int by_id(const void *a, const void *b) {
    const struct run_stage *x = *(const struct run_stage *const *)a,
                           *y = *(const struct run_stage *const *)b;
    int order = strcmp(x->id, y->id);
    return order ? order : (x > y) - (x < y);
}

/* A stage that is there twice would be two samples, with one log and one history. */
static int check_ids(const struct tree_place *place, const struct run *run) {
    const struct run_stage **known = malloc((size_t)run->stage_count * sizeof *known);
    int count = 0, failed = 0;
    if (!known) return err_set(place->err, LB_EXIT_MACHINE, "out of memory");
    for (int s = 0; s < run->stage_count; s++) {
        if (run->stages[s].id) known[count++] = &run->stages[s];
    }
    qsort(known, (size_t)count, sizeof *known, by_id);
    for (int i = 1; i < count && !failed; i++) {
        if (strcmp(known[i]->id, known[i - 1]->id) != 0) continue;
        failed = err_set(place->err, LB_EXIT_USAGE,
                         "%s: .stages[%td].id is \"%.60s\", as that of .stages[%td]", place->file,
                         known[i] - run->stages, known[i]->id, known[i - 1] - run->stages);
    }
    free(known);
    return failed;
}

static int check_run(struct tree_place *place, void *of) {
    struct run *run = of;
    if (run->stage_count < 1)
        return err_set(place->err, LB_EXIT_USAGE, "%s: has no stages, so nothing was measured%s%s",
                       place->file, run->partial_reason ? ": " : "",
                       run->partial_reason ? run->partial_reason : "");
    for (int i = 0; i < run->stage_count; i++) {
        snprintf(place->where, sizeof place->where, ".stages[%d]", i);
        if (check_stage(place, &run->stages[i])) return -1;
    }
    return check_ids(place, run);
}

static const struct result_field server_fields[] = {
    ROW(run_server, TEXT, backend, "backend", .help = "name of the backend"),
    ROW(run_server, TEXT, topology, "topology",
        .help = "servers that were started; url, or embedded for none"),
    ROW(run_server, TEXT, durability, "durability", .help = "how they keep their data, in words"),
    ROW(run_server, TEXT, started_by, "started_by", .words = "lockbench url embedded",
        .help = "who started them"),
    ROW(run_server, TEXT, url, "url", .help = "the URL, without the password"),
    ROW(run_server, FLAG, wired, "wired",
        .help = "their clients, or their nodes, are connected through a proxy"),
    ROW(run_server, FREE, facts, "facts",
        .help = "the servers' facts about themselves: {version, ...}"),
    {.path = NULL},
};

static const struct result_field skip_fields[] = {
    ROW(run_skip, TEXT, lock, "lock", .help = "the lock that was left out"),
    ROW(run_skip, TEXT, backend, "backend", .help = "its backend"),
    ROW(run_skip, TEXT, reason, "reason", .help = "why it was left out"),
    ROW(run_skip, TEXT, install, "install", .help = "the package that is missing"),
    {.path = NULL},
};

static const struct result_field slo_fields[] = {
    ROW(run_slo, TEXT, slo, "slo", .help = "the promise as it was written"),
    ROW(run_slo, TEXT, lock, "lock", .help = "the lock that it is about"),
    ROW(run_slo, TEXT, topology, "topology",
        .help = "servers that it ran on, as topology of its stages, with +rtt-5ms after the name "
                "if a wire led to them; null for none"),
    ROW(run_slo, COUNT, clients, "clients", .help = "clients that shared the lock"),
    ROW(run_slo, COUNT, readers, "readers", .unit = "%",
        .help = "part of the attempts that were readers'"),
    ROW(run_slo, NS, lease_ns, "lease_ns",
        .help = "lease that was asked for, where acquire.lease has several values; null elsewhere"),
    ROW(run_slo, REAL, rate_per_s, "rate_per_s", .unit = "1/s",
        .help = "rate of arrivals, if it is not that of the workload"),
    ROW(run_slo, COUNT, repeats, "repeats", .help = "stages that were judged together"),
    ROW(run_slo, TEXT, unit, "unit",
        .help = "unit of figure, low, high and limit: ns, %, 1/s, bytes; null = a plain number"),
    ROW(run_slo, SIGNED, figure, "figure",
        .help =
            "the measured figure, the median over the repeats; null = not measured, or never, or a "
            "quantile that so few requests can't show"),
    ROW(run_slo, FLAG, never, "never",
        .help = "the quantile lies among requests that were never granted"),
    ROW(run_slo, SIGNED, low, "low",
        .help = "lower end of the figure's interval; null = not known"),
    ROW(run_slo, SIGNED, high, "high", .help = "upper end of it"),
    ROW(run_slo, SIGNED, limit, "limit", .help = "the limit that was promised"),
    ROW(run_slo, TEXT, verdict, "verdict", .words = PROMISE_WORDS, .closed = true,
        .help = "unsure: the samples are too few, or scatter too much, to decide with 95 % "
                "confidence"),
    ROW(run_slo, TEXT, basis, "basis",
        .help = "the basis of the verdict: repeats, seconds of one run, one figure"),
    {.path = NULL},
};

static const struct result_field host_fields[] = {
    NO_MEMBER(TEXT, "name", .help = "its name"),
    NO_MEMBER(FREE, "environment",
              .help = "of the machine, as .environment, without hostname_hash; empty = not known"),
    {.path = NULL},
};

const struct result_field *run_slo_fields(void) {
    return slo_fields;
}

static const struct result_field run_fields[] = {
    RESULT_HEAD_ROWS(run),
    ROW(run, TEXT, verdict, "verdict", .words = VERDICT_WORDS_RUN, .closed = true,
        .help = "the worst of the run's findings, as the exit code says it",
        .more =
            "violated: a lock that claims to exclude did not, or a control that was chosen by "
            "name. expired: holders of a real lock outlived their leases, and nothing worse. "
            "control-missed: a control was not caught, so the checks can't be trusted. stuck: a "
            "real lock left keys that are free but that no client gets any more. starved: "
            "clients of a real lock waited until the drain limit ended their waits. "
            "nothing-granted: no request of a measured window was granted. untested: nothing was "
            "wrong, but no client of a lock ever had to wait for another holder. If several "
            "apply, the first of these counts: violated, control-missed, expired, stuck, starved."),
    ROW(run, FLAG, paired, "paired",
        .help =
            "the repeats are rounds over all servers, which stayed up, so that the stages of one "
            "repeat can be compared with each other"),
    ROW(run, FREE, plan, "plan", .help = "every workload key with its value, defaults filled in"),
    ROW(run, TEXT, workload, "plan.workload.name", .help = "name of the workload"),
    ROW(run, TEXT, summary, "plan.workload.summary", .help = "what it measures"),
    ROW(run, FREE, environment, "environment",
        .help = "hostname_hash, kernel, cpu_model, cpus, cpus_usable, memory_bytes, "
                "clock_source, libc, compiler, build; and what spoils "
                "measurements: governor, turbo, cpus_allowed, cpu_quota, "
                "sched_autogroup, load_before, advice",
        .more =
            "cpus_usable: the part of cpus that affinity (cpus_allowed) and the quota "
            "of control groups (cpu_quota, in processors) leave. sched_autogroup: Linux schedules by sessions (\"1\"). "
            "load_before: the load of the minute before. advice: a sentence for each that may spoil the figures."),
    ROW(run, OBJECTS, hosts, "hosts", .items = host_fields, .most = RUN_HOSTS_MAX,
        .help = "the load hosts, which had the clients, in the order of .stages[].hosts; "
                "empty = the machine of .environment had them"),
    LIST_ROW(run, servers, server_count, "servers", .items = server_fields,
             .help = "the servers that were measured"),
    LIST_ROW(run, skips, skip_count, "skipped", .items = skip_fields,
             .help = "the locks that were left out"),
    LIST_ROW(run, slos, slo_count, "slo", .items = slo_fields,
             .help = "the promises (--slo, or [slo] of the workload), each for each lock and load; "
                     "empty = none, or the run was cut off before they were judged"),
    ROW(run, TEXTS, warnings, "warnings", .help = "sentences to be read beside the figures"),
    LIST_ROW(run, stages, stage_count, "stages",
             .most = STAGES_MAX, /* their table is stage.def's */
             .help = "one for each lock x topology x clients x readers x repeat, in the order in "
                     "which they ran"),
    {.path = NULL},
};

const struct result_document run_document = {
    .file = "run.json",
    .schema = RUN_SCHEMA,
    .kind = "lockbench run",
    .about = "The result of `lockbench run`: everything that reports need.",
    .fields = run_fields,
    .bytes = sizeof(struct run),
    .check = check_run,
};

struct run *run_parse(const char *text, size_t length, const char *path, struct lb_err *err) {
    json_t *root = tree_parse(text, length, path, run_document.kind, err);
    return tree_document(&run_document, root, path, err);
}

struct run *run_from_json(json_t *root, const char *path, struct lb_err *err) {
    return tree_document(&run_document, json_incref(root), path, err);
}

struct run *run_read(const char *path, struct lb_err *err) {
    return tree_read(&run_document, path, err);
}

void run_free(struct run *run) {
    tree_free(&run_document, run);
}

/* --- several runs --- */

static int add_run(struct run ***runs, int *count, const char *path, struct lb_err *err) {
    struct run **more = realloc(*runs, (size_t)(*count + 1) * sizeof **runs);
    if (!more) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    *runs = more;
    more[*count] = run_read(path, err);
    if (!more[*count]) return -1;
    ++*count;
    return 0;
}

static bool has_run(const char *folder) {
    char *file = NULL;
    bool has = asprintf(&file, "%s/run.json", folder) >= 0 && access(file, F_OK) == 0;
    free(file);
    return has;
}

static bool is_folder(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Uses lstat, because not every file system fills in d_type. */
static bool is_link(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
}

/* The folder of a comparison has two folders of runs. */
static bool has_sides(const char *folder) {
    char *base = NULL, *new = NULL;
    bool has = asprintf(&base, "%s/base", folder) >= 0 && asprintf(&new, "%s/new", folder) >= 0 &&
               is_folder(base) && is_folder(new);
    free(base);
    free(new);
    return has;
}

/* A folder without a run.json of its own is a folder of runs. Links (results/latest) are skipped,
 * because they would count a run twice. */
static int add_folder(struct run ***runs, int *count, const char *path, struct lb_err *err) {
    struct dirent **entries = NULL;
    int found = scandir(path, &entries, NULL, alphasort), before = *count, failed = 0;
    for (int i = 0; i < found; i++) {
        char *inner = NULL;
        if (!failed && entries[i]->d_name[0] != '.' &&
            asprintf(&inner, "%s/%s", path, entries[i]->d_name) >= 0 && !is_link(inner) &&
            has_run(inner)) {
            failed = add_run(runs, count, inner, err);
        }
        free(inner);
        free(entries[i]);
    }
    free(entries);
    if (!failed && *count == before) {
        return err_set(err, LB_EXIT_USAGE,
                       "%s: neither a run nor a folder of runs: no run.json in it%s", path,
                       has_sides(path) ? ", but it has two sides: name its base or its new" : "");
    }
    return failed;
}

int run_read_all(const char *const *paths, int path_count, struct run ***runs, int *count,
                 struct lb_err *err) {
    for (int i = 0; i < path_count; i++) {
        bool many = is_folder(paths[i]) && !has_run(paths[i]);
        if ((many ? add_folder : add_run)(runs, count, paths[i], err) != 0) return -1;
    }
    return 0;
}
