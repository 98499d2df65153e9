/* slo: see slo.h. */
#include "bench/slo/slo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/clock.h"
#include "bench/base/nearest.h"
#include "bench/base/sort.h"
#include "bench/option/text.h"
#include "results/stats/quantile.h"

#define EXAMPLE "write it as acquire_due.p99<=20ms"
#define NAME_MAX_BYTES 64
#define NUMBER_MAX 1e18

/* ---- the figure ---- */

/* True if name is the whole path, or its end after a dot. */
static bool is_end_of(const char *path, const char *name) {
    size_t length = strlen(path), end = strlen(name);
    if (end > length || strcmp(path + length - end, name) != 0) return false;
    return end == length || path[length - end - 1] == '.';
}

static bool is_called(const struct result_field *field, const char *name) {
    if (strcmp(field->path, name) == 0) return true;
    return field->compared && strcmp(field->compared, name) == 0;
}

/* True if a threshold may be about this field: a figure, or (latency) an object that has
 * quantiles. */
static bool can_be_promised(const struct result_field *field, bool latency) {
    if (latency) return field->kind == RESULT_LATENCY;
    return result_field_is_figure(field) && field->kind != RESULT_YES_NO;
}

/* The row that a name means: by its whole path, by its name in `compare`, or by an end that only
 * one path has. NULL if there is none. *ret_other: a second row that the name may mean, or NULL. */
static const struct result_field *find_row(const char *name, bool latency,
                                           const struct result_field **ret_other) {
    const struct result_field *found = NULL;
    *ret_other = NULL;
    for (const struct result_field *field = run_stage_fields(); field->path; field++) {
        if (!can_be_promised(field, latency)) continue;
        if (is_called(field, name)) {
            *ret_other = NULL;
            return field;
        }
        if (!is_end_of(field->path, name)) continue;
        if (found) *ret_other = field;
        if (!found) found = field;
    }
    return found;
}

/* The name that was probably meant, among whole paths and their ends. */
static int refuse_name(const char *name, struct lb_err *err) {
    struct nearest nearest;
    char hint[120];
    nearest_init(&nearest, name);
    for (const struct result_field *field = run_stage_fields(); field->path; field++) {
        if (!can_be_promised(field, false)) continue;
        nearest_offer(&nearest, field->path);
        if (field->compared) nearest_offer(&nearest, field->compared);
        for (const char *dot = strchr(field->path, '.'); dot; dot = strchr(dot + 1, '.'))
            nearest_offer(&nearest, dot + 1);
    }
    return err_set(err, LB_EXIT_USAGE,
                   "'%s' can't be promised: a stage has no such figure%s (results/FIELDS.md lists "
                   "them); " EXAMPLE,
                   name, nearest_hint(&nearest, hint, sizeof hint));
}

/* "p99", "p99.9"; "p999" is p99.9, as in run.json. */
static int read_quantile(const char *word, double *ret, struct lb_err *err) {
    double percent = 0;
    struct lb_err why = {0};
    if (strcmp(word, "p999") == 0) {
        *ret = 0.999;
        return 0;
    }
    if (word[0] != 'p' || text_real(word + 1, 100 * THRESHOLD_QUANTILE_MIN,
                                    100 * THRESHOLD_QUANTILE_MAX, &percent, &why))
        return err_set(err, LB_EXIT_USAGE, "'%.40s' is no quantile from p50 to p99.99; " EXAMPLE,
                       word);
    *ret = percent / 100;
    return 0;
}

/* A figure that is a quantile by a name of its own (acquire_p99, response_ns.p99) is judged as that quantile: so it
 * counts what was never granted, and the seconds of a run. */
static void read_own_name(struct threshold *ret) {
    const struct result_field *other;
    const char *path = ret->figure->path, *part = strrchr(path, '.');
    char head[NAME_MAX_BYTES];
    double quantile;
    struct lb_err why = {0};
    if (!part || text_trim(path, (size_t)(part - path), head, sizeof head) ||
        read_quantile(part + 1, &quantile, &why))
        return;
    bool response = strcmp(head, "response_ns") == 0;
    const struct result_field *row =
        find_row(response ? "latency_ns.acquire_due" : head, true, &other);
    if (!row) return;
    ret->figure = row;
    ret->quantile = quantile;
}

/* The figure of that name; else splits "acquire_due.p95" into the row of a latency and a quantile. The quantile is NAN if
 * the figure is none. */
static int read_figure(const char *name, struct threshold *ret, struct lb_err *err) {
    const struct result_field *other;
    char head[NAME_MAX_BYTES], rest[NAME_MAX_BYTES];
    if (strcmp(name, "failed") == 0) name = "not_granted"; /* as people call it */
    ret->figure = find_row(name, false, &other);
    ret->quantile = NAN;
    if (ret->figure && other)
        return err_set(err, LB_EXIT_USAGE,
                       "'%s' is no promise: it can be %s or %s: write the whole path", name,
                       ret->figure->path, other->path);
    if (ret->figure) {
        read_own_name(ret);
        return 0;
    }
    for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.')) {
        if (text_trim(name, (size_t)(dot - name), head, sizeof head) ||
            text_trim(dot + 1, strlen(dot + 1), rest, sizeof rest))
            break;
        ret->figure = find_row(head, true, &other);
        if (ret->figure) return read_quantile(rest, &ret->quantile, err);
    }
    return refuse_name(name, err);
}

/* ---- the limit ---- */

static int read_number(const char *word, double *ret, struct lb_err *err) {
    char digits[40];
    size_t length = strlen(word);
    bool percent = length > 0 && word[length - 1] == '%';
    if (text_trim(word, length - percent, digits, sizeof digits) ||
        text_real(digits, -NUMBER_MAX, NUMBER_MAX, ret, err))
        return -1;
    if (percent) *ret /= 100;
    return 0;
}

static int read_limit(const char *word, const struct threshold *threshold, double *ret,
                      struct lb_err *err) {
    int64_t limit_ns = 0;
    bool time = !isnan(threshold->quantile) || result_field_is_time(threshold->figure);
    int rc = time ? text_duration(word, LB_US_NS, HIST_HIGHEST_NS, &limit_ns, err)
                  : read_number(word, ret, err);
    if (rc) err_prefix(err, "the limit");
    if (rc == 0 && time) *ret = (double)limit_ns;
    return rc;
}

/* 0, or -1 with err, and *ret is untouched. */
static int threshold_read(const char *text, struct threshold *ret, struct lb_err *err) {
    char name[NAME_MAX_BYTES], limit[40];
    struct threshold threshold = {.quantile = NAN};
    const char *sign = strstr(text, "<=");
    if (!sign) sign = strstr(text, ">=");
    if (!sign || text_trim(text, (size_t)(sign - text), name, sizeof name) || !*name ||
        text_trim(sign + 2, strlen(sign + 2), limit, sizeof limit)) {
        return err_set(err, LB_EXIT_USAGE, "'%.60s' is no promise: " EXAMPLE, text);
    }
    threshold.at_least = sign[0] == '>';
    /* Blanks around the dots mean nothing. */
    char *to = name;
    for (const char *from = name; *from; from++)
        if (*from != ' ') *to++ = *from;
    *to = '\0';
    if (read_figure(name, &threshold, err) || read_limit(limit, &threshold, &threshold.limit, err))
        return -1;
    snprintf(threshold.text, sizeof threshold.text, "%s%.2s%s", name, sign, limit);
    *ret = threshold;
    return 0;
}

int thresholds_read(const char *text, struct threshold *ret, struct lb_err *err) {
    int count = 0;
    for (bool more = *text; more;) {
        size_t length = strcspn(text, ",");
        char one[THRESHOLD_TEXT_MAX];
        if (text_trim(text, length, one, sizeof one))
            return err_set(err, LB_EXIT_USAGE, "'%.60s...' is no promise: " EXAMPLE, text);
        if (count == THRESHOLDS_MAX)
            return err_set(err, LB_EXIT_USAGE, "more than %d promises", THRESHOLDS_MAX);
        if (threshold_read(one, &ret[count], err)) return -1;
        count++;
        more = text[length] == ',';
        text += length + more;
    }
    return count;
}

enum metric threshold_metric(const struct threshold *threshold) {
    if (isnan(threshold->quantile)) return METRICS;
    size_t begin = offsetof(struct run_stage, latency);
    return (enum metric)((threshold->figure->offset - begin) / sizeof(struct run_latency));
}

bool threshold_needs_schedule(const struct threshold *threshold) {
    static const char *const starts[] = {"latency_ns.acquire_due", "latency_ns.lag", "arrivals.",
                                         "offered_per_s"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        if (strncmp(threshold->figure->path, starts[i], strlen(starts[i])) == 0) return true;
    }
    return false;
}

bool threshold_leaves_out_wait(const struct threshold *threshold) {
    static const char acquire[] = "latency_ns.acquire";
    const char *path = threshold->figure->path;
    bool time = !isnan(threshold->quantile) || result_field_is_time(threshold->figure);
    return time && strncmp(path, acquire, strlen(acquire)) == 0 &&
           !threshold_needs_schedule(threshold);
}

int slo_parse(const char *text, struct stage_promise *ret, struct lb_err *err) {
    struct threshold threshold;
    if (threshold_read(text, &threshold, err) != 0) return -1;
    enum metric metric = threshold_metric(&threshold);
    if (metric != METRIC_ACQUIRE && metric != METRIC_ACQUIRE_DUE)
        return err_set(err, LB_EXIT_USAGE,
                       "'%s' is no promise that a load can be searched for: a quantile of "
                       "acquire_due or acquire is, as acquire_due.p99<=20ms",
                       metric < METRICS ? metric_name(metric) : threshold.figure->path);
    if (threshold.at_least)
        return err_set(err, LB_EXIT_USAGE,
                       "'%.60s' is no promise that a load can be searched for: write <=", text);
    *ret = (struct stage_promise){metric, threshold.quantile, (int64_t)threshold.limit};
    return 0;
}

char *slo_text(const struct stage_promise *slo, char *text, size_t size) {
    char limit[32];
    snprintf(text, size, "%s.p%.6g<=%s", metric_name(slo->metric), 100 * slo->quantile,
             duration_text(slo->limit_ns, limit, sizeof limit));
    return text;
}

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

void slo_add_batch(struct slo_evidence *evidence, const struct quantile_batch *batch) {
    if (grow_array(evidence, (void **)&evidence->batches, evidence->batch_count, sizeof *batch))
        evidence->batches[evidence->batch_count++] = *batch;
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
#define HOPELESS "no window of an hour would do: take a lower rate, or a less busy machine"
#define LENGTH_STEP 1.25 /* lengths that are tried differ by this factor */
#define LENGTH_MARGIN 2  /* a short window takes relaxation times for shorter than they are */
#define WINDOW_MOST_S 3600

/* Compares an interval with a limit. */
static enum promise_verdict judge(bool at_least, double limit, double low, double high) {
    if (at_least)
        return low >= limit ? PROMISE_KEPT : high < limit ? PROMISE_BROKEN : PROMISE_UNSURE;
    return high <= limit ? PROMISE_KEPT : low > limit ? PROMISE_BROKEN : PROMISE_UNSURE;
}

/* A quantile is within the limit where at least q of the requests are. */
static enum promise_verdict judge_share(const struct threshold *threshold,
                                        const struct share *share) {
    double q = threshold->quantile;
    return isnan(q) ? judge(threshold->at_least, threshold->limit, share->low, share->high)
                    : judge(!threshold->at_least, q, share->low, share->high);
}

/* Says which window would decide, if it shows the share that was seen: one that is so much longer. */
static void advise_window(const struct threshold *threshold, const struct slo_evidence *evidence,
                          const struct share *worth, struct slo_answer *answer) {
    double window_s =
        (evidence->window_s > 0 ? evidence->window_s : evidence->batch_count) / evidence->repeats;
    double times = RELAXATIONS_MIN * evidence->repeats / worth->effective;
    char text[24];
    strcpy(answer->remedy, HOPELESS);
    for (times = fmax(times, LENGTH_STEP); times * window_s * LENGTH_MARGIN <= WINDOW_MOST_S;
         times *= LENGTH_STEP) {
        struct share longer = *worth;
        longer.effective *= times;
        share_interval(&longer, SLO_LEVEL);
        if (judge_share(threshold, &longer) == PROMISE_UNSURE) continue;
        double needed_s = LENGTH_MARGIN * times * window_s,
               digits_s = pow(10, floor(log10(needed_s)) - 1);
        int64_t needed_ns = (int64_t)(ceil(needed_s / fmax(1, digits_s)) * fmax(1, digits_s) * 1e9);
        duration_text(needed_ns, text, sizeof text);
        snprintf(answer->remedy, sizeof answer->remedy,
                 "a window of about %s would do (--set run.duration=%s)", text, text);
        return;
    }
}

static void judge_batches(const struct threshold *threshold, const struct slo_evidence *evidence,
                          struct slo_answer *answer) {
    struct share share;
    int count = evidence->batch_count;
    const char *unit = evidence->whole ? "windows" : "seconds";
    answer->verdict = PROMISE_UNSURE;
    if (share_of_batches(evidence->batches, count, SLO_LEVEL, &share) != 0) {
        snprintf(answer->basis, sizeof answer->basis,
                 "too few samples: fewer than %d %s with a request", QUANTILE_BATCHES_MIN, unit);
        strcpy(answer->remedy, LONGER);
        return;
    }
    /* Seconds without a request over the limit say nothing of how such requests cluster; their values do. */
    struct share worth = share;
    double shown = batches_worth(evidence->batches, count, SLO_LEVEL);
    worth.effective = fmin(share.effective, shown);
    share_interval(&worth, SLO_LEVEL);
    bool settled = shown >= RELAXATIONS_MIN * evidence->repeats;
    answer->verdict = judge_share(threshold, &share);
    if (answer->verdict == PROMISE_KEPT &&
        !(settled && judge_share(threshold, &worth) == PROMISE_KEPT))
        answer->verdict = PROMISE_UNSURE;
    if (answer->verdict != PROMISE_BROKEN) share = worth;
    const char *few = answer->verdict == PROMISE_UNSURE ? "too few samples: " : "",
               *unseen = evidence->thin > 0 ? ", too few to show the quantile itself" : "";
    if (answer->verdict == PROMISE_UNSURE) advise_window(threshold, evidence, &worth, answer);
    if (isnan(threshold->quantile)) {
        answer->low = share.low;
        answer->high = share.high;
        snprintf(answer->basis, sizeof answer->basis, "%s%d %s, worth %.0f samples", few, count,
                 unit, share.effective);
    } else {
        snprintf(answer->basis, sizeof answer->basis,
                 "%s%.3f..%.3f %% are over the limit; %d %s, worth %.0f samples%s", few,
                 100 * (1 - share.high), 100 * (1 - share.low), count, unit, share.effective,
                 unseen);
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
        strcpy(answer->remedy, LONGER);
        return;
    }
    for (int i = 0; i < n; i++) sum += evidence->seconds[i];
    for (int i = 0; i < n; i++) squares += pow(evidence->seconds[i] - sum / n, 2);
    double half = student_quantile(SLO_LEVEL, n - 1) * sqrt(squares / (n - 1) / n);
    answer->low = sum / n - half;
    answer->high = sum / n + half;
    answer->verdict = judge(threshold->at_least, threshold->limit, answer->low, answer->high);
    bool unsure = answer->verdict == PROMISE_UNSURE;
    if (unsure) strcpy(answer->remedy, LONGER);
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
    enum promise_verdict all = judge(threshold->at_least, threshold->limit, least, most);
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
        strcpy(answer->remedy, LONGER); /* which makes the repeats scatter less */
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
    strcpy(answer->remedy, "run it again on a less busy machine, or under less load");
    snprintf(answer->basis, sizeof answer->basis,
             "broken, but the load generator was the limit in %d of %d stages", evidence->limited,
             evidence->repeats);
}

/* Six repeats of a queue whose windows are too short show too little in all of them. */
static void doubt_repeats(const struct threshold *threshold, const struct slo_evidence *evidence,
                          struct slo_answer *answer) {
    struct slo_answer doubt = *answer;
    if (answer->verdict != PROMISE_KEPT || evidence->batch_count == 0) return;
    judge_batches(threshold, evidence, &doubt);
    if (doubt.verdict == PROMISE_KEPT) return;
    if (evidence->whole) strcpy(doubt.remedy, "more repeats know more (--set run.repeat=20)");
    *answer = doubt;
    answer->verdict = PROMISE_UNSURE;
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
    if (evidence->ended == evidence->repeats) {
        answer.verdict = PROMISE_BROKEN;
        snprintf(answer.basis, sizeof answer.basis,
                 "by then the whole window could only break it (slo.stop)");
    } else if (shown && evidence->repeats >= SLO_REPEATS_MIN) {
        judge_repeats(threshold, evidence, &answer);
        doubt_repeats(threshold, evidence, &answer);
    } else if (evidence->batch_count > 0 && !(shown && evidence->whole)) {
        judge_batches(threshold, evidence, &answer);
    } else if (evidence->second_count > 0) {
        judge_seconds(threshold, evidence, &answer);
    } else if (shown) {
        judge_repeats(threshold, evidence, &answer);
        doubt_repeats(threshold, evidence, &answer);
    } else {
        snprintf(answer.basis, sizeof answer.basis,
                 "too few samples: fewer than %d requests of a repeat are beyond the quantile",
                 QUANTILE_ABOVE);
        strcpy(answer.remedy, LONGER);
    }
    excuse_limited(threshold, evidence, &answer);
    return answer;
}
