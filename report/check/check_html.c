/* check_html: a check as one page that opens without a network: the sentences, the matrix of locks
 * and faults, the findings, and the evidence of each cell. Its words and tables are in the HTML;
 * the drawings, the filter and the panel of a cell need the script (report/src/check). */
#include <string.h>

#include "report/check/check_html.h"
#include "report/page/assets.h"

int check_cell_index(const struct check_view *view, const struct check_cell *cell) {
    return (int)(cell - view->check->cells);
}

void check_html_chip(FILE *out, const struct check_view *view, const struct check_cell *cell) {
    fprintf(out,
            "<span class=\"chip %s\" title=\"%s\"><span aria-hidden=\"true\">%s%s</span> %s</span>",
            html_tone(check_tone(view, cell)), check_verdict_title(cell->verdict), check_sign(cell),
            check_mark(cell), check_verdict_name(cell->verdict));
}

static const char *environment_text(const struct check *check, const char *key) {
    return json_string_value(json_object_get(check->environment, key));
}

static void write_banner(FILE *out, const struct check_view *view) {
    const struct check *check = view->check;
    fputs(
        "<header>\n<p class=\"kicker\">lockbench check</p>\n<h1>Which locks are locks"
        "<span class=\"summary\">: under pauses, crashes, failovers and cut wires</span></h1>\n<p "
        "class=\"meta\">",
        out);
    escape_html(out, check->started_at);
    fprintf(out, " &middot; %d locks &middot; %d faults &middot; %d cells", view->row_count,
            view->column_count, check->cell_count);
    if (environment_text(check, "cpu_model")) {
        fputs(" &middot; ", out);
        escape_html(out, environment_text(check, "cpu_model"));
    }
    fputs(
        "</p>\n<nav aria-label=\"Sections\"><a href=\"#verdict\">Verdict</a><a href=\"#matrix\">Matrix</a>"
        "<a href=\"#findings\">Findings</a><a href=\"#sums\">What held</a><a href=\"#evidence\">Evidence</a>"
        "<a href=\"#run\">The check</a><a href=\"#caveats\">Limits</a></nav>\n</header>\n<main>\n",
        out);
}

static void write_skips(FILE *out, const struct check *check) {
    if (check->skip_count == 0) return;
    fprintf(out, "<details class=\"fold\"><summary>Left out (%d)</summary><ul>\n",
            check->skip_count);
    for (int i = 0; i < check->skip_count; i++) {
        const struct check_skip *skip = &check->skips[i];
        fputs("<li><b>", out);
        escape_html(out, skip->lock ? skip->lock : skip->backend);
        fputs("</b>", out);
        if (skip->fault) {
            fputs(" under ", out);
            escape_html(out, skip->fault);
        }
        fputs(": ", out);
        escape_html(out, skip->reason ? skip->reason : "no reason given");
        if (skip->install) {
            fputs("; install <code>", out);
            escape_html(out, skip->install);
            fputs("</code>", out);
        }
        fputs("</li>\n", out);
    }
    fputs("</ul></details>\n", out);
}

static void write_run(FILE *out, const struct check_view *view) {
    const struct check *check = view->check;
    html_section(out, "run", "The check");
    fputs("<p>", out);
    escape_html(out, check->started_at);
    fputs(" to ", out);
    escape_html(out, check->ended_at);
    fputs(", ", out);
    escape_html(out, check->tool_name ? check->tool_name : "lockbench");
    fputc(' ', out);
    escape_html(out, check->tool_version);
    if (check->tour) {
        fputs(", the ", out);
        escape_html(out, check->tour);
        fputs(" tour", out);
    }
    fputs("</p>\n", out);
    if (check->command) {
        fputs("<p>Run it again:</p><pre class=\"command\"><code>", out);
        escape_html(out, check->command);
        fputs("</code></pre>\n", out);
    }
    fputs("<div class=\"scroll\" tabindex=\"0\"><table><caption>The faults</caption><thead><tr><th "
          "scope=\"col\">fault</th><th scope=\"col\">what happens</th></tr></thead><tbody>\n",
          out);
    for (int c = 0; c < view->column_count; c++) {
        const struct check_fault *fault = &check->faults[view->column[c]];
        fputs("<tr><th scope=\"row\">", out);
        escape_html(out, fault->name);
        fputs("</th><td class=\"words\">", out);
        escape_html(out, fault->summary);
        fputs("</td></tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
    write_skips(out, check);
    html_tree(out, "The machine", check->environment);
    fputs("</section>\n", out);
}

static void write_caveats(FILE *out) {
    static const char *const items[] = {
        "<b>Safe is not proved.</b> None seen in n grants bounds the rate at 3/n with 95 % confidence, for "
        "this "
        "fault, this load and these seeds.",
        "<b>Expired is not the server's fault.</b> A holder that outlives its lease is what leases are for. "
        "What "
        "saves the data is a fencing token that the resource itself checks, or a lock that lasts as long as "
        "a "
        "connection.",
        "<b>The faults are injected on one machine.</b> Killing a process is not losing power: what a server "
        "had "
        "written and not flushed survives here.",
        "<b>Wires lead through a proxy.</b> Its delay is in every figure; compare only with the fault none.",
        "<b>Recovery has theory beside it</b> for the lease, session and timeouts that were set here; with "
        "others "
        "it is other.",
    };
    html_section(out, "caveats", "What the verdicts do not mean");
    fputs("<ul class=\"caveats\">\n", out);
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        fprintf(out, "<li>%s</li>\n", items[i]);
    fputs("</ul>\n</section>\n", out);
}

int check_write_html(const struct check_view *view, FILE *out, struct lb_err *err) {
    struct words *words = check_words_make(view, err);
    if (!words) return -1;
    html_begin(out, "check", view->check->started_at);
    write_banner(out, view);
    html_verdict(out, "Does each lock keep what it claims?", words);
    words_free(words);
    check_html_matrix(out, view);
    if (check_html_findings(out, view)) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    check_html_sums(out, view);
    if (check_html_evidence(out, view, err)) return -1;
    write_run(out, view);
    write_caveats(out);
    fputs("</main>\n<footer>\n<p>Rendered by <code>lockbench report</code> from check.json "
          "alone.</p>\n</footer>\n",
          out);
    if (*asset_check) fprintf(out, "<script>%s</script>\n", asset_check);
    fputs("</body>\n</html>\n", out);
    return 0;
}
