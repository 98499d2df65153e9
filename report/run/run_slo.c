/* run_slo: the promises of the runs (--slo): each with the measured figure, and how sure it is. See
 * run_doc.h. */
#include <math.h>
#include <string.h>

#include "bench/base/promise_verdict.h"
#include "report/run/run_doc.h"

#define TEXT_MAX (NUMBER_TEXT_MAX + 16)

static const struct doc_column columns[] = {
    {.title = "promise"},
    {.title = "lock"},
    {.title = "clients", .figure = DOC_COUNT},
    {.title = "verdict"},
    {.title = "measured", .right = true},
    {.title = "95 % interval", .right = true},
    {.title = "how sure", .words = true},
    {.title = NULL},
};

static const char *slo_value_text(const struct run_slo *slo, double value, char *text) {
    char number[NUMBER_TEXT_MAX];
    const char *unit = doc_or(slo->unit, "");
    bool after = *unit && strcmp(unit, "ns") != 0;
    if (strcmp(unit, "ns") == 0) {
        number_time_text(value, number);
    } else {
        number_text(value, &number_plain, number);
    }
    snprintf(text, TEXT_MAX, "%s%s%.12s", number, after && isfinite(value) ? " " : "",
             after && isfinite(value) ? unit : "");
    return text;
}

static enum tone slo_tone(const struct run_slo *slo) {
    enum promise_verdict verdict = promise_verdict_from(slo->verdict);
    return verdict == PROMISE_KEPT ? TONE_GOOD : verdict == PROMISE_BROKEN ? TONE_BAD : TONE_WARN;
}

static void add_slo(struct doc *doc, const struct run_slo *slo) {
    char text[TEXT_MAX], low[TEXT_MAX], high[TEXT_MAX], lease[NUMBER_TEXT_MAX] = "";
    const char *verdict = doc_or(slo->verdict, "?");
    doc_row(doc, DOC_ROW);
    doc_cell(doc, "%s", doc_or(slo->slo, "?"));
    if (!isnan(slo->lease_ns)) number_time_text(slo->lease_ns, lease);
    doc_cell(doc, "%s%s%s%s%s", doc_or(slo->lock, "?"), slo->topology ? " on " : "",
             doc_or(slo->topology, ""), *lease ? ", lease " : "", lease);
    doc_figure(doc, slo->clients);
    doc_cell(doc, "%s", "");
    doc_chip(doc, DOC_CHIP, slo_tone(slo), "", verdict, NULL);
    doc_cell(doc, "%s", slo->never ? NUMBER_NEVER : slo_value_text(slo, slo->figure, text));
    if (isnan(slo->low)) {
        doc_cell(doc, "%s", NUMBER_NONE);
    } else {
        doc_cell(doc, "%s .. %s", slo_value_text(slo, slo->low, low),
                 isnan(slo->high) ? NUMBER_NEVER : slo_value_text(slo, slo->high, high));
    }
    doc_cell(doc, "%s", doc_or(slo->basis, ""));
}

/* The number of promises with this verdict; PROMISE_VERDICTS: with any verdict. */
static int count_slos(const struct report *report, enum promise_verdict verdict) {
    int count = 0;
    for (int r = 0; r < report->run_count; r++) {
        const struct run *run = report->runs[r];
        for (int i = 0; i < run->slo_count; i++)
            count += verdict == PROMISE_VERDICTS ||
                     promise_verdict_from(run->slos[i].verdict) == verdict;
    }
    return count;
}

static void say_counts(const struct report *report, struct doc *doc) {
    int all = count_slos(report, PROMISE_VERDICTS), kept = count_slos(report, PROMISE_KEPT),
        broken = count_slos(report, PROMISE_BROKEN);
    doc_say(doc,
            broken > 0   ? TONE_BAD
            : kept < all ? TONE_WARN
                         : TONE_GOOD,
            "Promises: %d kept, %d broken, %d unsure.", kept, broken, all - kept - broken);
}

void run_slo_verdict(const struct report *report, struct doc *doc) {
    if (count_slos(report, PROMISE_VERDICTS) == count_slos(report, PROMISE_KEPT)) return;
    say_counts(report, doc);
    doc_set_only(doc, DOC_HTML);
}

void run_slo(const struct report *report, struct doc *doc) {
    if (count_slos(report, PROMISE_VERDICTS) == 0) return;
    doc_section(doc, "slo", "Promises");
    say_counts(report, doc);
    doc_table(doc, NULL, NULL);
    doc_columns(doc, columns);
    for (int r = 0; r < report->run_count; r++) {
        const struct run *run = report->runs[r];
        for (int i = 0; i < run->slo_count; i++) add_slo(doc, &run->slos[i]);
    }
    doc_end(doc);
    doc_end(doc);
}
