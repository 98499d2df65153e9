/* check: see check.h. */
#include "report/check/check.h"

#include "bench/base/output.h"
#include "report/check/check_doc.h"
#include "report/check/check_view.h"

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
    int rc = doc_write_and_free(&doc, report_doc_format(format), color, out, err);
    check_view_free(view);
    return rc;
}
