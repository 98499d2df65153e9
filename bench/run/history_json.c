/* history_json: what a stage's history says, as run.json has it; see stage_history.h. Times in seconds are
 * from the window's begin. */
#include <stdio.h>

#include "bench/run/stage_history.h"

static json_t *seconds(const struct stage_history *history, int64_t ns) {
    if (ns == LB_NEVER) return json_null();
    return json_real((double)(ns - history->rules.begin_ns) / 1e9);
}

static uint32_t key_of(const struct stage_history *history, const struct hold *hold) {
    return history->rules.by_slot ? hold->key / history->rules.bound : hold->key;
}

static const char *end_of(const struct hold *hold) {
    if (hold->flags & HOLD_DEAD) return "killed";
    if (hold->flags & HOLD_LEARNED) return "lost";
    if (hold->flags & HOLD_OPEN) return "unknown";
    if (hold->flags & HOLD_CONTINUED) return "ok";
    return history_outcome_name((enum history_outcome)hold->ended);
}

static json_t *operation(const struct stage_history *history, const struct hold *hold, const char *op,
                         int64_t begin_ns, int64_t end_ns, const char *outcome, const char *note) {
    return json_pack("{s:I, s:I, s:s, s:o, s:o, s:s, s:I, s:o, s:b, s:s}", "client", (json_int_t)hold->client,
                     "key", (json_int_t)key_of(history, hold), "op", op, "begin_s",
                     seconds(history, begin_ns), "end_s", seconds(history, end_ns), "outcome", outcome,
                     "token", (json_int_t)hold->token, "lease_end_s", seconds(history, hold->lease_end_ns),
                     "shared", (hold->flags & HOLD_SHARED) != 0, "note", note);
}

static double second_of(const struct stage_history *history, int64_t ns) {
    return (double)(ns - history->rules.begin_ns) / 1e9;
}

/* What there is to say of a hold that another one met. */
static const char *holder_note(const struct stage_history *history, const struct hold *hold, char *text,
                               size_t size) {
    bool outlived = hold->inside_ns < history->judgement.clash_ns;
    if (outlived && (hold->flags & HOLD_LATE)) {
        snprintf(text, size, "came back after its lease or session had ended");
    } else if (outlived && hold->inside_ns > hold->from_ns) {
        snprintf(text, size, "inside its lease or session until %.6f s", second_of(history, hold->inside_ns));
    } else if (hold->flags & HOLD_OPEN) {
        snprintf(text, size, "never released");
    } else if (hold->flags & HOLD_LEARNED) {
        snprintf(text, size, "held until it learned of its loss at %.6f s", second_of(history, hold->to_ns));
    } else {
        snprintf(text, size, "held until %.6f s", second_of(history, hold->to_ns));
    }
    return text;
}

static const char *intruder_note(const struct judgement *judgement, const struct hold *last, char *text,
                                 size_t size) {
    if (judgement->clash == CLASH_TOKEN) {
        snprintf(text, size, "its token is not greater than one that was given before");
    } else if (last->flags & HOLD_LATE) {
        snprintf(text, size, "came in after its own lease or session had ended, while another was there");
    } else if (judgement->verdict == HISTORY_VIOLATED) {
        snprintf(text, size, "came in while others were inside their leases and sessions");
    } else {
        snprintf(text, size, "came in while another was there, past its lease or session");
    }
    return text;
}

/* The few operations that contradict each other: acquires first to last, and how those before ended. */
static json_t *counterexample_json(const struct stage_history *history) {
    const struct judgement *judgement = &history->judgement;
    json_t *all = json_array();
    char text[128];
    for (int i = 0; i < judgement->witness_count; i++) {
        const struct hold *hold = &history->witness[i];
        bool last = i == judgement->witness_count - 1;
        const char *note = last ? intruder_note(judgement, hold, text, sizeof text)
                                : holder_note(history, hold, text, sizeof text);
        json_array_append_new(all, operation(history, hold, hold->flags & HOLD_PIECE ? "renew" : "acquire",
                                             hold->called_ns, hold->from_ns, "ok", note));
    }
    for (int i = 0; i < judgement->witness_count - 1; i++) {
        const struct hold *hold = &history->witness[i];
        if (hold->flags & (HOLD_DEAD | HOLD_OPEN)) continue;
        const char *op = hold->flags & HOLD_LEARNED     ? "told"
                         : hold->flags & HOLD_CONTINUED ? "renew"
                                                        : "release";
        json_array_append_new(all,
                              operation(history, hold, op, hold->to_ns, hold->released_ns, end_of(hold), ""));
    }
    return all;
}

static json_t *timeline_json(const struct stage_history *history) {
    json_t *all = json_array();
    for (int i = 0; i < history->timeline_count; i++) {
        const struct hold *hold = &history->timeline[i];
        json_array_append_new(
            all, json_pack("{s:I, s:I, s:o, s:o, s:o, s:s, s:b}", "client", (json_int_t)hold->client, "key",
                           (json_int_t)key_of(history, hold), "acquired_s", seconds(history, hold->from_ns),
                           "released_s", seconds(history, hold->to_ns), "lease_end_s",
                           seconds(history, hold->lease_end_ns), "outcome", end_of(hold), "shared",
                           (hold->flags & HOLD_SHARED) != 0));
    }
    return all;
}

json_t *history_json(const struct stage *stage) {
    const struct stage_history *history = stage->history;
    if (!history || !history->judged) return json_null();
    const struct judgement *judgement = &history->judgement;
    return json_pack(
        "{s:I, s:I, s:o, s:s, s:s, s:I, s:I, s:o, s:I, s:I, s:o, s:o}", "ops", (json_int_t)history->ops,
        "dropped", (json_int_t)history->dropped, "file",
        history->file[0] ? json_string(history->file) : json_null(), "model",
        history_model_name((enum history_model)history->rules.model), "verdict",
        history_verdict_name(judgement->verdict), "violations", (json_int_t)judgement->violations, "expired",
        (json_int_t)judgement->expired, "spurious_busy",
        judgement->busy_judged ? json_integer((json_int_t)judgement->spurious_busy) : json_null(),
        "token_errors", (json_int_t)judgement->token_errors, "inversions", (json_int_t)judgement->inversions,
        "counterexample", counterexample_json(history), "timeline", timeline_json(history));
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
    json_t *detect = json_pack("{s:i, s:o, s:o, s:I}", "count", r->detect_count, "p50_ns",
                               quantile(r->detect_ns, r->detect_count, 0.5), "max_ns",
                               quantile(r->detect_ns, r->detect_count, 1), "never", (json_int_t)r->never);
    return json_pack(
        "{s:o, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o}", "trials_ns", trials,
        "count", r->trial_count, "unrecovered", r->unrecovered, "min_ns",
        quantile(r->trials_ns, r->trial_count, 0), "p50_ns", quantile(r->trials_ns, r->trial_count, 0.5),
        "p90_ns", quantile(r->trials_ns, r->trial_count, 0.9), "max_ns",
        quantile(r->trials_ns, r->trial_count, 1), "theory_min_ns", known(r->theory_min_ns), "theory_max_ns",
        known(r->theory_max_ns), "theory", r->theory[0] ? json_string(r->theory) : json_null(),
        "unavailable_ns", known(r->unavailable_ns), "grants_lost", (json_int_t)r->grants_lost, "lost_wakeups",
        r->wakeups_known ? json_integer((json_int_t)r->lost_wakeups) : json_null(), "detect", detect);
}

bool history_warning(const struct stage *stage, char *text, size_t size) {
    const struct stage_history *history = stage->history;
    if (!history) return false;
    if (history->err.code) {
        snprintf(text, size, "%.200s", history->err.text);
        return true;
    }
    if (history->dropped == 0) return false;
    snprintf(text, size,
             "%llu operations found no room in the history and were not judged: they came faster than the "
             "disk took them",
             (unsigned long long)history->dropped);
    return true;
}
