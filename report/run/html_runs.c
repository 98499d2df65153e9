/* html_runs: what the numbers rest on: servers, machine, plan, what was left out, how to run it
 * again, and what the numbers do not mean. See html_parts.h. */
#include <string.h>

#include "report/page/html_parts.h"

#define DEPTH_MAX 6
#define WARNINGS_SHOWN 8

/* Any JSON value in a word or a nested list; the plan and the environment are shown as the run
 * wrote them. */
static void write_value(FILE *out, const json_t *value, int depth) {
    switch (json_typeof(value)) {
    case JSON_STRING:
        escape_html(out, *json_string_value(value) ? json_string_value(value) : NULL);
        return;
    case JSON_INTEGER:
        fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        return;
    case JSON_REAL:
        fprintf(out, "%.6g", json_real_value(value));
        return;
    case JSON_TRUE:
        fputs("yes", out);
        return;
    case JSON_FALSE:
        fputs("no", out);
        return;
    case JSON_NULL:
        fputs(NUMBER_NONE, out);
        return;
    case JSON_ARRAY:
        for (size_t i = 0; i < json_array_size(value) && depth < DEPTH_MAX; i++) {
            if (i > 0) fputs(", ", out);
            write_value(out, json_array_get(value, i), depth + 1);
        }
        return;
    case JSON_OBJECT:
        break;
    }
    if (depth >= DEPTH_MAX) return;
    fputs("<dl>", out);
    for (void *at = json_object_iter((json_t *)value); at;
         at = json_object_iter_next((json_t *)value, at)) {
        fputs("<div><dt>", out);
        escape_html(out, json_object_iter_key(at));
        fputs("</dt><dd>", out);
        write_value(out, json_object_iter_value(at), depth + 1);
        fputs("</dd></div>", out);
    }
    fputs("</dl>", out);
}

static void write_facts(FILE *out, const json_t *facts) {
    const char *separator = "";
    for (void *at = json_object_iter((json_t *)facts); at;
         at = json_object_iter_next((json_t *)facts, at)) {
        fprintf(out, "%s<span class=\"unit\">", separator);
        escape_html(out, json_object_iter_key(at));
        fputs("</span> ", out);
        write_value(out, json_object_iter_value(at), DEPTH_MAX);
        separator = "; ";
    }
}

static void write_servers(FILE *out, const struct run *run) {
    if (run->server_count == 0) return;
    fputs(
        "<div class=\"scroll\" tabindex=\"0\"><table><caption>Servers, in their own "
        "words</caption><thead><tr>"
        "<th scope=\"col\">backend</th><th scope=\"col\">topology</th><th scope=\"col\">durability</th>"
        "<th scope=\"col\">started by</th><th scope=\"col\">facts</th></tr></thead><tbody>\n",
        out);
    for (int i = 0; i < run->server_count; i++) {
        const struct run_server *server = &run->servers[i];
        fputs("<tr><th scope=\"row\">", out);
        escape_html(out, server->backend);
        fputs("</th><td>", out);
        escape_html(out, server->topology);
        fputs("</td><td class=\"words\">", out);
        escape_html(out, server->durability);
        fputs("</td><td>", out);
        escape_html(out, server->started_by);
        fputs("</td><td class=\"words\">", out);
        write_facts(out, server->facts);
        fputs("</td></tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

static void write_skips(FILE *out, const struct run *run) {
    bool open = false;
    for (int i = 0; i < run->skip_count; i++) {
        const struct run_skip *skip = &run->skips[i];
        if (!open) fputs("<h4>Left out</h4><ul>\n", out);
        open = true;
        fputs("<li><b>", out);
        escape_html(out, skip->lock ? skip->lock : skip->backend);
        fputs("</b>: ", out);
        escape_html(out, skip->reason ? skip->reason : "no reason given");
        if (skip->install) {
            fputs("; install <code>", out);
            escape_html(out, skip->install);
            fputs("</code>", out);
        }
        fputs("</li>\n", out);
    }
    if (open) fputs("</ul>\n", out);
}

static void write_warning(FILE *out, const char *name, const char *text) {
    fputs("<li>", out);
    if (name) {
        fputs("<b>", out);
        escape_html(out, name);
        fputs("</b>: ", out);
    }
    escape_html(out, text);
    fputs("</li>\n", out);
}

static size_t count_warnings(const struct run *run) {
    size_t count = json_array_size(run->warnings);
    for (int s = 0; s < run->stage_count; s++) {
        count += json_array_size(run->stages[s].warnings) + (run->stages[s].error != NULL);
    }
    return count;
}

/* Folded when there are many: what matters of them is in the verdict and in the tables. */
static void write_warnings(FILE *out, const struct run *run) {
    size_t count = count_warnings(run);
    if (count == 0) return;
    fprintf(out, "<details class=\"fold\"%s><summary>Warnings and failures (%zu)</summary><ul>\n",
            count <= WARNINGS_SHOWN ? " open" : "", count);
    for (size_t i = 0; i < json_array_size(run->warnings); i++) {
        write_warning(out, NULL, json_string_value(json_array_get(run->warnings, i)));
    }
    for (int s = 0; s < run->stage_count; s++) {
        const struct run_stage *stage = &run->stages[s];
        const char *name = stage->id ? stage->id : stage->lock;
        if (stage->error) write_warning(out, name, stage->error);
        for (size_t i = 0; i < json_array_size(stage->warnings); i++) {
            write_warning(out, name, json_string_value(json_array_get(stage->warnings, i)));
        }
    }
    fputs("</ul></details>\n", out);
}

void html_tree(FILE *out, const char *title, const json_t *tree) {
    if (!tree) return;
    fprintf(out, "<details class=\"fold\"><summary>%s</summary><div class=\"tree\">", title);
    write_value(out, tree, 0);
    fputs("</div></details>\n", out);
}

void html_runs(FILE *out, const struct report *report) {
    char letter[8];
    html_section(out, "run", report->run_count > 1 ? "The runs" : "The run");
    for (int r = 0; r < report->run_count; r++) {
        const struct run *run = report->runs[r];
        fputs("<article><h3>", out);
        if (report->run_count > 1) fprintf(out, "%s: ", report_run_letter(r, letter));
        escape_html(out, run->workload ? run->workload : "a workload without a name");
        fputs("</h3><p>", out);
        escape_html(out, run->started_at);
        fputs(" to ", out);
        escape_html(out, run->ended_at);
        fprintf(out, ", %d stages, ", run->stage_count);
        escape_html(out, run->tool_name ? run->tool_name : "lockbench");
        fputc(' ', out);
        escape_html(out, run->tool_version);
        fputs("</p>\n", out);
        if (run->command) {
            fputs("<p>Run it again:</p><pre><code>", out);
            escape_html(out, run->command);
            fputs("</code></pre>\n", out);
        }
        write_skips(out, run);
        write_warnings(out, run);
        write_servers(out, run);
        html_tree(out, "The machine", run->environment);
        html_tree(out, "The plan, with every default", run->plan);
        fputs("</article>\n", out);
    }
    fputs("</section>\n", out);
}

void html_caveats(FILE *out) {
    static const char *const items[] = {
        "<b>Clean is not proved safe.</b> No overlap in n grants bounds the rate of overlaps (3/n at 95 %) "
        "under this load, "
        "on healthy servers. Pauses beyond the lease, lost networks and failovers are other tests.",
        "<b>One run is one sample.</b> Differences of a few per cent between single runs mean nothing. "
        "Repeat runs, with "
        "restarted servers, before you believe a small one.",
        "<b>Durability is not an extra.</b> A lock in memory beside one that waits for the disk is faster "
        "because it "
        "promises less. Compare within a kind first.",
        "<b>The server was on this machine</b> if lockbench started it. A network adds a round trip to each "
        "request: "
        "multiply the commands a grant by yours.",
        "<b>A closed loop hides waiting.</b> Its clients ask again only when they were served. For what a "
        "user waits at a "
        "given rate, use an open loop and read due to held.",
        "<b>Polling trades handoff for load.</b> A longer back-off lowers commands a grant and raises "
        "handoff; both are "
        "options of the lock, not its nature.",
        "<b>A median needs its executor.</b> With many clients at one throughput the mean wait is fixed; how "
        "threads are "
        "shared moves the median. Threads and fibers stand beside the numbers.",
    };
    html_section(out, "caveats", "What the numbers do not mean");
    fputs("<ul class=\"caveats\">\n", out);
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        fprintf(out, "<li>%s</li>\n", items[i]);
    fputs("</ul>\n</section>\n", out);
}
