/* check_doc: a check as a document: sentences, matrix, findings, sums, evidence, and the basis of
 * all of it. The summary for a design review is its Markdown: cells that kept to what their driver
 * states are counted there, not listed. See check_doc.h. */
#include "report/check/check_doc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/check/check_sums.h"
#include "results/format/bound.h"

#define SERVERS_MAX 12
#define SKIPS_SHOWN 3

static void add_verdict(const struct check_view *view, struct doc *doc) {
    doc_section(doc, "verdict", "lockbench check: does each lock keep what its driver states?");
    check_verdict(view, doc);
    doc_end(doc);
}

/* Adds the servers with their versions and durability, each once. */
static void add_check_servers(const struct check *check, struct doc *doc) {
    int count = 0;
    for (int i = 0; i < check->cell_count && count < SERVERS_MAX; i++) {
        const struct check_cell *cell = &check->cells[i];
        bool known = !cell->server;
        for (int j = 0; j < i && !known; j++) known = check_same_server(&check->cells[j], cell);
        if (known) continue;
        if (count == 0) {
            doc_item(doc, TONE_PLAIN, "Servers and their durability: ");
            doc_set_only(doc, DOC_MARKDOWN | DOC_HTML);
        }
        doc_span(doc, DOC_PLAIN, "%s%s", count > 0 ? "; " : "", cell->server);
        if (cell->durability) doc_span(doc, DOC_PLAIN, " (%s)", cell->durability);
        count++;
    }
}

/* Adds the first of the locks and faults that were left out, with their reasons; the page has
 * all. */
static void add_skips(const struct check *check, struct doc *doc) {
    if (check->skip_count == 0) return;
    doc_item(doc, TONE_PLAIN, "Left out: %d", check->skip_count);
    doc_set_only(doc, DOC_TERMINAL | DOC_MARKDOWN);
    for (int i = 0; i < check->skip_count && i < SKIPS_SHOWN; i++) {
        const struct check_skip *skip = &check->skips[i];
        doc_span(doc, DOC_PLAIN, "%s%s%s%s (%s)", i == 0 ? ": " : "; ",
                 doc_or(skip->lock, doc_or(skip->backend, "?")), skip->fault ? " under " : "",
                 skip->fault ? skip->fault : "", doc_or(skip->reason, "no reason given"));
    }
    if (check->skip_count > SKIPS_SHOWN) doc_span(doc, DOC_PLAIN, "; ...");
}

static void add_all_skips(const struct check *check, struct doc *doc) {
    if (check->skip_count == 0) return;
    doc_fold(doc, false, "Left out (%d)", check->skip_count);
    doc_list(doc, NULL);
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

static void add_fault_terms(const struct check_view *view, struct doc *doc) {
    static const struct doc_column columns[] = {
        {.title = "fault"}, {.title = "what happens", .words = true}, {.title = NULL}};
    doc_table(doc, NULL, "The faults");
    doc_columns(doc, columns);
    for (int c = 0; c < view->column_count; c++) {
        const struct check_fault *fault = &view->check->faults[view->column[c]];
        doc_row(doc, DOC_ROW);
        doc_cell(doc, "%s", fault->name);
        doc_cell(doc, "%s", doc_or(fault->summary, ""));
    }
    doc_end(doc);
    doc_set_only(doc, DOC_HTML);
}

static void add_safe(const struct check_view *view, struct doc *doc) {
    struct check_sums sums;
    char text[NUMBER_TEXT_MAX];
    check_sum_all(view, &sums);
    doc_item(doc, TONE_PLAIN, "Safe means: nothing wrong was seen.");
    if (!isnan(sums.safe_hits_min)) {
        doc_span(
            doc, DOC_PLAIN,
            " Under a fault each fault that puts the lock to the test is one trial; the safe cells have at "
            "least %s",
            number_count_text(sums.safe_hits_min, text));
        if (sums.safe_hits_min > 0)
            doc_span(doc, DOC_PLAIN,
                     ": with 95 %% confidence the lock fails in fewer than %.0f %% of such faults",
                     100 * bound_of_faults(sums.safe_hits_min));
        doc_span(doc, DOC_PLAIN, ". More seeds give more trials.");
    }
    if (!isnan(sums.safe_tested_min))
        doc_span(
            doc, DOC_PLAIN,
            " Without a fault each grant during which another client waited is one trial (of locks "
            "where nobody waits, each grant); the safe cells%s have at least %s: with "
            "95 %% confidence fewer than %.1e of them go wrong.",
            sums.unbounded > 0 ? " with a bound" : "",
            number_count_text(sums.safe_tested_min, text), 3 / sums.safe_tested_min);
    if (sums.unbounded > 0)
        doc_span(
            doc, DOC_PLAIN,
            " Without a fault %d safe cell%s no bound, since exclusion was hardly tested there.",
            sums.unbounded, sums.unbounded == 1 ? " has" : "s have");
}

/* Adds the basis of the figures, and the command that repeats the check. */
static void add_check_basis(const struct check_view *view, struct doc *doc) {
    const struct check *check = view->check;
    char machine[WORDS_MACHINE_MAX];
    doc_section(doc, "run", "The check");
    doc_list(doc, NULL);
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
    add_check_servers(check, doc);
    add_skips(check, doc);
    words_machine(check->environment, machine, sizeof machine);
    doc_item(doc, TONE_PLAIN, "Machine: %s", *machine ? machine : "not known");
    doc_set_only(doc, DOC_MARKDOWN);
    add_safe(view, doc);
    doc_end(doc);
    add_fault_terms(view, doc);
    add_all_skips(check, doc);
    doc_set_only(doc, DOC_HTML);
    doc_tree(doc, "The machine", check->environment);
    doc_set_only(doc, DOC_HTML);
    doc_end(doc);
}

static void add_caveats(struct doc *doc) {
    static const struct doc_caveat items[] = {
        {"Safe is not proved.",
         "No error in k faults means with 95 % confidence that fewer than 1 - 0.05^(1/k) of such "
         "faults go wrong: 95 % after one, 63 % after three, 26 % after ten. Without a fault, no "
         "error in n grants means fewer than 3/n. This holds for this load and these seeds."},
        {"Expired is not the server's fault.",
         "A lease permits that a holder outlives it. The data is protected only by a fencing "
         "token that the resource itself checks, or by a lock that lasts as long as a connection."},
        {"The faults are injected on one machine.",
         "Killing a process is not a power failure: data that a server has written but not "
         "flushed survives here."},
        {"Wires lead through a proxy.",
         "Its delay is in every figure; compare only with the fault none."},
        {"Recovery has theory beside it",
         "for the lease, session and timeouts of this check; other ones have another theory."},
        {0},
    };
    doc_caveats(doc, "What the verdicts do not mean", items);
}

void check_doc(const struct check_view *view, struct doc *doc) {
    /* A page begins with the matrix, a terminal with the sentences. */
    check_doc_matrix(view, DOC_HTML, doc);
    add_verdict(view, doc);
    check_doc_matrix(view, DOC_TERMINAL, doc);
    check_doc_findings(view, doc);
    check_doc_sums(view, doc);
    check_doc_evidence(view, doc);
    add_check_basis(view, doc);
    add_caveats(doc);
}
