/* compare_page: a comparison as a page: the verdict, the shifts with their intervals, the
 * distributions of both sides over each other, then the document.
 *
 * To keep the page small, it may contain the histograms of some of the runs only; the figures are
 * always of all runs. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "bench/base/utf8.h"
#include "report/compare/compare_parts.h"
#include "report/doc/escape.h"
#include "report/page/doc_page.h"
#include "report/page/html_parts.h"
#include "report/run/field_value.h"

#define HISTOGRAMS_BYTES_MAX 2000000 /* the bytes of all rows together */

static json_t *page_figure_json(const struct result_field *metric,
                                const struct compare_figure *figure) {
    bool has_interval = isfinite(figure->low) && isfinite(figure->high);
    return json_pack(
        "{s:s, s:s, s:b, s:b, s:o, s:o, s:o, s:o, s:o}", "title", metric->title, "verdict",
        compare_word(figure->verdict), "is_time", (int)result_field_is_time(metric), "is_share",
        (int)result_field_is_share(metric), "base", field_figure_json(figure->base.median), "new",
        field_figure_json(figure->new.median), "shift",
        isfinite(figure->shift) ? json_real(figure->shift) : json_null(), "low",
        has_interval ? json_real(figure->low) : json_null(), "high",
        has_interval ? json_real(figure->high) : json_null());
}

/* The histograms of one side, an object for each sample: at least one, and as many as there is room
 * for. */
static json_t *histograms_json(const struct run_stage *const *stages, int count, enum metric metric,
                               size_t bytes_max, struct lb_err *err) {
    size_t bytes = 0;
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        const char *hdr = stages[i]->latency[metric].hdr;
        if (!hdr || !compare_is_sample(stages[i])) continue;
        bytes += strlen(hdr);
        if (json_array_size(list) > 0 && bytes > bytes_max) break;
        json_t *object = json_object();
        if (json_array_append_new(list, object) != 0 ||
            html_hist_add(object, stages[i], metric, err) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *row_json(const struct compare *compare, const struct compare_row *row,
                        struct lb_err *err) {
    char title[400];
    enum metric metric = html_is_open(row->stages[0]) ? METRIC_ACQUIRE_DUE : METRIC_ACQUIRE;
    size_t bytes_max = HISTOGRAMS_BYTES_MAX / 2 / (size_t)compare->row_count;
    json_t *figures = json_array();
    bool itself = strcmp(row->lock, row->new_lock) == 0;
    snprintf(title, sizeof title, "%.80s%s%.80s, %.0f client%s, %.150s", row->lock,
             itself ? "" : " -> ", itself ? "" : row->new_lock, row->clients,
             row->clients == 1 ? "" : "s", row->load);
    for (int m = 0; m < compare_metric_count(); m++) {
        if (row->figure[m].verdict != COMPARE_UNKNOWN)
            json_array_append_new(figures, page_figure_json(compare_metric(m), &row->figure[m]));
    }
    json_t *base = histograms_json(row->stages, row->base_stages, metric, bytes_max, err);
    json_t *new = base ? histograms_json(row->stages + row->base_stages, row->new_stages, metric,
                                         bytes_max, err)
                       : NULL;
    if (new)
        return json_pack("{s:o, s:s, s:o, s:o, s:o}", "title", escape_json(title), "metric",
                         metric_name(metric), "figures", figures, "base", base, "new", new);
    json_decref(figures);
    json_decref(base);
    return NULL;
}

/* "results/monday", or "results/monday and 9 more". */
static void side_text(struct run *const *runs, int count, char *text, size_t size) {
    snprintf(text, size, "%.150s", runs[0]->dir);
    size_t length = strlen(utf8_clean(text));
    if (count > 1) snprintf(text + length, size - length, " and %d more", count - 1);
}

int compare_page(const struct compare *compare, FILE *out, struct lb_err *err) {
    char base[200], new[200], about[500];
    struct doc doc = {0};
    json_t *rows = json_array();
    int rc = -1;
    side_text(compare->base, compare->base_count, base, sizeof base);
    side_text(compare->new, compare->new_count, new, sizeof new);
    snprintf(about, sizeof about, "base: %s; new: %s", base, new);
    json_t *data = json_pack("{s:o, s:o, s:f, s:O}", "base", escape_json(base), "new",
                             escape_json(new), "min_effect", compare->min_effect, "rows", rows);
    for (int i = 0; i < compare->row_count; i++) {
        json_t *row = row_json(compare, &compare->rows[i], err);
        if (!row || json_array_append_new(rows, row) != 0) goto out;
    }
    compare_doc(compare, &doc);
    struct doc_page page = {.command = "lockbench compare",
                            .title = "What changed",
                            .about = about,
                            .name = "compare",
                            .data = data};
    rc = doc_page_write(&page, &doc, out, err);
out:
    if (rc != 0 && !err->code) err_set(err, LB_EXIT_MACHINE, "out of memory");
    json_decref(rows);
    json_decref(data);
    doc_free(&doc);
    return rc;
}
