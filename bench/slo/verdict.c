/* verdict: see verdict.h. */
#include "bench/slo/verdict.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench/base/sort.h"
#include "results/stats/quantile.h"

/* ---- the evidence ---- */

/* Makes room for one more element. NULL when out of memory, which the evidence remembers. */
static void *grow_array(struct slo_evidence *evidence, void **array, int count, size_t bytes) {
    void *grown = realloc(*array, (size_t)(count + 1) * bytes);
    evidence->failed |= grown == NULL;
    if (grown) *array = grown;
    return grown;
}

void slo_add_figure(struct slo_evidence *evidence, double figure) {
    if (grow_array(evidence, (void **)&evidence->figures, evidence->repeats, sizeof figure))
        evidence->figures[evidence->repeats++] = figure;
}

void slo_add_thin(struct slo_evidence *evidence) {
    evidence->thin++;
    slo_add_figure(evidence, NAN);
}

void slo_add_batch(struct slo_evidence *evidence, uint64_t count, uint64_t below) {
    struct quantile_batch batch = {.count = count, .below = below};
    if (grow_array(evidence, (void **)&evidence->batches, evidence->batch_count, sizeof batch))
        evidence->batches[evidence->batch_count++] = batch;
}

void slo_add_second(struct slo_evidence *evidence, double value) {
    if (grow_array(evidence, (void **)&evidence->seconds, evidence->second_count, sizeof value))
        evidence->seconds[evidence->second_count++] = value;
}

void slo_evidence_done(struct slo_evidence *evidence) {
    free(evidence->figures);
    free(evidence->batches);
    free(evidence->seconds);
    *evidence = (struct slo_evidence){0};
}

/* ---- the answer ---- */

#define LONGER "a longer run knows more (--set run.duration=60s)"

/* Compares the interval of a figure with the limit. */
static enum promise_verdict judge_interval(const struct threshold *threshold, double low,
                                           double high) {
    if (threshold->at_least)
        return low >= threshold->limit   ? PROMISE_KEPT
               : high < threshold->limit ? PROMISE_BROKEN
                                         : PROMISE_UNSURE;
    return high <= threshold->limit ? PROMISE_KEPT
           : low > threshold->limit ? PROMISE_BROKEN
                                    : PROMISE_UNSURE;
}

/* A quantile is within the limit where no more than 1 - q of the requests are over it. */
static enum promise_verdict judge_quantile(const struct threshold *threshold,
                                           const struct share *within) {
    double q = threshold->quantile;
    bool inside = within->low >= q, beyond = within->high < q;
    if (threshold->at_least)
        return beyond ? PROMISE_KEPT : inside ? PROMISE_BROKEN : PROMISE_UNSURE;
    return inside ? PROMISE_KEPT : beyond ? PROMISE_BROKEN : PROMISE_UNSURE;
}

static void judge_batches(const struct threshold *threshold, const struct slo_evidence *evidence,
                          struct slo_answer *answer) {
    struct share share;
    if (share_of_batches(evidence->batches, evidence->batch_count, SLO_LEVEL, &share) != 0) {
        snprintf(answer->basis, sizeof answer->basis,
                 "too few samples: fewer than %d seconds with a request", QUANTILE_BATCHES_MIN);
        answer->remedy = LONGER;
        return;
    }
    if (isnan(threshold->quantile)) {
        answer->verdict = judge_interval(threshold, share.low, share.high);
        answer->low = share.low;
        answer->high = share.high;
    } else {
        answer->verdict = judge_quantile(threshold, &share);
    }
    bool unsure = answer->verdict == PROMISE_UNSURE;
    const char *few = unsure ? "too few samples: " : "",
               *unseen = evidence->thin > 0 ? ", too few to show the quantile itself" : "";
    if (unsure) answer->remedy = LONGER;
    if (isnan(threshold->quantile)) {
        snprintf(answer->basis, sizeof answer->basis, "%s%d seconds, worth %.0f samples", few,
                 evidence->batch_count, share.effective);
    } else {
        snprintf(answer->basis, sizeof answer->basis,
                 "%s%.3f..%.3f %% are over the limit; %d seconds, worth %.0f samples%s", few,
                 100 * (1 - share.high), 100 * (1 - share.low), evidence->batch_count,
                 share.effective, unseen);
    }
}

/* The interval of the mean of all seconds, by Student's t. */
static void judge_seconds(const struct threshold *threshold, const struct slo_evidence *evidence,
                          struct slo_answer *answer) {
    double sum = 0, squares = 0;
    int n = evidence->second_count;
    if (n < QUANTILE_BATCHES_MIN) {
        snprintf(answer->basis, sizeof answer->basis, "too few samples: fewer than %d seconds",
                 QUANTILE_BATCHES_MIN);
        answer->remedy = LONGER;
        return;
    }
    for (int i = 0; i < n; i++) sum += evidence->seconds[i];
    for (int i = 0; i < n; i++) squares += pow(evidence->seconds[i] - sum / n, 2);
    double half = student_quantile(SLO_LEVEL, n - 1) * sqrt(squares / (n - 1) / n);
    answer->low = sum / n - half;
    answer->high = sum / n + half;
    answer->verdict = judge_interval(threshold, answer->low, answer->high);
    bool unsure = answer->verdict == PROMISE_UNSURE;
    if (unsure) answer->remedy = LONGER;
    snprintf(answer->basis, sizeof answer->basis, "%s%d seconds", unsure ? "too few samples: " : "",
             n);
}

/* The least and the greatest of six repeats and more enclose the median with at least 95 %. */
static void judge_repeats(const struct threshold *threshold, const struct slo_evidence *evidence,
                          struct slo_answer *answer) {
    int n = evidence->repeats;
    double least = evidence->figures[0], most = evidence->figures[0];
    for (int i = 1; i < n; i++) {
        least = fmin(least, evidence->figures[i]);
        most = fmax(most, evidence->figures[i]);
    }
    enum promise_verdict all = judge_interval(threshold, least, most);
    answer->verdict = all;
    if (n > 1) {
        answer->low = least;
        answer->high = most;
    }
    if (n == 1) {
        snprintf(answer->basis, sizeof answer->basis,
                 "of one run: only repeats can show how certain the verdict is");
    } else if (all == PROMISE_UNSURE) {
        snprintf(answer->basis, sizeof answer->basis, "the %d repeats disagree", n);
        answer->remedy = LONGER; /* which makes the repeats scatter less */
    } else {
        snprintf(answer->basis, sizeof answer->basis, "all of %d repeats%s", n,
                 n < SLO_REPEATS_MIN ? ", too few for an interval" : "");
    }
}

/* A busy machine distorts times and the figures that follow from them, but no count of what
 * happened. */
static void excuse_limited(const struct threshold *threshold, const struct slo_evidence *evidence,
                           struct slo_answer *answer) {
    if (answer->verdict != PROMISE_BROKEN || evidence->limited == 0) return;
    if (threshold->figure->kind == RESULT_COUNT) return;
    answer->verdict = PROMISE_UNSURE;
    answer->remedy = "run it again on a less busy machine, or under less load";
    snprintf(answer->basis, sizeof answer->basis,
             "broken, but the load generator was the limit in %d of %d stages", evidence->limited,
             evidence->repeats);
}

/* Sorts the figures. */
static double median_of_repeats(const struct slo_evidence *evidence) {
    int n = evidence->repeats;
    sort_doubles(evidence->figures, (size_t)n);
    double low = evidence->figures[(n - 1) / 2], high = evidence->figures[n / 2];
    return low == high ? low : (low + high) / 2;
}

struct slo_answer slo_judge(const struct threshold *threshold,
                            const struct slo_evidence *evidence) {
    struct slo_answer answer = {
        .verdict = PROMISE_UNSURE, .figure = NAN, .low = NAN, .high = NAN, .basis = "not measured"};
    int known = 0;
    for (int i = 0; i < evidence->repeats; i++) known += !isnan(evidence->figures[i]);
    if (evidence->failed || evidence->repeats == 0 || known + evidence->thin < evidence->repeats) {
        if (known > 0)
            snprintf(answer.basis, sizeof answer.basis, "measured in %d of %d repeats", known,
                     evidence->repeats);
        return answer;
    }
    bool shown = evidence->thin == 0;
    if (shown) answer.figure = median_of_repeats(evidence);
    if (shown && evidence->repeats >= SLO_REPEATS_MIN) {
        judge_repeats(threshold, evidence, &answer);
    } else if (evidence->batch_count > 0) {
        judge_batches(threshold, evidence, &answer);
    } else if (evidence->second_count > 0) {
        judge_seconds(threshold, evidence, &answer);
    } else if (shown) {
        judge_repeats(threshold, evidence, &answer);
    } else {
        snprintf(answer.basis, sizeof answer.basis,
                 "too few samples: fewer than %d requests of a repeat are beyond the quantile",
                 QUANTILE_ABOVE);
        answer.remedy = LONGER;
    }
    excuse_limited(threshold, evidence, &answer);
    return answer;
}
