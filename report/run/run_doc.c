/* run_doc: puts the sections in order, and adds the answers and the notes. See run_doc.h. */
#include "report/run/run_doc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the leaders ---- */

static const char *label_of(const struct report *report, const struct report_group *group,
                            const struct lead_bar *bar) {
    return report->locks[group->rows[bar->row].lock].label;
}

/* True if two locks of a class are ranked: otherwise nobody leads anybody. */
static bool is_contest(const struct report_group *group, struct lead_bar *bars) {
    for (int c = lead_next_class(group, -1); c >= 0; c = lead_next_class(group, c)) {
        if (!lead_is_alone(bars, lead_bars(group, c, bars))) return true;
    }
    return false;
}

/* Names the unfair lock that leads, or that is nearer to the best than the leader. */
static void say_unfair(const struct report *report, const struct report_group *group,
                       struct lead_bar *bars, struct doc *doc) {
    for (int c = lead_next_class(group, -1); c >= 0; c = lead_next_class(group, c)) {
        int leader = lead_leader(group, bars, lead_bars(group, c, bars));
        const struct report_row *nearest = &group->rows[bars[0].row];
        if (leader < 0 || !best_is_unfair(nearest)) continue;
        doc_span(doc, DOC_PLAIN, " %s is %sunfair (Jain %.2f): %s.",
                 label_of(report, group, &bars[0]), leader > 0 ? "nearer to the best, but " : "",
                 nearest->figures.jain, best_unfair_text(nearest));
    }
}

static void say_leaders(const struct report *report, const struct report_group *group,
                        struct lead_bar *bars, struct doc *doc) {
    char clients[NUMBER_TEXT_MAX], rtt[NUMBER_TEXT_MAX];
    bool any = false;
    doc_say(doc, TONE_PLAIN,
            "Leading with %s client%s%s: ", number_count_text(group->clients, clients),
            group->clients == 1 ? "" : "s", report_rtt_text(group->rtt_ns, rtt));
    doc_set_only(doc, DOC_TERMINAL | DOC_MARKDOWN); /* the page's first screen says the same */
    for (int c = lead_next_class(group, -1); c >= 0; c = lead_next_class(group, c)) {
        const struct run_stage *stage = group->rows[c].typical;
        int count = lead_bars(group, c, bars), leader = lead_leader(group, bars, count);
        if (leader < 0) continue;
        doc_span(doc, DOC_PLAIN, "%s", any ? ", " : "");
        doc_span(doc, DOC_STRONG, "%s", label_of(report, group, &bars[leader]));
        doc_span(doc, DOC_PLAIN, " (%s%s%s%s)", words_durability_text(words_durability(stage)),
                 stage->guarantee ? ", " : "", stage->guarantee ? words_guarantee(stage) : "",
                 lead_is_alone(bars, count) ? "; the only one" : "");
        any = true;
    }
    doc_span(doc, DOC_PLAIN, ".");
    say_unfair(report, group, bars, doc);
}

/* The leader of each class, in a sentence; not for the page, whose first screen says it. Nothing if
 * no class has two locks that are ranked. */
static void say_lead(const struct report *report, const struct answers *answers, struct doc *doc) {
    const struct report_group *group = lead_group(answers);
    struct lead_bar *bars = group ? malloc((size_t)group->row_count * sizeof *bars) : NULL;
    if (group && !bars) doc->failed = true;
    if (bars && is_contest(group, bars)) say_leaders(report, group, bars, doc);
    free(bars);
}

/* ---- the answers ---- */

static void add_run_answer(struct doc *doc, const struct report *report,
                           const struct answer *answer, const struct column *column) {
    char text[NUMBER_TEXT_MAX];
    doc_cell(doc, "%s", answer->best ? "" : NUMBER_NONE);
    if (answer->untold) doc_span(doc, DOC_SOFT, " %s", answer->untold);
    if (!answer->best) return;
    doc_span(doc, DOC_STRONG, "%s", report->locks[answer->best->lock].label);
    doc_span(doc, DOC_PLAIN, " %s", answer_text(answer, column, text));
    if (answer->unrivalled) doc_span(doc, DOC_SOFT, " (%s)", answer->unrivalled);
    if (answer->tie_count == 0) return;
    doc_span(doc, DOC_LINE, "level with it: ");
    for (int t = 0; t < answer->tie_count && t < ANSWER_TIES; t++)
        doc_span(doc, DOC_SOFT, "%s%s", t > 0 ? ", " : "",
                 report->locks[answer->ties[t]->lock].label);
    if (answer->tie_count > ANSWER_TIES)
        doc_span(doc, DOC_SOFT, " and %d more", answer->tie_count - ANSWER_TIES);
}

/* A run may have no clients that are alone, or none that meet. */
static void add_question(struct doc *doc, const struct answers *answers, enum question question) {
    const struct report_group *group = answer_group(answers, question);
    char title[200], clients[NUMBER_TEXT_MAX], rtt[NUMBER_TEXT_MAX];
    if (!group) return;
    snprintf(title, sizeof title, "%s, %s client%s%s", answer_title(answers, question),
             number_count_text(group->clients, clients), group->clients == 1 ? "" : "s",
             report_rtt_text(group->rtt_ns, rtt));
    doc_column(doc, &(struct doc_column){.title = title, .below = true, .words = true});
}

/* Which lock to choose: the best of each durability, side by side. */
static void add_answers(const struct report *report, const struct answers *answers,
                        struct doc *doc) {
    bool any = false;
    for (int d = 0; d < DURABILITIES; d++) any |= answers->has[d];
    doc_section(doc, "answer", "Which lock?");
    doc_say(
        doc, TONE_PLAIN,
        "The best of the locks that excluded, for each kind of durability. Kinds are not ranked "
        "against each other: a lock in a server's memory is fast because it promises less when "
        "that server dies. One run can't show a difference below 5 %%.");
    doc_set_only(doc, DOC_HTML | DOC_MARKDOWN);
    const struct report_group *group = answers->contended ? answers->contended : answers->alone;
    if (group && group->repeated) {
        doc_say(doc, TONE_WARN, "Several runs have the same plan, so no lock is ranked here.");
        doc_set_only(doc, DOC_HTML | DOC_MARKDOWN);
    }
    say_lead(report, answers, doc);
    if (any && (answers->alone || answers->contended)) {
        doc_heading(doc, "Best of each durability");
        doc_table(doc, "answers", NULL);
        doc_column(
            doc, &(struct doc_column){.title = "its state is", .help = words_help("its state is")});
        doc_column(doc, &(struct doc_column){
                            .title = "that is", .words = true, .only = DOC_HTML | DOC_MARKDOWN});
        for (int q = 0; q < QUESTIONS; q++) add_question(doc, answers, (enum question)q);
        for (int d = 0; d < DURABILITIES; d++) {
            if (!answers->has[d]) continue;
            doc_row(doc, DOC_ROW);
            doc_cell(doc, "%s", words_durability_text((enum durability)d));
            doc_cell(doc, "%s", words_durability_title((enum durability)d));
            for (int q = 0; q < QUESTIONS; q++) {
                if (!answer_group(answers, (enum question)q)) continue;
                add_run_answer(doc, report, &answers->cell[d][q], answers->column[q]);
            }
        }
        doc_end(doc);
    }
    doc_end(doc);
}

/* ---- the promises ---- */

static const struct doc_column promise_columns[] = {
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
    {.title = WORDS_BOUND, .right = true},
    {.title = "topology, version", .brief = "", .below = true, .words = true},
    {.title = "durability", .brief = "", .below = true, .joined = true, .words = true},
    {.title = "claims", .below = true, .words = true},
    {.title = "a waiter learns by",
     .brief = "waiting",
     .below = true,
     .joined = true,
     .words = true},
    {.title = NULL},
};

static void add_promise(struct doc *doc, const struct report *report,
                        const struct report_lock *lock) {
    const struct run_stage *stage = lock->stage;
    const struct run_server *server = report_server(report, lock);
    const char *version = report_server_version(server);
    bool yours = report_is_yours(server);
    double bound = report_bound(lock);
    char claims[256];
    doc_row(doc, report_is_real(stage) ? DOC_ROW : DOC_ASIDE);
    doc_cell(doc, "%s", lock->label);
    doc_cell(doc, "%s", "");
    words_state_chip(doc, lock->state);
    doc_figure(doc, report_known(lock, lock->grants));
    doc_figure(doc, report_known(lock, lock->competing));
    doc_figure(doc, lock->inside_ns);
    doc_figure(doc, report_known(lock, lock->lost_updates));
    doc_figure(doc, report_second_holders(lock));
    if (!isnan(bound)) {
        doc_value(doc, bound, "%.1e", bound);
    } else {
        doc_cell(doc, "%s", NUMBER_NONE);
    }
    doc_cell(doc, "%s%s%s%s",
             yours ? report_server_name(server) : doc_or(stage->topology, "topology not stated"),
             version ? " " : "", doc_or(version, ""), yours ? ", yours" : "");
    words_durability_cell(doc, stage);
    words_claims(stage, claims, sizeof claims);
    doc_cell(doc, "%s", *claims ? claims : "nothing");
    doc_cell(doc, "%s", doc_or(stage->waits, NUMBER_NONE));
}

static void add_promises(const struct report *report, struct doc *doc) {
    doc_section(doc, "promises", "What each lock promises, and was seen to do");
    doc_table(
        doc, "figures sortable",
        "Every lock, what it did in this run, and what it promises. n: grants during "
        "which another client waited for the key, those of the warm-up and the drain included, since they are "
        "checked too. Inside: the mean time from grant to release.");
    for (const struct doc_column *column = promise_columns; column->title; column++) {
        struct doc_column explained = *column;
        if (!column->help) explained.help = words_help(column->title);
        doc_column(doc, &explained);
    }
    for (int i = 0; i < report->lock_count; i++) add_promise(doc, report, &report->locks[i]);
    doc_end(doc);
    doc_end(doc);
}

/* ---- what the words and the numbers mean, and do not mean ---- */

static bool is_used(const struct report *report, const struct column *column) {
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
    for (const struct column *column = columns_of(IN_COMPARISON); column->key; column++)
        if (is_used(report, column)) doc_term(doc, column->title, "%s", doc_or(column->help, ""));
    doc_end(doc);
    doc_end(doc);
}

static void add_caveats(struct doc *doc) {
    static const struct doc_caveat items[] = {
        {"Clean is not proved safe.",
         "No overlap in n grants means a rate of overlaps of at most 3/n (95 %) under this load, "
         "on healthy servers. Pauses longer than the lease, lost networks and failovers are "
         "other tests."},
        {"One run is one sample.",
         "Differences of a few per cent between single runs mean nothing. Repeat runs, with "
         "restarted servers, before you believe a small difference."},
        {"Durability is not an extra.",
         "A lock in memory is faster than one that waits for the disk because it promises less. "
         "Compare within one durability first."},
        {"The server was on the machine of its clients",
         "if lockbench started it and no client was on another machine. A network adds a round trip to each "
         "request that waits for the one before: there, `lockbench run distance` adds some."},
        {"A closed loop hides waiting.",
         "Its clients ask again only after they were served. To learn how long a user waits at a "
         "given rate, use an open loop and read the time from due to held."},
        {"Polling trades handoff for load.",
         "A longer back-off lowers the commands for each grant and raises handoff; both depend "
         "on options of the lock."},
        {"A median depends on its executor.",
         "The number of clients and the throughput fix the mean wait, but not the median: that "
         "also depends on how clients share threads. The report names threads and fibers with "
         "the numbers."},
        {0},
    };
    doc_caveats(doc, "What the numbers do not mean", items);
}

void run_doc_verdict(const struct report *report, struct doc *doc) {
    doc_section(doc, "verdict", "Does each lock exclude?");
    run_verdict(report, doc);
    doc_end(doc);
}

void run_doc_begin(const struct report *report, struct doc *doc) {
    struct answers answers;
    run_slo(report, doc);
    answer_make(report, &answers);
    add_answers(report, &answers, doc);
    run_distances(report, doc);
    run_leases(report, doc);
    run_comparison(report, &answers, doc);
    run_recovery(report, doc);
    add_promises(report, doc);
    run_faults(report, doc);
}

void run_doc_end(const struct report *report, struct doc *doc) {
    run_notes(report, doc);
    add_words(report, doc);
    add_caveats(doc);
}
