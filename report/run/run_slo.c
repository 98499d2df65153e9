/* run_slo: the promises of the runs (--slo): each with the measured figure, and how sure it is. See
 * run_doc.h. */
#include <math.h>
#include <stddef.h>
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

static const char *promise_text(const struct run_slo *slo) {
    return doc_or(slo->slo, "?");
}

static enum tone slo_tone(const struct run_slo *slo) {
    enum promise_verdict verdict = promise_verdict_from(slo->verdict);
    return verdict == PROMISE_KEPT ? TONE_GOOD : verdict == PROMISE_BROKEN ? TONE_BAD : TONE_WARN;
}

static void add_slo(struct doc *doc, const struct run_slo *slo) {
    char text[TEXT_MAX], low[TEXT_MAX], high[TEXT_MAX];
    const char *verdict = doc_or(slo->verdict, "?");
    doc_row(doc, DOC_ROW);
    doc_cell(doc, "%s", doc_or(slo->lock, "?"));
    doc_cell(doc, "%s", doc_or(slo->topology, NUMBER_NONE));
    doc_cell(doc, "%s", promise_text(slo));
    doc_figure(doc, slo->clients);
    doc_figure(doc, slo->readers);
    doc_figure(doc, slo->rate_per_s);
    doc_figure(doc, slo->lease_ns);
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

/* True if a figure of struct run_slo is above `least` for any promise. */
static bool any_above(const struct report *report, size_t offset, double least) {
    for (int r = 0; r < report->run_count; r++) {
        for (int i = 0; i < report->runs[r]->slo_count; i++) {
            double value;
            memcpy(&value, (const char *)&report->runs[r]->slos[i] + offset, sizeof value);
            if (value > least) return true;
        }
    }
    return false;
}

static bool any_servers(const struct report *report) {
    for (int r = 0; r < report->run_count; r++) {
        for (int i = 0; i < report->runs[r]->slo_count; i++)
            if (report->runs[r]->slos[i].topology) return true;
    }
    return false;
}

/* A column without a value in any row takes no room. A terminal shows each promise in full, above
 * its rows. */
static void add_columns(struct doc *doc, const struct report *report) {
    unsigned servers = any_servers(report) ? 0 : DOC_NONE;
    unsigned readers = any_above(report, offsetof(struct run_slo, readers), 0) ? 0 : DOC_NONE;
    unsigned rates = any_above(report, offsetof(struct run_slo, rate_per_s), 0) ? 0 : DOC_NONE;
    unsigned leases = any_above(report, offsetof(struct run_slo, lease_ns), 0) ? 0 : DOC_NONE;
    unsigned ranges = any_above(report, offsetof(struct run_slo, low), -INFINITY) ? 0 : DOC_NONE;
    const struct doc_column columns[] = {
        {.title = "lock"},
        {.title = "topology", .only = servers},
        {.title = "promise", .only = DOC_MARKDOWN | DOC_HTML},
        {.title = "clients", .figure = DOC_COUNT},
        {.title = "readers (%)", .figure = DOC_COUNT, .only = readers},
        {.title = "arrivals/s", .figure = DOC_NUMBER, .only = rates},
        {.title = "lease", .figure = DOC_TIME, .only = leases},
        {.title = "verdict"},
        {.title = "measured", .right = true},
        {.title = "95 % interval", .right = true, .only = ranges},
        {.title = "how sure", .brief = "", .words = true, .below = true},
        {.title = NULL},
    };
    doc_columns(doc, columns);
}

/* Adds the rows of one promise, of all runs. */
static void add_promise_rows(struct doc *doc, const struct report *report, const char *promise) {
    doc_group(doc, TONE_PLAIN, "%s", promise);
    doc_set_only(doc, DOC_TERMINAL);
    for (int r = 0; r < report->run_count; r++) {
        const struct run *run = report->runs[r];
        for (int i = 0; i < run->slo_count; i++)
            if (strcmp(promise_text(&run->slos[i]), promise) == 0) add_slo(doc, &run->slos[i]);
    }
}

/* True if no promise before the i-th one of run r has the same text. */
static bool is_first(const struct report *report, int r, int i) {
    const char *promise = promise_text(&report->runs[r]->slos[i]);
    for (int before = 0; before <= r; before++) {
        const struct run *run = report->runs[before];
        for (int k = 0; k < (before < r ? run->slo_count : i); k++)
            if (strcmp(promise_text(&run->slos[k]), promise) == 0) return false;
    }
    return true;
}

static void say_slo(struct doc *doc, const struct run_slo *slo) {
    char text[TEXT_MAX], clients[NUMBER_TEXT_MAX], lease[NUMBER_TEXT_MAX];
    doc_say(doc, slo_tone(slo), "%s %s, %s clients", doc_or(slo->lock, "?"), promise_text(slo),
            number_count_text(slo->clients, clients));
    if (!isnan(slo->rate_per_s)) doc_span(doc, DOC_PLAIN, ", %.4g/s", slo->rate_per_s);
    if (!isnan(slo->lease_ns))
        doc_span(doc, DOC_PLAIN, ", lease %s", number_time_text(slo->lease_ns, lease));
    doc_span(doc, DOC_PLAIN, ": %s, measured %s", doc_or(slo->verdict, "?"),
             slo->never ? NUMBER_NEVER : slo_value_text(slo, slo->figure, text));
}

void run_slo_short(const struct report *report, int most, struct doc *doc) {
    int all = count_slos(report, PROMISE_VERDICTS), said = 0;
    if (all == 0) return;
    say_counts(report, doc);
    for (int kept = 0; kept < 2; kept++) {
        for (int r = 0; r < report->run_count; r++) {
            const struct run *run = report->runs[r];
            for (int i = 0; i < run->slo_count; i++) {
                bool is_kept = promise_verdict_from(run->slos[i].verdict) == PROMISE_KEPT;
                if (is_kept == kept && said++ < most) say_slo(doc, &run->slos[i]);
            }
        }
    }
}

void run_slo(const struct report *report, struct doc *doc) {
    if (count_slos(report, PROMISE_VERDICTS) == 0) return;
    doc_section(doc, "slo", "Promises");
    say_counts(report, doc);
    doc_table(doc, NULL, NULL);
    add_columns(doc, report);
    for (int r = 0; r < report->run_count; r++) {
        const struct run *run = report->runs[r];
        for (int i = 0; i < run->slo_count; i++)
            if (is_first(report, r, i)) add_promise_rows(doc, report, promise_text(&run->slos[i]));
    }
    doc_end(doc);
    doc_end(doc);
}
