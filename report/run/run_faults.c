/* run_faults: what faults did: histories, recoveries. See run_doc.h. */
#include "report/run/run_doc.h"

#include "report/doc/counterexample.h"

bool run_has_faults(const struct report *report) {
    return run_has_columns(report, IN_STORE) || run_has_columns(report, IN_HISTORY) ||
           run_has_columns(report, IN_RECOVERY);
}

static void add_history(struct doc *doc, const struct run_stage *stage) {
    if (json_array_size(stage->counterexample) == 0) return;
    doc_heading(doc, "%s: %s%s%s",
                stage->id     ? stage->id
                : stage->lock ? stage->lock
                              : "?",
                stage->verdict ? stage->verdict : "?", stage->history_model ? " as a " : "",
                stage->history_model ? stage->history_model : "");
    doc_counterexample(doc, stage->counterexample);
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
    doc_end(doc);
}

void run_recovery(const struct report *report, struct doc *doc) {
    if (!run_has_columns(report, IN_RECOVERY)) return;
    doc_section(doc, "recovered", "Recovery from faults");
    run_folded(report, IN_RECOVERY, "Recovery", doc);
    doc_end(doc);
}
