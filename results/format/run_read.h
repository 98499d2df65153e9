/* run_read: run.json as plain structs, for reports.
 *
 * The file may come from anywhere, so nothing in it is trusted: types, ranges and the schema are
 * checked, and the first error is reported with its path. Members that the schema does not know are
 * ignored, since additions keep the schema's number. This code computes nothing and knows no
 * server. */
#ifndef RESULTS_FORMAT_RUN_READ_H
#define RESULTS_FORMAT_RUN_READ_H

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "bench/base/err.h"
#include "results/format/field.h"
#include "results/format/hist.h"
#include "results/format/metric.h"

#define RUN_SCHEMA "lockbench.run/2"

/* A figure that was not measured is NAN, an absent text is NULL. Every figure is a double:
 * run.json's greatest whole numbers (an hour in ns, a count of grants) are far below 2^53. */

/* Times in ns. hdr is V2 text, NULL if the file's object was null. */
struct run_latency {
    double count, min, mean, p50, p90, p99, p999, max, over;
    const char *hdr;
};

/* The type of a member, by the kind of its row. */
#define FIELD_MEMBER_TEXT const char *
#define FIELD_MEMBER_TEXT_OR_COUNT const char *
#define FIELD_MEMBER_FLAG bool
#define FIELD_MEMBER_COUNT double
#define FIELD_MEMBER_NS double
#define FIELD_MEMBER_NS_OR_NEVER double
#define FIELD_MEMBER_REAL double
#define FIELD_MEMBER_REAL_NS double
#define FIELD_MEMBER_SIGNED double
#define FIELD_MEMBER_TEXTS const json_t *
#define FIELD_MEMBER_NUMBERS const json_t *
#define FIELD_MEMBER_OBJECTS const json_t *
#define FIELD_MEMBER_ANY const json_t *

/* A stage: a member for each row of stage.def, of the type that its kind says. The sum of a stage
 * (bench/stage/stage_sum.c) fills it, and a reader of run.json gets it. */
struct run_stage {
#define STAGE_MEMBERS
#define FIELD(kind, member, ...) FIELD_MEMBER_##kind member;
#define OBJECT(...)
#define LATENCY(...)
#include "results/format/stage.def"
#undef STAGE_MEMBERS
    struct run_latency latency[METRICS];
    json_t *kept; /* for a stage that was not read: owns the texts and json_t above; may be NULL */
};

struct run_server {
    const char *backend, *topology, *durability, *started_by, *url;
    bool wired;          /* its clients, or its nodes, are connected through a proxy */
    const json_t *facts; /* object of texts, or NULL */
};

struct run_skip {
    const char *lock, *backend, *reason, *install;
};

/* One promise of a run (--slo), for one lock under one load. */
struct run_slo {
    const char *slo, *lock, *topology, *verdict, *basis, *unit;
    double clients, readers, lease_ns, rate_per_s, repeats, figure, low, high, limit;
    bool never; /* the figure is a quantile that is among requests that were never granted */
};

#define RUN_HOSTS_MAX 256 /* load hosts of a run */

struct run {
    RESULT_HEAD
    const char *verdict, *workload, *summary;
    bool paired; /* the stages of one repeat can be compared with each other */
    const json_t *plan, *environment, *hosts, *warnings; /* NULL when absent */
    struct run_stage *stages;
    int stage_count;
    struct run_server *servers;
    int server_count;
    struct run_skip *skips;
    int skip_count;
    struct run_slo *slos;
    int slo_count;
};

/* Reads a run: its folder or its run.json. NULL with err (LB_EXIT_USAGE), which names the file, the
 * place in it and the error. The caller frees the result with run_free. */
struct run *run_read(const char *path, struct lb_err *err);

/* The same from text; path is only for messages and run->path. */
struct run *run_parse(const char *text, size_t length, const char *path, struct lb_err *err);

/* The same for a parsed document, of which the run takes a reference of its own. */
struct run *run_from_json(json_t *root, const char *path, struct lb_err *err);

/* NULL is allowed. Everything that was borrowed from the run becomes invalid. */
void run_free(struct run *run);

/* Fills in stage->not_granted from the stage's counts, and stage->response_* of an open loop from
 * them and from the histogram of METRIC_ACQUIRE_DUE, which may be NULL (see metric.h). Figures
 * stay NAN if their counts or their histogram are missing, and so does a percentile that so few
 * requests do not support. */
void run_fill_response(struct run_stage *stage, const struct hist *granted);

/* Fills in all but hdr from a histogram with values; percentiles that so few values do not support stay NAN. */
void run_latency_of(struct run_latency *latency, const struct hist *hist);

/* The members of an element of .slo. */
const struct result_field *run_slo_fields(void);

/* The parts of a latency object; their paths are relative to it. */
const struct result_field *run_latency_fields(void);

/* --- several runs ---
 *
 * From files and folders, as users name them: a run's folder or its run.json, or a folder of
 * runs, two of which `lockbench run --against` makes. */

/* Adds the runs that paths name, or that lie in the folders that they name, in the order of their names there, to an
 * array, which may be NULL and grows. Returns 0, or -1 with err; in either case the caller frees the runs that were
 * read, and the array. */
int run_read_all(const char *const *paths, int path_count, struct run ***runs, int *count,
                 struct lb_err *err);

/* --- waits that no percentile of acquire has --- */

#define UNRECORDED_SHARE 0.1 /* of the time waited: so much changes the mean, and most of all p99 */

static inline double unrecorded_sum_ns(const struct run_latency *latency) {
    return latency->count > 0 ? latency->count * latency->mean : 0;
}

/* The share of the clients' waiting time in the window that is in no percentile of acquire, because a wait that began
 * in the warm-up is not recorded. It is the least possible share: recorded waits count with their whole length,
 * including the part after the window. The time to open an attempt's own session is not part of these waits. NAN = not
 * known, or no closed loop. */
static inline double unrecorded_share(const struct run_stage *stage) {
    double waited_ns = stage->state_waiting_ns;
    if (!stage->arrival || strcmp(stage->arrival, "closed") != 0) return NAN;
    double recorded_ns = unrecorded_sum_ns(&stage->latency[METRIC_ACQUIRE]) +
                         unrecorded_sum_ns(&stage->latency[METRIC_WAIT_FAILED]);
    return waited_ns > 0 ? 1 - recorded_ns / waited_ns : NAN;
}

/* Less than this decides nothing: in a short window each switch of processes would be a limit. */
#define STOOD_LEAST_NS 20e6
#define STALLED_LEAST 10
#define STOOD_SHARE 0.01

/* Whether the load generator itself stood still for so much of the window that latencies show it. NAN = not known, or no
 * open loop. */
static inline bool run_stood_still(const struct run_stage *stage) {
    return (stage->stood_still_ns >= STOOD_LEAST_NS &&
            stage->stood_still_ns > STOOD_SHARE * 1e9 * stage->duration_s) ||
           (stage->stalled >= STALLED_LEAST && stage->stalled > STOOD_SHARE * stage->due);
}

/* "at least N %": never rounded up. */
static inline double unrecorded_per_cent(double share) {
    return floor(100 * share + 1e-6);
}

#endif
