/* check_doc_matrix: the matrix of locks and faults, and the findings below it. See check_doc.h. */
#include <stdlib.h>

#include "report/check/check_doc.h"
#include "report/check/check_view.h"

#define FINDINGS_SHOWN 8
#define SILENT_SHOWN 4

static void add_fault_columns(const struct check_view *view, struct doc *doc) {
    doc_column(doc, &(struct doc_column){.title = "lock"});
    for (int c = 0; c < view->column_count; c++)
        doc_column(doc, &(struct doc_column){.title = view->check->faults[view->column[c]].name});
}

static void add_cell_sign(const struct check_view *view, const struct check_cell *cell,
                          struct doc *doc) {
    doc_cell(doc, "%s%s", cell ? check_sign(cell->verdict) : "-", cell ? check_mark(cell) : "");
    if (cell) doc_set_tone(doc, check_tone(view, cell));
}

static void add_lock_rows(const struct check_view *view, struct doc *doc) {
    const char *family = NULL;
    for (int r = 0; r < view->row_count; r++) {
        const struct check_lock *lock = &view->check->locks[view->row[r]];
        if (check_family_of(lock) != family)
            doc_group(doc, TONE_PLAIN, "%s", check_family_of(lock));
        family = check_family_of(lock);
        doc_row(doc, DOC_ROW);
        doc_cell(doc, "%s", lock->name);
        for (int c = 0; c < view->column_count; c++)
            add_cell_sign(view, check_view_cell(view, view->row[r], view->column[c]), doc);
    }
}

void check_doc_matrix(const struct check_view *view, struct doc *doc) {
    if (view->row_count == 0) return;
    doc_section(doc, "matrix", "Locks and faults");
    doc_set_only(doc, DOC_MARKDOWN);
    doc_table(doc, NULL, NULL);
    add_fault_columns(view, doc);
    add_lock_rows(view, doc);
    doc_end(doc);
    doc_say(doc, TONE_PLAIN,
            ". safe, E expired, S stuck, V violated, ? inconclusive, x failed, - not run, + better "
            "than the driver states, ! worse than that, or a control that was not caught");
    doc_end(doc);
}

static void add_finding(const struct check_view *view, const struct check_cell *cell,
                        struct doc *doc) {
    char *recovery = check_recovery_sentence(cell), *store = check_store_sentence(cell);
    if (!recovery || !store) doc->failed = true;
    doc_item(doc, check_tone(view, cell), "%s under %s", check_lock_of(view, cell)->name,
             check_fault_of(view, cell)->name);
    check_add_seen(cell, doc);
    if (recovery && *recovery) doc_span(doc, DOC_DETAIL, "%s", recovery);
    if (store && *store) doc_span(doc, DOC_DETAIL, "%s", store);
    if (cell->command) doc_command(doc, "again", cell->command);
    if (cell->run) doc_span(doc, DOC_DETAIL, "its run: %s", cell->run);
    free(recovery);
    free(store);
}

static void add_cell_findings(const struct check_view *view, const struct check_cell *const *cells,
                              int count, int shown, struct doc *doc) {
    if (count == 0) return;
    doc_list(doc);
    for (int i = 0; i < count && i < shown; i++) add_finding(view, cells[i], doc);
    if (count > shown)
        doc_item(doc, TONE_PLAIN, "and %d more: lockbench report --json has them", count - shown);
    doc_end(doc);
}

void check_doc_findings(const struct check_view *view, struct doc *doc) {
    bool judged = view->real.cells >
                  view->real.verdict[CHECK_INCONCLUSIVE] + view->real.verdict[CHECK_FAILED];
    doc_section(doc, "findings", "Findings: worse than stated");
    if (view->finding_count == 0) {
        doc_say(doc, TONE_PLAIN, judged ? "None." : "Nothing was judged.");
        doc_set_only(doc, DOC_MARKDOWN);
    } else {
        doc_heading(doc, "Worse than stated");
        doc_set_only(doc, DOC_TERMINAL);
    }
    add_cell_findings(view, view->finding, view->finding_count, FINDINGS_SHOWN, doc);
    if (view->silent_count > 0) {
        doc_fold(doc, false, "Without a verdict (%d)", view->silent_count);
        doc_set_headline(doc);
        add_cell_findings(view, view->silent, view->silent_count, SILENT_SHOWN, doc);
        doc_end(doc);
    }
    doc_end(doc);
}
