/* run_read: run.json as plain structs, for reports.
 *
 * The file may come from anywhere, so nothing in it is trusted: types, ranges and the schema are
 * checked and the first thing that is wrong is named with its path. What the schema does not know
 * is ignored, since additions keep the schema's number. It computes nothing and knows no server. */
#ifndef RESULTS_FORMAT_RUN_READ_H
#define RESULTS_FORMAT_RUN_READ_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "bench/base/err.h"
#include "results/format/field.h"
#include "results/format/hist.h"
#include "results/format/metric.h"

#define RUN_SCHEMA "lockbench.run/1"

/* A figure that was not measured is NAN, a text that is not there is NULL. Every figure is a
 * double: run.json's greatest whole numbers (an hour in ns, a count of grants) are far below
 * 2^53. */

/* Times in ns. hdr is V2 text, NULL when the file's object was null. */
struct run_latency {
    double count, min, mean, p50, p90, p99, p999, max, over;
    const char *hdr;
};

/* Who held a key and who came in too, as the checker saw the first overlap. Clock in ns, its zero
 * unknown. */
struct run_holder {
    double client, acquired_ns, lease_end_ns, token;
};

/* The type of a member, by its row's kind. */
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

/* A stage: a member for each row of stage.def, of the type that its kind says. It is what the sum of
 * a stage fills in (bench/run/stage_sum.c) and what a reader of run.json gets. */
struct run_stage {
#define STAGE_MEMBERS
#define FIELD(kind, member, ...) FIELD_MEMBER_##kind member;
#define OBJECT(...)
#define LATENCY(...)
#include "results/format/stage.def"
#undef STAGE_MEMBERS
    struct run_latency latency[METRICS];
    bool has_overlap; /* of a stage that was read: the three below are filled */
    double overlap_key;
    struct run_holder holder, intruder;
    json_t *kept; /* of a stage that was not read: owns texts and json_t above; may be NULL */
};

struct run_server {
    const char *backend, *topology, *durability, *started_by, *url;
    bool wired;          /* its clients, or its nodes, go through a proxy */
    const json_t *facts; /* object of texts, or NULL */
};

struct run_skip {
    const char *lock, *backend, *reason, *install;
};

/* One promise of a run (--slo), for one lock under one load. */
struct run_slo {
    const char *slo, *lock, *topology, *verdict, *basis, *unit;
    double clients, readers, rate_per_s, repeats, figure, low, high, limit;
    bool never; /* the figure is a quantile that lies among what was never granted */
};

struct run {
    char *path; /* of the file, for messages */
    char *dir;  /* its folder */
    const char *tool_name, *tool_version, *command, *started_at, *ended_at, *partial_reason,
        *verdict;
    const char *workload, *summary;
    bool partial;
    const json_t *plan, *environment, *warnings, *canary; /* NULL when absent */
    struct run_stage *stages;
    int stage_count;
    struct run_server *servers;
    int server_count;
    struct run_skip *skips;
    int skip_count;
    struct run_slo *slos;
    int slo_count;
    json_t *root; /* owns every text and json_t above */
};

/* Reads a run: its folder or its run.json. NULL with err (LB_EXIT_USAGE): which file, where in it,
 * what is wrong. The caller run_frees. */
struct run *run_read(const char *path, struct lb_err *err);

/* The same from text; path is only for messages and run->path. */
struct run *run_parse(const char *text, size_t length, const char *path, struct lb_err *err);

/* The same from a document that was parsed already, of which it takes a reference of its own. */
struct run *run_from_json(json_t *root, const char *path, struct lb_err *err);

/* Takes NULL. Everything borrowed from the run is gone with it. */
void run_free(struct run *run);

/* Fills in stage->not_granted from the stage's counts, and stage->response_* of an open loop from
 * them and from the histogram of METRIC_ACQUIRE_DUE, which may be NULL (see response.h). What was
 * measured without its counts or without its histogram stays NAN, and so does a percentile that so
 * few requests do not support. */
void run_fill_response(struct run_stage *stage, const struct hist *granted);

/* The histogram of a metric, decoded; the caller hist_frees. *ret_hist = NULL when nothing was
 * recorded. 0, or -1 with err (LB_EXIT_USAGE) when the text is not sound or disagrees with the
 * metric's count. */
int run_latency_hist(const struct run *run, const struct run_stage *stage, enum metric metric,
                     struct hist **ret_hist, struct lb_err *err);

/* Clears the percentiles that so few values do not support (quantile_supported). Whoever fills in a
 * latency calls this last, and so does the reader, for files that are older than the rule. */
void run_latency_trim(struct run_latency *latency);

/* The rows of stage.def, in its order. They end with a path of NULL; any thread may read them. */
const struct result_field *run_stage_fields(void);

/* The members of an element of .slo. */
const struct result_field *run_slo_fields(void);

/* The parts of a latency object; their paths are relative to it. */
const struct result_field *run_latency_fields(void);

#endif
