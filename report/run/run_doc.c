/* run_doc: puts the sections in order, and adds what the checks counted; and a run as JSON. See run_doc.h. */
#include "report/run/run_doc.h"

#include <math.h>

#include "bench/base/output.h"
#include "report/doc/escape.h"

/* ---- the ranking ---- */

static void add_answer(const struct report *report, struct doc *doc) {
    doc_section(doc, "answer", "Which lock?");
    ranking_say(report, true, doc);
    doc_end(doc);
}

/* ---- what the checks counted ---- */

static const struct doc_column evidence_columns[] = {
    {.title = "lock"},
    {.title = "verdict"},
    {.title = "grants", .figure = DOC_COUNT},
    {.title = "n",
     .help = "grants during which another client waited for the key",
     .figure = DOC_COUNT},
    {.title = "inside",
     .help = "mean time from grant to release: a second holder is seen only within it",
     .figure = DOC_TIME},
    {.title = "lost updates", .help = "the shared counter's shortfall", .figure = DOC_COUNT},
    {.title = "second holders",
     .help = "seen inside together with another holder",
     .figure = DOC_COUNT},
    {.title = "taken",
     .help = "grants lost while their lease and session lasted, or whose session the server ended",
     .figure = DOC_COUNT},
    {.title = WORDS_BOUND, .right = true},
    {.title = NULL},
};

static void add_evidence_of(struct doc *doc, const struct report_lock *lock) {
    double bound = report_bound(lock);
    doc_row(doc, report_is_real(lock->stage) ? DOC_ROW : DOC_ASIDE);
    doc_cell(doc, "%s", lock->label);
    doc_cell(doc, "%s", "");
    words_state_chip(doc, lock->state);
    doc_figure(doc, report_known(lock, lock->sums.checked_grants));
    doc_figure(doc, report_known(lock, lock->competing));
    doc_figure(doc, lock->inside_ns);
    doc_figure(doc, report_known(lock, lock->sums.lost_updates));
    doc_figure(doc, report_known(lock, lock->sums.double_holders));
    doc_figure(doc, report_known(lock, lock->sums.revoked + lock->sums.ended));
    if (isnan(bound))
        doc_cell(doc, "%s", NUMBER_NONE);
    else
        doc_value(doc, bound, "%.1e", bound);
}

static void add_evidence(const struct report *report, struct doc *doc) {
    doc_section(doc, "evidence", "What the checks counted");
    doc_table(
        doc, "figures sortable",
        "n: grants during which another client waited for the key, those of the warm-up and the drain included, "
        "since they are checked too. Inside: the mean time from grant to release.");
    for (const struct doc_column *column = evidence_columns; column->title; column++) {
        struct doc_column explained = *column;
        if (!column->help) explained.help = words_help(column->title);
        doc_column(doc, &explained);
    }
    for (int i = 0; i < report->lock_count; i++) add_evidence_of(doc, &report->locks[i]);
    doc_end(doc);
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
    for (const struct result_field *column = column_next(IN_COMPARISON, NULL); column;
         column = column_next(IN_COMPARISON, column))
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
    add_evidence(report, doc);
}

void run_doc_end(const struct report *report, struct doc *doc) {
    run_notes(report, doc);
    add_words(report, doc);
}

enum doc_format report_doc_format(enum report_format format) {
    return format == REPORT_MD ? DOC_MARKDOWN : DOC_TERMINAL;
}

/* ---- JSON ---- */

static json_t *known(const struct report_lock *lock, double count) {
    return escape_json_figure(report_known(lock, count));
}

static json_t *report_lock_json(const struct report_lock *lock) {
    const struct run_stage *stage = lock->stage;
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:b, s:o, s:o, s:o, s:o, s:o}",
        "lock", escape_json(lock->name), "verdict", escape_json(words_state(lock->state)), "grants",
        known(lock, lock->sums.checked_grants), "competing_grants", known(lock, lock->competing),
        "lost_updates", known(lock, lock->sums.lost_updates), "double_holders",
        known(lock, lock->sums.double_holders), "revoked", known(lock, lock->sums.revoked), "ended",
        known(lock, lock->sums.ended), "bound95", escape_json_figure(report_bound(lock)),
        "inside_mean_ns", escape_json_figure(lock->inside_ns), "hardly_tested",
        (int)report_hardly_tested(lock), "control", (int)stage->control, "baseline",
        (int)stage->baseline, "topology", escape_json(stage->topology), "guarantee",
        escape_json(stage->guarantee), "durability", escape_json(stage->durability),
        "durability_note", escape_json(stage->durability_note), "durability_kind",
        escape_json(words_durability_text(words_durability(stage))));
}

int run_json(const struct report *report, FILE *out, struct lb_err *err) {
    json_t *locks = json_array();
    struct doc verdict = {0};
    int rc = 0;
    run_verdict(report, &verdict);
    for (int i = 0; i < report->lock_count; i++)
        rc |= json_array_append_new(locks, report_lock_json(&report->locks[i]));
    json_t *root = json_pack(
        "{s:s, s:b, s:o, s:o, s:o, s:o, s:O}", "schema", "lockbench.report/2", "partial",
        (int)report->partial, "verdict", doc_sentences(&verdict), "ranking", ranking_json(report),
        "path", escape_json(report->run->path), "locks", locks, "run", report->run->root);
    doc_free(&verdict);
    if (rc != 0) {
        json_decref(root);
        return err_set(err, LB_EXIT_MACHINE, "out of memory");
    }
    return output_json(root, JSON_INDENT(1) | JSON_REAL_PRECISION(15), out, "the report", err);
}
