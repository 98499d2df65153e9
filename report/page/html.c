/* html: the report of runs in each format; as one page that opens without a network it is the document of run_doc.h with
 * the charts' sections between. The bundle (report/src), which assets.c contains, draws the charts. */
#include <string.h>

#include "bench/base/output.h"
#include "report/page/assets.h"
#include "report/page/html_parts.h"
#include "report/run/run_doc.h"

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
