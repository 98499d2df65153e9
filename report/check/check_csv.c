/* check_csv: a line for each cell, with the facts of its lock, and each scalar under its path in
 * check.json. The evidence (operations, holds, trials) is left to the other outputs. */
#include "report/check/check_view.h"
#include "report/run/field_value.h"

static const char *const of_lock[] = {"check", "started_at", "backend", "primitive", "guarantee",
                                      "crash", "token",      "control", "recovered"};

static void add_text_cell(struct doc *doc, const char *text) {
    doc_cell(doc, "%s", text ? text : "");
}

static void add_cell_row(struct doc *doc, const struct check_view *view,
                         const struct check_cell *cell) {
    const struct check_lock *lock = check_lock_of(view, cell);
    doc_row(doc, DOC_ROW);
    add_text_cell(doc, view->check->path);
    add_text_cell(doc, view->check->started_at);
    add_text_cell(doc, lock->backend);
    add_text_cell(doc, lock->primitive);
    add_text_cell(doc, lock->guarantee);
    add_text_cell(doc, lock->crash);
    add_text_cell(doc, lock->token ? "true" : "false");
    add_text_cell(doc, lock->control ? "true" : "false");
    add_text_cell(doc, cell->recovered > 0 ? "true" : cell->recovered == 0 ? "false" : NULL);
    for (const struct result_field *field = check_cell_fields(); field->path; field++) {
        if (result_field_in_reports(field)) field_cell(doc, check_cell_fields(), field, cell);
    }
}

int check_write_csv(const struct check_view *view, FILE *out, struct lb_err *err) {
    struct doc doc = {0};
    doc_table(&doc, NULL, NULL);
    for (size_t c = 0; c < sizeof of_lock / sizeof *of_lock; c++)
        doc_column(&doc, &(struct doc_column){.title = of_lock[c]});
    for (const struct result_field *field = check_cell_fields(); field->path; field++) {
        if (result_field_in_reports(field))
            doc_column(&doc, &(struct doc_column){.title = field->path});
    }
    for (int i = 0; i < view->check->cell_count; i++)
        add_cell_row(&doc, view, &view->check->cells[i]);
    doc_end(&doc);
    return doc_write_and_free(&doc, DOC_CSV, false, out, err);
}
