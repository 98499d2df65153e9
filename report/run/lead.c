/* lead: see lead.h; and the leaders as a sentence, see run_doc.h. */
#include "report/run/lead.h"

#include <math.h>
#include <stdlib.h>

#include "report/run/best.h"
#include "report/run/run_doc.h"

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

/* ---- the sentence ---- */

static const char *label_of(const struct report *report, const struct report_group *group,
                            const struct lead_bar *bar) {
    return report->locks[group->rows[bar->row].lock].label;
}

/* True if two locks of a class are ranked: otherwise nobody leads anybody. */
static bool is_contest(const struct report_group *group, struct lead_bar *bars) {
    for (int c = lead_next_class(group, -1); c >= 0; c = lead_next_class(group, c)) {
        if (!lead_is_alone(bars, lead_bars(group, c, bars))) return true;
    }
    return false;
}

/* Names the unfair lock that leads, or that is nearer to the best than the leader. */
static void say_unfair(const struct report *report, const struct report_group *group,
                       struct lead_bar *bars, struct doc *doc) {
    for (int c = lead_next_class(group, -1); c >= 0; c = lead_next_class(group, c)) {
        int leader = lead_leader(group, bars, lead_bars(group, c, bars));
        const struct report_row *nearest = &group->rows[bars[0].row];
        if (leader < 0 || !best_is_unfair(nearest)) continue;
        doc_span(doc, DOC_PLAIN, " %s is %sunfair (Jain %.2f): %s.",
                 label_of(report, group, &bars[0]), leader > 0 ? "nearer to the best, but " : "",
                 nearest->figures.jain, best_unfair_text(nearest));
    }
}

static void say_leaders(const struct report *report, const struct report_group *group,
                        struct lead_bar *bars, struct doc *doc) {
    char clients[NUMBER_TEXT_MAX], rtt[NUMBER_TEXT_MAX];
    bool any = false;
    doc_say(doc, TONE_PLAIN,
            "Leading with %s client%s%s: ", number_count_text(group->clients, clients),
            group->clients == 1 ? "" : "s", report_rtt_text(group->rtt_ns, rtt));
    doc_set_only(doc, DOC_TERMINAL | DOC_MARKDOWN); /* the page's first screen says the same */
    for (int c = lead_next_class(group, -1); c >= 0; c = lead_next_class(group, c)) {
        const struct run_stage *stage = group->rows[c].typical;
        int count = lead_bars(group, c, bars), leader = lead_leader(group, bars, count);
        if (leader < 0) continue;
        doc_span(doc, DOC_PLAIN, "%s", any ? ", " : "");
        doc_span(doc, DOC_STRONG, "%s", label_of(report, group, &bars[leader]));
        doc_span(doc, DOC_PLAIN, " (%s%s%s%s)", words_durability_text(words_durability(stage)),
                 stage->guarantee ? ", " : "", stage->guarantee ? words_guarantee(stage) : "",
                 lead_is_alone(bars, count) ? "; the only one" : "");
        any = true;
    }
    doc_span(doc, DOC_PLAIN, ".%s", run_machine_changed(report) ? " " LEAD_VOID : "");
    say_unfair(report, group, bars, doc);
}

void run_lead(const struct report *report, const struct answers *answers, struct doc *doc) {
    const struct report_group *group = lead_group(answers);
    struct lead_bar *bars = group ? malloc((size_t)group->row_count * sizeof *bars) : NULL;
    if (group && !bars) doc->failed = true;
    if (bars && is_contest(group, bars)) say_leaders(report, group, bars, doc);
    free(bars);
}
