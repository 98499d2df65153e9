/* check_doc: a check as a document: sentences, matrix, findings, and the basis of all of it. See check_doc.h. */
#define _GNU_SOURCE

#include "report/check/check_doc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/check/check_view.h"

#define SERVERS_MAX 12

static void check_doc_add_verdict(const struct check_view *view, struct doc *doc) {
    doc_section(doc, "verdict", "Is it a lock? What held under faults, and what broke");
    check_verdict(view, doc);
    doc_end(doc);
}

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

void check_doc(const struct check_view *view, struct doc *doc) {
    check_doc_add_verdict(view, doc);
    check_doc_matrix(view, doc);
    check_add_table(view, view->row_count, doc);
    doc_set_only(doc, DOC_TERMINAL);
    check_doc_findings(view, doc);
    add_check_basis(view, doc);
}
