/* run_distances: figures over the round trip to the servers, and where the ranking changes. See run_doc.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/run/reach.h"
#include "report/run/run_doc.h"

static const char *const figures[] = {"latency_ns.acquire.p50", "latency_ns.handoff.p50",
                                      "throughput_per_s"};

#define FIGURES (sizeof figures / sizeof *figures)

/* "no wire", "+0", "+5.00 ms". */
static const char *away_text(const struct report_group *group, char *text) {
    char trip[NUMBER_TEXT_MAX];
    if (isnan(group->rtt_ns)) return "no wire";
    snprintf(text, NUMBER_TEXT_MAX, "+%.40s",
             group->rtt_ns > 0 ? number_time_text(group->rtt_ns, trip) : "0");
    return text;
}

static void add_value(struct doc *doc, const struct column *column,
                      const struct report_group *group, int row) {
    char text[NUMBER_TEXT_MAX];
    double value = row < 0 ? NAN : column_value(column, &group->rows[row]);
    doc_value(doc, value, "%s", column_text(column, value, text));
    if (row >= 0 && best_is_marked(column, group, row)) doc_set_best(doc);
}

static bool has_value(const struct reach *reach, const struct column *column, int lock) {
    for (int i = 0; i < reach->count; i++) {
        const struct report_group *group = reach->groups[i];
        int row = reach_row(group, lock);
        if (row >= 0 && !isnan(group->rtt_ns) && !isnan(column_value(column, &group->rows[row])))
            return true;
    }
    return false;
}

static void add_lock_over_distance(struct doc *doc, const struct report *report,
                                   const struct reach *reach, const struct column *column,
                                   int lock) {
    double trips = reach_trips(reach, column, lock);
    doc_row(doc, report_is_real(report->locks[lock].stage) ? DOC_ROW : DOC_ASIDE);
    doc_cell(doc, "%s", report->locks[lock].label);
    for (int i = 0; i < reach->count; i++)
        add_value(doc, column, reach->groups[i], reach_row(reach->groups[i], lock));
    if (column->kind == COLUMN_TIME && !isnan(trips)) {
        doc_value(doc, trips, "%.1f", trips);
    } else {
        doc_cell(doc, "%s", NUMBER_NONE);
    }
}

/* Rows by durability, as in every table. */
static void add_figure_over_distance(struct doc *doc, const struct report *report,
                                     const struct reach *reach, const struct column *column) {
    bool any = false;
    for (int d = 0; d < DURABILITIES; d++) {
        for (int lock = 0; lock < report->lock_count; lock++) {
            if (words_durability(report->locks[lock].stage) != (enum durability)d ||
                !has_value(reach, column, lock))
                continue;
            if (!any) doc_group(doc, TONE_PLAIN, "%s", column->title);
            any = true;
            add_lock_over_distance(doc, report, reach, column, lock);
        }
    }
}

/* Adds sentences like "grants/s: pg-advisory passes redis-setnx between +1 ms and +5 ms". Returns
 * how many there are. *ranked becomes true if any two locks are ranked at several distances. */
static int add_passings(struct doc *doc, const struct report *report, const struct reach *reach,
                        const struct column *column, bool *ranked) {
    int count = 0;
    for (int a = 0; a < report->lock_count; a++) {
        for (int b = a + 1; b < report->lock_count; b++) {
            struct passing passing;
            char before[NUMBER_TEXT_MAX], after[NUMBER_TEXT_MAX];
            *ranked |= reach_ranks(reach, column, a, b);
            if (!reach_passing(reach, column, a, b, &passing)) continue;
            doc_item(doc, TONE_PLAIN, "%s: ", column->title);
            doc_span(doc, DOC_STRONG, "%s", report->locks[passing.winner].label);
            doc_span(doc, DOC_PLAIN, " passes %s between %s and %s",
                     report->locks[passing.loser].label, away_text(passing.before, before),
                     away_text(passing.after, after));
            count++;
        }
    }
    return count;
}

static void add_distance_columns(struct doc *doc, const struct reach *reach) {
    char text[NUMBER_TEXT_MAX];
    doc_column(doc, &(struct doc_column){.title = "lock"});
    for (int i = 0; i < reach->count; i++)
        doc_column(doc,
                   &(struct doc_column){.title = away_text(reach->groups[i], text), .right = true});
    doc_column(
        doc, &(struct doc_column){
                 .title = "\xc3\x97 rtt",
                 .help = "how many times the added round trip the figure grew by, from the nearest "
                         "to the farthest: 1 = the figure needs one round trip",
                 .right = true});
}

static void add_reach(struct doc *doc, const struct report *report, const struct reach *reach) {
    char clients[NUMBER_TEXT_MAX];
    const struct report_group *first = reach->groups[0];
    bool ranked = false;
    int changes = 0;
    doc_heading(doc, "%s client%s: %s", number_count_text(first->clients, clients),
                first->clients == 1 ? "" : "s", first->near);
    doc_table(doc, "figures", NULL);
    add_distance_columns(doc, reach);
    for (size_t f = 0; f < FIGURES; f++)
        add_figure_over_distance(doc, report, reach, column_compared(figures[f], first));
    doc_end(doc);
    doc_list(doc, NULL);
    for (size_t f = 0; f < FIGURES; f++)
        changes += add_passings(doc, report, reach, column_compared(figures[f], first), &ranked);
    if (changes == 0)
        doc_item(doc, TONE_PLAIN, "%s",
                 ranked ? "the ranking does not change with the distance"
                        : "no two locks of one durability are ranked at several distances");
    doc_end(doc);
}

static bool has_distances(const struct report *report) {
    struct reach reach;
    struct lb_err err = {0};
    bool has = reach_find(report, 0, &reach, &err);
    free(reach.groups);
    return has;
}

void run_distances(const struct report *report, struct doc *doc) {
    struct reach reach;
    struct lb_err err = {0};
    if (!has_distances(report)) return;
    doc_section(doc, "distances", "How far away the server is");
    doc_say(
        doc, TONE_PLAIN,
        "A wire of lockbench's own adds a round trip between clients and servers (servers.rtt). \xc3\x97 rtt: how "
        "many of the added round trips the figure grew by. The difference between no wire and +0 "
        "is the cost of the wire itself; no figure is corrected by it. The ranking changes if, of "
        "two locks with the same durability, the better one at the nearest servers is the worse "
        "one at the farthest.");
    for (int i = 0; reach_find(report, i, &reach, &err); i++) {
        add_reach(doc, report, &reach);
        free(reach.groups);
    }
    doc_end(doc);
    if (err.code) doc->failed = true;
}
