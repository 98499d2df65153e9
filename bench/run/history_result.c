/* history_result: what a stage's history and its recovery from faults say, in the stage's result;
 * see stage_history.h. Times in seconds are from the window's begin. */
#include <math.h>

#include "bench/oplog/explain.h"
#include "bench/run/stage_history.h"
#include "results/format/write.h"

static json_t *seconds(const struct stage_history *history, int64_t ns) {
    if (ns == LB_NEVER) return json_null();
    return json_real((double)(ns - history->rules.begin_ns) / 1e9);
}

static json_t *line_json(const struct stage_history *history, const struct oplog_line *line) {
    return json_pack("{s:I, s:I, s:s, s:o, s:o, s:s, s:I, s:o, s:b, s:s}", "client",
                     (json_int_t)line->client, "key", (json_int_t)line->key, "op", line->op,
                     "begin_s", seconds(history, line->begin_ns), "end_s",
                     seconds(history, line->end_ns), "outcome", line->outcome, "token",
                     (json_int_t)line->token, "lease_end_s", seconds(history, line->lease_end_ns),
                     "shared", line->shared, "note", line->note);
}

static json_t *counterexample_json(const struct stage_history *history) {
    struct oplog_line lines[EXPLAIN_LINES];
    int count = oplog_explain(&history->rules, &history->judgement, history->witness, lines);
    json_t *all = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(all, line_json(history, &lines[i]));
    return all;
}

static json_t *timeline_json(const struct stage_history *history) {
    json_t *all = json_array();
    for (int i = 0; i < history->timeline_count; i++) {
        const struct hold *hold = &history->timeline[i];
        json_array_append_new(
            all,
            json_pack("{s:I, s:I, s:o, s:o, s:o, s:s, s:b}", "client", (json_int_t)hold->client,
                      "key", (json_int_t)hold_key(&history->rules, hold), "acquired_s",
                      seconds(history, hold->from_ns), "released_s", seconds(history, hold->to_ns),
                      "lease_end_s", seconds(history, hold->lease_end_ns), "outcome",
                      hold_end_name(hold), "shared", (hold->flags & HOLD_SHARED) != 0));
    }
    return all;
}

static void fill_history(struct run_stage *result, const struct stage_history *history) {
    const struct judgement *judgement = &history->judgement;
    result->history_ops = (double)history->ops;
    result->history_dropped = (double)history->dropped;
    if (history->file[0]) result->history_file = run_stage_keep_text(result, "%s", history->file);
    result->history_model = oplog_model_name((enum oplog_model)history->rules.model);
    result->history_verdict = verdict_name(oplog_verdict_of(judgement->verdict));
    result->history_violations = (double)judgement->violations;
    result->history_expired = (double)judgement->expired;
    if (judgement->busy_judged) result->spurious_busy = (double)judgement->spurious_busy;
    result->history_token_errors = (double)judgement->token_errors;
    result->history_inversions = (double)judgement->inversions;
    result->counterexample = run_stage_keep(result, counterexample_json(history));
    result->timeline = run_stage_keep(result, timeline_json(history));
}

static double known_ns(int64_t ns) {
    return ns < 0 ? NAN : (double)ns;
}

/* Of a sorted list; NAN of an empty one. */
static double trials_quantile(const int64_t *sorted, int count, double part) {
    if (count == 0) return NAN;
    int index = (int)(part * count + 0.999999) - 1;
    return (double)sorted[index < 0 ? 0 : index >= count ? count - 1 : index];
}

static json_t *trials_json(const struct recovery *recovery) {
    json_t *trials = json_array();
    for (int i = 0; i < recovery->trial_count; i++) {
        json_array_append_new(trials, json_integer((json_int_t)recovery->trials_ns[i]));
    }
    return trials;
}

static void fill_recovery_figures(struct run_stage *result, const struct recovery *recovery) {
    const int64_t *trials = recovery->trials_ns;
    int count = recovery->trial_count;
    result->trials = run_stage_keep(result, trials_json(recovery));
    result->recovery_count = count;
    result->unrecovered = recovery->unrecovered;
    result->unasked = recovery->unasked;
    result->recovery_min = trials_quantile(trials, count, 0);
    result->recovery_p50 = trials_quantile(trials, count, 0.5);
    result->recovery_p90 = trials_quantile(trials, count, 0.9);
    result->recovery_max = trials_quantile(trials, count, 1);
    result->crash_count = recovery->crash_count;
    result->crash_p50 = trials_quantile(recovery->crashes_ns, recovery->crash_count, 0.5);
    result->crash_max = trials_quantile(recovery->crashes_ns, recovery->crash_count, 1);
    result->theory_min = known_ns(recovery->theory_min_ns);
    result->theory_max = known_ns(recovery->theory_max_ns);
    if (recovery->theory[0])
        result->recovery_theory = run_stage_keep_text(result, "%s", recovery->theory);
    result->unavailable = known_ns(recovery->unavailable_ns);
    result->grants_lost = (double)recovery->grants_lost;
    if (recovery->wakeups_known) result->lost_wakeups = (double)recovery->lost_wakeups;
    result->loss_detected = recovery->detect_count;
    result->loss_detect_p50 = trials_quantile(recovery->detect_ns, recovery->detect_count, 0.5);
    result->loss_detect_max = trials_quantile(recovery->detect_ns, recovery->detect_count, 1);
    result->loss_never_detected = (double)recovery->never;
}

void stage_history_fill(struct stage *stage) {
    const struct stage_history *history = stage->history;
    if (!history || !history->judged) return;
    fill_history(&stage->result, history);
    fill_recovery_figures(&stage->result, &history->recovery);
}
