/* compare_judge: the test of two sides of samples, and its verdicts. It knows nothing of runs' files, so that
 * `history --gate` judges the lines of its file by the same code.
 *
 * No inconvenient sample is dropped: a run that granted nothing is a sample. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare/compare.h"
#include "results/stats/rank.h"

#define LEVEL 0.95
#define SAMPLES_MAX 2000 /* samples of a side: all pairs of them are looked at */
/* a difference of logarithms: only "never" and 0 are so far from other figures */
#define BEYOND_ANY 300

const struct result_field *compare_metric(int index) {
    for (const struct result_field *field = run_stage_fields(); field->path; field++) {
        if (field->compared && field->compared_place == index + 1) return field;
    }
    return NULL;
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

/* ---- the test ---- */

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

int compare_test(struct compare_row *row, int metric, struct lb_err *err) {
    struct compare_figure *figure = &row->figure[metric];
    struct compare_side *base = &figure->base, *new = &figure->new;
    bool is_throughput = metric == 0;
    int most = base->count > new->count ? base->count : new->count;
    if (most > SAMPLES_MAX)
        return err_set(err, LB_EXIT_USAGE,
                       "%s: %d samples of one lock under one load; at most %d can be compared",
                       row->lock, most, SAMPLES_MAX);
    figure->p = figure->shift = figure->low = figure->high = NAN;
    base->median = rank_median(base->values, base->count);
    new->median = rank_median(new->values, new->count);
    /* If a side has no sample for any reason (its stages failed, or were cut off), the figure of the grants reports
     * it: nothing was compared, and that is no success. */
    if (is_throughput && (base->count == 0 || new->count == 0))
        figure->verdict = COMPARE_INCONCLUSIVE;
    if (base->count == 0 || new->count == 0) return 0;
    bool idle = all_zero(new);
    /* All samples of the base had grants, and no new one had any. A base that sometimes has none is judged like any
     * other figure. */
    if (is_throughput && idle && !any_zero(base)) {
        figure->verdict = COMPARE_WORSE;
        figure->shift = -1;
        return 0;
    }
    if (idle && all_zero(base)) return 0;
    if (fill_shift(figure) != 0) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    if (base->disturbed || new->disturbed) figure->p = NAN; /* shown, not judged */
    return 0;
}

/* ---- verdicts ---- */

static void judge(const struct compare *compare, struct compare_figure *figure,
                  const struct result_field *metric) {
    double least = compare->min_effect;
    bool changed = figure->p <= COMPARE_ALPHA && fabs(figure->shift) >= least;
    if (changed) {
        figure->verdict =
            (figure->shift > 0) == (metric->better > 0) ? COMPARE_BETTER : COMPARE_WORSE;
    } else if (figure->low > -COMPARE_SAME_TIMES * least &&
               figure->high < COMPARE_SAME_TIMES * least) {
        figure->verdict = COMPARE_SAME;
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
    int failed = rank_holm(p, count);
    count = 0;
    for (int r = 0; r < compare->row_count && !failed; r++) {
        struct compare_row *row = &compare->rows[r];
        for (int m = 0; m < metrics; m++) {
            struct compare_figure *figure = &row->figure[m];
            if (!isnan(figure->p)) {
                figure->p = p[count++];
                judge(compare, figure, compare_metric(m));
            }
            compare->counts[figure->verdict]++;
        }
    }
    free(p);
    return failed ? -1 : 0;
}
