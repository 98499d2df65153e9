/* check: see check.h. */
#include "report/check/check.h"

#include <stdlib.h>

#include "bench/base/output.h"
#include "report/check/check_doc.h"
#include "report/check/check_view.h"
#include "report/doc/escape.h"
#include "report/page/assets.h"
#include "report/page/doc_page.h"
#include "report/run/field_value.h"

/* check_json: a check for machines, schema "lockbench.check-report/1": the sentences, the locks and
 * faults, and the cells with all members of check.json. null = not measured. */

/* Figures are taken from the parsed check, so that members of the file which the reader does not
 * know are not passed on. Only the lists of evidence are copied from the file. */
static json_t *cell_of(const struct check_cell *cell) {
    const struct {
        const char *path;
        const json_t *list;
    } lists[] = {{"recovery_ns.trials", cell->trials},
                 {"seeds", cell->seeds},
                 {"faults", cell->faults},
                 {"counterexample", cell->counterexample}};
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

static int check_write_json(const struct check_view *view, FILE *out, struct lb_err *err) {
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

/* check_page: a check as one page that opens without a network. Its words and tables are in the
 * HTML; the filter and the panel of a cell need the script (report/src/check). */

static void put_count(FILE *out, int count, const char *of) {
    fprintf(out, " &middot; %d %s%s", count, of, count == 1 ? "" : "s");
}

static const struct head_link links[] = {{.id = "verdict", .text = "Verdict"},
                                         {.id = "matrix", .text = "Matrix"},
                                         {.id = "findings", .text = "Findings"},
                                         {.id = "evidence", .text = "Evidence"},
                                         {.id = "run", .text = "The check"},
                                         {.id = "caveats", .text = "Limits"},
                                         {.id = NULL}};

static void write_banner(FILE *out, const struct check_view *view) {
    const struct check *check = view->check;
    const char *cpu = json_string_value(json_object_get(check->environment, "cpu_model"));
    head_title(out, "lockbench check");
    fputs("Which locks are locks"
          "<span class=\"summary\">: under pauses, crashes, failovers and cut wires</span></h1>\n"
          "<p class=\"meta\">",
          out);
    escape_html(out, check->started_at);
    put_count(out, view->row_count, "lock");
    put_count(out, view->column_count, "fault");
    put_count(out, check->cell_count, "cell");
    if (cpu) {
        fputs(" &middot; ", out);
        escape_html(out, cpu);
    }
    fputs("</p>\n", out);
    head_close(out, links);
}

/* Writes the document as a page, with the page's head and scripts. */
static int check_write_page(const struct check_view *view, const struct doc *doc, FILE *out,
                            struct lb_err *err) {
    head_open(out, "check", view->check->started_at);
    write_banner(out, view);
    if (doc_write(doc, DOC_HTML, false, out, err) != 0) return -1;
    fputs("</main>\n<footer>\n<p>Rendered by <code>lockbench report</code> from check.json "
          "alone.</p>\n</footer>\n",
          out);
    if (*asset_check) fprintf(out, "<script>%s</script>\n", asset_check);
    fputs("</body>\n</html>\n", out);
    return 0;
}

int report_check_write(const struct check *check, enum report_format format, bool color, FILE *out,
                       struct lb_err *err) {
    struct doc doc = {0};
    if (format == REPORT_CSV)
        return err_set(err, LB_EXIT_USAGE, "%s: --csv is for runs; of a check there is --json",
                       check->path);
    struct check_view *view = check_view_make(check, err);
    if (!view) return -1;
    if (format == REPORT_TABLE || format == REPORT_QUIET)
        check_summary(view, format == REPORT_QUIET, &doc);
    else
        check_doc(view, &doc);
    int rc = format == REPORT_JSON   ? check_write_json(view, out, err)
             : format == REPORT_HTML ? check_write_page(view, &doc, out, err)
                                     : doc_write(&doc, report_doc_format(format), color, out, err);
    if (rc == 0) rc = output_check(out, "the report", err);
    doc_free(&doc);
    check_view_free(view);
    return rc;
}
