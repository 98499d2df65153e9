/* best: see best.h. */
#include "report/run/best.h"

#include <math.h>
#include <string.h>

#include "report/run/spread.h"
#include "results/format/unrecorded.h"

/* A high quantile, or the greatest of some values. */
static bool is_tail(const struct column *column) {
    static const char *const tails[] = {".p99",         ".p999",          ".max",
                                        ".max_ns",      ".max_wait_ns",   ".blocked_ns_max",
                                        ".longest_run", ".unavailable_ns"};
    const char *end = strrchr(column->key, '.');
    for (size_t i = 0; end && i < sizeof tails / sizeof *tails; i++)
        if (strcmp(end, tails[i]) == 0) return true;
    return false;
}

static bool is_rival(const struct column *column, const struct report_row *row,
                     enum durability durability) {
    return row->candidate && words_durability(row->typical) == durability &&
           !isnan(column_value(column, row));
}

const struct report_row *best_row(const struct column *column, const struct report_group *group,
                                  enum durability durability) {
    const struct report_row *best = NULL;
    bool has_best = column->better != 0 && !column_why_unranked(column, group);
    for (int r = 0; r < group->row_count && has_best; r++) {
        const struct report_row *row = &group->rows[r];
        double value = column->better * column_value(column, row);
        if (!is_rival(column, row, durability) || !isfinite(value)) continue;
        if (!best || value > column->better * column_value(column, best)) best = row;
    }
    return best;
}

/* A lock that serves few clients would have the shortest waits, since those of the others are missing. */
static bool lacks_waits(const struct column *column, const struct report_row *row) {
    static const char acquire[] = "latency_ns.acquire.";
    return strncmp(column->key, acquire, strlen(acquire)) == 0 &&
           row->unrecorded > UNRECORDED_SHARE;
}

const char *best_why_untold(const struct column *column, const struct report_row *row) {
    if (lacks_waits(column, row)) return "long waits are missing, see below";
    return is_tail(column) && row->repeats < 2 ? "one run of each can't tell" : NULL;
}

bool best_is_level(const struct column *column, const struct report_row *a,
                   const struct report_row *b) {
    double x = column_value(column, a), y = column_value(column, b);
    if (a == b || x == y) return true;
    if (!isfinite(x) || !isfinite(y)) return false;
    if (best_why_untold(column, a) || best_why_untold(column, b)) return true;
    if (fabs(x - y) <= BEST_TIE * fmax(fabs(x), fabs(y))) return true;
    struct spread p = spread_of(a, column), q = spread_of(b, column);
    if (p.kind == SPREAD_NONE) p.low = p.high = x;
    if (q.kind == SPREAD_NONE) q.low = q.high = y;
    return p.low <= q.high && q.low <= p.high;
}

bool best_is_marked(const struct column *column, const struct report_group *group, int row) {
    const struct report_row *mine = &group->rows[row];
    enum durability durability = words_durability(mine->typical);
    const struct report_row *best = best_row(column, group, durability);
    if (!best || !is_rival(column, mine, durability) || !best_is_level(column, mine, best))
        return false;
    /* Not even beside a lock whose tail is "never": then all that have one would be marked. */
    if (best_why_untold(column, mine) || best_why_untold(column, best)) return false;
    for (int r = 0; r < group->row_count; r++) {
        const struct report_row *other = &group->rows[r];
        if (is_rival(column, other, durability) && !best_is_level(column, other, best)) return true;
    }
    return false;
}

double best_ratio(const struct column *column, const struct report_group *group, int row) {
    const struct report_row *mine = &group->rows[row];
    enum durability durability = words_durability(mine->typical);
    const struct report_row *best = best_row(column, group, durability);
    if (!best || !is_rival(column, mine, durability)) return NAN;
    double value = column_value(column, mine), least = column_value(column, best);
    if (!(least > 0 && value > 0)) return NAN;
    if (isinf(value)) return value;
    if (best_why_untold(column, mine) || best_why_untold(column, best)) return NAN;
    if (best_is_level(column, mine, best)) return 1;
    return column->better > 0 ? least / value : value / least;
}

bool best_mean_is_level(double a, double b) {
    return fabs(a - b) <= BEST_TIE * fmax(a, b);
}

bool best_is_unfair(const struct report_row *row) {
    return row->figures.jain < BEST_FAIR && !report_fault_is_of_clients(row->typical);
}

const char *best_unfair_text(const struct report_row *row) {
    /* Jain's index is the part of the clients among which equal shares would give it. */
    bool one = row->figures.jain * row->figures.clients < 1.1;
    return one ? "one client got almost all grants" : "few clients got most of the grants";
}

/* The ratio at an end of the figure's spread, or the ratio itself if there is no spread. */
static double ratio_at_end(const struct column *column, const struct report_group *group, int row,
                           bool better) {
    const struct report_row *mine = &group->rows[row];
    double ratio = best_ratio(column, group, row);
    struct spread spread = spread_of(mine, column);
    if (!isfinite(ratio) || spread.kind == SPREAD_NONE) return ratio;
    double end = better == (column->better > 0) ? spread.high : spread.low;
    double best = column_value(column, best_row(column, group, words_durability(mine->typical)));
    if (!(end > 0)) return ratio; /* nothing is so many times better than 0 */
    double at_end = column->better > 0 ? best / end : end / best;
    return better ? fmin(ratio, at_end) : fmax(ratio, at_end);
}

enum mean_of { MEAN_SEEN, MEAN_BETTER, MEAN_WORSE };

static double mean_ratio(const struct report_group *group, int row, enum mean_of of) {
    double sum = 0;
    int count = 0;
    for (const struct column *column = columns_of(IN_COMPARISON); column->key; column++) {
        if (!column_is_ranked(column, group)) continue;
        double ratio = of == MEAN_SEEN ? best_ratio(column, group, row)
                                       : ratio_at_end(column, group, row, of == MEAN_BETTER);
        if (isnan(ratio)) continue;
        sum += log(ratio);
        count++;
    }
    return count ? exp(sum / count) : NAN;
}

double best_ratio_mean(const struct report_group *group, int row) {
    return mean_ratio(group, row, MEAN_SEEN);
}

bool best_ratio_range(const struct report_group *group, int row, double *ret_low,
                      double *ret_high) {
    double low = mean_ratio(group, row, MEAN_BETTER), high = mean_ratio(group, row, MEAN_WORSE);
    if (group->rows[row].repeats < 2 || !isfinite(low)) return false;
    *ret_low = low;
    *ret_high = high;
    return true;
}
