/* check_matrix: the matrix of locks and faults on a check's page. See check_html.h.
 *
 * It is a plain table of links, each with its whole meaning as its name, so that it works by
 * keyboard, for screen readers and without a script; the script adds the arrow keys and the
 * filter. */
#include <stdlib.h>

#include "report/check/check_html.h"

static void write_head(FILE *out, const struct check_view *view) {
    fputs("<thead><tr><th scope=\"col\" class=\"corner\">lock</th>", out);
    for (int c = 0; c < view->column_count; c++) {
        const struct check_fault *fault = &view->check->faults[view->column[c]];
        fputs("<th scope=\"col\" class=\"fault\" title=\"", out);
        escape_html(out, fault->summary ? fault->summary : fault->name);
        fputs("\"><span>", out);
        escape_html(out, fault->name);
        fputs("</span></th>", out);
    }
    fputs("</tr></thead>\n", out);
}

/* "redis-setnx under pause: expired, as expected". */
static void write_name(FILE *out, const struct check_view *view, const struct check_cell *cell) {
    escape_html(out, check_lock_of(view, cell)->name);
    fputs(" under ", out);
    escape_html(out, check_fault_of(view, cell)->name);
    fprintf(out, ": %s, %s", check_verdict_name(cell->verdict), check_compared_text(cell));
}

static void write_cell(FILE *out, const struct check_view *view, const struct check_cell *cell) {
    if (!cell) {
        fputs(
            "<td class=\"none\"><span aria-hidden=\"true\">-</span><span class=\"quiet\">not run</span></td>",
            out);
        return;
    }
    bool differs = cell->compared == CHECK_WORSE || cell->compared == CHECK_BETTER;
    fprintf(out, "<td class=\"%s%s\" data-verdict=\"%s\"%s><a href=\"#cell-%d\" title=\"",
            html_tone(check_tone(view, cell)),
            cell->compared == CHECK_WORSE || cell->missed ? " worse" : "",
            check_verdict_name(cell->verdict), differs ? " data-differs" : "",
            check_cell_index(view, cell));
    write_name(out, view, cell);
    fputs("\" aria-label=\"", out);
    write_name(out, view, cell);
    fprintf(out, "\">%s%s</a></td>", check_sign(cell), check_mark(cell));
}

static void write_row(FILE *out, const struct check_view *view, int lock) {
    const struct check_lock *of = &view->check->locks[lock];
    fputs("<tr data-backend=\"", out);
    escape_html(out, of->backend);
    fputs("\"><th scope=\"row\">", out);
    escape_html(out, of->name);
    fputs("</th>", out);
    for (int c = 0; c < view->column_count; c++)
        write_cell(out, view, check_view_cell(view, lock, view->column[c]));
    fputs("</tr>\n", out);
}

static void write_legend(FILE *out) {
    static const struct {
        const char *tone, *sign, *text;
    } signs[] = {
        {"good", ".", "safe"},
        {"warn", "E", "expired"},
        {"warn", "S", "stuck"},
        {"bad", "V", "violated"},
        {"plain", "?", "inconclusive"},
        {"plain", "x", "the run failed"},
        {"plain", "-", "not run"},
        {"bad worse", "!", "worse than the lock claims, or a control not caught"},
        {"good", "+", "better"},
    };
    fputs("<ul class=\"legend\">", out);
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        fprintf(out, "<li><span class=\"sign %s\" aria-hidden=\"true\">%s</span> %s</li>",
                signs[i].tone, signs[i].sign, signs[i].text);
    }
    fputs("</ul>\n", out);
}

void check_html_matrix(FILE *out, const struct check_view *view) {
    int family = -1;
    html_section(out, "matrix", "Locks and faults");
    if (view->row_count == 0) {
        fputs("<p class=\"empty\">No cell has been run yet.</p>\n</section>\n", out);
        return;
    }
    fputs("<p>Each cell leads to its evidence; the arrow keys go from cell to cell.</p>\n", out);
    write_legend(out);
    fputs(
        "<div id=\"filter\" class=\"controls\" hidden></div>\n"
        "<div class=\"scroll matrix\" tabindex=\"0\"><table class=\"matrix\"><caption class=\"quiet\">The "
        "verdict of "
        "each lock under each fault</caption>\n",
        out);
    write_head(out, view);
    for (int r = 0; r < view->row_count; r++) {
        int own = (int)check_family_of(&view->check->locks[view->row[r]]);
        if (own != family) {
            fprintf(out,
                    "%s<tbody><tr class=\"family\"><th scope=\"rowgroup\" "
                    "colspan=\"%d\"><span>%s</span></th></tr>\n",
                    r > 0 ? "</tbody>" : "", view->column_count + 1,
                    check_family_title((enum check_family)own));
        }
        family = own;
        write_row(out, view, view->row[r]);
    }
    fputs("</tbody></table></div>\n</section>\n", out);
}

static int write_finding(FILE *out, const struct check_view *view, const struct check_cell *cell) {
    char *text = check_cell_sentence(view, cell), *recovery = check_recovery_sentence(cell),
         *store = check_store_sentence(cell);
    int rc = text && recovery && store ? 0 : -1;
    if (rc == 0) {
        fputs("<li>", out);
        check_html_chip(out, view, cell);
        fprintf(out, " <a href=\"#cell-%d\">", check_cell_index(view, cell));
        escape_html(out, text);
        fputs("</a>", out);
        if (*recovery) {
            fputs("; ", out);
            escape_html(out, recovery);
        }
        if (*store) {
            fputs("; ", out);
            escape_html(out, store);
        }
        fputs("</li>\n", out);
    }
    free(text);
    free(recovery);
    free(store);
    return rc;
}

static int write_findings(FILE *out, const struct check_view *view,
                          const struct check_cell *const *cells, int count) {
    int rc = 0;
    fputs("<ul class=\"findings\">\n", out);
    for (int i = 0; i < count && rc == 0; i++) rc = write_finding(out, view, cells[i]);
    fputs("</ul>\n", out);
    return rc;
}

int check_html_findings(FILE *out, const struct check_view *view) {
    int rc = 0;
    html_section(out, "findings", "Findings: worse than claimed");
    if (view->finding_count == 0)
        fputs(view->real.cells >
                      view->real.verdict[CHECK_INCONCLUSIVE] + view->real.verdict[CHECK_FAILED]
                  ? "<p>None.</p>\n"
                  : "<p>Nothing was judged.</p>\n",
              out);
    if (view->finding_count > 0) rc = write_findings(out, view, view->finding, view->finding_count);
    if (rc == 0 && view->silent_count > 0) {
        fprintf(out, "<details class=\"fold\"><summary>Without a verdict (%d)</summary>\n",
                view->silent_count);
        rc = write_findings(out, view, view->silent, view->silent_count);
        fputs("</details>\n", out);
    }
    fputs("</section>\n", out);
    return rc;
}
