/* cell_result: see cell_result.h; the verdict itself is in cell_verdict.c. */
#include "bench/tools/check/cell_result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/format/bound.h"
#include "results/format/tree.h"

/* ---- what a cell owns ---- */

json_t *cell_result_keep(struct cell_result *result, json_t *value) {
    if (!result->kept) result->kept = json_array();
    return json_array_append_new(result->kept, value) == 0 ? value : NULL;
}

const char *cell_result_keep_text(struct cell_result *result, const char *text) {
    return text ? json_string_value(cell_result_keep(result, json_string(text))) : NULL;
}

void cell_result_free(struct cell_result *result) {
    json_decref(result->kept);
    *result = (struct cell_result){0};
}

/* ---- a stage ---- */

/* A count that every cell has. */
static double or_zero(double count) {
    return isnan(count) ? 0 : count;
}

/* "redis 7.0.15": the stage's server, as it names itself. */
static const char *keep_server(struct cell_result *result, const struct run *run,
                               const struct run_stage *stage) {
    for (int i = 0; i < run->server_count && stage->backend; i++) {
        const struct run_server *server = &run->servers[i];
        if (!server->backend || strcmp(server->backend, stage->backend) != 0) continue;
        const char *version = json_string_value(json_object_get(server->facts, "version"));
        json_t *text = json_sprintf("%s%s%s", stage->backend, version && *version ? " " : "",
                                    version ? version : "");
        return json_string_value(cell_result_keep(result, text));
    }
    return NULL;
}

static const json_t *keep_branch(struct cell_result *result, const json_t *branch) {
    if (!branch) return NULL;
    return cell_result_keep(result, json_incref((json_t *)(uintptr_t)branch));
}

static double recovered_of(const struct run_stage *stage, enum check_verdict verdict) {
    if (verdict == CHECK_STUCK || stage->stuck > 0) return 0;
    if (stage->unrecovered > 0) return 0; /* even if other faults were followed by a grant */
    return stage->recovery_count > 0 || stage->unasked > 0 ? 1 : NAN;
}

static void fill_recovery(struct cell_result *result, const struct run_stage *stage) {
    struct check_cell *cell = &result->cell;
    cell->recovered = recovered_of(stage, cell->verdict);
    cell->recovery_count = stage->recovery_count;
    cell->recovery_min = stage->recovery_min;
    cell->recovery_p50 = stage->recovery_p50;
    cell->recovery_max = stage->recovery_max;
    cell->theory_max = stage->theory_max;
    cell->trials = keep_branch(result, stage->trials);
    cell->grants_lost = stage->grants_lost;
    cell->lost_wakeups = stage->lost_wakeups;
}

/* The trials of a lock: in a scenario with faults its faults; in one without, the grants during which another client
 * waited, or all grants of a lock for which no client ever waits. */
static double bound_of(const struct cell_result *result) {
    const struct check_cell *cell = &result->cell;
    if (cell->verdict != CHECK_SAFE) return NAN;
    if (!isnan(cell->faults_hit)) return bound_of_faults(cell->faults_hit);
    if (result->hardly_tested) return NAN;
    return bound_of_grants(isnan(cell->tested) ? cell->grants : cell->tested);
}

static void fill_stage(struct cell_result *result, const struct run *run,
                       const struct run_stage *stage, bool needs_fault) {
    struct check_cell *cell = &result->cell;
    double doubled = or_zero(stage->double_holders) + or_zero(stage->expired_holders);
    cell->topology = cell_result_keep_text(result, stage->topology);
    cell->durability = cell_result_keep_text(result, stage->durability);
    cell->durability_note = cell_result_keep_text(result, stage->durability_note);
    cell->server = keep_server(result, run, stage);
    cell->grants = or_zero(stage->checked_grants);
    cell->tested = stage->tested_grants;
    bool broken = cell->verdict != CHECK_SAFE && cell->verdict != CHECK_INCONCLUSIVE;
    if (needs_fault) {
        struct cell_trials trials = cell_trials(run, stage, broken);
        cell->faults_hit = trials.hit;
        cell->faults_untested = trials.untested;
    }
    result->hardly_tested = !needs_fault && cell_was_hardly_tested(stage);
    cell->bound95 = bound_of(result);
    cell->overlaps = doubled;
    cell->detected = or_zero(stage->detected);
    cell->lost_updates = or_zero(stage->lost_updates);
    cell->stale_attempted = stage->stale_attempted;
    cell->stale_accepted_unfenced = stage->stale_accepted_unfenced;
    cell->stale_rejected_fenced = stage->stale_rejected_fenced;
    cell->stale_accepted_fenced = stage->stale_accepted_fenced;
    fill_recovery(result, stage);
    cell->residue = stage->residue;
    cell->clients = stage->clients;
    cell->faults = keep_branch(result, stage->faults);
    cell->counterexample = keep_branch(result, stage->counterexample);
}

static void set_verdict(struct check_cell *cell, enum check_verdict verdict) {
    cell->verdict = verdict;
    cell->verdict_word = check_verdict_name(verdict);
}

static void begin_result(struct cell_result *result) {
    *result = (struct cell_result){.cell.compared = CHECK_NOT_COMPARED};
    result_field_clear_all(check_cell_fields(), &result->cell);
}

static void of_stage(struct cell_result *result, const struct run *run,
                     const struct run_stage *stage, bool needs_fault) {
    char why[CELL_WHY_MAX];
    begin_result(result);
    set_verdict(&result->cell, cell_verdict(run, stage, needs_fault, why, &result->no_trial));
    if (why[0]) result->cell.why = cell_result_keep_text(result, why);
    fill_stage(result, run, stage, needs_fault);
}

static void of_nothing(struct cell_result *result, const char *why) {
    begin_result(result);
    set_verdict(&result->cell, CHECK_FAILED);
    result->cell.why = cell_result_keep_text(result, why);
    result->cell.grants = result->cell.overlaps = result->cell.detected =
        result->cell.lost_updates = 0;
}

int cell_result_of_run(const struct run *run, const char *trouble, bool needs_fault,
                       struct cell_result *ret, struct lb_err *err) {
    struct cell_result all = {0}, one;
    struct check_cell *cell = &all.cell;
    for (int i = 0; run && i < run->stage_count; i++) {
        of_stage(&one, run, &run->stages[i], needs_fault);
        if (i == 0) {
            all = one;
            continue;
        }
        int failed = cell_result_merge(&all, &one, err);
        cell_result_free(&one);
        if (failed) {
            cell_result_free(&all);
            return -1;
        }
    }
    if (!all.kept) {
        of_nothing(&all, trouble ? trouble : "the run has no stage");
    } else if (trouble) {
        all.no_trial = false;
        /* A bad verdict that the run reached before it failed stays. */
        if (cell->verdict == CHECK_SAFE) {
            set_verdict(cell, CHECK_FAILED);
            cell->bound95 = NAN;
        }
        if (cell->verdict == CHECK_FAILED || cell->verdict == CHECK_INCONCLUSIVE)
            cell->why = cell_result_keep_text(&all, trouble);
    }
    *ret = all;
    return 0;
}

/* ---- several runs as one ---- */

/* The rank of a verdict: of several runs the one with the worst verdict is shown. A failed run hides a good run, but
 * not a bad one. A run without a trial changes nothing if other runs have trials. */
static int badness(const struct cell_result *result) {
    static const int order[] = {
        [CHECK_SAFE] = 0,    [CHECK_INCONCLUSIVE] = 1, [CHECK_FAILED] = 2,
        [CHECK_EXPIRED] = 3, [CHECK_STUCK] = 4,        [CHECK_VIOLATED] = 5};
    return result->no_trial ? -1 : order[result->cell.verdict];
}

/* A figure that only one run has is taken from it. */
static double sum_of(double a, double b) {
    if (isnan(a) || isnan(b)) return isnan(a) ? b : a;
    return a + b;
}

/* The quantile by the nearest rank, which is always a measured value. */
static double quantile(const json_t *sorted, double q) {
    size_t rank = (size_t)ceil(q * (double)json_array_size(sorted));
    return json_number_value(json_array_get(sorted, rank > 0 ? rank - 1 : 0));
}

/* The trials of both, each sorted, in one order. New reference; NULL when out of memory. */
static json_t *sorted_trials(const json_t *a, const json_t *b) {
    json_t *sorted = json_array(), *x, *y;
    size_t i = 0, k = 0;
    while ((x = json_array_get(a, i)), (y = json_array_get(b, k)), sorted && (x || y)) {
        bool first = !y || (x && json_number_value(x) <= json_number_value(y));
        if (json_array_append(sorted, first ? x : y) != 0) {
            json_decref(sorted);
            return NULL;
        }
        first ? i++ : k++;
    }
    return sorted;
}

/* Puts the trials of both together, with the theory of the first run that has one. */
static int merge_recovery(struct cell_result *into, const struct check_cell *a,
                          const struct check_cell *b) {
    const struct check_cell *first = a->trials ? a : b;
    struct check_cell *cell = &into->cell;
    if (!first->trials) return 0;
    const json_t *trials = cell_result_keep(into, sorted_trials(a->trials, b->trials));
    if (!trials) return -1;
    bool any = json_array_size(trials) > 0;
    cell->trials = trials;
    cell->recovery_count = (double)json_array_size(trials);
    cell->recovery_min = any ? quantile(trials, 0) : first->recovery_min;
    cell->recovery_p50 = any ? quantile(trials, 0.5) : first->recovery_p50;
    cell->recovery_max = any ? quantile(trials, 1) : first->recovery_max;
    cell->theory_max = first->theory_max;
    return 0;
}

int cell_result_merge(struct cell_result *into, const struct cell_result *more,
                      struct lb_err *err) {
    struct check_cell a = into->cell, *cell = &into->cell;
    const struct check_cell *b = &more->cell;
    if (!into->kept) into->kept = json_array();
    if (json_array_extend(into->kept, more->kept) != 0) goto fail;
    /* if both are equally bad, the first one stays */
    if (badness(more) > badness(into)) *cell = *b;
    bool none_before = into->no_trial;
    into->no_trial &= more->no_trial;
    for (const struct result_field *field = check_cell_fields(); field->path; field++) {
        if (!field->sums) continue;
        double value = sum_of(result_field_figure(field, &a), result_field_figure(field, b));
        result_field_set_figure(field, cell, value);
    }
    /* A run without a trial is no failure of a cell that has trials. */
    if (none_before != more->no_trial)
        cell->failed_runs = none_before ? b->failed_runs : a.failed_runs;
    cell->recovered = fmin(a.recovered, b->recovered); /* one run without recovery is enough */
    into->hardly_tested |= more->hardly_tested;
    cell->bound95 = bound_of(into);
    if (merge_recovery(into, &a, b) == 0) return 0;
fail:
    return err_set(err, LB_EXIT_MACHINE, "out of memory");
}

/* ---- the conformance suite ---- */

struct counted {
    int passed, failed, left_out;
    const json_t *worst; /* the failure that decides the verdict */
    enum check_verdict verdict;
};

static enum check_verdict verdict_of(const json_t *check) {
    const char *shown = tree_word(check, "shown");
    if (json_is_true(json_object_get(check, "overlap"))) return CHECK_VIOLATED;
    if (strcmp(shown, "granted") == 0) return CHECK_VIOLATED;
    return strcmp(shown, "refused") == 0 ? CHECK_STUCK : CHECK_FAILED;
}

/* The weight of a failure. Two clients that held at once weigh most. */
static int weight_of(const json_t *check) {
    if (!check) return -1;
    if (json_is_true(json_object_get(check, "overlap"))) return 2;
    return verdict_of(check) != CHECK_FAILED;
}

/* Of several failures with the same weight the first decides, because the checks after it are tried
 * once and with little patience. */
static void count_check(struct counted *counted, const json_t *check) {
    const char *result = tree_word(check, "result");
    bool failed = strcmp(result, "failed") == 0;
    counted->passed += strcmp(result, "passed") == 0;
    counted->failed += failed;
    counted->left_out += strcmp(result, "left out") == 0;
    if (!failed || weight_of(check) <= weight_of(counted->worst)) return;
    counted->worst = check;
    counted->verdict = verdict_of(check);
}

static void say_why(const struct counted *counted, bool complete, const char *last_words, char *why,
                    size_t size) {
    if (counted->worst) {
        snprintf(why, size, "'%.60s': %.240s (%d of %d checks failed)",
                 tree_word(counted->worst, "check"), tree_word(counted->worst, "why"),
                 counted->failed, counted->passed + counted->failed);
    } else if (!complete) {
        snprintf(why, size, "%.390s", last_words);
    } else {
        snprintf(why, size, "%d checks passed, %d left out", counted->passed, counted->left_out);
    }
}

int cell_result_of_suite(const json_t *suite, const char *last_words, struct cell_result *ret,
                         struct lb_err *err) {
    struct counted counted = {.verdict = CHECK_SAFE};
    bool complete = json_is_true(json_object_get(suite, "complete"));
    char why[CELL_WHY_MAX];
    const json_t *check;
    size_t i;
    json_array_foreach(json_object_get(suite, "checks"), i, check) {
        count_check(&counted, check);
    }
    if (counted.verdict == CHECK_SAFE && (!complete || counted.passed == 0))
        counted.verdict = CHECK_FAILED;
    say_why(&counted, complete, last_words, why, sizeof why);
    if (cell_result_of_run(NULL, why, false, ret, err) != 0) return -1;
    ret->cell.verdict = counted.verdict;
    ret->cell.verdict_word = check_verdict_name(counted.verdict);
    return 0;
}
