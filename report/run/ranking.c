/* ranking: see ranking.h. */
#include "report/run/ranking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/format/run_read.h"

/* ---- the best of a figure ---- */

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

/* The candidate of a durability with the best value, even if others are level with it. NULL: locks
 * are not ranked by the figure in this group (column_why_unranked), no candidate has a value, or only
 * INFINITY ("never"), which is worse than any other value and never the best. */
static const struct report_row *best_row(const struct column *column,
                                         const struct report_group *group,
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

/* Why the row's figure can't be ranked, so that the row is level with every other: a tail (a high quantile) of
 * one run, or a percentile of acquire that lacks many waits. NULL: it can. */
static const char *best_why_untold(const struct column *column, const struct report_row *row) {
    if (lacks_waits(column, row)) return "long waits are missing, see below";
    return is_tail(column) && row->repeats < 2 ? "one run of each can't tell" : NULL;
}

/* True if the figures do not show which of two rows is better. */
static bool best_is_level(const struct column *column, const struct report_row *a,
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

/* ---- the best of each durability ---- */

static const struct {
    const char *title, *key;
    /* the title where another figure takes the place of `key` (response times of an open loop, ticks); NULL if none
     * does */
    const char *stand_in_title;
} questions[QUESTIONS] = {
    [FASTEST_ALONE] = {"fastest alone", "latency_ns.acquire.p50", "fastest alone, from due"},
    [MOST_GRANTS] = {"most grants/s", "throughput_per_s", "most ticks with one run"},
    [SHORTEST_TAIL] = {"shortest wait, p99", "latency_ns.acquire.p99",
                       "shortest wait from due, p99"},
    [SHORTEST_HANDOFF] = {"shortest handoff, p50", "latency_ns.handoff.p50", NULL},
    [FAIREST] = {"fairest (Jain)", "fairness.jain", NULL},
};

const char *answer_title(const struct answers *answers, enum question question) {
    const struct column *column = answers->column[question];
    bool stands_in = column && column->instead_of;
    return stands_in ? questions[question].stand_in_title : questions[question].title;
}

char *answer_text(const struct answer *answer, const struct column *column, char *text) {
    return column_text(column, column_value(column, answer->best), text);
}

const struct report_group *answer_group(const struct answers *answers, enum question question) {
    return question == FASTEST_ALONE ? answers->alone : answers->contended;
}

static bool group_competes(const struct report_group *group) {
    for (int r = 0; r < group->row_count; r++) {
        if (report_competes(group->rows[r].typical)) return true;
    }
    return false;
}

/* The group with the fewest clients in which no two clients meet, and the group with the most in
 * which all do. */
static void choose_groups(const struct report *report, struct answers *answers) {
    for (int g = 0; g < report->group_count; g++) {
        const struct report_group *group = &report->groups[g];
        if (report_is_aside(group)) continue;
        if (!group_competes(group)) {
            if (!answers->alone || group->clients < answers->alone->clients) answers->alone = group;
        } else if (!answers->contended || group->clients > answers->contended->clients) {
            answers->contended = group;
        }
    }
}

static void answer_one(const struct report_group *group, const struct column *column,
                       enum durability durability, struct answer *answer) {
    const struct report_row *best = best_row(column, group, durability);
    int rivals = 0, others = 0; /* of the others: those that have the figure */
    if (!best) return;
    /* Alone it needs no repeats, but all of its waits. */
    if (best->unrecorded > UNRECORDED_SHARE) answer->untold = best_why_untold(column, best);
    for (int r = 0; r < group->row_count; r++) {
        const struct report_row *row = &group->rows[r];
        if (row == best || !row->candidate || words_durability(row->typical) != durability)
            continue;
        others++;
        rivals += !isnan(column_value(column, row));
        if (!isfinite(column_value(column, row))) continue;
        if (!answer->untold) answer->untold = best_why_untold(column, best);
        if (!answer->untold) answer->untold = best_why_untold(column, row);
        if (!best_is_level(column, row, best)) continue;
        if (answer->tie_count < ANSWER_TIES) answer->ties[answer->tie_count] = row;
        answer->tie_count++;
    }
    if (!answer->untold) answer->best = best;
    if (rivals == 0) answer->unrivalled = others ? "no other has it" : "the only one";
}

void answer_make(const struct report *report, struct answers *ret_answers) {
    struct answers answers = {0};
    choose_groups(report, &answers);
    for (int q = 0; q < QUESTIONS; q++) {
        const struct report_group *group = answer_group(&answers, (enum question)q);
        if (!group) continue;
        answers.column[q] = column_compared(questions[q].key, group);
        for (int d = 0; d < DURABILITIES; d++) {
            answer_one(group, answers.column[q], (enum durability)d, &answers.cell[d][q]);
            answers.has[d] |= answers.cell[d][q].best || answers.cell[d][q].untold;
        }
    }
    *ret_answers = answers;
}

/* ---- who leads ---- */

static bool is_in_class(const struct report_group *group, int row, int first) {
    return report_is_real(group->rows[row].typical) &&
           words_same_class(group->rows[row].typical, group->rows[first].typical);
}

/* True if a row is the first real lock of its class. */
static bool opens_class(const struct report_group *group, int row) {
    if (!report_is_real(group->rows[row].typical)) return false;
    for (int before = 0; before < row; before++)
        if (is_in_class(group, before, row)) return false;
    return true;
}

int lead_next_class(const struct report_group *group, int after) {
    int d = after < 0 ? 0 : (int)words_durability(group->rows[after].typical);
    for (int from = after + 1; d < DURABILITIES; d++, from = 0) {
        for (int r = from; r < group->row_count; r++)
            if ((int)words_durability(group->rows[r].typical) == d && opens_class(group, r))
                return r;
    }
    return -1;
}

const struct report_group *lead_group(const struct answers *answers) {
    const struct report_group *group = answers->contended ? answers->contended : answers->alone;
    bool leads = group && !group->repeated && lead_next_class(group, -1) >= 0;
    return leads ? group : NULL;
}

static int by_ratio(const void *a, const void *b) {
    double x = ((const struct lead_bar *)a)->ratio, y = ((const struct lead_bar *)b)->ratio;
    if (isnan(x) || isnan(y)) return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

struct lead_bar lead_bar_of(const struct report_group *group, int row) {
    struct lead_bar bar = {
        .row = row, .ratio = best_ratio_mean(group, row), .low = NAN, .high = NAN};
    best_ratio_range(group, row, &bar.low, &bar.high);
    return bar;
}

int lead_bars(const struct report_group *group, int first, struct lead_bar *ret_bars) {
    int count = 0;
    for (int r = 0; r < group->row_count; r++)
        if (is_in_class(group, r, first)) ret_bars[count++] = lead_bar_of(group, r);
    qsort(ret_bars, (size_t)count, sizeof *ret_bars, by_ratio);
    return count;
}

bool lead_is_alone(const struct lead_bar *bars, int count) {
    return count < 2 || isnan(bars[1].ratio);
}

int lead_leader(const struct report_group *group, const struct lead_bar *bars, int count) {
    for (int i = 0; i < count && isfinite(bars[i].ratio); i++)
        if (!best_is_unfair(&group->rows[bars[i].row])) return i;
    return count > 0 && isfinite(bars[0].ratio) ? 0 : -1;
}
