/* trend_page: a history as a page: the verdict of the gate, one figure over its runs with its
 * change points, all changes on one chart, then the document. The charts' figures are those of
 * --json. */
#include "report/page/doc_page.h"
#include "report/trend/trend_parts.h"

int trend_page(const struct trend_view *view, FILE *out, struct lb_err *err) {
    char about[300];
    struct doc doc = {0};
    json_t *data = trend_json(view);
    if (!data) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    snprintf(about, sizeof about, "%.250s", view->trend->path);
    trend_doc(view, true, &doc);
    struct doc_page page = {.command = "lockbench history",
                            .title = "What changed over time",
                            .about = about,
                            .name = "history",
                            .data = data};
    int rc = doc_page_write(&page, &doc, out, err);
    json_decref(data);
    doc_free(&doc);
    return rc;
}
