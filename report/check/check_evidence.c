/* check_evidence: each cell's evidence on a check's page, and the data that the script draws:
 * holds, faults, trials. See check_html.h. Without the script all cells stand one below the other;
 * the drawings are then missing, their figures are not. */
#include <math.h>
#include <stdlib.h>

#include "report/check/check_html.h"
#include "report/doc/escape.h"
#include "report/page/assets.h"

static void write_term(FILE *out, const char *term) {
    fprintf(out, "<div><dt>%s</dt><dd>", term);
}

static void write_text(FILE *out, const char *term, const char *text) {
    if (!text || !*text) return;
    write_term(out, term);
    escape_html(out, text);
    fputs("</dd></div>", out);
}

/* Zero is worth a word only where it is news. */
static void write_count(FILE *out, const char *term, double count) {
    char text[NUMBER_TEXT_MAX];
    if (isnan(count)) return;
    write_text(out, term, number_count_text(count, text));
}

static void write_time(FILE *out, const char *term, double ns) {
    char text[NUMBER_TEXT_MAX];
    if (!isnan(ns)) write_text(out, term, number_time_text(ns, text));
}

static void write_verdict(FILE *out, const struct check_view *view, const struct check_cell *cell) {
    const struct check_fault *fault = check_fault_of(view, cell);
    fputs("<p>", out);
    check_html_chip(out, view, cell);
    fprintf(out, " %s: %s.</p>\n<dl class=\"tree\">", check_compared_text(cell),
            check_verdict_title(cell->verdict));
    write_text(out, "fault", fault->summary ? fault->summary : fault->name);
    write_text(out, "seen", cell->why ? cell->why : check_verdict_name(cell->verdict));
    write_term(out, "expected");
    escape_html(out, cell->expected);
    if (cell->expected_why) {
        fputs(": ", out);
        escape_html(out, cell->expected_why);
    }
    fputs("</dd></div>", out);
}

static void write_grants(FILE *out, const struct check_cell *cell) {
    char text[NUMBER_TEXT_MAX];
    if (isnan(cell->grants)) return;
    write_term(out, "grants");
    fputs(number_count_text(cell->grants, text), out);
    if (cell->bound95 > 0)
        fprintf(out, "; with 95 %% confidence fewer than %.1e go wrong", cell->bound95);
    fputs("</dd></div>", out);
}

static void write_residue(FILE *out, const struct check_cell *cell) {
    char text[NUMBER_TEXT_MAX];
    if (isnan(cell->residue)) return;
    write_term(out, "left on the server");
    fputs(number_count_text(cell->residue, text), out);
    if (cell->residue_example && *cell->residue_example) {
        fputs(", e.g. ", out);
        escape_html(out, cell->residue_example);
    }
    fputs("</dd></div>", out);
}

static int write_figures(FILE *out, const struct check_cell *cell) {
    char *recovery = check_recovery_sentence(cell), *store = check_store_sentence(cell);
    int rc = recovery && store ? 0 : -1;
    write_grants(out, cell);
    write_count(out, "overlaps", cell->overlaps);
    write_count(out, "lost updates", cell->lost_updates);
    write_text(out, "stale writes", store);
    if (cell->stale_accepted_fenced > 0)
        write_count(out, "stale writes that passed the fence", cell->stale_accepted_fenced);
    write_count(out, "losses learned in time", cell->detected);
    write_time(out, "learned at the latest after", cell->detect_ns_max);
    write_text(out, "recovery", recovery);
    write_time(out, "longest without any grant", cell->unavailable_ns);
    write_count(out, "grants lost", cell->grants_lost);
    write_count(out, "lost wake-ups", cell->lost_wakeups);
    write_count(out, "inversions", cell->inversions);
    write_residue(out, cell);
    write_text(out, "topology", cell->topology);
    write_text(out, "server", cell->server);
    write_text(out, "durability", cell->durability);
    write_count(out, "clients", cell->clients);
    write_time(out, "lease", cell->lease_ns);
    write_text(out, "workload", cell->workload);
    if (cell->failed_runs > 0)
        write_count(out, "runs that failed or showed nothing", cell->failed_runs);
    write_text(out, "its run", cell->run);
    free(recovery);
    free(store);
    return rc;
}

static void write_number(FILE *out, const char *name, const json_t *value) {
    if (json_is_integer(value))
        fprintf(out, ", %s %" JSON_INTEGER_FORMAT, name, json_integer_value(value));
}

static void write_seconds(FILE *out, const json_t *value) {
    if (json_is_number(value)) {
        fprintf(out, "%.3f s", json_number_value(value));
    } else {
        fputs("?", out);
    }
}

/* The log of what was done, with the sign that it acted. */
static void write_faults(FILE *out, const struct check_cell *cell) {
    size_t count = json_array_size(cell->faults);
    if (count == 0) return;
    fprintf(out,
            "<details class=\"fold\"%s><summary>What was done (%zu)</summary><ul class=\"log\">\n",
            count <= 4 ? " open" : "", count);
    for (size_t i = 0; i < count; i++) {
        const json_t *fault = json_array_get(cell->faults, i);
        const char *target = json_string_value(json_object_get(fault, "target"));
        const char *sign = json_string_value(json_object_get(fault, "sign"));
        fputs("<li>", out);
        write_seconds(out, json_object_get(fault, "from_s"));
        fputs(" to ", out);
        write_seconds(out, json_object_get(fault, "to_s"));
        fputs(": <b>", out);
        escape_html(out, json_string_value(json_object_get(fault, "kind")));
        fputs("</b>", out);
        if (target) {
            fputs(", ", out);
            escape_html(out, target);
        }
        write_number(out, "client", json_object_get(fault, "client"));
        write_number(out, "process", json_object_get(fault, "process"));
        write_number(out, "node", json_object_get(fault, "node"));
        write_number(out, "key", json_object_get(fault, "key"));
        const json_t *acted = json_object_get(fault, "acted");
        if (json_is_boolean(acted))
            fputs(json_is_true(acted) ? "; acted" : "; <b>did not act</b>", out);
        if (sign) {
            fputs(": ", out);
            escape_html(out, sign);
        }
        fputs("</li>\n", out);
    }
    fputs("</ul></details>\n", out);
}

/* The members of each object as an array, null where one is missing: a short form for many. */
static json_t *rows_of(const json_t *list, const char *const *members, size_t member_count) {
    json_t *rows = json_array();
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *row = json_array();
        for (size_t m = 0; m < member_count; m++) {
            json_t *value = json_object_get(json_array_get(list, i), members[m]);
            if (json_array_append_new(row, value ? json_incref(value) : json_null())) break;
        }
        if (json_array_append_new(rows, row)) break;
    }
    return rows;
}

#define ROWS_OF(list, members) rows_of(list, members, sizeof(members) / sizeof *(members))

/* What the script draws; its order of members is known to report/src/check/data.js. */
static int write_data(FILE *out, int index, const struct check_cell *cell) {
    static const char *const holds[] = {"client",      "key",     "acquired_s", "released_s",
                                        "lease_end_s", "outcome", "shared",     "asked_s"};
    static const char *const faults[] = {"kind", "target", "client", "from_s", "to_s", "acted"};
    static const char *const contradicting[] = {"client", "key", "begin_s", "end_s"};
    json_t *root = json_object();
    int rc = escape_json_put(root, "holds", ROWS_OF(cell->timeline, holds));
    rc |= escape_json_put(root, "faults", ROWS_OF(cell->faults, faults));
    rc |= escape_json_put(root, "against", ROWS_OF(cell->counterexample, contradicting));
    rc |= escape_json_put(root, "trials",
                          cell->trials ? json_incref((json_t *)cell->trials) : json_array());
    rc |= escape_json_put(root, "theoryMin", escape_json_figure(cell->theory_min));
    rc |= escape_json_put(root, "theoryMax", escape_json_figure(cell->theory_max));
    char *dump = rc == 0 ? json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;
    json_decref(root);
    if (!dump) return -1;
    fprintf(out, "<script type=\"application/json\" id=\"data-%d\">", index);
    escape_script(out, dump);
    fputs("</script>\n", out);
    free(dump);
    return 0;
}

static int write_cell(FILE *out, const struct check_view *view, const struct check_cell *cell) {
    int index = check_cell_index(view, cell);
    fprintf(out,
            "<article id=\"cell-%d\" aria-labelledby=\"cell-%d-title\">\n<h3 id=\"cell-%d-title\">",
            index, index, index);
    escape_html(out, check_lock_of(view, cell)->name);
    fputs(" under ", out);
    escape_html(out, check_fault_of(view, cell)->name);
    fputs("</h3>\n", out);
    write_verdict(out, view, cell);
    int rc = write_figures(out, cell);
    fputs("</dl>\n", out);
    if (cell->command) {
        fputs("<pre class=\"command\"><code>", out);
        escape_html(out, cell->command);
        fputs("</code></pre>\n", out);
    }
    if (json_array_size(cell->counterexample) > 0) html_counterexample(out, cell->counterexample);
    bool drawn = json_array_size(cell->timeline) + json_array_size(cell->trials) > 0;
    if (*asset_check && drawn) {
        fputs("<div class=\"drawings\" hidden></div>\n", out);
        if (write_data(out, index, cell)) rc = -1;
    }
    write_faults(out, cell);
    fputs("</article>\n", out);
    return rc;
}

int check_html_evidence(FILE *out, const struct check_view *view, struct lb_err *err) {
    int rc = 0;
    html_section(out, "evidence", "Evidence, cell by cell");
    if (*asset_check) {
        fputs(
            "<noscript><p class=\"notice\">The drawings of holders and recoveries need JavaScript. Every "
            "verdict, "
            "figure and contradicting operation is in the text.</p></noscript>\n",
            out);
    } else {
        fputs(
            "<p class=\"notice\">This lockbench was built without drawings: nodejs and npm were not there. "
            "Install "
            "<code>nodejs</code> and <code>npm</code>, run <code>make</code>, and render the report again; "
            "no "
            "check has to be repeated.</p>\n",
            out);
    }
    fputs("<p class=\"hint\" hidden>Choose a cell of the matrix.</p>\n<div class=\"cells\">\n",
          out);
    for (int r = 0; r < view->row_count && rc == 0; r++) {
        for (int c = 0; c < view->column_count && rc == 0; c++) {
            const struct check_cell *cell = check_view_cell(view, view->row[r], view->column[c]);
            if (cell) rc = write_cell(out, view, cell);
        }
    }
    fputs("</div>\n</section>\n", out);
    return rc ? err_set(err, LB_EXIT_MACHINE, "out of memory") : 0;
}
