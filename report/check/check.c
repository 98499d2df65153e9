/* check: see check.h. */
#define _GNU_SOURCE
#include "report/check/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    if (rc == 0 && ferror(out))
        rc = err_set(err, LB_EXIT_MACHINE, "cannot write the report: is the disk full?");
    doc_free(&doc);
    check_view_free(view);
    return rc;
}

/* Beside its place first, then renamed: who reads it never sees half of it. */
static int write_beside(const struct check *check, enum report_format format, const char *name,
                        struct lb_err *err) {
    char *path = NULL, *fresh = NULL;
    int rc = -1;
    if (asprintf(&path, "%s/%s", check->dir, name) < 0) path = NULL;
    if (!path || asprintf(&fresh, "%s.%d.new", path, (int)getpid()) < 0) {
        free(path);
        return err_set(err, LB_EXIT_MACHINE, "out of memory");
    }
    FILE *out = fopen(fresh, "we");
    if (out) {
        rc = report_check_write(check, format, false, out, err);
        if (fclose(out)) rc = -1;
        if (rc == 0) rc = rename(fresh, path);
        if (rc) unlink(fresh);
    }
    if (rc) err_set(err, LB_EXIT_MACHINE, "%s: %s", path, strerror(errno));
    free(fresh);
    free(path);
    return rc ? -1 : 0;
}

int report_check_files(const char *dir, struct lb_err *err) {
    struct check *check = check_read(dir, err);
    if (!check) return -1;
    int rc = write_beside(check, REPORT_MD, "summary.md", err);
    if (rc == 0) rc = write_beside(check, REPORT_HTML, "report.html", err);
    check_free(check);
    return rc;
}
