/* html: the report of runs in each format; as one page that opens without a network it is the document of run_doc.h with
 * the charts' sections between. The bundle (report/src), which assets.c contains, draws the charts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/output.h"
#include "report/page/assets.h"
#include "report/page/html_parts.h"
#include "report/run/run_doc.h"

/* ---- the charts' data, which report/src/data.js reads ----
 *
 * A row has its lock, its figures, how its typical repeat went over time, and that repeat's histograms, as the V2 texts
 * of run.json, from which the page computes any percentile. Names in it are data, never markup. */

#define REAL_DIGITS 12
#define HISTOGRAM_BYTES                                                                            \
    2000000 /* of all histograms; a page of very many locks lacks the last ones */
#define INTERVALS_MAX                                                                              \
    120 /* the most intervals of a row; longer runs have several seconds in each */

/* Adds a value, which may be NULL (out of memory), and remembers a failure in *rc. */
static void put(json_t *object, const char *key, json_t *value, int *rc) {
    if (json_object_set_new(object, key, value)) *rc = -1;
}

/* The interval of a figure: {"low", "high", "kind", "count"}; {} if there is none, also when memory runs out. */
static json_t *interval_of(const struct report_row *row, const struct result_field *column) {
    static const char *const names[] = {[SPREAD_REPEATS] = "repeats", [SPREAD_RANGE] = "range"};
    double *values = column->sums ? NULL : malloc((size_t)row->repeats * sizeof *values);
    int count = 0;
    for (int i = 0; i < row->repeats && values; i++) {
        double value = result_field_figure(column, row->stages[i]);
        if (!isnan(value)) values[count++] = value;
    }
    struct spread spread = spread_of_values(values, count);
    free(values);
    if (spread.kind == SPREAD_NONE) return json_object();
    return json_pack("{s:o, s:o, s:s, s:o}", "low", escape_json_figure(spread.low), "high",
                     escape_json_figure(spread.high), "kind", names[spread.kind], "count",
                     escape_json_figure(spread.count));
}

/* The intervals of the row's figures in the comparison. */
static json_t *spread_of_row(const struct report_row *row, int *rc) {
    json_t *figures = json_object();
    for (const struct result_field *column = column_next(IN_COMPARISON, NULL); column;
         column = column_next(IN_COMPARISON, column))
        if (!isnan(column_value(column, row)))
            put(figures, column->path, interval_of(row, column), rc);
    return figures;
}

/* Leaves out the columns that others replace in the comparison: in an open loop the page shows
 * times from due. */
static json_t *figures_of(const struct report_group *group, const struct report_row *row, int *rc) {
    static const unsigned groups[] = {IN_COMPARISON, IN_LATENCY, IN_FAIRNESS, IN_COST};
    json_t *object = json_object();
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        for (const struct result_field *column = column_next(groups[g], NULL); column;
             column = column_next(groups[g], column)) {
            double value = column_value(column, row);
            if (isfinite(value) && !column_gives_way(column, group))
                put(object, column->path, escape_json_figure(value), rc);
        }
    }
    return object;
}

/* ---- histograms ---- */

/* Not hold, which the plan sets, nor what the tables have: connect, ping, failed waits. */
static const enum metric carried[] = {METRIC_ACQUIRE,        METRIC_ACQUIRE_DUE,
                                      METRIC_ACQUIRE_SHARED, METRIC_ACQUIRE_EXCLUSIVE,
                                      METRIC_HANDOFF,        METRIC_RELEASE};

/* In a closed loop a request is always due. *left: the bytes that the page may still take. */
static json_t *hists_of(const struct run_stage *stage, size_t *left, int *rc) {
    bool open = stage->arrival && strcmp(stage->arrival, "closed") != 0;
    json_t *object = json_object();
    for (size_t m = 0; m < sizeof carried / sizeof *carried; m++) {
        const struct run_latency *latency = &stage->latency[carried[m]];
        if (!latency->hdr || !(latency->count > 0)) continue;
        if ((carried[m] == METRIC_ACQUIRE_DUE && !open) || strlen(latency->hdr) > *left) continue;
        *left -= strlen(latency->hdr);
        json_t *entry = json_object();
        put(entry, "count", escape_json_figure(latency->count), rc);
        put(entry, "max", escape_json_figure(latency->max), rc);
        put(entry, "hdr", escape_json(latency->hdr), rc);
        put(object, metric_name(carried[m]), entry, rc);
    }
    return object;
}

/* ---- over time ---- */

static json_t *faults_of(const struct run_stage *stage, int *rc) {
    static const char *const members[] = {"kind", "target", "from_s", "to_s", "acted"};
    json_t *faults = json_array();
    for (size_t i = 0; i < json_array_size(stage->faults); i++) {
        const json_t *fault = json_array_get(stage->faults, i);
        json_t *copy = json_object();
        for (size_t m = 0; m < sizeof members / sizeof *members; m++) {
            json_t *value = json_object_get(fault, members[m]);
            *rc |= json_object_set(copy, members[m], value ? value : json_null());
        }
        *rc |= json_array_append_new(faults, copy);
    }
    return faults;
}

static double member_of(const json_t *second, const char *name) {
    return json_number_value(json_object_get(second, name));
}

/* Adds an interval of the seconds first .. end - 1: the sum of their grants, and the worst of their percentiles, since
 * percentiles can't be added up. */
static void add_interval(json_t *object, const struct run_stage *stage, size_t first, size_t end,
                         int *rc) {
    static const char *const parts[] = {"acquire_p50_ns", "acquire_p99_ns"};
    const json_t *next = json_array_get(stage->series, end);
    double from_s = member_of(json_array_get(stage->series, first), "t_s"), grants = 0,
           worst[2] = {0};
    double to_s = next ? member_of(next, "t_s") : stage->duration_s;
    for (size_t i = first; i < end; i++) {
        const json_t *second = json_array_get(stage->series, i);
        grants += member_of(second, "ok");
        for (int p = 0; p < 2; p++) worst[p] = fmax(worst[p], member_of(second, parts[p]));
    }
    if (!(to_s > from_s)) to_s = from_s + (double)(end - first);
    const double values[] = {from_s, to_s, grants, worst[0], worst[1]};
    static const char *const lists[] = {"from", "to", "grants", "p50", "p99"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        bool known = i < 3 || values[i] > 0; /* a second without grants has no percentiles */
        if (json_array_append_new(json_object_get(object, lists[i]),
                                  escape_json_figure(known ? values[i] : NAN)))
            *rc = -1;
    }
}

/* How a stage went: {"from": [s], "to": [s], "grants": [n], "p50": [ns], "p99": [ns], "merged": seconds, "faults",
 * "offered"}; null without a series. */
static json_t *time_of(const struct run_stage *stage, int *rc) {
    size_t count = json_array_size(stage->series);
    const json_t *last = json_array_get(stage->series, count - 1);
    if (count > 0 && json_is_true(json_object_get(last, "draining"))) count--;
    if (count == 0) return json_null();
    size_t merged = (count + INTERVALS_MAX - 1) / INTERVALS_MAX;
    json_t *object = json_pack("{s:[], s:[], s:[], s:[], s:[], s:i}", "from", "to", "grants", "p50",
                               "p99", "merged", (int)merged);
    for (size_t i = 0; i < count; i += merged)
        add_interval(object, stage, i, i + merged < count ? i + merged : count, rc);
    put(object, "faults", faults_of(stage, rc), rc);
    put(object, "offered", escape_json_figure(stage->offered_per_s), rc);
    return object;
}

static json_t *page_row_json(const struct report *report, const struct report_group *group,
                             const struct report_row *row, size_t *left, int *rc) {
    json_t *object = json_object();
    put(object, "lock", json_integer(row->lock - report->locks), rc);
    put(object, "state", escape_json(words_state(row->state)), rc);
    put(object, "figures", figures_of(group, row, rc), rc);
    put(object, "spread", spread_of_row(row, rc), rc);
    put(object, "repeats", json_integer(row->repeats), rc);
    put(object, "histograms", hists_of(row->typical, left, rc), rc);
    put(object, "time", time_of(row->typical, rc), rc);
    return object;
}

/* The load in words, without its rate. Malloced. */
static char *task_of(const struct run_stage *stage) {
    struct run_stage shape = *stage;
    char kind[32];
    snprintf(kind, sizeof kind, "%.*s", (int)strcspn(stage->arrival, ":"), stage->arrival);
    shape.arrival = kind;
    return report_load_text(&shape);
}

/* Stages of open loops that differ in their rate alone have one task: a sweep of rates. */
static void put_offered(json_t *object, const struct run_stage *stage, int *rc) {
    if (!(stage->offered_per_s > 0) || !stage->arrival) return;
    char *task = task_of(stage);
    put(object, "task", escape_json(task), rc);
    put(object, "offered", escape_json_figure(stage->offered_per_s), rc);
    free(task);
}

static json_t *group_of(const struct report *report, const struct report_group *group, size_t *left,
                        int *rc) {
    json_t *object = json_object(), *rows = json_array();
    put(object, "load", escape_json(group->load), rc);
    put(object, "clients", escape_json_figure(group->clients), rc);
    put(object, "first", json_boolean(group == report->ranked), rc); /* the views show it first */
    put(object, "rows", rows, rc);
    put_offered(object, group->rows[0].typical, rc);
    for (int r = 0; r < group->row_count && *rc == 0; r++) {
        if (json_array_append_new(rows, page_row_json(report, group, &group->rows[r], left, rc)))
            *rc = -1;
    }
    return object;
}

static json_t *page_lock_json(const struct report_lock *lock) {
    return json_pack("{s:o, s:s, s:b, s:i, s:o, s:o}", "label", escape_json(lock->label), "state",
                     words_state(lock->state), "real", (int)report_is_real(lock->stage),
                     "durability", (int)words_durability(lock->stage), "guarantee",
                     escape_json(words_guarantee(lock->stage)), "topology",
                     escape_json(lock->stage->topology));
}

int html_data(FILE *out, const struct report *report, struct lb_err *err) {
    int rc = 0;
    size_t left = HISTOGRAM_BYTES;
    char *dump = NULL;
    json_t *root = json_object(), *locks = json_array(), *groups = json_array(),
           *classes = json_array();
    put(root, "locks", locks, &rc);
    put(root, "groups", groups, &rc);
    put(root, "durabilities", classes, &rc);
    for (int i = 0; i < report->lock_count && rc == 0; i++) {
        rc |= json_array_append_new(locks, page_lock_json(&report->locks[i]));
    }
    for (int g = 0; g < report->group_count && rc == 0; g++) {
        const struct report_group *group = &report->groups[g];
        rc |= json_array_append_new(groups, group_of(report, group, &left, &rc));
    }
    for (int d = 0; d < DURABILITIES && rc == 0; d++) {
        rc |=
            json_array_append_new(classes, escape_json(words_durability_text((enum durability)d)));
    }
    if (rc == 0) dump = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS));
    if (dump) escape_script(out, dump);
    free(dump);
    json_decref(root);
    return dump ? 0 : err_set(err, LB_EXIT_MACHINE, "out of memory");
}

/* ---- the page ---- */

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The section of a chart: a place, which the view of the same name in report/src/views fills. */
struct chart {
    const char *id, *brief, *title, *lead; /* brief: its name in the navigation */
};

static const struct chart charts[] = {
    {"figures", "Figures", "One figure of every lock",
     "Each lock with its interval. The basis of the interval is below it."},
    {"percentiles", "Latency", "Latency: how long, and how often longer",
     "Each curve climbs to the right into the rare, slow grants. Low and flat is good."},
    {"series", "Over time", "Over time: did it stay so?",
     "Rates and percentiles interval by interval of the measured window, with what was done to clients, "
     "servers and wires."},
    {"sweep", "Sweeps", "Against clients, or against the offered rate",
     "On one key a lock can only be handed from one client to the next, so more clients add waiting, not "
     "grants. In an open loop requests come at a rate, whatever the lock does: the latency stays low until "
     "the rate is greater than the lock carries."},
};

#define WITHOUT_CHARTS                                                                              \
    "The tables have the medians and tails, the fairness and the cost of each lock; what was seen " \
    "over time, and each hold, is in run.json and the files beside it."

static void write_head(FILE *out, const struct run *run) {
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n"
          "<meta name=\"generator\" content=\"lockbench\">\n<title>lockbench: ",
          out);
    escape_html(out, doc_or(run->workload, "report"));
    fputs(", ", out);
    escape_html(out, run->started_at);
    fprintf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n", asset_style);
}

/* The sections in the page's order. Those that only scripts fill are hidden without them. */
static void write_links(FILE *out) {
    fputs("<nav aria-label=\"Sections\" tabindex=\"0\"><a href=\"#verdict\">Verdict</a>"
          "<a href=\"#compare\">Comparison</a><a href=\"#evidence\">Checks</a>",
          out);
    for (size_t i = 0; i < COUNT(charts) && *asset_bundle; i++)
        fprintf(out, "<a href=\"#%s\" class=\"alone\">%s</a>", charts[i].id, charts[i].brief);
    fputs("<a href=\"#run\">Run</a><a href=\"#words\">Words</a></nav>\n", out);
}

static void write_banner(FILE *out, const struct report *report) {
    const struct run *run = report->run;
    char machine[WORDS_MACHINE_MAX];
    fputs("<header>\n<p class=\"kicker\">lockbench report</p>\n<h1>", out);
    escape_html(out, run->workload ? run->workload : "Report");
    if (run->summary) {
        fputs("<span class=\"summary\">: ", out);
        escape_html(out, run->summary);
        fputs("</span>", out);
    }
    fputs("</h1>\n<p class=\"meta\">", out);
    escape_html(out, run->started_at);
    fprintf(out, " &middot; %d lock%s", report->lock_count, report->lock_count == 1 ? "" : "s");
    words_machine(run->environment, machine, sizeof machine);
    if (*machine) {
        fprintf(out, " &middot; %s",
                json_array_size(run->hosts) > 0 ? "coordinator (rank 0) on " : "");
        escape_html(out, machine);
    }
    fputs("</p>\n</header>\n", out);
    write_links(out);
    fputs("<main>\n", out);
}

static void add_chart(struct doc *doc, const struct chart *chart) {
    char view[100];
    doc_section(doc, chart->id, chart->title);
    doc_say(doc, TONE_PLAIN, "%s", chart->lead);
    snprintf(view, sizeof view, "<div class=\"view\" data-view=\"%s\" hidden></div>\n", chart->id);
    doc_html(doc, view);
    doc_end(doc);
}

static void add_charts(struct doc *doc) {
    if (!*asset_bundle) {
        doc_html(doc,
                 "<p class=\"notice\">This lockbench was built without charts: nodejs and npm were "
                 "not there. " WITHOUT_CHARTS " To have the charts: install "
                 "<code>nodejs</code> and <code>npm</code>, run <code>make</code>, and render the "
                 "report again; no run has to be repeated.</p>\n");
        return;
    }
    doc_html(doc, "<div id=\"picker\" class=\"picker\" hidden></div>\n"
                  "<noscript><p class=\"notice\">The charts need JavaScript. " WITHOUT_CHARTS
                  "</p></noscript>\n");
    for (size_t c = 0; c < COUNT(charts); c++) add_chart(doc, &charts[c]);
}

static void write_foot(FILE *out) {
    fputs(
        "</main>\n<footer>\n<p>Rendered by <code>lockbench report</code> from run.json and what lies "
        "beside it.",
        out);
    if (*asset_licences) {
        fputs(" Charts by Apache ECharts, percentiles by HdrHistogram.</p>\n<details "
              "class=\"fold\"><summary>Licences of what is in this "
              "page</summary>"
              "<pre class=\"licences\">",
              out);
        escape_html(out, asset_licences);
        fputs("</pre></details>\n", out);
    } else {
        fputs("</p>\n", out);
    }
    fputs("</footer>\n", out);
}

static int html_page(const struct report *report, FILE *out, struct lb_err *err) {
    struct doc doc = {0};
    write_head(out, report->run);
    write_banner(out, report);
    run_doc_verdict(report, &doc);
    if (doc_write_and_free(&doc, DOC_HTML, false, out, err) != 0) return -1;
    html_first(out, report);
    doc = (struct doc){0};
    run_doc_begin(report, &doc);
    add_charts(&doc);
    run_doc_end(report, &doc);
    if (doc_write_and_free(&doc, DOC_HTML, false, out, err) != 0) return -1;
    write_foot(out);
    if (*asset_bundle) {
        fputs("<script type=\"application/json\" id=\"data\">", out);
        if (html_data(out, report, err)) return -1;
        fprintf(out, "</script>\n<script>%s</script>\n", asset_bundle);
    }
    fputs("</body>\n</html>\n", out);
    return 0;
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
