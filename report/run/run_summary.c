/* run_summary: the report on one screen, for a terminal: at most 40 lines of at most 100 columns. The verdict comes before
 * the figures; then one table of one load, a row for each lock; notes; and what to ask next. See run_doc.h. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/run/run_doc.h"

#define ROWS_MAX 14  /* more locks: the best of each class */
#define LINES_MAX 19 /* of rows and the heads of their classes */
#define BEST_OF_CLASS 3
#define CLASSES_MAX 8 /* a head and a row or more each */
#define NOTES_MAX 4
#define NOTE_LINE 92 /* columns of a note beside its letter */
#define PROMISES_MAX 4
#define RUNGS_MAX 7 /* round trips or leases */
#define P99 "latency_ns.acquire.p99"

/* What is on the screen. */
struct summary {
    const struct report *report;
    const struct report_group *group,
        *alone; /* alone: with one client, else the same load; NULL = none */
    /* loads that differ from `group` in the wire's round trip or the lease alone, and it; none: it is the only one */
    const struct report_group *rungs[RUNGS_MAX];
    int rung_count;
    int shown_each; /* rows of a class */
    char notes[NOTES_MAX][2 * RANKING_NOTE_MAX];
    int note_count, note_room, notes_left_out;
};

/* The bytes of a load's words before those of the round trip and the lease. */
static int same_words(const char *load) {
    const char *end = strstr(load, ", rtt +");
    if (!end) end = strstr(load, ", lease ");
    return end ? (int)(end - load) : (int)strlen(load);
}

static void find_rungs(struct summary *summary) {
    const struct report_group *group = summary->group;
    int same = group ? same_words(group->load) : 0;
    for (int g = 0; g < summary->report->group_count && group; g++) {
        const struct report_group *other = &summary->report->groups[g];
        if (other->clients == group->clients && same_words(other->load) == same &&
            strncmp(other->load, group->load, (size_t)same) == 0 && summary->rung_count < RUNGS_MAX)
            summary->rungs[summary->rung_count++] = other;
    }
    if (summary->rung_count < 2) summary->rung_count = 0;
}

static void say_head(struct doc *doc, const struct summary *summary) {
    const struct report_group *group = summary->group;
    char clients[NUMBER_TEXT_MAX];
    run_ran(summary->report, doc);
    if (!group) return;
    const char *fault = strstr(group->load, ", fault ");
    bool rungs = summary->rung_count > 0;
    doc_say(doc, TONE_PLAIN, "Load: %s client%s, %.*s%s.",
            number_count_text(group->clients, clients), group->clients == 1 ? "" : "s",
            rungs ? same_words(group->load) : INT_MAX, group->load, rungs && fault ? fault : "");
}

/* The load with one client. */
static const struct report_group *find_alone(const struct report *report,
                                             const struct report_group *group) {
    for (int g = 0; group && g < report->group_count; g++) {
        const struct report_group *other = &report->groups[g];
        if (other != group && other->clients == 1 && other->load == group->load) return other;
    }
    return NULL;
}

/* The row of a lock; NULL: the load has none. */
static const struct report_row *find_row(const struct report_group *group,
                                         const struct report_lock *lock) {
    int r = group ? group->row_count - 1 : -1;
    while (r >= 0 && group->rows[r].lock != lock) r--;
    return r < 0 ? NULL : &group->rows[r];
}

/* The median wait of a lock, for `alone`, which may be NULL. */
static double alone_ns(const struct report_group *alone, const struct report_lock *lock) {
    const struct report_row *row = find_row(alone, lock);
    return row ? column_value(column_compared("latency_ns.acquire.p50", alone), row) : NAN;
}

static bool has_recoveries(const struct summary *summary) {
    bool any = false;
    for (int r = 0; r < summary->group->row_count; r++)
        any |= summary->group->rows[r].figures.recovery_count > 0 ||
               summary->group->rows[r].figures.unrecovered > 0;
    return any;
}

/* ---- the table of loads that differ in one thing ---- */

/* The growth of an acquire's median with one client, over that of the round trip. */
static double round_trips(const struct summary *summary, const struct report_lock *lock) {
    double first_ns = NAN, first_rtt_ns = NAN, trips = NAN;
    for (int i = 0; i < summary->rung_count; i++) {
        double rtt_ns = summary->rungs[i]->rtt_ns;
        double wait_ns = alone_ns(find_alone(summary->report, summary->rungs[i]), lock);
        if (isnan(rtt_ns) || isnan(wait_ns)) continue;
        if (isnan(first_ns)) {
            first_ns = wait_ns;
            first_rtt_ns = rtt_ns;
        }
        if (rtt_ns > first_rtt_ns) trips = (wait_ns - first_ns) / (rtt_ns - first_rtt_ns);
    }
    return trips;
}

static bool has_trips(const struct summary *summary) {
    bool any = false;
    for (int i = 0; i < summary->report->lock_count; i++)
        any |= !isnan(round_trips(summary, &summary->report->locks[i]));
    return any;
}

static void add_rung_columns(struct doc *doc, const struct summary *summary) {
    doc_column(doc, &(struct doc_column){.title = "trips",
                                         .figure = DOC_NUMBER,
                                         .only = has_trips(summary) ? 0 : DOC_NONE});
    for (int i = 0; i < summary->rung_count; i++) {
        const struct report_group *rung = summary->rungs[i];
        char rtt[NUMBER_TEXT_MAX], lease[NUMBER_TEXT_MAX] = "no wire", title[2 * NUMBER_TEXT_MAX];
        bool leases = rung->rows[0].typical->lease_varies;
        if (leases) number_time_text(rung->rows[0].typical->lease_ns, lease);
        report_rtt_text(rung->rtt_ns, rtt);
        const char *trip = *rtt ? rtt + strlen(", rtt ") : "";
        bool both = *rtt && leases;
        snprintf(title, sizeof title, "%s%s%s", trip, both ? " " : "", both || !*rtt ? lease : "");
        doc_column(doc, &(struct doc_column){.title = title, .right = true});
    }
    doc_column(doc, &(struct doc_column){.title = "paused"});
}

static void add_rung_cells(struct doc *doc, const struct summary *summary,
                           const struct report_lock *lock) {
    doc_figure(doc, round_trips(summary, lock));
    for (int i = 0; i < summary->rung_count; i++) {
        const struct report_row *row = find_row(summary->rungs[i], lock);
        char time[NUMBER_TEXT_MAX];
        if (row && has_recoveries(summary))
            doc_cell(doc, "%s, %.0f", number_time_text(row->figures.recovery_p50, time),
                     row->figures.expired_holders);
        else
            doc_cell(doc, "%s", number_time_text(row ? row->cost_ns : NAN, time));
    }
}

/* ---- the table ---- */

static const struct result_field *compared(const struct summary *summary, const char *key) {
    return column_compared(key, summary->group);
}

/* The figures of the table, in the order of its columns. */
static const struct {
    const char *key, *brief;
    int drop;
} figures[] = {
    {"throughput_per_s", "grants/s", 0},
    {"latency_ns.acquire.p50", "wait p50", 4},
    {P99, "wait p99", 0},
    {"latency_ns.handoff.p50", "handoff", 3},
    {"fairness.jain", "fair", 0},
    {"cost.commands_per_grant", "cmds", 2},
    {"cost.server_cpu_ns_per_grant", "srv CPU", 1},
    {"ticks.none", "missed", 0},
    {"latency_ns.wait_failed.p90", "gave up", 2},
};

static bool is_used(const struct summary *summary, const char *key) {
    return column_used(compared(summary, key), summary->group);
}

static bool has_share(const struct summary *summary) {
    bool any = false;
    for (int r = 0; r < summary->group->row_count; r++)
        any |= !isnan(ranking_share(summary->group, &summary->group->rows[r]));
    return any;
}

static void add_columns(struct doc *doc, const struct summary *summary) {
    unsigned shared = has_share(summary) ? 0 : DOC_NONE;
    unsigned ranked = summary->group->by_cost ? 0 : DOC_NONE;
    unsigned faults = has_recoveries(summary) ? 0 : DOC_NONE;
    doc_column(doc, &(struct doc_column){.title = "lock"});
    if (summary->rung_count > 0) {
        add_rung_columns(doc, summary);
        return;
    }
    doc_column(doc, &(struct doc_column){.title = "alone",
                                         .figure = DOC_TIME,
                                         .only = summary->alone ? 0 : DOC_NONE});
    doc_column(doc, &(struct doc_column){.title = "cost", .figure = DOC_TIME, .only = ranked});
    doc_column(doc, &(struct doc_column){.title = "of max", .right = true, .only = shared});
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        const struct result_field *column = compared(summary, figures[i].key);
        doc_column(doc,
                   &(struct doc_column){
                       .title = column->instead_of ? column->head : figures[i].brief,
                       .figure = result_field_is_time(column) ? DOC_TIME : column_figure(column),
                       .unit = column_unit(column, summary->group),
                       .drop = figures[i].drop,
                       .only = is_used(summary, figures[i].key) ? 0 : DOC_NONE});
    }
    doc_column(doc, &(struct doc_column){.title = "recovered", .figure = DOC_TIME, .only = faults});
    doc_column(doc, &(struct doc_column){.title = "never", .figure = DOC_COUNT, .only = faults});
    doc_column(doc, &(struct doc_column){.title = "paused"});
}

static bool claims(const struct run_stage *stage, const char *what) {
    for (size_t i = 0; i < json_array_size(stage->claims); i++) {
        const char *claim = json_string_value(json_array_get(stage->claims, i));
        if (claim && strcmp(claim, what) == 0) return true;
    }
    return false;
}

/* Cuts a note to a line: behind its last part that fits, or behind the last word. */
static void cut_note(char *text) {
    if ((int)strlen(text) <= NOTE_LINE) return;
    size_t end = NOTE_LINE - 4, part = end;
    while (part > 0 && text[part] != ';') part--;
    while (end > 0 && text[end] != ' ') end--;
    strcpy(text + (part > 0 ? part : end), part > 0 ? "" : " ...");
}

/* Keeps what a reader must know of the row, on one line. Returns its letter, or 0. */
static char keep_note(struct summary *summary, const struct report_row *row) {
    const char *cause = json_string_value(json_array_get(row->typical->causes, 0));
    char note[RANKING_NOTE_MAX];
    ranking_note(row, note);
    if (!*note && !cause) return 0;
    if (summary->note_count == summary->note_room) {
        summary->notes_left_out++;
        return 0;
    }
    char *text = summary->notes[summary->note_count];
    snprintf(text, sizeof summary->notes[0], "%s: %s", row->lock->label, *note ? note : cause);
    cut_note(text);
    return (char)('a' + summary->note_count++);
}

static void add_load_cells(struct doc *doc, const struct summary *summary,
                           const struct report_row *row) {
    double share = ranking_share(summary->group, row);
    doc_figure(doc, alone_ns(summary->alone, row->lock));
    doc_figure(doc, row->cost_ns);
    isnan(share) ? doc_cell(doc, "%s", NUMBER_NONE) : doc_cell(doc, "%.0f %%", 100 * share);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        double value = column_value(compared(summary, figures[i].key), row);
        char time[NUMBER_TEXT_MAX];
        if (column_is_least(row, figures[i].key) && !isnan(value))
            doc_value(doc, value, "> %s", number_time_text(value, time));
        else
            doc_figure(doc, value);
    }
    doc_figure(doc, row->figures.recovery_p50);
    doc_figure(doc, row->figures.unrecovered);
}

static void add_row(struct doc *doc, struct summary *summary, const struct report_row *row) {
    doc_row(doc, row->candidate ? DOC_ROW : DOC_ASIDE);
    run_lock_cell(doc, row);
    summary->rung_count > 0 ? add_rung_cells(doc, summary, row->lock)
                            : add_load_cells(doc, summary, row);
    doc_cell(doc, "%s",
             !report_is_real(row->typical)        ? words_state(row->state)
             : row->state > LOCK_CAUGHT           ? words_state(row->state)
             : claims(row->typical, "safe-pause") ? "safe"
                                                  : "2 holders");
    char letter = keep_note(summary, row);
    if (letter) doc_span(doc, DOC_PLAIN, " (%c)", letter);
}

/* What a client program costs without a lock, beside those that have one. */
static void add_null_program(struct doc *doc, struct summary *summary) {
    const struct report_group *group = summary->group;
    bool programs = false;
    for (int r = 0; r < group->row_count; r++)
        programs |= group->rows[r].candidate &&
                    strcmp(doc_or(group->rows[r].typical->backend, ""), "exec") == 0;
    for (int r = 0; r < group->row_count && programs; r++)
        if (strcmp(doc_or(group->rows[r].typical->lock, ""), "exec-null") == 0)
            add_row(doc, summary, &group->rows[r]);
}

/* The locks of each class, the best first; of a class with too many the rest is counted. */
static void add_rows(struct doc *doc, struct summary *summary) {
    const struct report_group *group = summary->group;
    int left = ROWS_MAX;
    for (int c = 0; c < group->class_count && c < CLASSES_MAX; c++) {
        const struct report_class *class = &group->classes[c];
        int shown = class->count < summary->shown_each ? class->count : summary->shown_each;
        if (shown > left) shown = left;
        left -= shown;
        doc_group(doc, TONE_PLAIN, "%s", class->name);
        if (shown < class->count)
            doc_span(doc, DOC_PLAIN, shown > 0 ? " (and %d more)" : " (%d)", class->count - shown);
        for (int i = 0; i < shown; i++) add_row(doc, summary, class->rows[i]);
    }
    if (group->class_count > CLASSES_MAX)
        doc_group(doc, TONE_PLAIN, "%d more classes", group->class_count - CLASSES_MAX);
    add_null_program(doc, summary);
    if (left < ROWS_MAX) return;
    for (int r = 0; r < group->row_count && r < ROWS_MAX; r++)
        add_row(doc, summary, &group->rows[r]);
}

/* What the figures of the rungs are. */
static void say_rungs(struct doc *doc, const struct summary *summary) {
    const struct report_group *group = summary->group;
    const char *each = isnan(summary->rungs[summary->rung_count - 1]->rtt_ns)
                           ? "lease"
                           : "round trip that a wire adds";
    if (has_recoveries(summary))
        doc_note(
            doc, TONE_PLAIN,
            "for each %s: the median from a fault to the next grant, and holders past their lease",
            each);
    else
        doc_note(doc, TONE_PLAIN, "for each %s: the %s with %.0f client%s%s", each,
                 ranking_figure(group), group->clients, group->clients == 1 ? "" : "s",
                 has_trips(summary) ? "; trips: round trips of an acquire with one client" : "");
}

/* Explains the columns and marks that the table has. */
static void add_legend(struct doc *doc, const struct summary *summary) {
    bool limited = false, idle = false, incomplete = false, least = false;
    for (int r = 0; r < summary->group->row_count; r++) {
        const struct report_row *row = &summary->group->rows[r];
        least |= summary->rung_count == 0 && column_is_least(row, P99) &&
                 !isnan(row->figures.latency[METRIC_ACQUIRE].p99);
        limited |= summary->group->rows[r].limited;
        idle |= summary->group->rows[r].idle_fault;
        incomplete |= summary->group->rows[r].incomplete;
    }
    doc_note(doc, TONE_PLAIN, "%spaused: what a holder meets that is paused beyond its lease",
             summary->alone ? "alone: with one client; " : "");
    doc_span(doc, DOC_PLAIN, "%s%s%s%s", limited ? "; ~: disturbed" : "",
             idle ? "; ?: no fault acted" : "", incomplete ? "; !: not complete" : "",
             least ? "; >: at least, as long waits are missing" : "");
    if (summary->rung_count > 0)
        say_rungs(doc, summary);
    else if (summary->group->by_cost)
        doc_note(doc, TONE_PLAIN, "cost: of a grant, without the hold%s",
                 has_share(summary) ? "; of max: of what one key gives at this hold without a lock"
                                    : "");
    for (int i = 0; i < summary->note_count; i++)
        doc_note(doc, TONE_PLAIN, "(%c) %s", 'a' + i, summary->notes[i]);
    if (summary->notes_left_out > 0)
        doc_span(doc, DOC_PLAIN, "; and %d more notes", summary->notes_left_out);
}

static void add_summary_table(struct doc *doc, struct summary *summary) {
    int locks = 0, classes = summary->group->class_count;
    for (int c = 0; c < classes; c++) locks += summary->group->classes[c].count;
    if (classes > CLASSES_MAX) classes = CLASSES_MAX + 1;
    bool all = locks <= ROWS_MAX && locks + classes <= LINES_MAX;
    int each = all || classes == 0 ? locks : (LINES_MAX - classes) / classes;
    summary->shown_each = all || each < BEST_OF_CLASS ? each : BEST_OF_CLASS;
    if (summary->shown_each < 1) summary->shown_each = 1;
    int left = LINES_MAX - 3 - classes - (all ? locks : classes * summary->shown_each);
    summary->note_room = left < 1 ? 1 : left > NOTES_MAX ? NOTES_MAX : left;
    doc_table(doc, "figures", NULL);
    add_columns(doc, summary);
    add_rows(doc, summary);
    add_legend(doc, summary);
    doc_end(doc);
}

/* ---- what to ask next ---- */

/* What the screen has no room for: ", 5 warnings, 1 lock left out". Returns text. */
static char *rest_text(const struct report *report, char *text, size_t size) {
    const struct run *run = report->run;
    size_t warnings = json_array_size(run->warnings), skipped = (size_t)run->skip_count, used = 0;
    for (int s = 0; s < run->stage_count; s++) warnings += json_array_size(run->stages[s].warnings);
    text[0] = '\0';
    if (warnings > 0)
        used = (size_t)snprintf(text, size, ", %zu warning%s", warnings, warnings == 1 ? "" : "s");
    if (skipped > 0)
        snprintf(text + used, size - used, ", %zu lock%s left out", skipped,
                 skipped == 1 ? "" : "s");
    return text;
}

/* The lock to try under faults: the first of a class; those of servers say more. NULL: none is ranked. */
static const struct report_row *find_next(const struct report_group *group) {
    int served = 0;
    if (!group) return NULL;
    while (served < group->class_count &&
           strcmp(doc_or(group->classes[served].first->topology, ""), "embedded") == 0)
        served++;
    const struct report_row *row = group->classes[served < group->class_count ? served : 0].rows[0];
    return isfinite(row->cost_ns) ? row : NULL;
}

static void say_next(struct doc *doc, const struct report *report) {
    char rest[80];
    const char *dir = doc_or(report->run->dir, "");
    const struct report_row *next = find_next(report->ranked);
    doc_section(doc, "next", "Next");
    if (*dir)
        doc_say(
            doc, TONE_PLAIN,
            "Everything (%d load%s%s): lockbench report --full %s; as a page with charts: --html.",
            report->group_count, report->group_count == 1 ? "" : "s",
            rest_text(report, rest, sizeof rest), dir);
    if (next) {
        const struct run_stage *stage = next->typical;
        const char *yours =
            stage->topology && strcmp(stage->topology, "url") == 0 ? stage->backend : NULL;
        doc_span(doc, DOC_PLAIN, " Under faults: lockbench check %s%s%s%s", stage->lock,
                 yours ? " --url " : "", yours ? yours : "", yours ? "=URL" : "");
    }
    doc_end(doc);
}

void run_summary(const struct report *report, bool quiet, struct doc *doc) {
    struct summary summary = {.report = report, .group = report->decides};
    find_rungs(&summary);
    if (summary.rung_count == 0) summary.alone = find_alone(report, summary.group);
    doc_section(doc, "answer", "Answer");
    run_safe(report, doc);
    ranking_say(report, false, doc);
    run_failed(report, false, 1, doc, NULL);
    run_trust(report, doc);
    run_slo_short(report, PROMISES_MAX, doc);
    doc_end(doc);
    if (quiet) return;
    doc_section(doc, "ran", "Ran");
    say_head(doc, &summary);
    doc_end(doc);
    if (summary.group) add_summary_table(doc, &summary);
    say_next(doc, report);
}
