/* answers_doc: see answers_doc.h. This file computes only the deviations. */
#include "bench/tests/answers/answers_doc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct doc_column columns[] = {
    {.title = "known answer", .words = true},
    {.title = "where the truth comes from", .words = true, .only = DOC_MARKDOWN},
    {.title = "truth", .right = true},
    {.title = "lockbench said", .brief = "said", .right = true},
    {.title = "deviation", .right = true},
    {.title = "allowed", .right = true},
    {.title = "", .brief = "ok"},
    {.title = NULL},
};

static bool is_time(const struct answer *answer) {
    return answer->path && (strstr(answer->path, "_ns") != NULL);
}

static char *figure_text(const struct answer *answer, double value, char *text) {
    if (is_time(answer)) return number_time_text(value, text);
    if (value == floor(value)) return number_count_text(value, text);
    return number_text(value, &number_plain, text);
}

static void add_figures(struct doc *doc, const struct answers_how *how,
                        const struct verdict_row *row) {
    const struct answer *answer = row->answer;
    char text[NUMBER_TEXT_MAX];
    double allowed = how->brief ? answer->brief_allowed : answer->allowed;
    if (answer->word) {
        doc_cell(doc, "%s", answer->word);
        doc_cell(doc, "%s", row->said_word);
        doc_cell(doc, "%d of %d", row->hits, row->repeats);
        doc_cell(doc, "none");
        return;
    }
    if (answer->study) {
        doc_cell(doc, "%s %g", answer->is_least ? "at least" : "at most", row->truth);
        doc_cell(doc, "%g", row->said);
        doc_cell(doc, NUMBER_NONE);
        doc_cell(doc, NUMBER_NONE);
        return;
    }
    double deviation = row->truth != 0 ? row->said / row->truth - 1 : row->said - row->truth;
    doc_cell(doc, "%s", figure_text(answer, row->truth, text));
    doc_cell(doc, "%s", figure_text(answer, row->said, text));
    doc_cell(doc, "%+.2f %%", 100 * deviation);
    if (allowed < EXACT_BELOW)
        doc_cell(doc, "none");
    else
        doc_cell(doc, "%.1f %%", 100 * allowed);
}

static void add_source(struct doc *doc, const struct verdict_row *row) {
    char text[NUMBER_TEXT_MAX];
    if (isnan(row->endless))
        doc_cell(doc, "%s", row->answer->source);
    else
        doc_cell(doc, "%s; the formula for an endless run: %s", row->answer->source,
                 figure_text(row->answer, row->endless, text));
}

static void add_row(struct doc *doc, const struct answers_how *how, const struct verdict_row *row) {
    doc_row(doc, DOC_ROW);
    doc_cell(doc, "%s", row->answer->name);
    add_source(doc, row);
    if (row->is_missing) {
        for (int i = 0; i < 4; i++) doc_cell(doc, NUMBER_NONE);
    } else {
        add_figures(doc, how, row);
    }
    doc_cell(doc, "%s", row->is_ok ? "ok" : "WRONG");
    if (!row->is_ok) doc_set_tone(doc, TONE_BAD);
}

static void add_table(struct doc *doc, const struct answers_how *how,
                      const struct verdict_row *rows, int count) {
    const struct experiment *last = NULL;
    doc_table(doc, NULL, NULL);
    doc_columns(doc, columns);
    for (int i = 0; i < count; i++) {
        const struct experiment *experiment = rows[i].answer->experiment;
        if (experiment != last) doc_group(doc, TONE_PLAIN, "%s", experiment->scripted);
        last = experiment;
        add_row(doc, how, &rows[i]);
    }
    doc_end(doc);
}

int answers_print(const struct answers_how *how, const struct verdict_row *rows, int count,
                  enum doc_format format, FILE *out, struct lb_err *err) {
    struct doc doc = {0};
    int ok = 0;
    for (int i = 0; i < count; i++) ok += rows[i].is_ok;
    doc_section(&doc, "answers", "Known answers");
    doc_say(&doc, ok == count ? TONE_GOOD : TONE_BAD, "%d of %d known answers are as they must be.",
            ok, count);
    doc_set_headline(&doc);
    doc_say(
        &doc, TONE_PLAIN,
        "An instrument is trusted because what it says of known things is true. Each row is one "
        "figure of a run whose truth is known beforehand: lockbench was started as a user "
        "starts it, on a server that plays a script. Truths are formulas, or are computed from "
        "what the scripted server wrote down, never by lockbench's own code.");
    doc_set_only(&doc, DOC_MARKDOWN);
    doc_say(
        &doc, TONE_PLAIN,
        "Scripted times are milliseconds. \"The wire\" is the time from the server's answer to the "
        "client's next command, as the server saw it. Where that is allowed the scripted servers "
        "and lockbench have real-time priority, so that other programs are no noise; of repeats, "
        "those are left out in which the host of the virtual machine took more than 2 %% of the "
        "processors' time. Written by make answers.");
    doc_set_only(&doc, DOC_MARKDOWN);
    doc_say(&doc, TONE_PLAIN,
            "By chance alone the p99 of the waits in one run of a queue is 10 to 15 %% off the "
            "formula for an endless run, so these rows are judged against the queue of the very "
            "arrivals and service times that the server saw, and the formula stands beside it.");
    doc_set_only(&doc, DOC_MARKDOWN);
    add_table(&doc, how, rows, count);
    doc_end(&doc);
    return doc_write_and_free(&doc, format, false, out, err);
}
