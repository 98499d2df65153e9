/* run_slo: the promises of the run (--slo): each with the measured figure, and how sure it is. See
 * run_doc.h. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "bench/base/verdict.h"
#include "report/run/run_doc.h"

#define TEXT_MAX (NUMBER_TEXT_MAX + 16)

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

/* Adds "8 clients, 50 % readers, 400/s, lease 1.00 s". */
static void add_load(struct doc *doc, const struct run_slo *slo) {
    char text[NUMBER_TEXT_MAX];
    doc_span(doc, DOC_PLAIN, "%s client%s", number_count_text(slo->clients, text),
             slo->clients == 1 ? "" : "s");
    if (slo->readers > 0) doc_span(doc, DOC_PLAIN, ", %.0f %% readers", slo->readers);
    if (slo->rate_per_s > 0) doc_span(doc, DOC_PLAIN, ", %.4g/s", slo->rate_per_s);
    if (slo->lease_ns > 0)
        doc_span(doc, DOC_PLAIN, ", lease %s", number_time_text(slo->lease_ns, text));
}

/* "sim acquire.p99<=1s, 8 clients: unsure, measured 35.9 ms (11.0 ms .. 47.0 ms): too few samples" */
static void say_slo(struct doc *doc, const struct run_slo *slo) {
    char text[TEXT_MAX], low[TEXT_MAX], high[TEXT_MAX];
    doc_say(doc, slo_tone(slo), "%s", "");
    doc_span(doc, DOC_STRONG, "%s", doc_or(slo->lock, "?"));
    doc_span(doc, DOC_PLAIN, "%s%s %s, ", slo->topology ? " @" : "", doc_or(slo->topology, ""),
             doc_or(slo->slo, "?"));
    add_load(doc, slo);
    doc_span(doc, DOC_PLAIN, ": %s, measured %s", doc_or(slo->verdict, "?"),
             slo->never ? NUMBER_NEVER : slo_value_text(slo, slo->figure, text));
    if (!isnan(slo->low))
        doc_span(doc, DOC_PLAIN, " (95 %%: %s .. %s)", slo_value_text(slo, slo->low, low),
                 isnan(slo->high) ? NUMBER_NEVER : slo_value_text(slo, slo->high, high));
    if (slo->basis) doc_span(doc, DOC_PLAIN, "; %s", slo->basis);
}

/* The number of promises with this verdict; PROMISE_VERDICTS: with any verdict. */
static int count_slos(const struct report *report, enum promise_verdict verdict) {
    int count = 0;
    for (int i = 0; i < report->run->slo_count; i++)
        count += verdict == PROMISE_VERDICTS ||
                 promise_verdict_from(report->run->slos[i].verdict) == verdict;
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

void run_slo_short(const struct report *report, int most, struct doc *doc) {
    if (count_slos(report, PROMISE_VERDICTS) == 0) return;
    say_counts(report, doc);
    for (int kept = 0, said = 0; kept < 2; kept++) {
        for (int i = 0; i < report->run->slo_count; i++) {
            const struct run_slo *slo = &report->run->slos[i];
            bool is_kept = promise_verdict_from(slo->verdict) == PROMISE_KEPT;
            if (is_kept == kept && said++ < most) say_slo(doc, slo);
        }
    }
}

void run_slo(const struct report *report, struct doc *doc) {
    if (count_slos(report, PROMISE_VERDICTS) == 0) return;
    doc_section(doc, "slo", "Promises");
    run_slo_short(report, INT_MAX, doc);
    doc_end(doc);
}
