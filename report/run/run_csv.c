/* run_csv: a line for each stage, each scalar under its path in run.json. It computes nothing, not
 * even medians over repeats. */
#include "report/run/field_value.h"
#include "report/run/run_doc.h"

static void add_stage_row(struct doc *doc, const struct run *run, const struct run_stage *stage) {
    doc_row(doc, DOC_ROW);
    doc_cell(doc, "%s", run->path);
    doc_cell(doc, "%s", run->workload ? run->workload : "");
    doc_cell(doc, "%s", run->started_at ? run->started_at : "");
    doc_cell(doc, "%s", run->partial ? "true" : "false");
    for (const struct result_field *field = run_stage_fields(); field->path; field++)
        if (result_field_in_reports(field)) field_cell(doc, run_stage_fields(), field, stage);
}

void run_csv(const struct report *report, struct doc *doc) {
    doc_table(doc, NULL, NULL);
    doc_column(doc, &(struct doc_column){.title = "run"});
    doc_column(doc, &(struct doc_column){.title = "workload"});
    doc_column(doc, &(struct doc_column){.title = "started_at"});
    doc_column(doc, &(struct doc_column){.title = "partial"});
    for (const struct result_field *field = run_stage_fields(); field->path; field++)
        if (result_field_in_reports(field))
            doc_column(doc, &(struct doc_column){.title = field->path});
    for (int r = 0; r < report->run_count; r++) {
        for (int s = 0; s < report->runs[r]->stage_count; s++)
            add_stage_row(doc, report->runs[r], &report->runs[r]->stages[s]);
    }
    doc_end(doc);
}
