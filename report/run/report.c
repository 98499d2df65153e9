/* report: see report.h. */
#include "report/run/report.h"

#include <stdlib.h>
#include <string.h>

struct report *report_load(const char *const *paths, int count, struct lb_err *err) {
    struct run **runs = calloc((size_t)count, sizeof(struct run *));
    if (!runs) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        return NULL;
    }
    for (int r = 0; r < count; r++) {
        runs[r] = run_read(paths[r], err);
        if (runs[r]) continue;
        while (r > 0) run_free(runs[--r]);
        free(runs);
        return NULL;
    }
    return report_make(runs, count, err);
}

int report_write(const struct report *report, enum report_format format, bool color, FILE *out,
                 struct lb_err *err) {
    int rc = -1;
    switch (format) {
    case REPORT_TABLE:
        rc = report_write_table(report, color, out, err);
        break;
    case REPORT_MD:
        rc = report_write_md(report, out, err);
        break;
    case REPORT_CSV:
        rc = report_write_csv(report, out, err);
        break;
    case REPORT_JSON:
        rc = report_write_json(report, out, err);
        break;
    case REPORT_HTML:
        rc = report_write_html(report, out, err);
        break;
    case REPORT_FORMATS:
        rc = err_set(err, LB_EXIT_USAGE, "no such format");
        break;
    }
    if (rc == 0 && ferror(out))
        return err_set(err, LB_EXIT_MACHINE, "cannot write the report: is the disk full?");
    return rc;
}
