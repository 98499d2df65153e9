/* report: see report.h. */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#include "bench/base/output.h"
#include "report/page/html_parts.h"
#include "report/run/run_doc.h"
#include "results/format/run_read.h"
#include "results/format/tree.h"

/* The same run twice would be shown as two. */
static int check_new(struct run *const *runs, int count, struct lb_err *err) {
    for (int r = 0; r < count; r++) {
        if (tree_same_file(runs[r]->path, runs[count]->path))
            return err_set(err, LB_EXIT_USAGE, "report: %s: the same run is named twice",
                           runs[count]->path);
    }
    return 0;
}

struct report *report_load(const char *const *paths, int count, struct lb_err *err) {
    struct run **runs = NULL;
    int run_count = 0, failed = run_read_all(paths, count, &runs, &run_count, err);
    for (int r = 0; r < run_count && !failed; r++) failed = check_new(runs, r, err);
    if (!failed) return report_make(runs, run_count, err);
    for (int r = 0; r < run_count; r++) run_free(runs[r]);
    free(runs);
    return NULL;
}

struct report *report_from_json(json_t *run, const char *path, struct lb_err *err) {
    struct run **runs = calloc(1, sizeof *runs);
    if (!runs) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        return NULL;
    }
    runs[0] = run_from_json(run, path, err);
    if (runs[0]) return report_make(runs, 1, err);
    free(runs);
    return NULL;
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
    else if (format == REPORT_CSV)
        run_csv(report, out);
    else
        rc = write_text(report, format, color, out, err);
    return rc == 0 ? output_check(out, "the report", err) : rc;
}
