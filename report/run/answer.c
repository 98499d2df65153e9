/* answer: see answer.h. */
#include "report/run/answer.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *title, *key;
} questions[QUESTIONS] = {
    [FASTEST_ALONE] = {"fastest alone", "latency_ns.acquire.p50"},
    [MOST_GRANTS] = {"most grants/s", "throughput_per_s"},
    [SHORTEST_TAIL] = {"shortest wait, p99", "latency_ns.acquire.p99"},
    [SHORTEST_HANDOFF] = {"shortest handoff, p50", "latency_ns.handoff.p50"},
    [FAIREST] = {"fairest (Jain)", "fairness.jain"},
};

const char *answer_title(enum question question) {
    return questions[question].title;
}

static const struct column *answer_column(enum question question) {
    const struct column *column = columns_of(IN_COMPARISON);
    while (strcmp(column->key, questions[question].key) != 0) column++;
    return column;
}

char *answer_text(const struct answer *answer, enum question question, char *text) {
    const struct column *column = answer_column(question);
    double value = column_value(column, answer->best);
    return column->kind == COLUMN_TIME ? number_time_text(value, text)
                                       : number_text(value, &number_plain, text);
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

/* The group with the fewest clients where nobody meets, and the one with the most where all do. */
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
    double best = NAN;
    for (int r = 0; r < group->row_count; r++) {
        const struct report_row *row = &group->rows[r];
        double value = column_value(column, row);
        if (isnan(value) || !row->candidate || words_durability(row->typical) != durability)
            continue;
        if (isnan(best) || column->better * value > column->better * best) {
            best = value;
            answer->best = row;
        }
    }
    if (!answer->best) return;
    for (int r = 0; r < group->row_count; r++) {
        const struct report_row *row = &group->rows[r];
        double value = column_value(column, row);
        if (row == answer->best || isnan(value) || !row->candidate) continue;
        if (words_durability(row->typical) != durability || fabs(value - best) > ANSWER_TIE * best)
            continue;
        if (answer->tie_count < ANSWER_TIES) answer->ties[answer->tie_count] = row;
        answer->tie_count++;
    }
}

void answer_make(const struct report *report, struct answers *ret_answers) {
    struct answers answers = {0};
    choose_groups(report, &answers);
    for (int q = 0; q < QUESTIONS; q++) {
        const struct report_group *group = answer_group(&answers, (enum question)q);
        if (!group) continue;
        for (int d = 0; d < DURABILITIES; d++) {
            answer_one(group, answer_column((enum question)q), (enum durability)d,
                       &answers.cell[d][q]);
            if (answers.cell[d][q].best) answers.has[d] = true;
        }
    }
    *ret_answers = answers;
}
