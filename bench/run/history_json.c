/* history_json: what a stage's history says, as run.json has it; see stage_history.h. Times in
 * seconds are from the window's begin. */
#include <stdio.h>

#include "bench/oplog/explain.h"
#include "bench/run/stage_history.h"

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

json_t *history_json(const struct stage *stage) {
    const struct stage_history *history = stage->history;
    if (!history || !history->judged) return json_null();
    const struct judgement *judgement = &history->judgement;
    return json_pack(
        "{s:I, s:I, s:o, s:s, s:s, s:I, s:I, s:o, s:I, s:I, s:o, s:o}", "ops",
        (json_int_t)history->ops, "dropped", (json_int_t)history->dropped, "file",
        history->file[0] ? json_string(history->file) : json_null(), "model",
        oplog_model_name((enum oplog_model)history->rules.model), "verdict",
        oplog_verdict_name(judgement->verdict), "violations", (json_int_t)judgement->violations,
        "expired", (json_int_t)judgement->expired, "spurious_busy",
        judgement->busy_judged ? json_integer((json_int_t)judgement->spurious_busy) : json_null(),
        "token_errors", (json_int_t)judgement->token_errors, "inversions",
        (json_int_t)judgement->inversions, "counterexample", counterexample_json(history),
        "timeline", timeline_json(history));
}

static json_t *known(int64_t ns) {
    return ns < 0 ? json_null() : json_integer((json_int_t)ns);
}

/* Of a sorted list. */
static json_t *quantile(const int64_t *sorted, int count, double part) {
    if (count == 0) return json_null();
    int index = (int)(part * count + 0.999999) - 1;
    return json_integer((json_int_t)sorted[index < 0 ? 0 : index >= count ? count - 1 : index]);
}

json_t *recovery_json(const struct stage *stage) {
    const struct stage_history *history = stage->history;
    if (!history || !history->judged) return json_null();
    const struct recovery *r = &history->recovery;
    json_t *trials = json_array();
    for (int i = 0; i < r->trial_count; i++) {
        json_array_append_new(trials, json_integer((json_int_t)r->trials_ns[i]));
    }
    json_t *detect =
        json_pack("{s:i, s:o, s:o, s:I}", "count", r->detect_count, "p50_ns",
                  quantile(r->detect_ns, r->detect_count, 0.5), "max_ns",
                  quantile(r->detect_ns, r->detect_count, 1), "never", (json_int_t)r->never);
    return json_pack("{s:o, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o}",
                     "trials_ns", trials, "count", r->trial_count, "unrecovered", r->unrecovered,
                     "min_ns", quantile(r->trials_ns, r->trial_count, 0), "p50_ns",
                     quantile(r->trials_ns, r->trial_count, 0.5), "p90_ns",
                     quantile(r->trials_ns, r->trial_count, 0.9), "max_ns",
                     quantile(r->trials_ns, r->trial_count, 1), "theory_min_ns",
                     known(r->theory_min_ns), "theory_max_ns", known(r->theory_max_ns), "theory",
                     r->theory[0] ? json_string(r->theory) : json_null(), "unavailable_ns",
                     known(r->unavailable_ns), "grants_lost", (json_int_t)r->grants_lost,
                     "lost_wakeups",
                     r->wakeups_known ? json_integer((json_int_t)r->lost_wakeups) : json_null(),
                     "detect", detect);
}

bool history_warning(const struct stage *stage, char *text, size_t size) {
    const struct stage_history *history = stage->history;
    if (!history) return false;
    if (history->err.code) {
        snprintf(text, size, "%.200s", history->err.text);
        return true;
    }
    if (history->dropped == 0) return false;
    snprintf(
        text, size,
        "%llu operations found no room in the history and were not judged: they came faster than the "
        "disk took them",
        (unsigned long long)history->dropped);
    return true;
}
