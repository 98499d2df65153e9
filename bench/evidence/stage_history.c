/* stage_history: see stage_history.h. */
#include "bench/evidence/stage_history.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/evidence/recovery.h"
#include "bench/load/observe.h"
#include "bench/oplog/judge.h"
#include "results/format/write.h"

/* The rules, as far as they are known now. The times of a window that never began are those of the history's begin,
 * from which all times are then reported. */
static struct oplog_rules rules_now(const struct stage_history *history,
                                    const struct shared *shared) {
    struct oplog_rules rules = trace_rules(shared);
    if (rules.begin_ns == LB_NEVER) rules.begin_ns = rules.end_ns = history->begin_ns;
    return rules;
}

struct stage_history *stage_history_begin(const struct shared *shared, const char *hlog_path) {
    struct stage_history *history = shared->oplog ? calloc(1, sizeof *history) : NULL;
    if (!history) return NULL;
    history->begin_ns = lb_now();
    history->rules = rules_now(history, shared);
    history->recorded = shared->recorded;
    /* Evidence of one machine stays in memory; but faults that come often would fill the supervisor's ring. */
    if (!shared->recorded && shared->part.count == 0 && !shared->faulted) return history;
    char path[4096] = "";
    size_t stem = hlog_path && shared->recorded ? strlen(hlog_path) : 0;
    if (stem > 5 && strcmp(hlog_path + stem - 5, ".hlog") == 0) {
        snprintf(path, sizeof path, "%.*s.history", (int)(stem - 5), hlog_path);
        const char *name = strrchr(path, '/');
        snprintf(history->file, sizeof history->file, "%.127s", name ? name + 1 : path);
    }
    history->writer = oplog_writer_start(shared->oplog, *path ? path : NULL, &history->rules,
                                         shared->lock->lock->name, &history->err);
    return history;
}

/* Records what a killed client was about: its outcome is not known. */
static void note_unknown(struct shared *shared, uint32_t index, enum oplog_kind kind,
                         int64_t begin_ns, int64_t end_ns) {
    struct oplog_record record = {.kind = (uint8_t)kind,
                                  .outcome = OPLOG_UNKNOWN,
                                  .client = index,
                                  .key = atomic_load(&shared->client[index].waiting_key),
                                  .begin_ns = begin_ns,
                                  .end_ns = end_ns,
                                  .lease_end_ns = LB_NEVER};
    oplog_note(&shared->oplog->rings[shared->oplog->threads], &record);
}

/* Records the death of killed clients of this part. Thousands of clients may have died at once, and a death that found no
 * room would leave its client's grant open for ever: so the ring is emptied for each. */
static void record_deaths(struct shared *shared, struct oplog_writer *writer) {
    int64_t now_ns = lb_now();
    int last, first = shared_own_clients(shared, &last);
    for (uint32_t i = (uint32_t)first; i < (uint32_t)last; i++) {
        const struct client_stats *client = &shared->client[i];
        if (!client->dead) continue;
        oplog_writer_flush(writer);
        /* It was killed after leaving its cell, so its grant was being released or already released. */
        if (shared->entry == ENTRY_CELL && !client->inside)
            note_unknown(shared, i, OPLOG_RELEASE, 0, 0);
        oplog_mishap(shared->oplog, OPLOG_DEATH, i, 1, now_ns, now_ns);
        /* The acquire that it was waiting for may have been granted. */
        int64_t waiting_ns = atomic_load(&client->waiting_ns);
        if (waiting_ns) note_unknown(shared, i, OPLOG_ACQUIRE, waiting_ns, now_ns);
    }
}

static int read_back(struct book *book, struct stage_history *history,
                     const struct shared *shared) {
    struct oplog_file file;
    if (!history->writer) return book_add_rings(book, shared->oplog, &history->err);
    if (oplog_reopen(&file, history->writer, &history->err) != 0) return -1;
    int failed = book_add_file(book, &file, &history->err);
    if (!failed) failed = book_add_rings(book, shared->oplog, &history->err);
    oplog_close(&file);
    return failed;
}

/* When the holder was certainly inside for the last time; INT64_MIN = that is not known. */
static int64_t inside_until_ns(const struct hold *hold) {
    int unknown = HOLD_GHOST | HOLD_OUTSIDE | HOLD_OPEN | HOLD_DEAD | HOLD_CONTINUED;
    return hold->flags & unknown ? INT64_MIN : hold->inside_ns;
}

/* Counts the trials of exclusion between clients of several parts, which no machine's memory shows: grants whose key another
 * client asked for before the grant ended, and got later. Each grant counts once, as in entry_trials for one part. A
 * wait counts only if the judge would have noticed a second grant at its begin: the hold must be longer than the errors
 * of the clocks can hide. */
static int count_trials(struct stage_history *history, const struct book *book,
                        struct lb_err *err) {
    int64_t called_ns = INT64_MAX; /* the first call of those that got the key later */
    if (book->rules.model != OPLOG_MUTEX) return 0;
    uint32_t *order = order_holds(book, false, err);
    if (!order) return -1;
    for (size_t i = book->hold_count; i-- > 0;) {
        const struct hold *hold = &book->holds[order[i]];
        bool last = i + 1 == book->hold_count || book->holds[order[i + 1]].key != hold->key;
        if (last) called_ns = INT64_MAX;
        int64_t until_ns = inside_until_ns(hold);
        if (until_ns > hold->from_ns) {
            int64_t shown_ns = until_ns - LB_UNSEEN_ERRORS * history->error_ns;
            history->trials += shown_ns > hold->from_ns && shown_ns > called_ns;
        }
        if (!(hold->flags & HOLD_GHOST) && hold->called_ns < called_ns) called_ns = hold->called_ns;
    }
    free(order);
    return 0;
}

/* The record is complete to its end. */
static bool is_whole(const struct stage_history *history) {
    return history->recorded && !history->cut_off;
}

static void judge_history(struct stage_history *history, const struct shared *shared,
                          struct fault_log *faults) {
    bool sums_up = shared_sums_up(shared);
    struct book book;
    uint32_t *order = NULL;
    struct lb_err err = {0};
    int failed = book_begin(&book, &history->rules, &err);
    if (!failed) failed = read_back(&book, history, shared);
    if (!failed) {
        history->dropped = oplog_dropped(shared->oplog);
        history->ops = book.ops;
        book_end(&book, history->dropped, is_whole(history));
        if (sums_up && shared->split) failed = count_trials(history, &book, &err);
    }
    if (!failed) failed = oplog_judge(&book, &history->judgement, &order, &err);
    if (!failed) {
        history->judged = true;
        for (int i = 0; i < history->judgement.witness_count; i++)
            history->witness[i] = book.holds[history->judgement.witness[i]];
        struct aftermath after = {&book, order, faults, shared, &history->recovery, &err, NULL};
        if (sums_up && history->recorded) recovery_compute(&after);
    }
    if (err.code && !history->err.code) history->err = err;
    free(order);
    book_done(&book);
}

void stage_history_end(struct stage_history *history, struct shared *shared,
                       struct fault_log *faults, bool hung) {
    if (!history) return;
    history->cut_off |= hung;
    if (history->writer && history->recorded) record_deaths(shared, history->writer);
    history->rules = rules_now(history, shared);
    if (shared->split) history->rules.error_ns = history->error_ns;
    if (history->writer)
        oplog_writer_stop(history->writer, &history->rules, is_whole(history), &history->err);
    /* Without a file the records of other parts are missing. */
    bool lacks_parts = shared->part.count > 0 && !history->writer;
    if (!history->unclear && !lacks_parts) judge_history(history, shared, faults);
}

static uint64_t greater(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

void stage_history_sum(struct exclusion *exclusion, const struct stage_history *history,
                       bool faulted) {
    const struct judgement *judgement = &history->judgement;
    const struct exclusion *parts = &history->of_parts;
    if (!history->judged) return;
    exclusion->double_holders = greater(judgement->violations, parts->double_holders);
    exclusion->expired_holders = greater(judgement->expired, parts->expired_holders);
    exclusion->token_errors = greater(judgement->token_errors, parts->token_errors);
    exclusion->revoked = faulted ? 0 : judgement->revoked;
    exclusion->ended = faulted ? 0 : judgement->ended;
}

void stage_history_add(struct stage_history *history, const struct exclusion *found) {
    history->of_parts.double_holders += found->double_holders;
    history->of_parts.expired_holders += found->expired_holders;
    history->of_parts.token_errors += found->token_errors;
}

void stage_history_free(struct stage_history *history) {
    if (!history) return;
    oplog_writer_free(history->writer);
    recovery_done(&history->recovery);
    free(history);
}

/* history_result: what a stage's history and its recovery from faults say, in the stage's result;
 * see stage_history.h. Times in seconds are from the window's begin. */

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

static json_t *holding_json(const struct hold *hold) {
    json_t *lease_end =
        hold->lease_end_ns == LB_NEVER ? json_null() : json_integer((json_int_t)hold->lease_end_ns);
    return json_pack("{s:I, s:I, s:o, s:I}", "client", (json_int_t)hold->client, "acquired_ns",
                     (json_int_t)hold->from_ns, "lease_end_ns", lease_end, "token",
                     (json_int_t)hold->token);
}

/* The first overlap of the gravest kind. */
static json_t *overlap_json(const struct stage_history *history) {
    const struct hold *holder = &history->witness[0],
                      *intruder = &history->witness[history->judgement.witness_count - 1];
    return json_pack("{s:I, s:o, s:o}", "key", (json_int_t)intruder->key, "holder",
                     holding_json(holder), "intruder", holding_json(intruder));
}

static void fill_history(struct run_stage *result, const struct stage_history *history) {
    result->history_ops = (double)history->ops;
    result->history_dropped = (double)history->dropped;
    if (history->file[0]) result->history_file = run_stage_keep_text(result, "%s", history->file);
    result->history_model = oplog_model_name((enum oplog_model)history->rules.model);
    result->counterexample = run_stage_keep(result, counterexample_json(history));
}

/* NAN if there are none. */
static double time_at(const struct times *sorted, double part) {
    if (sorted->count == 0) return NAN;
    int index = (int)(part * sorted->count + 0.999999) - 1;
    return (double)sorted->ns[index < 0 ? 0 : index >= sorted->count ? sorted->count - 1 : index];
}

static json_t *times_json(const struct times *times) {
    json_t *all = json_array();
    for (int i = 0; i < times->count; i++)
        json_array_append_new(all, json_integer((json_int_t)times->ns[i]));
    return all;
}

static void fill_recovery_figures(struct run_stage *result, const struct recovery *recovery) {
    const struct times *trials = &recovery->trials, *crashes = &recovery->crashes;
    result->trials = run_stage_keep(result, times_json(trials));
    result->recovery_count = trials->count;
    result->unrecovered = recovery->unrecovered;
    result->unasked = recovery->unasked;
    result->recovery_min = time_at(trials, 0);
    result->recovery_p50 = time_at(trials, 0.5);
    result->recovery_p90 = time_at(trials, 0.9);
    result->recovery_max = time_at(trials, 1);
    result->crash_count = crashes->count;
    result->crash_p50 = time_at(crashes, 0.5);
    result->crash_max = time_at(crashes, 1);
    result->theory_max = recovery->theory_max_ns < 0 ? NAN : (double)recovery->theory_max_ns;
    result->grants_lost = (double)recovery->grants_lost;
    if (recovery->wakeups_known) result->lost_wakeups = (double)recovery->lost_wakeups;
}

void stage_history_fill(struct run_stage *result, const struct stage_history *history) {
    if (!history || !history->judged) return;
    if (history->judgement.clash == CLASH_OVERLAP)
        result->overlap = run_stage_keep(result, overlap_json(history));
    if (!history->recorded) return;
    fill_history(result, history);
    fill_recovery_figures(result, &history->recovery);
}
