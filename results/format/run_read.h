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
#include "results/format/hist.h"

#define RUN_SCHEMA "lockbench.run/1"

/* A figure that was not measured is NAN, a text that is not there is NULL. Every figure is a
 * double: run.json's greatest whole numbers (an hour in ns, a count of grants) are far below
 * 2^53. */

enum run_metric {
    RUN_ACQUIRE,
    RUN_ACQUIRE_DUE,
    RUN_RELEASE,
    RUN_HOLD,
    RUN_HANDOFF,
    RUN_LAG,
    RUN_WAIT_FAILED,
    RUN_PING,
    RUN_CONNECT,
    RUN_LAST_AWAKE,
    RUN_METRICS
};

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

struct run_stage {
    const char *id, *lock, *backend, *primitive, *topology, *durability, *durability_class,
        *durability_note, *waits;
    const char
        *guarantee; /* "host", "node", "async-replica", "majority", "none": where the truth lives */
    const char *keys, *key_distribution, *arrival, *hold, *think,
        *mode;                   /* keys: "own" or a number as text */
    const char *session, *fault; /* "keep" or "each"; "none", "pause" or "kill" */
    const char *workload,
        *expected; /* of a control that ran in another workload: its name, and what it
                                        must show there: "violated", "expired" or "stuck" */
    /* of a control that another workload is meant to expose: which */
    const char *exposed_by;
    const char *status, *error;
    bool control, baseline;
    double clients, processes, threads, lease_ns;
    double readers, permits, bound, depth, keys_at_once, clients_per_session;
    double repeat, duration_s, warmup_s, drain_s;
    double connect_count, connect_mean_ns, connect_max_ns;
    double attempts, grants, throughput_per_s;
    double ok, busy, timeout, lost, unknown, refused, broken;
    double due, started, missed;
    double offered_per_s; /* open loop: what was asked for */
    const char *sweep_by, *sweep_order,
        *sweep_leg; /* "rate" or "clients"; "up", "down", "shuffled", "mirror" */
    double sweep_step;
    /* whether it was to wait for a steady state, and came to it */
    bool steady_asked, steady_reached;
    double steady_after_s;
    const char *limited_by; /* "generator", or NULL */
    /* of the warnings, those that say why: array of texts, or NULL */
    const json_t *limited_why;
    double retries, shared_grants, inversions, rounds;
    struct run_latency latency[RUN_METRICS];
    struct run_latency hiccup;
    double jain, min_share, max_wait_ns, longest_run;
    double lwss, lwss_window, mttr; /* short-term fairness; in windows of so many grants */
    double commands_per_grant, wakeups_per_grant, retries_per_grant, bytes_per_grant,
        client_cpu_ns_per_grant, server_cpu_ns_per_grant;
    const char *verdict;
    double checked_grants, counter, lost_updates, double_holders, expired_holders, token_errors,
        bound95;
    double stuck, detected, detect_ns_max, early, oversold;
    double residue; /* what was left on the server */
    const char *residue_example;
    /* The guarded value, with and without a check of the token. */
    const char *store_where; /* "memory" or "backend" */
    bool store_fenced;
    double stale_attempted, stale_accepted_unfenced, stale_rejected_fenced, stale_accepted_fenced;
    double lost_updates_unfenced, lost_updates_fenced;
    /* The operations' history, as it was judged after the run. */
    const char *history_verdict, *history_model, *history_file;
    double history_ops, history_dropped, history_violations, history_expired, spurious_busy,
        history_token_errors, history_inversions;
    /* From a fault to the first grant after it, in ns. */
    const char *recovery_theory;
    double recovery_count, unrecovered, recovery_min, recovery_p50, recovery_p90, recovery_max;
    double theory_min, theory_max, unavailable, grants_lost, lost_wakeups;
    double loss_detected, loss_detect_p50, loss_detect_max, loss_never_detected;
    bool has_overlap; /* the four below are filled */
    double overlap_key;
    struct run_holder holder, intruder;
    double stack_bytes_max, blocked_ns_max, stolen_share, fibers, loops;
    bool pinned;
    const json_t *claims;            /* array of texts, or NULL; borrowed like all texts */
    const json_t *grants_per_client; /* array of numbers, or NULL */
    const json_t *series;            /* array of objects, or NULL */
    const json_t *warnings;          /* array of texts, or NULL */
    const json_t *counterexample;    /* of the history: array of objects, or NULL */
    const json_t *timeline;          /* of the history: holds, array of objects, or NULL */
    const json_t *faults;            /* what was done: array of objects, or NULL */
    const json_t *trials;            /* times to recover in ns: array of numbers, or NULL */
};

struct run_server {
    const char *backend, *topology, *durability, *started_by, *url;
    const json_t *facts; /* object of texts, or NULL */
};

struct run_skip {
    const char *lock, *backend, *reason, *install;
};

struct run {
    char *path; /* of the file, for messages */
    char *dir;  /* its folder */
    const char *tool_name, *tool_version, *command, *started_at, *ended_at, *partial_reason,
        *verdict;
    const char *workload, *summary;
    bool partial;
    const json_t *plan, *environment, *warnings; /* NULL when absent */
    struct run_stage *stages;
    int stage_count;
    struct run_server *servers;
    int server_count;
    struct run_skip *skips;
    int skip_count;
    json_t *root; /* owns every text and json_t above */
};

/* Reads a run: its folder or its run.json. NULL with err (LB_EXIT_USAGE): which file, where in it,
 * what is wrong. The caller run_frees. */
struct run *run_read(const char *path, struct lb_err *err);

/* The same from text; path is only for messages and run->path. */
struct run *run_parse(const char *text, size_t length, const char *path, struct lb_err *err);

/* Takes NULL. Everything borrowed from the run is gone with it. */
void run_free(struct run *run);

const char *run_metric_name(enum run_metric metric); /* "acquire", as in run.json */

/* The histogram of a metric, decoded; the caller hist_frees. *ret_hist = NULL when nothing was
 * recorded. 0, or -1 with err (LB_EXIT_USAGE) when the text is not sound or disagrees with the
 * metric's count. */
int run_latency_hist(const struct run *run, const struct run_stage *stage, enum run_metric metric,
                     struct hist **ret_hist, struct lb_err *err);

/* The scalars of a stage, one entry a path of run.json, in the order that tables list them. */
enum run_kind { RUN_TEXT, RUN_FIGURE, RUN_FLAG };

struct run_field {
    const char *path; /* "fairness.jain"; NULL ends the table */
    enum run_kind kind;
    size_t offset; /* in struct run_stage */
};

/* The figure, or the text, that lies at an offset of a stage: a field's, or one from offsetof. */
double run_stage_figure(const struct run_stage *stage, size_t offset);
void run_stage_set_figure(struct run_stage *stage, size_t offset, double figure);
const char *run_stage_text(const struct run_stage *stage, size_t offset);

/* All scalars, latencies' included, histograms' texts not. Made on first use; any thread may read
 * it later. */
const struct run_field *run_stage_fields(void);

#endif
