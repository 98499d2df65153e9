/* compare_figure: one figure of one lock under one load: its samples on both sides, the difference
 * between them, and the verdict on it.
 *
 * No inconvenient sample is dropped: a run that granted nothing is a sample. A stage whose limit
 * was the load generator is no sample, because it measured the tool. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare/choice.h"
#include "report/compare/compare_parts.h"
#include "report/run/model.h"
#include "results/stats/rank.h"

#define LEVEL 0.95
#define SAMPLES_MAX 2000 /* samples of a side: all pairs of them are looked at */
/* the samples that are advised if there is no interval yet that shows how many are enough */
#define WANTED_FEW 10
/* a difference of logarithms: only "never" and 0 are so far from other figures */
#define BEYOND_ANY 300

const struct result_field *compare_metric(int index) {
    for (const struct result_field *field = run_stage_fields(); field->path; field++) {
        if (field->compared && field->compared_place == index + 1) return field;
    }
    return NULL;
}

double compare_value(const struct result_field *metric, const struct run_stage *stage) {
    for (const struct result_field *other = run_stage_fields(); other->path; other++) {
        bool stands_in =
            other->compared && other->instead_of && strcmp(other->instead_of, metric->path) == 0;
        if (stands_in && !isnan(result_field_figure(other, stage))) return NAN;
    }
    return result_field_figure(metric, stage);
}

int compare_metric_count(void) {
    int count = 0;
    while (count < COMPARE_METRICS_MAX && compare_metric(count)) count++;
    return count;
}

char *compare_metrics_text(uint32_t choice, char text[COMPARE_METRICS_TEXT_MAX]) {
    size_t used = 0;
    text[0] = '\0';
    for (int m = 0; m < compare_metric_count() && choice; m++) {
        if (!choice_has(choice, m) || used >= COMPARE_METRICS_TEXT_MAX) continue;
        used += (size_t)snprintf(text + used, COMPARE_METRICS_TEXT_MAX - used, "%s%s",
                                 used ? "," : "", compare_metric(m)->compared);
    }
    return text;
}

bool compare_is_sample(const struct run_stage *stage) {
    return stage->status && strcmp(stage->status, "complete") == 0 && !report_limited(stage);
}

int compare_count_limited(const struct compare_pick *pick) {
    int count = 0;
    for (int i = 0; i < pick->count; i++) count += report_limited(pick->stages[i]);
    return count;
}

/* The value of the stages of one run, or of one stage. NAN if none of them ran to its end, was a
 * sample and has the figure. *at moves past these stages. */
static double next_sample(const struct compare_pick *pick, const struct result_field *metric,
                          int *at, double *room) {
    int run = pick->runs[*at], count = 0;
    do {
        const struct run_stage *stage = pick->stages[*at];
        double value = compare_value(metric, stage);
        if (compare_is_sample(stage) && !isnan(value)) room[count++] = value;
        ++*at;
    } while (pick->by_run && *at < pick->count && pick->runs[*at] == run);
    return rank_median(room, count);
}

static int fill_side(const struct compare_pick *pick, const struct result_field *metric,
                     struct compare_side *side) {
    double *room = calloc((size_t)pick->count + 1, sizeof *room);
    side->values = calloc((size_t)pick->count + 1, sizeof *side->values);
    if (!room || !side->values) {
        free(room);
        return -1;
    }
    for (int i = 0; i < pick->count; side->made++) {
        double value = next_sample(pick, metric, &i, room);
        if (!isnan(value)) side->values[side->count++] = value;
    }
    side->median = rank_median(side->values, side->count);
    free(room);
    return 0;
}

static bool all_zero(const struct compare_side *side) {
    for (int i = 0; i < side->count; i++) {
        if (side->values[i] > 0) return false;
    }
    return true;
}

static bool any_zero(const struct compare_side *side) {
    for (int i = 0; i < side->count; i++) {
        if (!(side->values[i] > 0)) return true;
    }
    return false;
}

/* A zero among other values stays the smallest of all. */
static double *logs_of(const struct compare_side *side) {
    double *logs = malloc(((size_t)side->count + 1) * sizeof *logs);
    for (int i = 0; logs && i < side->count; i++)
        logs[i] = log(fmin(fmax(side->values[i], DBL_MIN), DBL_MAX));
    return logs;
}

/* A difference of logarithms as a change of the figure. */
static double change_of(double difference) {
    return difference > BEYOND_ANY ? INFINITY : expm1(difference);
}

/* Finds shift, interval and p if both sides have samples. */
static int fill_shift(struct compare_figure *figure) {
    struct rank_shift shift;
    int x_count = figure->base.count, y_count = figure->new.count, failed = -1;
    double *x = logs_of(&figure->base), *y = logs_of(&figure->new);
    if (!x || !y) goto out;
    figure->p = rank_p(x, x_count, y, y_count);
    failed = rank_shift(x, x_count, y, y_count, LEVEL, &shift);
    if (failed) goto out;
    figure->shift = change_of(shift.estimate);
    figure->low = isinf(shift.low) ? -INFINITY : change_of(shift.low);
    figure->high = change_of(shift.high);
    figure->verdict = COMPARE_INCONCLUSIVE; /* corrected later */
out:
    free(x);
    free(y);
    return failed;
}

int compare_fill_figure(struct compare_figure *figure, const struct result_field *metric,
                        const struct compare_pick *base, const struct compare_pick *new,
                        struct lb_err *err) {
    bool is_throughput = metric == compare_metric(0);
    figure->p = figure->shift = figure->low = figure->high = NAN;
    if (fill_side(base, metric, &figure->base) != 0 || fill_side(new, metric, &figure->new) != 0)
        return err_set(err, LB_EXIT_MACHINE, "out of memory");
    int most = figure->base.count > figure->new.count ? figure->base.count : figure->new.count;
    if (most > SAMPLES_MAX)
        return err_set(
            err, LB_EXIT_USAGE,
            "compare: %s: %d samples of one lock under one load; at most %d can be compared",
            base->stages[0]->lock, most, SAMPLES_MAX);
    /* If the load generator was the limit of all stages of a side, that side has no sample, and
     * there is no verdict. */
    bool base_left_out = figure->base.count == 0 && compare_count_limited(base) > 0;
    bool new_left_out = figure->new.count == 0 && compare_count_limited(new) > 0;
    bool any = figure->base.count + figure->new.count > 0;
    if ((base_left_out || new_left_out) && any) figure->verdict = COMPARE_INCONCLUSIVE;
    /* If a side has no sample for any reason (its stages failed, or were cut off), the figure of the grants reports
     * it: nothing was compared, and that is no success. */
    if (is_throughput && (figure->base.count == 0 || figure->new.count == 0)) {
        figure->verdict = COMPARE_INCONCLUSIVE;
        return 0;
    }
    if (figure->base.count == 0) return 0;
    bool idle = all_zero(&figure->new);
    /* All samples of the base had grants, and no new one had any. A base that sometimes has none is judged like any
     * other figure. */
    if (is_throughput && idle && !any_zero(&figure->base)) {
        figure->verdict = COMPARE_WORSE;
        figure->shift = -1;
        return 0;
    }
    if (figure->new.count == 0 || (idle && all_zero(&figure->base))) return 0;
    return fill_shift(figure) == 0 ? 0 : err_set(err, LB_EXIT_MACHINE, "out of memory");
}

/* ---- verdicts ---- */

/* The number of samples that would be enough: for the smallest p that the correction of the whole
 * family lets pass, and for an interval as narrow as min_effect, which shrinks with the root of n.
 * A change that the interval shows already needs only the former. */
static double wanted_samples(const struct compare_figure *figure, double min_effect, double alpha,
                             int family) {
    int have = figure->base.count < figure->new.count ? figure->base.count : figure->new.count;
    int least = rank_smallest(1 - alpha / family);
    if (isinf(figure->high) || isinf(figure->low)) return least > WANTED_FEW ? least : WANTED_FEW;
    double half = (log1p(figure->high) - log1p(figure->low)) / 2;
    double times = half / log1p(min_effect);
    bool shown = figure->low > 0 || figure->high < 0;
    double wanted = shown ? ceil(1.5 * have) : ceil(have * times * times);
    if (!(wanted > have)) wanted = have + 1; /* true also for a NAN */
    return wanted < least ? least : wanted;
}

static void judge(const struct compare *compare, const struct compare_row *row,
                  struct compare_figure *figure, const struct result_field *metric, int family) {
    double least = compare->min_effect;
    bool changed = figure->p <= compare->alpha && fabs(figure->shift) >= least;
    if (changed) {
        figure->verdict =
            (figure->shift > 0) == (metric->better > 0) ? COMPARE_BETTER : COMPARE_WORSE;
    } else if (figure->low > -COMPARE_SAME_TIMES * least &&
               figure->high < COMPARE_SAME_TIMES * least) {
        figure->verdict = COMPARE_SAME;
    } else {
        figure->need = compare_need_of_samples(
            row, figure, wanted_samples(figure, least, compare->alpha, family));
    }
}

static bool has_samples(const struct compare_figure *figure) {
    return figure->base.count > 0 || figure->new.count > 0;
}

/* Whether a figure gives way to another one that was measured: in an open loop the time from the call gives way to
 * the response time, and in a closed loop the other way round. */
static bool gives_way(const struct compare_row *row, int metric) {
    const struct result_field *own = compare_metric(metric);
    for (int m = 0; m < compare_metric_count(); m++) {
        const struct result_field *other = compare_metric(m);
        bool pair = (other->instead_of && strcmp(other->instead_of, own->path) == 0) ||
                    (own->instead_of && strcmp(own->instead_of, other->path) == 0);
        if (pair && has_samples(&row->figure[m])) return true;
    }
    return false;
}

/* A figure that is not chosen is shown only. One that is chosen by name must be measured on both sides: otherwise a
 * gate would look at nothing and stay open. */
static void choose(struct compare_row *row, int metric, uint32_t choice) {
    struct compare_figure *figure = &row->figure[metric];
    if (!choice_has(choice, metric)) {
        if (figure->verdict != COMPARE_UNKNOWN) figure->verdict = COMPARE_UNJUDGED;
        figure->p = NAN;
        return;
    }
    bool lacks = figure->base.count == 0 || figure->new.count == 0;
    if (choice && figure->verdict == COMPARE_UNKNOWN && lacks && !gives_way(row, metric))
        figure->verdict = COMPARE_INCONCLUSIVE;
}

int compare_judge(struct compare *compare) {
    int metrics = compare_metric_count(), count = 0;
    for (int r = 0; r < compare->row_count; r++) {
        for (int m = 0; m < metrics; m++) choose(&compare->rows[r], m, compare->metrics);
    }
    double *p = malloc(((size_t)compare->row_count * (size_t)metrics + 1) * sizeof *p);
    if (!p) return -1;
    for (int r = 0; r < compare->row_count; r++) {
        for (int m = 0; m < metrics; m++) {
            const struct compare_figure *figure = &compare->rows[r].figure[m];
            if (!isnan(figure->p)) p[count++] = figure->p;
        }
    }
    int failed = rank_holm(p, count), family = count;
    count = 0;
    for (int r = 0; r < compare->row_count && !failed; r++) {
        struct compare_row *row = &compare->rows[r];
        for (int m = 0; m < metrics; m++) {
            struct compare_figure *figure = &row->figure[m];
            if (!isnan(figure->p)) {
                figure->p = p[count++];
                judge(compare, row, figure, compare_metric(m), family);
            } else if (figure->verdict == COMPARE_INCONCLUSIVE) {
                figure->need = compare_need_of_side(row, figure, compare_metric(m));
            }
            compare->counts[figure->verdict]++;
        }
    }
    free(p);
    return failed ? -1 : 0;
}
