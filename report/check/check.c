/* check: see check.h. */
#include "report/check/check.h"

#include "bench/base/output.h"
#include "report/check/check_doc.h"
#include "report/check/check_view.h"

int report_check_write(const struct check *check, enum report_format format, bool color, FILE *out,
                       struct lb_err *err) {
    int rc = -1;
    struct doc doc = {0};
    struct check_view *view = check_view_make(check, err);
    if (!view) return -1;
    check_doc(view, &doc);
    switch (format) {
    case REPORT_TABLE:
        rc = doc_write(&doc, DOC_TERMINAL, color, out, err);
        break;
    case REPORT_MD:
        rc = doc_write(&doc, DOC_MARKDOWN, false, out, err);
        break;
    case REPORT_CSV:
        rc = check_write_csv(view, out, err);
        break;
    case REPORT_JSON:
        rc = check_write_json(view, out, err);
        break;
    case REPORT_HTML:
        rc = check_write_page(view, &doc, out, err);
        break;
    case REPORT_FORMATS:
        rc = err_set(err, LB_EXIT_USAGE, "no such format");
        break;
    }
    if (rc == 0) rc = output_check(out, "the report", err);
    doc_free(&doc);
    check_view_free(view);
    return rc;
}
