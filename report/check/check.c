/* check: see check.h. */
#include "report/check/check.h"

#include "bench/base/output.h"
#include "report/check/check_doc.h"
#include "report/check/check_view.h"

int report_check_write(const struct check *check, enum report_format format, bool color, FILE *out,
                       struct lb_err *err) {
    struct doc doc = {0};
    if (format == REPORT_CSV)
        return err_set(err, LB_EXIT_USAGE, "%s: --csv is for runs; of a check there is --json",
                       check->path);
    struct check_view *view = check_view_make(check, err);
    if (!view) return -1;
    check_doc(view, &doc);
    int rc = format == REPORT_JSON   ? check_write_json(view, out, err)
             : format == REPORT_HTML ? check_write_page(view, &doc, out, err)
                                     : doc_write(&doc, report_doc_format(format), color, out, err);
    if (rc == 0) rc = output_check(out, "the report", err);
    doc_free(&doc);
    check_view_free(view);
    return rc;
}
