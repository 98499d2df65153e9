/* check_doc: a check as a document: sentences, matrix, findings, the evidence of each cell, and the basis of
 * all of it. See check_doc.h. */
#define _GNU_SOURCE

#include "report/check/check_doc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/check/check_view.h"

#define FAULTS_OPEN_MAX 4 /* a longer log is folded */

static void add_text_term(struct doc *doc, const char *term, const char *text) {
    if (text && *text) doc_term(doc, term, "%s", text);
}

static void add_count(struct doc *doc, const char *term, double count) {
    char text[NUMBER_TEXT_MAX];
    if (!isnan(count)) doc_term(doc, term, "%s", number_count_text(count, text));
}

static void add_time(struct doc *doc, const char *term, double ns) {
    char text[NUMBER_TEXT_MAX];
    if (!isnan(ns)) doc_term(doc, term, "%s", number_time_text(ns, text));
}

static void check_doc_evidence_add_verdict(const struct check_view *view,
                                           const struct check_cell *cell, struct doc *doc) {
    char sign[8];
    snprintf(sign, sizeof sign, "%s%s", check_sign(cell->verdict), check_mark(cell));
    doc_say(doc, TONE_PLAIN, "%s", "");
    doc_chip(doc, DOC_CHIP, check_tone(view, cell), sign, check_verdict_name(cell->verdict),
             check_verdict_title(cell->verdict));
    doc_span(doc, DOC_PLAIN, " %s: %s.", check_compared_text(cell),
             check_verdict_title(cell->verdict));
}

static void add_grants(const struct check_cell *cell, struct doc *doc) {
    char tested[NUMBER_TEXT_MAX];
    if (isnan(cell->grants)) return;
    add_count(doc, "grants", cell->grants);
    if (check_under_fault(cell)) return;
    if (!isnan(cell->tested))
        doc_span(doc, DOC_PLAIN, "; during %s of them another client waited",
                 number_count_text(cell->tested, tested));
    if (cell->bound95 > 0)
        doc_span(doc, DOC_PLAIN, "; with 95 %% confidence fewer than %.1e%s go wrong",
                 cell->bound95, isnan(cell->tested) ? "" : " of those");
}

static void add_faults_hit(const struct check_cell *cell, struct doc *doc) {
    if (isnan(cell->faults_hit)) return;
    add_count(doc, "faults that tested the lock", cell->faults_hit);
    if (cell->bound95 > 0)
        doc_span(doc, DOC_PLAIN,
                 "; with 95 %% confidence the lock fails in fewer than %.0f %% of such faults",
                 100 * cell->bound95);
    if (cell->faults_untested > 0)
        add_count(doc, "faults that tested nothing", cell->faults_untested);
}

static void add_residue(const struct check_cell *cell, struct doc *doc) {
    if (isnan(cell->residue)) return;
    add_count(doc, "left on the server", cell->residue);
    if (cell->residue_example && *cell->residue_example)
        doc_span(doc, DOC_PLAIN, ", e.g. %s", cell->residue_example);
}

static void add_figures(const struct check_view *view, const struct check_cell *cell,
                        struct doc *doc) {
    const struct check_fault *fault = check_fault_of(view, cell);
    const struct run_stage stage = {.durability = cell->durability,
                                    .durability_note = cell->durability_note};
    char *recovery = check_recovery_sentence(cell), *store = check_store_sentence(cell),
         *durability = words_durability_full(&stage);
    if (!recovery || !store || !durability) doc->failed = true;
    doc_terms(doc);
    add_text_term(doc, "fault", fault->summary ? fault->summary : fault->name);
    add_text_term(doc, "seen", cell->why ? cell->why : check_verdict_name(cell->verdict));
    doc_term(doc, "expected", "%s", cell->expected ? cell->expected : "");
    if (cell->expected_why) doc_span(doc, DOC_PLAIN, ": %s", cell->expected_why);
    add_grants(cell, doc);
    add_faults_hit(cell, doc);
    add_count(doc, "overlaps", cell->overlaps);
    add_count(doc, "lost updates", cell->lost_updates);
    add_text_term(doc, "stale writes", store);
    if (cell->stale_accepted_fenced > 0)
        add_count(doc, "stale writes that passed the fence", cell->stale_accepted_fenced);
    add_count(doc, "losses learned in time", cell->detected);
    add_text_term(doc, "recovery", recovery);
    add_count(doc, "grants lost", cell->grants_lost);
    add_count(doc, "lost wake-ups", cell->lost_wakeups);
    add_residue(cell, doc);
    add_text_term(doc, "topology", cell->topology);
    add_text_term(doc, "server", cell->server);
    if (cell->durability || cell->durability_note) add_text_term(doc, "durability", durability);
    add_count(doc, "clients", cell->clients);
    add_time(doc, "lease", cell->lease_ns);
    add_text_term(doc, "workload", cell->workload);
    if (cell->failed_runs > 0)
        add_count(doc, "runs that failed or showed nothing", cell->failed_runs);
    add_text_term(doc, "its run", cell->run);
    doc_end(doc);
    free(recovery);
    free(store);
    free(durability);
}

static void add_number(struct doc *doc, const json_t *fault, const char *name) {
    const json_t *value = json_object_get(fault, name);
    if (json_is_integer(value))
        doc_span(doc, DOC_PLAIN, ", %s %" JSON_INTEGER_FORMAT, name, json_integer_value(value));
}

static char *seconds_text(const json_t *fault, const char *name, char *text, size_t size) {
    const json_t *value = json_object_get(fault, name);
    snprintf(text, size, json_is_number(value) ? "%.3f s" : "?", json_number_value(value));
    return text;
}

/* Adds the log of the injections, with the evidence that each took effect. */
static void add_injection_log(const struct check_cell *cell, struct doc *doc) {
    size_t count = json_array_size(cell->faults);
    char from[32], to[32];
    if (count == 0) return;
    doc_fold(doc, count <= FAULTS_OPEN_MAX, "What was done (%zu)", count);
    doc_list(doc, "log");
    for (size_t i = 0; i < count; i++) {
        const json_t *fault = json_array_get(cell->faults, i);
        const char *kind = json_string_value(json_object_get(fault, "kind"));
        const char *target = json_string_value(json_object_get(fault, "target"));
        const char *sign = json_string_value(json_object_get(fault, "sign"));
        const json_t *acted = json_object_get(fault, "acted");
        doc_item(doc, TONE_PLAIN, "%s to %s: ", seconds_text(fault, "from_s", from, sizeof from),
                 seconds_text(fault, "to_s", to, sizeof to));
        doc_span(doc, DOC_STRONG, "%s", kind ? kind : "?");
        if (target) doc_span(doc, DOC_PLAIN, ", %s", target);
        add_number(doc, fault, "client");
        add_number(doc, fault, "process");
        add_number(doc, fault, "node");
        add_number(doc, fault, "key");
        add_number(doc, fault, "held");
        add_number(doc, fault, "tested");
        if (json_is_true(acted)) doc_span(doc, DOC_PLAIN, "; acted");
        if (json_is_false(acted)) doc_span(doc, DOC_STRONG, "; did not act");
        if (sign) doc_span(doc, DOC_PLAIN, ": %s", sign);
    }
    doc_end(doc);
    doc_end(doc);
}

static void add_cell_evidence(const struct check_view *view, const struct check_cell *cell,
                              struct doc *doc) {
    char anchor[CHECK_ANCHOR_MAX], title[300];
    snprintf(title, sizeof title, "%s under %s", check_lock_of(view, cell)->name,
             check_fault_of(view, cell)->name);
    doc_article(doc, check_cell_anchor(view, cell, anchor) + 1, title);
    check_doc_evidence_add_verdict(view, cell, doc);
    add_figures(view, cell, doc);
    if (cell->command) doc_code(doc, cell->command);
    doc_counterexample(doc, cell->counterexample);
    add_injection_log(cell, doc);
    doc_end(doc);
}

/* Adds the evidence of each cell; HTML only. */
static void check_doc_evidence(const struct check_view *view, struct doc *doc) {
    doc_section(doc, "evidence", "Evidence, cell by cell");
    doc_set_only(doc, DOC_HTML);
    doc_html(doc, "<p class=\"hint\" hidden>Choose a cell of the matrix.</p>\n"
                  "<div class=\"cells\">\n");
    for (int r = 0; r < view->row_count; r++) {
        for (int c = 0; c < view->column_count; c++) {
            const struct check_cell *cell = check_view_cell(view, view->row[r], view->column[c]);
            if (cell) add_cell_evidence(view, cell, doc);
        }
    }
    doc_html(doc, "</div>\n");
    doc_end(doc);
}

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
    words_machine(check->environment, machine, sizeof machine);
    doc_item(doc, TONE_PLAIN, "Machine: %s", *machine ? machine : "not known");
    doc_set_only(doc, DOC_MARKDOWN);
    add_safe(view, doc);
    doc_end(doc);
    add_all_skips(check, doc);
    if (check->environment) doc_tree(doc, "The machine", check->environment);
    if (check->environment) doc_set_only(doc, DOC_HTML);
    doc_end(doc);
}

static void add_caveats(struct doc *doc) {
    static const char *const items[] = {
        "No error in k faults means with 95 % confidence that fewer than 1 - 0.05^(1/k) of such faults go wrong: 95 % "
        "after one, 26 % after ten. This holds for this load and these seeds.",
        "A lease permits that a holder outlives it. A fencing token that the resource checks protects the data.",
        "Killing a process is no power failure: what a server has written but not flushed survives here.",
        "Wires lead through a proxy, whose delay is in every figure: compare only with the fault none.",
        NULL};
    doc_section(doc, "caveats", "What the verdicts do not mean");
    doc_set_only(doc, DOC_HTML);
    doc_list(doc, "caveats");
    for (const char *const *item = items; *item; item++) doc_item(doc, TONE_PLAIN, "%s", *item);
    doc_end(doc);
    doc_end(doc);
}

void check_doc(const struct check_view *view, struct doc *doc) {
    check_doc_add_verdict(view, doc);
    check_doc_matrix(view, DOC_HTML | DOC_MARKDOWN, doc);
    check_add_table(view, view->row_count, doc);
    doc_set_only(doc, DOC_TERMINAL);
    check_doc_findings(view, doc);
    check_doc_evidence(view, doc);
    add_check_basis(view, doc);
    add_caveats(doc);
}
