/* run_fields: the table that says where each scalar of a stage lies, in run.json and in struct
 * run_stage.
 *
 * One table drives reading, CSV and JSON, so a figure that is added here is in all of them. It
 * reads nothing. */
#include "results/format/run_read.h"

#include <string.h>

#define AT(member) offsetof(struct run_stage, member)
#define TEXT(name)                                                                                 \
    { #name, RUN_TEXT, AT(name) }
#define FLAG(name)                                                                                 \
    { #name, RUN_FLAG, AT(name) }
#define FIGURE(name)                                                                               \
    { #name, RUN_FIGURE, AT(name) }
#define IN(group, name)                                                                            \
    { #group "." #name, RUN_FIGURE, AT(name) }
#define LATENCY_PART(path, member, part)                                                           \
    { path "." #part, RUN_FIGURE, AT(member.part) }
#define LATENCY(path, member)                                                                      \
    LATENCY_PART(path, member, count), LATENCY_PART(path, member, min),                            \
        LATENCY_PART(path, member, mean), LATENCY_PART(path, member, p50),                         \
        LATENCY_PART(path, member, p90), LATENCY_PART(path, member, p99),                          \
        LATENCY_PART(path, member, p999), LATENCY_PART(path, member, max),                         \
        LATENCY_PART(path, member, over)

static const struct run_field fields[] = {
    TEXT(id),
    TEXT(lock),
    TEXT(backend),
    TEXT(primitive),
    TEXT(topology),
    TEXT(durability),
    TEXT(durability_class),
    TEXT(durability_note),
    TEXT(guarantee),
    TEXT(waits),
    FLAG(control),
    FLAG(baseline),
    FIGURE(clients),
    FIGURE(processes),
    FIGURE(threads),
    TEXT(keys),
    TEXT(key_distribution),
    TEXT(arrival),
    TEXT(hold),
    TEXT(think),
    TEXT(mode),
    FIGURE(lease_ns),
    FIGURE(readers),
    FIGURE(permits),
    FIGURE(bound),
    FIGURE(depth),
    FIGURE(keys_at_once),
    FIGURE(clients_per_session),
    TEXT(session),
    TEXT(fault),
    TEXT(workload),
    TEXT(expected),
    TEXT(exposed_by),
    FIGURE(repeat),
    TEXT(status),
    TEXT(error),
    FIGURE(duration_s),
    FIGURE(warmup_s),
    FIGURE(drain_s),
    {"connect_ns.count", RUN_FIGURE, AT(connect_count)},
    {"connect_ns.mean", RUN_FIGURE, AT(connect_mean_ns)},
    {"connect_ns.max", RUN_FIGURE, AT(connect_max_ns)},
    {"exclusion.verdict", RUN_TEXT, AT(verdict)},
    {"exclusion.grants", RUN_FIGURE, AT(checked_grants)},
    IN(exclusion, counter),
    IN(exclusion, lost_updates),
    IN(exclusion, double_holders),
    IN(exclusion, expired_holders),
    IN(exclusion, token_errors),
    IN(exclusion, stuck),
    IN(exclusion, detected),
    IN(exclusion, detect_ns_max),
    IN(exclusion, early),
    IN(exclusion, oversold),
    IN(exclusion, bound95),
    FIGURE(attempts),
    IN(outcomes, ok),
    IN(outcomes, busy),
    IN(outcomes, timeout),
    IN(outcomes, lost),
    IN(outcomes, unknown),
    IN(outcomes, refused),
    IN(outcomes, broken),
    IN(arrivals, due),
    IN(arrivals, started),
    IN(arrivals, missed),
    FIGURE(offered_per_s),
    {"sweep.by", RUN_TEXT, AT(sweep_by)},
    {"sweep.order", RUN_TEXT, AT(sweep_order)},
    {"sweep.leg", RUN_TEXT, AT(sweep_leg)},
    {"sweep.step", RUN_FIGURE, AT(sweep_step)},
    {"steady.asked", RUN_FLAG, AT(steady_asked)},
    {"steady.reached", RUN_FLAG, AT(steady_reached)},
    {"steady.after_s", RUN_FIGURE, AT(steady_after_s)},
    TEXT(limited_by),
    FIGURE(grants),
    FIGURE(shared_grants),
    FIGURE(retries),
    FIGURE(rounds),
    FIGURE(throughput_per_s),
    LATENCY("latency_ns.acquire", latency[RUN_ACQUIRE]),
    LATENCY("latency_ns.acquire_due", latency[RUN_ACQUIRE_DUE]),
    LATENCY("latency_ns.release", latency[RUN_RELEASE]),
    LATENCY("latency_ns.hold", latency[RUN_HOLD]),
    LATENCY("latency_ns.handoff", latency[RUN_HANDOFF]),
    LATENCY("latency_ns.lag", latency[RUN_LAG]),
    LATENCY("latency_ns.wait_failed", latency[RUN_WAIT_FAILED]),
    LATENCY("latency_ns.ping", latency[RUN_PING]),
    LATENCY("latency_ns.connect", latency[RUN_CONNECT]),
    LATENCY("latency_ns.last_awake", latency[RUN_LAST_AWAKE]),
    IN(fairness, jain),
    IN(fairness, min_share),
    IN(fairness, max_wait_ns),
    IN(fairness, longest_run),
    IN(fairness, lwss),
    IN(fairness, lwss_window),
    IN(fairness, mttr),
    IN(fairness, inversions),
    IN(cost, commands_per_grant),
    IN(cost, wakeups_per_grant),
    IN(cost, retries_per_grant),
    IN(cost, bytes_per_grant),
    IN(cost, client_cpu_ns_per_grant),
    IN(cost, server_cpu_ns_per_grant),
    {"residue.count", RUN_FIGURE, AT(residue)},
    {"residue.example", RUN_TEXT, AT(residue_example)},
    {"store.where", RUN_TEXT, AT(store_where)},
    {"store.fenced", RUN_FLAG, AT(store_fenced)},
    IN(store, stale_attempted),
    IN(store, stale_accepted_unfenced),
    IN(store, stale_rejected_fenced),
    IN(store, stale_accepted_fenced),
    IN(store, lost_updates_unfenced),
    IN(store, lost_updates_fenced),
    {"history.verdict", RUN_TEXT, AT(history_verdict)},
    {"history.model", RUN_TEXT, AT(history_model)},
    {"history.file", RUN_TEXT, AT(history_file)},
    {"history.ops", RUN_FIGURE, AT(history_ops)},
    {"history.dropped", RUN_FIGURE, AT(history_dropped)},
    {"history.violations", RUN_FIGURE, AT(history_violations)},
    {"history.expired", RUN_FIGURE, AT(history_expired)},
    IN(history, spurious_busy),
    {"history.token_errors", RUN_FIGURE, AT(history_token_errors)},
    {"history.inversions", RUN_FIGURE, AT(history_inversions)},
    {"recovery.count", RUN_FIGURE, AT(recovery_count)},
    IN(recovery, unrecovered),
    {"recovery.min_ns", RUN_FIGURE, AT(recovery_min)},
    {"recovery.p50_ns", RUN_FIGURE, AT(recovery_p50)},
    {"recovery.p90_ns", RUN_FIGURE, AT(recovery_p90)},
    {"recovery.max_ns", RUN_FIGURE, AT(recovery_max)},
    {"recovery.theory_min_ns", RUN_FIGURE, AT(theory_min)},
    {"recovery.theory_max_ns", RUN_FIGURE, AT(theory_max)},
    {"recovery.theory", RUN_TEXT, AT(recovery_theory)},
    {"recovery.unavailable_ns", RUN_FIGURE, AT(unavailable)},
    IN(recovery, grants_lost),
    IN(recovery, lost_wakeups),
    {"recovery.detect.count", RUN_FIGURE, AT(loss_detected)},
    {"recovery.detect.p50_ns", RUN_FIGURE, AT(loss_detect_p50)},
    {"recovery.detect.max_ns", RUN_FIGURE, AT(loss_detect_max)},
    {"recovery.detect.never", RUN_FIGURE, AT(loss_never_detected)},
    LATENCY("executor.hiccup_ns", hiccup),
    IN(executor, stack_bytes_max),
    IN(executor, blocked_ns_max),
    IN(executor, stolen_share),
    IN(executor, fibers),
    IN(executor, loops),
    {"executor.pinned", RUN_FLAG, AT(pinned)},
    {NULL, RUN_TEXT, 0},
};

double run_stage_figure(const struct run_stage *stage, size_t offset) {
    double figure;
    memcpy(&figure, (const char *)stage + offset, sizeof figure);
    return figure;
}

void run_stage_set_figure(struct run_stage *stage, size_t offset, double figure) {
    memcpy((char *)stage + offset, &figure, sizeof figure);
}

const char *run_stage_text(const struct run_stage *stage, size_t offset) {
    const char *text;
    memcpy(&text, (const char *)stage + offset, sizeof text);
    return text;
}

const struct run_field *run_stage_fields(void) {
    return fields;
}

static const char *const metric_names[RUN_METRICS] = {
    "acquire", "acquire_due", "release", "hold",    "handoff",
    "lag",     "wait_failed", "ping",    "connect", "last_awake",
};

const char *run_metric_name(enum run_metric metric) {
    return metric_names[metric];
}
