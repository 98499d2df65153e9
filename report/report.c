/* report: see report.h. */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#include "bench/base/output.h"
#include "report/page/html_parts.h"
#include "report/run/run_doc.h"
#include "results/format/run_read.h"

struct report *report_load(const char *path, struct lb_err *err) {
    struct run *run = run_read(path, err);
    return run ? report_make(run, err) : NULL;
}

struct report *report_from_json(json_t *json, const char *path, struct lb_err *err) {
    struct run *run = run_from_json(json, path, err);
    return run ? report_make(run, err) : NULL;
}

static int write_text(const struct report *report, enum report_format format, bool color, FILE *out,
                      struct lb_err *err) {
    struct doc doc = {0};
    if (format == REPORT_TABLE || format == REPORT_QUIET) {
        run_summary(report, format == REPORT_QUIET, &doc);
    } else {
        run_doc_verdict(report, &doc);
        run_doc_begin(report, &doc);
        run_doc_end(report, &doc);
    }
    return doc_write_and_free(&doc, report_doc_format(format), color, out, err);
}

enum doc_format report_doc_format(enum report_format format) {
    return format == REPORT_MD ? DOC_MARKDOWN : DOC_TERMINAL;
}

int report_write(const struct report *report, enum report_format format, bool color, FILE *out,
                 struct lb_err *err) {
    int rc = 0;
    if (format == REPORT_JSON)
        rc = run_json(report, out, err);
    else if (format == REPORT_HTML)
        rc = html_page(report, out, err);
    else
        rc = write_text(report, format, color, out, err);
    return rc == 0 ? output_check(out, "the report", err) : rc;
}
