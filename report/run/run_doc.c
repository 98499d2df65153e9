/* run_doc: the sections of a run in their order, with their tables: a table for each load, whose rows are sorted by
 * durability, the least durable first; and a run as JSON. See run_doc.h. */
#include "report/run/run_doc.h"

#include <math.h>
#include <string.h>

#include "bench/base/output.h"
#include "report/doc/escape.h"

/* ---- why a figure is a dash ---- */

static bool is_primitive(const struct run_stage *stage, const char *name) {
    return stage->primitive && strcmp(stage->primitive, name) == 0;
}

/* Why a row without any handoff has none. */
static const char *why_no_handoff(const struct run_stage *stage) {
    if (is_primitive(stage, "semaphore"))
        return "permits have no names, so it is not known whose release enabled a grant";
    if (is_primitive(stage, "rwlock") && stage->readers >= 100)
        return "readers hold together, so no release enables the grant of a reader";
    /* Where clients waited, each release was followed by a grant to the client that had just released. */
    bool one_client = report_competes(stage) && stage->tested_grants > 0 && stage->grants > 0 &&
                      stage->jain * stage->clients < 1.1;
    if (one_client)
        return "one client got almost all grants: there were hardly any handoffs to another one";
    return NULL;
}

/* One sentence without a full stop, a constant. NULL if the figure was measured, or has too few values. */
static const char *absent_why(const struct result_field *column, const struct report_row *row) {
    static const char handoff[] = "latency_ns.handoff.";
    bool is_handoff = strncmp(column->path, handoff, strlen(handoff)) == 0;
    return is_handoff && isnan(column_value(column, row)) ? why_no_handoff(row->typical) : NULL;
}

/* ---- the tables ---- */

#define BESIDE (DOC_HTML | DOC_MARKDOWN) /* facts that a terminal shows in a line above the rows */

/* The rank by which columns are left out of a narrow terminal: the greatest first. */
static int drop_rank(const struct result_field *column) {
    static const char *const keys[] = {
        "cost.commands_per_grant", "latency_ns.release.p50", "cost.server_cpu_ns_per_grant",
        "latency_ns.ping.p50",     "recovery.crash.p50_ns",  "recovery.crash.max_ns",
        "recovery.crash.count",    "recovery.lost_wakeups",  "recovery.p90_ns",
        "recovery.min_ns"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(column->path, keys[i]) == 0) return (int)i + 1;
    return 0;
}

/* True if the comparison of a group has the column. */
static bool column_shown(const struct result_field *column, const struct report_group *group) {
    bool any = !column->rare;
    for (int r = 0; r < group->row_count; r++) any |= column_value(column, &group->rows[r]) > 0;
    return any && (!column->instead_of || column_used(column, group));
}

/* The formats that have a column of a group's table; 0: none. */
static unsigned formats_of(const struct result_field *column, const struct report_group *group,
                           unsigned of) {
    if (of == IN_COMPARISON ? column_gives_way(column, group) : !column_used(column, group))
        return 0;
    if (!column_shown(column, group)) return 0;
    return column_used(column, group) ? BESIDE | DOC_TERMINAL : DOC_TERMINAL;
}

/* The key columns come first: a phone shows no others without scrolling. */
static void add_group_columns(struct doc *doc, const struct report_group *group, unsigned of) {
    doc_column(doc, &(struct doc_column){.title = "lock"});
    doc_column(doc, &(struct doc_column){.title = "verdict", .help = "does it exclude?"});
    if (of == IN_COMPARISON && group->by_cost)
        doc_column(doc, &(struct doc_column){.title = WORDS_COST,
                                             .brief = "cost",
                                             .help = words_help(WORDS_COST),
                                             .figure = DOC_TIME});
    for (const struct result_field *column = column_next(of, NULL); column;
         column = column_next(of, column)) {
        unsigned formats = formats_of(column, group, of);
        if (formats == 0) continue;
        doc_column(doc, &(struct doc_column){.title = column->title,
                                             .brief = column->head,
                                             .help = column->help,
                                             .figure = column_figure(column),
                                             .unit = column_unit(column, group),
                                             .only = formats,
                                             .drop = drop_rank(column)});
    }
    doc_column(doc, &(struct doc_column){
                        .title = "durability", .help = "what its state survives", .only = BESIDE});
    doc_column(doc, &(struct doc_column){
                        .title = "guarantee", .help = words_help("guarantee"), .only = BESIDE});
    doc_column(doc, &(struct doc_column){.title = "topology", .help = "what ran", .only = BESIDE});
}

/* A mark on a name: the sign in a terminal, the word elsewhere. legend: the sign in the note that
 * explains it. */
struct mark {
    const char *sign, *word, *legend;
};
static const struct mark mark_limited = {"~", "limited", "~"}, mark_idle = {"?", "no fault", "?"},
                         mark_partial = {"!", "partial", "! partial"},
                         mark_failed = {"!", "failed", "! failed"};

static struct mark incomplete_mark(const struct report_row *row) {
    /* of the typical repeat, which may have no status */
    const char *status = row->typical->status;
    return status && strcmp(status, "failed") == 0 ? mark_failed : mark_partial;
}

static void add_mark(struct doc *doc, struct mark mark, const char *why) {
    doc_chip(doc, DOC_MARK, TONE_WARN, mark.sign, mark.word, why);
}

/* Says what a mark means, with the mark as the rows have it: "name (~): why", "name (limited): why". */
static void add_mark_note(struct doc *doc, const char *name, struct mark mark, const char *why) {
    char sign[16];
    snprintf(sign, sizeof sign, " (%s)", mark.legend);
    doc_note(doc, TONE_WARN, "%s", name);
    doc_set_only(doc, DOC_TERMINAL | DOC_MARKDOWN);
    doc_chip(doc, DOC_MARK, TONE_WARN, sign, mark.word, NULL);
    doc_span(doc, DOC_PLAIN, ": %s", why);
}

void run_lock_cell(struct doc *doc, const struct report_row *row) {
    doc_cell(doc, "%s", row->lock->label);
    if (row->incomplete)
        add_mark(doc, incomplete_mark(row),
                 doc_or(row->typical->error, "not all of it was measured"));
    if (row->limited) add_mark(doc, mark_limited, words_help(WORDS_LIMITED));
    if (row->idle_fault) add_mark(doc, mark_idle, words_help(WORDS_IDLE_FAULT));
}

/* The topology that a stage ran on: "yours" for a server that the user gave by its URL; NULL = not
 * stated. */
static const char *topology_of(const struct run_stage *stage) {
    bool yours = stage->topology && strcmp(stage->topology, "url") == 0;
    return yours ? "yours" : stage->topology;
}

static void add_figure_row(struct doc *doc, const struct report_group *group,
                           const struct report_row *row, unsigned of) {
    doc_row(doc, row->candidate ? DOC_ROW : DOC_ASIDE);
    run_lock_cell(doc, row);
    doc_cell(doc, "%s", "");
    words_state_chip(doc,
                     row->state); /* the group's own: the lock may have failed in another one */
    if (of == IN_COMPARISON && group->by_cost) doc_figure(doc, row->cost_ns);
    for (const struct result_field *column = column_next(of, NULL); column;
         column = column_next(of, column)) {
        if (formats_of(column, group, of) == 0) continue;
        double value = column_value(column, row);
        char text[NUMBER_TEXT_MAX];
        if (column_is_least(row, column->path) && !isnan(value))
            doc_value(doc, value, "> %s", field_figure_text(column, value, text));
        else
            doc_figure(doc, value);
        doc_set_title(doc, absent_why(column, row));
    }
    doc_cell(doc, "%s", words_durability_text(words_durability(row->typical)));
    doc_set_title(doc, row->typical->durability);
    doc_cell(doc, "%s", words_guarantee(row->typical));
    doc_cell(doc, "%s", doc_or(topology_of(row->typical), "not stated"));
}

/* Adds the locks of a class; NULL: controls, baselines and the simulator. */
static void add_class(struct doc *doc, const struct report_group *group,
                      const struct report_class *class, unsigned of) {
    bool any = false;
    for (int r = 0; r < group->row_count; r++) {
        if (group->rows[r].class != class) continue;
        if (!any) doc_group(doc, TONE_PLAIN, "%s", class ? class->name : "baselines and controls");
        if (!any) doc_set_only(doc, DOC_TERMINAL);
        any = true;
        add_figure_row(doc, group, &group->rows[r], of);
    }
}

/* Says once why cells of a column have a dash, with the reason of the first such row; and what a
 * percentile without an end means. */
static void add_absent_notes(struct doc *doc, const struct report_group *group) {
    bool never = false;
    for (const struct result_field *column = column_next(IN_COMPARISON, NULL); column;
         column = column_next(IN_COMPARISON, column)) {
        const char *why = NULL;
        if (column_gives_way(column, group)) continue;
        for (int r = 0; r < group->row_count && !why; r++)
            why = absent_why(column, &group->rows[r]);
        if (why) doc_note(doc, TONE_PLAIN, "%s " NUMBER_NONE ": %s", column->title, why);
        for (int r = 0; r < group->row_count; r++)
            never |= isinf(column_value(column, &group->rows[r]));
    }
    if (never) doc_note(doc, TONE_PLAIN, NUMBER_NEVER ": %s", words_help(NUMBER_NEVER));
}

/* True if a text is among the causes of a row. A file from elsewhere may contain other things
 * there. */
static bool has_cause(const struct report_row *row, const char *text) {
    for (size_t i = 0; i < json_array_size(row->typical->causes); i++) {
        const char *cause = json_string_value(json_array_get(row->typical->causes, i));
        if (cause && strcmp(cause, text) == 0) return true;
    }
    return false;
}

/* Adds one cause, with all the locks from this row on that have it; nothing if an earlier row has
 * added it. */
static void add_cause(struct doc *doc, const struct report_group *group, int first,
                      const char *text) {
    for (int r = 0; r < first; r++)
        if (has_cause(&group->rows[r], text)) return;
    doc_note(doc, TONE_PLAIN, "%s", group->rows[first].lock->label);
    for (int r = first + 1; r < group->row_count; r++) {
        if (has_cause(&group->rows[r], text))
            doc_span(doc, DOC_PLAIN, ", %s", group->rows[r].lock->label);
    }
    doc_span(doc, DOC_PLAIN, ": %s", text);
}

/* Adds the figures whose cause is known for their lock. */
static void add_causes(struct doc *doc, const struct report_group *group) {
    for (int r = 0; r < group->row_count; r++) {
        const json_t *causes = group->rows[r].typical->causes;
        for (size_t i = 0; i < json_array_size(causes); i++) {
            const char *text = json_string_value(json_array_get(causes, i));
            if (text) add_cause(doc, group, r, text);
        }
    }
}

/* Names the locks whose percentiles of acquire are those of the clients that were served. */
static void add_unrecorded_notes(struct doc *doc, const struct report_group *group) {
    char time[NUMBER_TEXT_MAX];
    for (int r = 0; r < group->row_count; r++) {
        const struct report_row *row = &group->rows[r];
        double longest_ns = NAN;
        if (!(row->unrecorded > UNRECORDED_SHARE)) continue;
        for (int i = 0; i < row->repeats; i++)
            longest_ns = fmax(longest_ns, row->stages[i]->max_wait_ns);
        doc_note(
            doc, TONE_WARN,
            "%s: at least %.0f %% of the time that its clients waited is in no percentile of acquire, since "
            "such a wait began in the warm-up (the longest took %s): set a longer run.duration",
            row->lock->label, unrecorded_per_cent(row->unrecorded),
            number_time_text(longest_ns, time));
    }
}

static void add_notes(struct doc *doc, const struct report_group *group) {
    bool limited = false, idle = false;
    for (int r = 0; r < group->row_count; r++) {
        const struct report_row *row = &group->rows[r];
        limited |= row->limited;
        idle |= row->idle_fault;
        if (row->incomplete == 0) continue;
        add_mark_note(doc, row->lock->label, incomplete_mark(row),
                      doc_or(row->typical->error, "not all of it was measured"));
    }
    add_unrecorded_notes(doc, group);
    add_causes(doc, group);
    add_absent_notes(doc, group);
    if (idle) add_mark_note(doc, WORDS_IDLE_FAULT, mark_idle, words_help(WORDS_IDLE_FAULT));
    if (limited) add_mark_note(doc, WORDS_LIMITED, mark_limited, words_help(WORDS_LIMITED));
}

/* How the repeats of a row became one figure. Outcomes are added up, like the attempts that ended in them. */
static const char *repeats_text(const struct report_group *group, unsigned of) {
    return group->rounds < 2   ? ""
           : of == IN_OUTCOMES ? "; counts of all repeats together"
                               : "; medians of the repeats";
}

static void add_table(struct doc *doc, const struct report_group *group, unsigned of,
                      const char *what) {
    char caption[400], text[NUMBER_TEXT_MAX];
    snprintf(caption, sizeof caption, "%s, %s client%s: %s%s", what,
             number_count_text(group->clients, text), group->clients == 1 ? "" : "s", group->load,
             repeats_text(group, of));
    doc_table(doc, "figures sortable", caption);
    /* The heading of a comparison says the same. */
    if (of == IN_COMPARISON) doc_set_headline(doc);
    add_group_columns(doc, group, of);
    for (int c = 0; c < group->class_count; c++) add_class(doc, group, &group->classes[c], of);
    add_class(doc, group, NULL, of);
    if (of == IN_COMPARISON) add_notes(doc, group);
    doc_end(doc);
}

/* In a closed loop requests have due times too, since they are always due. So only arrivals by a
 * schedule make a group an open one. */
static bool any_used(unsigned of, const struct report_group *group) {
    if (of == IN_OPEN_LOOP) return column_used(column_next(of, NULL), group);
    for (const struct result_field *column = column_next(of, NULL); column;
         column = column_next(of, column))
        if (column_used(column, group)) return true;
    return false;
}

static void add_folded(const struct report *report, unsigned of, const char *what,
                       struct doc *doc) {
    bool any = false;
    for (int g = 0; g < report->group_count; g++) {
        if (!any_used(of, &report->groups[g])) continue;
        if (!any) doc_fold(doc, false, "%s as tables", what);
        if (!any && of != IN_RECOVERY) doc_set_only(doc, DOC_HTML);
        any = true;
        add_table(doc, &report->groups[g], of, what);
    }
    if (any) doc_end(doc);
}

static void run_recovery(const struct report *report, struct doc *doc) {
    doc_section(doc, "recovered", "Recovery from faults"); /* without tables no format shows it */
    add_folded(report, IN_RECOVERY, "Recovery", doc);
    doc_end(doc);
}

static void add_group(struct doc *doc, const struct report_group *group, bool is_open) {
    char text[NUMBER_TEXT_MAX];
    doc_fold(doc, is_open, "%s client%s", number_count_text(group->clients, text),
             group->clients == 1 ? "" : "s");
    doc_set_headline(doc);
    doc_span(doc, DOC_SOFT, ": %s%s", group->load, repeats_text(group, IN_COMPARISON));
    add_table(doc, group, IN_COMPARISON, "Comparison");
    doc_end(doc);
}

static void run_comparison(const struct report *report, struct doc *doc) {
    doc_section(doc, "compare", "Comparison");
    doc_say(
        doc, TONE_PLAIN,
        "One table a load; click a head to sort. Grey: no lock to choose (baseline, control, or "
        "one that failed or was cut off).");
    doc_set_only(doc, DOC_HTML);
    for (int g = 0; g < report->group_count; g++) {
        const struct report_group *group = &report->groups[g];
        bool shown = report->group_count <= 3 || group == report->alone || group == report->ranked;
        add_group(doc, group, shown);
    }
    add_folded(report, IN_LATENCY, "Percentiles", doc);
    add_folded(report, IN_FAIRNESS, "Fairness", doc);
    add_folded(report, IN_COST, "Cost", doc);
    add_folded(report, IN_OUTCOMES, "Outcomes", doc);
    add_folded(report, IN_OPEN_LOOP, "Open loop", doc);
    add_folded(report, IN_TOOL, "The load generator's own delays", doc);
    doc_end(doc);
}

/* ---- the ranking ---- */

static void add_answer(const struct report *report, struct doc *doc) {
    doc_section(doc, "answer", "Which lock?");
    ranking_say(report, true, doc);
    doc_end(doc);
}

/* ---- what the checks counted ---- */

static const struct doc_column evidence_columns[] = {
    {.title = "lock"},
    {.title = "verdict"},
    {.title = "grants", .figure = DOC_COUNT},
    {.title = "n",
     .help = "grants during which another client waited for the key",
     .figure = DOC_COUNT},
    {.title = "inside",
     .help = "mean time from grant to release: a second holder is seen only within it",
     .figure = DOC_TIME},
    {.title = "lost updates", .help = "the shared counter's shortfall", .figure = DOC_COUNT},
    {.title = "second holders",
     .help = "seen inside together with another holder",
     .figure = DOC_COUNT},
    {.title = "taken",
     .help = "grants lost while their lease and session lasted, or whose session the server ended",
     .figure = DOC_COUNT},
    {.title = WORDS_BOUND, .right = true},
    {.title = NULL},
};

static void add_evidence_of(struct doc *doc, const struct report_lock *lock) {
    double bound = report_bound(lock);
    doc_row(doc, report_is_real(lock->stage) ? DOC_ROW : DOC_ASIDE);
    doc_cell(doc, "%s", lock->label);
    doc_cell(doc, "%s", "");
    words_state_chip(doc, lock->state);
    doc_figure(doc, report_known(lock, lock->sums.checked_grants));
    doc_figure(doc, report_known(lock, lock->competing));
    doc_figure(doc, lock->inside_ns);
    doc_figure(doc, report_known(lock, lock->sums.lost_updates));
    doc_figure(doc, report_known(lock, lock->sums.double_holders));
    doc_figure(doc, report_known(lock, lock->sums.revoked + lock->sums.ended));
    if (isnan(bound))
        doc_cell(doc, "%s", NUMBER_NONE);
    else
        doc_value(doc, bound, "%.1e", bound);
}

static void add_evidence(const struct report *report, struct doc *doc) {
    doc_section(doc, "evidence", "What the checks counted");
    doc_table(
        doc, "figures sortable",
        "n: grants during which another client waited for the key, those of the warm-up and the drain included, "
        "since they are checked too. Inside: the mean time from grant to release.");
    for (const struct doc_column *column = evidence_columns; column->title; column++) {
        struct doc_column explained = *column;
        if (!column->help) explained.help = words_help(column->title);
        doc_column(doc, &explained);
    }
    for (int i = 0; i < report->lock_count; i++) add_evidence_of(doc, &report->locks[i]);
    doc_end(doc);
    doc_end(doc);
}

/* ---- what the words and the numbers mean, and do not mean ---- */

static bool is_used(const struct report *report, const struct result_field *column) {
    for (int g = 0; g < report->group_count; g++)
        if (column_used(column, &report->groups[g])) return true;
    return false;
}

/* The explanations that a pointer shows on a head, for readers without a pointer. */
static void add_words(const struct report *report, struct doc *doc) {
    doc_section(doc, "words", "What the words mean");
    doc_set_only(doc, DOC_HTML | DOC_MARKDOWN);
    doc_terms(doc);
    words_list(doc);
    for (const struct result_field *column = column_next(IN_COMPARISON, NULL); column;
         column = column_next(IN_COMPARISON, column))
        if (is_used(report, column)) doc_term(doc, column->title, "%s", doc_or(column->help, ""));
    doc_end(doc);
    doc_end(doc);
}

void run_doc_verdict(const struct report *report, struct doc *doc) {
    doc_section(doc, "verdict", "Does each lock exclude?");
    run_verdict(report, doc);
    doc_end(doc);
}

void run_doc_begin(const struct report *report, struct doc *doc) {
    run_slo(report, doc);
    add_answer(report, doc);
    run_comparison(report, doc);
    run_recovery(report, doc);
    add_evidence(report, doc);
}

void run_doc_end(const struct report *report, struct doc *doc) {
    run_notes(report, doc);
    add_words(report, doc);
}

enum doc_format report_doc_format(enum report_format format) {
    return format == REPORT_MD ? DOC_MARKDOWN : DOC_TERMINAL;
}

/* ---- JSON ---- */

static json_t *known(const struct report_lock *lock, double count) {
    return escape_json_figure(report_known(lock, count));
}

static json_t *report_lock_json(const struct report_lock *lock) {
    const struct run_stage *stage = lock->stage;
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:b, s:o, s:o, s:o, s:o, s:o}",
        "lock", escape_json(lock->name), "verdict", escape_json(words_state(lock->state)), "grants",
        known(lock, lock->sums.checked_grants), "competing_grants", known(lock, lock->competing),
        "lost_updates", known(lock, lock->sums.lost_updates), "double_holders",
        known(lock, lock->sums.double_holders), "revoked", known(lock, lock->sums.revoked), "ended",
        known(lock, lock->sums.ended), "bound95", escape_json_figure(report_bound(lock)),
        "inside_mean_ns", escape_json_figure(lock->inside_ns), "hardly_tested",
        (int)report_hardly_tested(lock), "control", (int)stage->control, "baseline",
        (int)stage->baseline, "topology", escape_json(stage->topology), "guarantee",
        escape_json(stage->guarantee), "durability", escape_json(stage->durability),
        "durability_note", escape_json(stage->durability_note), "durability_kind",
        escape_json(words_durability_text(words_durability(stage))));
}

int run_json(const struct report *report, FILE *out, struct lb_err *err) {
    json_t *locks = json_array();
    struct doc verdict = {0};
    int rc = 0;
    run_verdict(report, &verdict);
    for (int i = 0; i < report->lock_count; i++)
        rc |= json_array_append_new(locks, report_lock_json(&report->locks[i]));
    json_t *root = json_pack(
        "{s:s, s:b, s:o, s:o, s:o, s:o, s:O}", "schema", "lockbench.report/2", "partial",
        (int)report->partial, "verdict", doc_sentences(&verdict), "ranking", ranking_json(report),
        "path", escape_json(report->run->path), "locks", locks, "run", report->run->root);
    doc_free(&verdict);
    if (rc != 0) {
        json_decref(root);
        return err_set(err, LB_EXIT_MACHINE, "out of memory");
    }
    return output_json(root, JSON_INDENT(1) | JSON_REAL_PRECISION(15), out, "the report", err);
}
