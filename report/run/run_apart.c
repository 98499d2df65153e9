/* run_apart: in a run with locks of both kinds, how many times slower or faster the locks that many machines can share
 * are than the fastest lock of one machine: a sentence for each of two figures. See run_doc.h.
 *
 * The sentences are no ranking, because many machines can't share a lock in the memory of one. They show the price of a
 * lock that many machines can share. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/guarantee.h"
#include "report/run/run_doc.h"

#define CLASSES_MAX (DURABILITIES * LB_GUARANTEES)

/* The fastest lock of a class (durability and guarantee), and how many times slower it is. */
struct apart {
    const struct report_row *row;
    double times;
};

static bool is_of_one_host(const struct report_row *row) {
    return lb_guarantee_from(row->typical->guarantee) == LB_ON_ONE_HOST;
}

/* b: NULL = there is none yet. */
static bool is_better(const struct column *column, const struct report_row *a,
                      const struct report_row *b) {
    if (!b) return true;
    double x = column_value(column, a), y = column_value(column, b);
    return column->better > 0 ? x > y : x < y;
}

/* True if the row counts: its lock excluded, and its figure is neither missing nor never. */
static bool counts(const struct column *column, const struct report_row *row) {
    double value = column_value(column, row);
    return row->candidate && isfinite(value) && value > 0;
}

static const struct report_row *fastest_of_one_host(const struct report_group *group,
                                                    const struct column *column) {
    const struct report_row *fastest = NULL;
    for (int r = 0; r < group->row_count; r++) {
        const struct report_row *row = &group->rows[r];
        if (counts(column, row) && is_of_one_host(row) && is_better(column, row, fastest))
            fastest = row;
    }
    return fastest;
}

static double times_slower(const struct column *column, const struct report_row *base,
                           const struct report_row *row) {
    double ratio = column_value(column, row) / column_value(column, base);
    return column->better > 0 ? 1 / ratio : ratio;
}

static int by_times(const void *a, const void *b) {
    double x = ((const struct apart *)a)->times, y = ((const struct apart *)b)->times;
    return (x > y) - (x < y);
}

/* The fastest of each class that is not of one host, the nearest first. Returns how many. */
static int classes_of(const struct report_group *group, const struct column *column,
                      const struct report_row *base, struct apart *ret) {
    int count = 0;
    for (int r = 0; r < group->row_count; r++) {
        const struct report_row *row = &group->rows[r];
        int at = 0;
        if (!counts(column, row) || is_of_one_host(row) || !row->typical->guarantee) continue;
        while (at < count && !words_same_class(ret[at].row->typical, row->typical)) at++;
        if (at == CLASSES_MAX || (at < count && !is_better(column, row, ret[at].row))) continue;
        ret[at] = (struct apart){.row = row, .times = times_slower(column, base, row)};
        count += at == count;
    }
    qsort(ret, (size_t)count, sizeof *ret, by_times);
    return count;
}

static void say_apart(const struct report *report, const struct answers *answers,
                      enum question question, const char *what, struct doc *doc) {
    const struct report_group *group = answer_group(answers, question);
    const struct column *column = answers->column[question];
    struct apart apart[CLASSES_MAX];
    char value[NUMBER_TEXT_MAX], times[NUMBER_TEXT_MAX], clients[NUMBER_TEXT_MAX];
    /* A count of ticks grows with the length of the run: it is no speed. */
    if (!group || !column || group->repeated || column->sums) return;
    const struct report_row *base = fastest_of_one_host(group, column);
    int count = base ? classes_of(group, column, base, apart) : 0;
    if (count == 0) return;
    const struct answer answer = {.best = base};
    doc_say(doc, TONE_PLAIN, "From one machine to many, by %s with %s client%s: beside ", what,
            number_count_text(group->clients, clients), group->clients == 1 ? "" : "s");
    doc_span(doc, DOC_STRONG, "%s", report->locks[base->lock].label);
    doc_span(doc, DOC_PLAIN, " (one host, %s) ", answer_text(&answer, column, value));
    for (int i = 0; i < count; i++) {
        const struct run_stage *stage = apart[i].row->typical;
        bool faster = apart[i].times < 1; /* the nearest come first: first those that are faster */
        bool is_new = i == 0 || faster != (apart[i - 1].times < 1);
        double by = faster ? 1 / apart[i].times : apart[i].times;
        doc_span(doc, DOC_PLAIN, "%s%s%s ", i > 0 ? ", " : "",
                 report->locks[apart[i].row->lock].label, i == 0 ? " is" : "");
        doc_span(doc, DOC_STRONG, "%s times", number_text(by, &number_plain, times));
        doc_span(doc, DOC_PLAIN, "%s (%s, %s)", is_new ? faster ? " faster" : " slower" : "",
                 words_durability_text(words_durability(stage)), words_guarantee(stage));
    }
    doc_span(doc, DOC_PLAIN, ".");
}

void run_apart(const struct report *report, const struct answers *answers, struct doc *doc) {
    const struct column *wait = answers->column[FASTEST_ALONE];
    say_apart(report, answers, FASTEST_ALONE,
              wait && wait->instead_of ? "p50 from due" : "acquire p50", doc);
    say_apart(report, answers, MOST_GRANTS, "grants/s", doc);
}
