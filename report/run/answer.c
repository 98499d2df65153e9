/* answer: see answer.h. */
#include "report/run/answer.h"

#include <math.h>
#include <string.h>

#include "report/run/best.h"
#include "results/format/unrecorded.h"

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
