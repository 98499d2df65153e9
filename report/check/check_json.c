/* check_json: a check for machines, schema "lockbench.check-report/1": the sentences, the locks and
 * faults, and the cells with all members of check.json. null = not measured. */
#include <stdlib.h>

#include "bench/base/output.h"
#include "report/check/check_view.h"
#include "report/doc/escape.h"
#include "report/run/field_value.h"

/* Figures are taken from the parsed check, so that members of the file which the reader does not
 * know are not passed on. Only the lists of evidence are copied from the file. */
static json_t *cell_of(const struct check_cell *cell) {
    const struct {
        const char *path;
        const json_t *list;
    } lists[] = {{"recovery_ns.trials", cell->trials},
                 {"seeds", cell->seeds},
                 {"faults", cell->faults},
                 {"counterexample", cell->counterexample},
                 {"timeline", cell->timeline}};
    json_t *object = json_object();
    int rc = 0;
    for (const struct result_field *field = check_cell_fields(); field->path; field++) {
        if (!result_field_in_reports(field)) continue;
        rc |= escape_json_put(object, field->path, field_json(check_cell_fields(), field, cell));
    }
    bool unknown = cell->recovered != cell->recovered;
    rc |= escape_json_put(object, "recovered",
                          unknown ? json_null() : json_boolean(cell->recovered > 0));
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        json_t *list = lists[i].list ? json_incref((json_t *)lists[i].list) : json_null();
        rc |= escape_json_put(object, lists[i].path, list);
    }
    if (rc == 0) return object;
    json_decref(object);
    return NULL;
}

static json_t *copy_of(const struct check *check, const char *member) {
    json_t *value = json_object_get(check->root, member);
    return value ? json_incref(value) : json_null();
}

static int fill_check_report(const struct check_view *view, const struct doc *verdict,
                             json_t *root) {
    static const char *const members[] = {
        "tool",        "command",        "started_at", "ended_at", "tour",    "partial", "seeds",
        "environment", "partial_reason", "planned",    "faults",   "skipped", "locks"};
    json_t *cells = json_array();
    int rc = escape_json_put(root, "schema", json_string("lockbench.check-report/1"));
    rc |= escape_json_put(root, "verdict", doc_sentences(verdict));
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        rc |= escape_json_put(root, members[i], copy_of(view->check, members[i]));
    rc |= escape_json_put(root, "cells", cells);
    for (int i = 0; i < view->check->cell_count && rc == 0; i++)
        rc |= json_array_append_new(cells, cell_of(&view->check->cells[i]));
    return rc;
}

int check_write_json(const struct check_view *view, FILE *out, struct lb_err *err) {
    json_t *root = json_object();
    struct doc verdict = {0};
    check_verdict(view, &verdict);
    int rc = fill_check_report(view, &verdict, root);
    doc_free(&verdict);
    if (rc != 0) {
        json_decref(root);
        return err_set(err, LB_EXIT_MACHINE, "out of memory");
    }
    return output_json(root, JSON_INDENT(1) | JSON_REAL_PRECISION(15), out, "the report", err);
}
