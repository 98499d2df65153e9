/* check_doc: a check as a document: sentences, matrix, findings, and the basis of all of it. See check_doc.h. */
#define _GNU_SOURCE

#include "report/check/check_doc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/output.h"

#define SERVERS_MAX 12
#define FINDINGS_SHOWN 8
#define SILENT_SHOWN 4

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

void check_add_servers(const struct check *check, bool brief, struct doc *doc) {
    int count = 0;
    for (int i = 0; i < check->cell_count && count < SERVERS_MAX; i++) {
        const struct check_cell *cell = &check->cells[i];
        bool known = !cell->server;
        for (int j = 0; j < i && !known; j++)
            known = same_text(check->cells[j].server, cell->server) &&
                    (brief || same_text(check->cells[j].durability, cell->durability));
        if (known) continue;
        if (count == 0) doc_say(doc, TONE_PLAIN, brief ? "Servers: " : "Servers and durability: ");
        doc_span(doc, DOC_PLAIN, "%s%s", count > 0 ? "; " : "", cell->server);
        if (cell->durability && !brief) doc_span(doc, DOC_PLAIN, " (%s)", cell->durability);
        count++;
    }
}

static void add_all_skips(const struct check *check, struct doc *doc) {
    if (check->skip_count == 0) return;
    doc_fold(doc, false, "Left out (%d)", check->skip_count);
    doc_list(doc);
    for (int i = 0; i < check->skip_count; i++) {
        const struct check_skip *skip = &check->skips[i];
        doc_item(doc, TONE_PLAIN, "%s", "");
        doc_span(doc, DOC_STRONG, "%s", doc_or(skip->lock, doc_or(skip->backend, "?")));
        if (skip->fault) doc_span(doc, DOC_PLAIN, " under %s", skip->fault);
        doc_span(doc, DOC_PLAIN, ": %s", doc_or(skip->reason, "no reason given"));
        if (skip->install) doc_command(doc, "install", skip->install);
    }
    doc_end(doc);
    doc_end(doc);
}

/* Says how much the safe cells of real locks can mean: by the greatest bound of them. */
static void add_safe(const struct check_view *view, struct doc *doc) {
    double bound = 0;
    int unbounded = 0;
    for (int i = 0; i < view->check->cell_count; i++) {
        const struct check_cell *cell = &view->check->cells[i];
        if (cell->verdict != CHECK_SAFE || check_lock_of(view, cell)->control) continue;
        unbounded += isnan(cell->bound95);
        if (cell->bound95 > bound) bound = cell->bound95;
    }
    doc_item(doc, TONE_PLAIN, "Safe means: nothing wrong was seen.");
    if (bound > 0)
        doc_span(
            doc, DOC_PLAIN,
            " With 95 %% confidence fewer than %.2g %% of the faults go wrong, and of the grants "
            "where nothing was injected; more seeds give more trials.",
            100 * bound);
    if (unbounded > 0)
        doc_span(doc, DOC_PLAIN,
                 " %d safe cell%s no bound, since hardly anything was tested there.", unbounded,
                 unbounded == 1 ? " has" : "s have");
}

/* Adds the basis of the figures, and the command that repeats the check. */
static void add_check_basis(const struct check_view *view, struct doc *doc) {
    const struct check *check = view->check;
    char machine[WORDS_MACHINE_MAX];
    doc_section(doc, "run", "The check");
    check_add_servers(check, false, doc);
    doc_list(doc);
    doc_item(doc, TONE_PLAIN, "%s %s, %s to %s", doc_or(check->tool_name, "lockbench"),
             doc_or(check->tool_version, "of an unknown version"),
             doc_or(check->started_at, "undated"), doc_or(check->ended_at, "its end"));
    if (check->tour && strcmp(check->tour, "chosen") == 0)
        doc_span(doc, DOC_PLAIN, ", chosen faults");
    else if (check->tour)
        doc_span(doc, DOC_PLAIN, ", the %s schedule", check->tour);
    char *seeds = check->seeds ? json_dumps(check->seeds, JSON_COMPACT) : NULL;
    if (seeds) doc_span(doc, DOC_PLAIN, ", seeds %.*s", (int)strlen(seeds) - 2, seeds + 1);
    free(seeds);
    doc_command(doc, "again", doc_or(check->command, "lockbench check"));
    words_machine(check->environment, machine, sizeof machine);
    doc_item(doc, TONE_PLAIN, "Machine: %s", *machine ? machine : "not known");
    doc_set_only(doc, DOC_MARKDOWN);
    add_safe(view, doc);
    doc_end(doc);
    add_all_skips(check, doc);
    doc_end(doc);
}

static void add_finding(const struct check_view *view, const struct check_cell *cell,
                        struct doc *doc) {
    doc_item(doc, check_tone(view, cell), "%s under %s", check_lock_of(view, cell)->name,
             check_fault_of(view, cell)->name);
    check_add_seen(cell, doc);
    if (cell->command) doc_command(doc, "again", cell->command);
    if (cell->run) doc_span(doc, DOC_DETAIL, "its run: %s", cell->run);
}

static void add_cell_findings(const struct check_view *view, const struct check_cell *const *cells,
                              int count, int shown, struct doc *doc) {
    if (count == 0) return;
    doc_list(doc);
    for (int i = 0; i < count && i < shown; i++) add_finding(view, cells[i], doc);
    if (count > shown)
        doc_item(doc, TONE_PLAIN, "and %d more: lockbench report --json has them", count - shown);
    doc_end(doc);
}

static void add_findings(const struct check_view *view, struct doc *doc) {
    doc_section(doc, "findings", "Findings: worse than stated");
    if (view->finding_count == 0) {
        doc_say(doc, TONE_PLAIN, view->judged > 0 ? "None." : "Nothing was judged.");
        doc_set_only(doc, DOC_MARKDOWN);
    } else {
        doc_heading(doc, "Worse than stated");
        doc_set_only(doc, DOC_TERMINAL);
    }
    add_cell_findings(view, view->finding, view->finding_count, FINDINGS_SHOWN, doc);
    if (view->silent_count > 0) {
        doc_fold(doc, false, "Without a verdict (%d)", view->silent_count);
        doc_set_headline(doc);
        add_cell_findings(view, view->silent, view->silent_count, SILENT_SHOWN, doc);
        doc_end(doc);
    }
    doc_end(doc);
}

static void add_all(const struct check_view *view, struct doc *doc) {
    doc_section(doc, "verdict", "Is it a lock? What held under faults, and what broke");
    check_verdict(view, doc);
    doc_end(doc);
    doc_section(doc, "matrix", "Locks and faults");
    if (view->row_count > 0) check_add_table(view, view->row_count, doc);
    doc_end(doc);
    add_findings(view, doc);
    add_check_basis(view, doc);
}

int report_check_write(const struct check *check, enum report_format format, bool color, FILE *out,
                       struct lb_err *err) {
    struct doc doc = {0};
    if (format == REPORT_JSON)
        return output_json(json_incref(check->root), JSON_INDENT(1) | JSON_REAL_PRECISION(10), out,
                           "the report", err);
    struct check_view *view = check_view_make(check, err);
    if (!view) return -1;
    if (format == REPORT_TABLE || format == REPORT_QUIET)
        check_summary(view, format == REPORT_QUIET, &doc);
    else
        add_all(view, &doc);
    int rc = doc_write_and_free(&doc, report_doc_format(format), color, out, err);
    check_view_free(view);
    return rc;
}
