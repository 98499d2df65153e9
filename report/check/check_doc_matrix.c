/* check_doc_matrix: the matrix of locks and faults, and the findings below it. See check_doc.h.
 *
 * In the page the matrix is a plain table of links, each with its whole meaning as its name, so
 * that it works by keyboard, for screen readers and without a script; the script adds the arrow
 * keys and the filter. */
#include <stdlib.h>
#include <string.h>

#include "report/check/check_doc.h"
#include "report/check/check_view.h"

#define FINDINGS_SHOWN 8 /* the most findings, except in the page, which has all */
#define SILENT_SHOWN 4

char *check_cell_anchor(const struct check_view *view, const struct check_cell *cell, char *text) {
    snprintf(text, CHECK_ANCHOR_MAX, "#cell-%d", (int)(cell - view->check->cells));
    return text;
}

static void add_fault_columns(const struct check_view *view, struct doc *doc) {
    doc_column(doc, &(struct doc_column){.title = "lock"});
    for (int c = 0; c < view->column_count; c++) {
        const struct check_fault *fault = &view->check->faults[view->column[c]];
        doc_column(doc, &(struct doc_column){
                            .title = fault->name, .help = fault->summary, .upright = true});
    }
}

static void add_cell_sign(const struct check_view *view, const struct check_cell *cell,
                          struct doc *doc) {
    char sign[8], name[300], anchor[CHECK_ANCHOR_MAX];
    if (!cell) {
        doc_cell(doc, "%s", "-");
        doc_set_title(doc, "not run");
        return;
    }
    doc_cell(doc, "%s", "");
    doc_set_tone(doc, check_tone(view, cell));
    doc_set_data(doc, "verdict", check_verdict_name(cell->verdict));
    if (cell->compared == CHECK_WORSE || cell->missed) doc_set_data(doc, "worse", "");
    if (cell->compared == CHECK_WORSE || cell->compared == CHECK_BETTER)
        doc_set_data(doc, "differs", "");
    snprintf(sign, sizeof sign, "%s%s", check_sign(cell->verdict), check_mark(cell));
    snprintf(name, sizeof name, "%s under %s: %s, %s", check_lock_of(view, cell)->name,
             check_fault_of(view, cell)->name, check_verdict_name(cell->verdict),
             check_compared_text(cell));
    doc_link(doc, check_cell_anchor(view, cell, anchor), sign, name);
}

static void add_lock_rows(const struct check_view *view, struct doc *doc) {
    int family = -1;
    for (int r = 0; r < view->row_count; r++) {
        const struct check_lock *lock = &view->check->locks[view->row[r]];
        int own = (int)check_family_of(lock);
        if (own != family)
            doc_group(doc, TONE_PLAIN, "%s", check_family_title((enum check_family)own));
        family = own;
        doc_row(doc, DOC_ROW);
        doc_set_data(doc, "backend", lock->backend);
        doc_cell(doc, "%s", lock->name);
        for (int c = 0; c < view->column_count; c++)
            add_cell_sign(view, check_view_cell(view, view->row[r], view->column[c]), doc);
    }
}

static void add_sign(struct doc *doc, enum tone tone, const char *sign, const char *text) {
    doc_item(doc, TONE_PLAIN, "%s", "");
    doc_chip(doc, DOC_CHIP, tone, NULL, sign, NULL);
    doc_span(doc, DOC_PLAIN, " %s", text);
}

/* The signs and what they mean. */
static void add_legend(struct doc *doc) {
    static const enum tone tones[CHECK_VERDICTS] = {[CHECK_SAFE] = TONE_GOOD,
                                                    [CHECK_EXPIRED] = TONE_WARN,
                                                    [CHECK_STUCK] = TONE_WARN,
                                                    [CHECK_VIOLATED] = TONE_BAD};
    doc_list(doc, "legend");
    doc_set_only(doc, DOC_HTML);
    for (enum check_verdict v = 0; v < CHECK_VERDICTS; v++)
        add_sign(doc, tones[v], check_sign(v), check_verdict_name(v));
    add_sign(doc, TONE_PLAIN, "-", "not run");
    add_sign(doc, TONE_GOOD, "+", "better than the driver states");
    add_sign(doc, TONE_BAD, "!", "worse than that, or a control that was not caught");
    doc_end(doc);
    doc_say(doc, TONE_PLAIN, "%s",
            ". safe, E expired, S stuck, V violated, ? inconclusive, x failed, - not run, + better "
            "than the driver states, ! worse than that, or a control that was not caught");
    doc_set_only(doc, DOC_MARKDOWN);
}

void check_doc_matrix(const struct check_view *view, unsigned formats, struct doc *doc) {
    doc_section(doc, "matrix", "Locks and faults");
    doc_set_only(doc, formats);
    if (view->row_count == 0) {
        doc_say(doc, TONE_PLAIN, "No cell has been run yet.");
        doc_set_only(doc, DOC_HTML);
    } else {
        doc_say(doc, TONE_PLAIN,
                "Each cell leads to its evidence; the arrow keys go from cell to cell.");
        doc_set_only(doc, DOC_HTML);
        doc_html(doc, "<div id=\"filter\" class=\"controls\" hidden></div>\n");
        doc_table(doc, "matrix", NULL);
        add_fault_columns(view, doc);
        add_lock_rows(view, doc);
        doc_end(doc);
        add_legend(doc);
    }
    doc_end(doc);
}

static void add_finding(const struct check_view *view, const struct check_cell *cell, bool is_shown,
                        struct doc *doc) {
    char *recovery = check_recovery_sentence(cell), *store = check_store_sentence(cell),
         anchor[CHECK_ANCHOR_MAX], name[300];
    if (!recovery || !store) doc->failed = true;
    snprintf(name, sizeof name, "%s under %s", check_lock_of(view, cell)->name,
             check_fault_of(view, cell)->name);
    doc_item(doc, check_tone(view, cell), "%s", "");
    if (!is_shown) doc_set_only(doc, DOC_HTML);
    doc_link(doc, check_cell_anchor(view, cell, anchor), name, NULL);
    check_add_seen(cell, doc);
    if (recovery && *recovery) doc_span(doc, DOC_DETAIL, "%s", recovery);
    if (store && *store) doc_span(doc, DOC_DETAIL, "%s", store);
    if (cell->command) doc_command(doc, "again", cell->command);
    free(recovery);
    free(store);
}

static void add_cell_findings(const struct check_view *view, const struct check_cell *const *cells,
                              int count, int shown, struct doc *doc) {
    if (count == 0) return;
    doc_list(doc, "findings");
    for (int i = 0; i < count; i++) add_finding(view, cells[i], i < shown, doc);
    if (count > shown) {
        doc_item(doc, TONE_PLAIN, "and %d more: report.html has them, and lockbench report --json",
                 count - shown);
        doc_set_only(doc, DOC_TERMINAL | DOC_MARKDOWN);
    }
    doc_end(doc);
}

void check_doc_findings(const struct check_view *view, struct doc *doc) {
    bool judged = view->real.cells >
                  view->real.verdict[CHECK_INCONCLUSIVE] + view->real.verdict[CHECK_FAILED];
    doc_section(doc, "findings", "Findings: worse than stated");
    if (view->finding_count == 0) {
        doc_say(doc, TONE_PLAIN, judged ? "None." : "Nothing was judged.");
        doc_set_only(doc, DOC_HTML | DOC_MARKDOWN);
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
