/* check: see check.h. */
#include "report/check/check.h"

#include <stdlib.h>

#include "bench/base/output.h"
#include "report/check/check_doc.h"
#include "report/check/check_view.h"
#include "report/doc/escape.h"
#include "report/page/assets.h"
#include "report/page/doc_page.h"

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
    if (format == REPORT_JSON)
        return output_json(json_incref(check->root), JSON_INDENT(1) | JSON_REAL_PRECISION(10), out,
                           "the report", err);
    struct check_view *view = check_view_make(check, err);
    if (!view) return -1;
    if (format == REPORT_TABLE || format == REPORT_QUIET)
        check_summary(view, format == REPORT_QUIET, &doc);
    else
        check_doc(view, &doc);
    int rc = format == REPORT_HTML ? check_write_page(view, &doc, out, err)
                                   : doc_write(&doc, report_doc_format(format), color, out, err);
    if (rc == 0) rc = output_check(out, "the report", err);
    doc_free(&doc);
    check_view_free(view);
    return rc;
}
