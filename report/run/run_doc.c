/* run_doc: puts the sections in order. See run_doc.h. */
#include "report/run/run_doc.h"

/* ---- the ranking ---- */

static void add_answer(const struct report *report, struct doc *doc) {
    doc_section(doc, "answer", "Which lock?");
    ranking_say(report, true, doc);
    doc_end(doc);
}

/* ---- what the words and the numbers mean, and do not mean ---- */

static bool is_used(const struct report *report, const struct result_field *column) {
    for (int g = 0; g < report->group_count; g++)
        if (column_used(column, &report->groups[g])) return true;
    return false;
}

/* The explanations that a pointer shows on a head, for readers without a pointer. */
static void add_words(const struct report *report, struct doc *doc) {
    doc_section(doc, "words", "What the words mean");
    doc_set_only(doc, DOC_HTML | DOC_MARKDOWN);
    doc_terms(doc);
    words_list(doc);
    for (const struct result_field *column = columns_of(IN_COMPARISON); column->path; column++)
        if (is_used(report, column)) doc_term(doc, column->title, "%s", doc_or(column->help, ""));
    doc_end(doc);
    doc_end(doc);
}

void run_doc_verdict(const struct report *report, struct doc *doc) {
    doc_section(doc, "verdict", "Does each lock exclude?");
    run_verdict(report, doc);
    doc_end(doc);
}

void run_doc_begin(const struct report *report, struct doc *doc) {
    run_slo(report, doc);
    add_answer(report, doc);
    run_comparison(report, doc);
    run_recovery(report, doc);
}

void run_doc_end(const struct report *report, struct doc *doc) {
    run_notes(report, doc);
    add_words(report, doc);
}

enum doc_format report_doc_format(enum report_format format) {
    return format == REPORT_MD ? DOC_MARKDOWN : DOC_TERMINAL;
}
