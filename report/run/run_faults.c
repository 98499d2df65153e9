/* run_faults: what faults did: histories, recoveries. See run_doc.h. */
#include "report/run/run_doc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/doc/counterexample.h"

/* ---- faults ---- */

bool run_has_faults(const struct report *report) {
    return run_has_columns(report, IN_STORE) || run_has_columns(report, IN_HISTORY) ||
           run_has_columns(report, IN_RECOVERY);
}

static void add_history(struct doc *doc, const struct run_stage *stage) {
    if (!stage->history_verdict || json_array_size(stage->counterexample) == 0) return;
    doc_heading(doc, "%s: %s%s%s",
                stage->id     ? stage->id
                : stage->lock ? stage->lock
                              : "?",
                stage->history_verdict, stage->history_model ? " as a " : "",
                stage->history_model ? stage->history_model : "");
    doc_counterexample(doc, stage->counterexample);
}

/* ---- the recovery, for readers without the page ---- */

static bool has_recovery(const struct report_row *row) {
    const struct run_stage *figures = &row->figures;
    return figures->recovery_count > 0 || figures->unrecovered > 0 || figures->unavailable > 0;
}

static void add_recovery_columns(struct doc *doc) {
    static const struct doc_column columns[] = {
        {.title = "lock"},
        {.title = "trials",
         .help = "keys of the victims, and faults of servers, that were recovered from",
         .figure = DOC_COUNT},
        {.title = "recovered in, p50",
         .brief = "recovered p50",
         .help = "from the fault to the first grant after it",
         .figure = DOC_TIME},
        {.title = "at most", .figure = DOC_TIME},
        {.title = "in theory, at most", .brief = "in theory", .figure = DOC_TIME},
        {.title = "never",
         .help = "keys that others asked for and nobody got any more",
         .figure = DOC_COUNT},
        {.title = "grants lost", .brief = "lost", .figure = DOC_COUNT},
        {.title = "expired holders",
         .brief = "expired",
         .help = "grants that came in while a holder was there past the end of its lease",
         .figure = DOC_COUNT},
        {.title = "longest that a free key waited",
         .brief = "free for",
         .help = "although a key that a client had asked for was held by nobody",
         .figure = DOC_TIME},
        {.title = NULL},
    };
    doc_columns(doc, columns);
}

static void add_recovery_row(struct doc *doc, const struct report *report,
                             const struct report_row *row) {
    const struct run_stage *figures = &row->figures;
    doc_row(doc, row->candidate ? DOC_ROW : DOC_ASIDE);
    doc_cell(doc, "%s", report->locks[row->lock].label);
    doc_figure(doc, figures->recovery_count);
    doc_figure(doc, figures->recovery_p50);
    doc_figure(doc, figures->recovery_max);
    doc_figure(doc, figures->theory_max);
    doc_figure(doc, figures->unrecovered);
    doc_figure(doc, figures->grants_lost);
    doc_figure(doc, figures->expired_holders);
    doc_figure(doc, figures->unavailable);
}

static void add_recoveries(struct doc *doc, const struct report *report,
                           const struct report_group *group) {
    char clients[NUMBER_TEXT_MAX];
    bool any = false;
    for (int r = 0; r < group->row_count; r++) any |= has_recovery(&group->rows[r]);
    if (!any) return;
    doc_heading(doc, "Recovery, %s client%s: %s", number_count_text(group->clients, clients),
                group->clients == 1 ? "" : "s", group->load);
    doc_table(doc, NULL, NULL);
    add_recovery_columns(doc);
    for (int r = 0; r < group->row_count; r++)
        if (has_recovery(&group->rows[r])) add_recovery_row(doc, report, &group->rows[r]);
    doc_note(
        doc, TONE_PLAIN,
        "recovered: from the fault to the first grant after it (of servers also while nobody asked; a victim's key "
        "that nobody asked for when it may have become free is no trial); that a free key "
        "waited (free for): the longest time without any grant although a key that a client had asked "
        "for was held by nobody");
    doc_end(doc);
}

static bool any_recovery(const struct report *report) {
    for (int g = 0; g < report->group_count; g++)
        for (int r = 0; r < report->groups[g].row_count; r++)
            if (has_recovery(&report->groups[g].rows[r])) return true;
    return false;
}

void run_recovery(const struct report *report, struct doc *doc) {
    if (!any_recovery(report)) return;
    doc_section(doc, "recovered", "Recovery from faults");
    for (int g = 0; g < report->group_count; g++)
        if (!report_is_aside(&report->groups[g])) add_recoveries(doc, report, &report->groups[g]);
    doc_end(doc);
}

void run_faults(const struct report *report, struct doc *doc) {
    if (!run_has_faults(report)) return;
    doc_section(doc, "faults", "Under faults: histories, stale writes, recovery");
    doc_set_only(doc, DOC_HTML);
    for (int r = 0; r < report->run_count; r++) {
        for (int s = 0; s < report->runs[r]->stage_count; s++)
            add_history(doc, &report->runs[r]->stages[s]);
    }
    run_folded(report, IN_HISTORY, "Histories", doc);
    run_folded(report, IN_STORE, "Guarded store", doc);
    run_folded(report, IN_RECOVERY, "Recovery", doc);
    doc_end(doc);
}
