/* run_distances: figures over the round trip to the servers (servers.rtt). See run_doc.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/run/ranking.h"
#include "report/run/run_doc.h"

static const char *const figures[] = {"latency_ns.acquire.p50", "latency_ns.handoff.p50",
                                      "throughput_per_s"};

#define FIGURES (sizeof figures / sizeof *figures)

/* Groups that differ only in the round trip to their servers: the same load with as many clients,
 * from the nearest to the farthest. .rtt_ns of the first one is NAN if it has no wire. */
struct reach {
    const struct report_group **groups; /* owned */
    int count;                          /* at least 2 */
};

static bool same_reach(const struct report_group *a, const struct report_group *b) {
    return a->clients == b->clients && strcmp(a->near, b->near) == 0;
}

static int by_rtt(const void *a, const void *b) {
    const struct report_group *x = *(const struct report_group *const *)a,
                              *y = *(const struct report_group *const *)b;
    double p = isnan(x->rtt_ns) ? -1 : x->rtt_ns, q = isnan(y->rtt_ns) ? -1 : y->rtt_ns;
    return (p > q) - (p < q);
}

/* The groups of the same reach; groups may be NULL. Returns how many. */
static int gather(const struct report *report, const struct report_group *first,
                  const struct report_group **groups) {
    int count = 0;
    for (int g = 0; g < report->group_count; g++) {
        if (!same_reach(first, &report->groups[g])) continue;
        if (groups) groups[count] = &report->groups[g];
        count++;
    }
    return count;
}

static bool is_first(const struct report *report, int group) {
    for (int g = 0; g < group; g++) {
        if (same_reach(&report->groups[g], &report->groups[group])) return false;
    }
    return true;
}

/* Finds the index-th reach, in the order of the report. False: there are no more (then .groups is
 * NULL), or out of memory (err). The caller frees its groups. */
static bool reach_find(const struct report *report, int index, struct reach *ret,
                       struct lb_err *err) {
    *ret = (struct reach){0};
    for (int g = 0; g < report->group_count; g++) {
        const struct report_group *first = &report->groups[g];
        int count = gather(report, first, NULL);
        if (!is_first(report, g) || count < 2 || index-- > 0) continue;
        ret->groups = calloc((size_t)count, sizeof(const struct report_group *));
        if (!ret->groups) {
            err_set(err, LB_EXIT_MACHINE, "out of memory");
            return false;
        }
        ret->count = gather(report, first, ret->groups);
        qsort(ret->groups, (size_t)count, sizeof *ret->groups, by_rtt);
        return true;
    }
    return false;
}

static int reach_row(const struct report_group *group, int lock) {
    for (int r = 0; r < group->row_count; r++) {
        if (group->rows[r].lock == lock) return r;
    }
    return -1;
}

static double value_at(const struct report_group *group, const struct column *column, int lock) {
    int row = reach_row(group, lock);
    return row < 0 ? NAN : column_value(column, &group->rows[row]);
}

/* The growth of the lock's figure, as a multiple of the added round trip, from the nearest group
 * with a wire to the farthest; NAN if it was not measured in both, or is "never" in one. */
static double reach_trips(const struct reach *reach, const struct column *column, int lock) {
    const struct report_group *near = NULL, *far = reach->groups[reach->count - 1];
    for (int i = reach->count - 1; i >= 0 && !isnan(reach->groups[i]->rtt_ns); i--)
        near = reach->groups[i];
    if (!near || near == far) return NAN;
    double growth = value_at(far, column, lock) - value_at(near, column, lock);
    return isfinite(growth) ? growth / (far->rtt_ns - near->rtt_ns) : NAN;
}

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
    doc_heading(doc, "%s client%s: %s", number_count_text(first->clients, clients),
                first->clients == 1 ? "" : "s", first->near);
    doc_table(doc, "figures", NULL);
    add_distance_columns(doc, reach);
    for (size_t f = 0; f < FIGURES; f++)
        add_figure_over_distance(doc, report, reach, column_compared(figures[f], first));
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
        "is the cost of the wire itself; no figure is corrected by it.");
    for (int i = 0; reach_find(report, i, &reach, &err); i++) {
        add_reach(doc, report, &reach);
        free(reach.groups);
    }
    doc_end(doc);
    if (err.code) doc->failed = true;
}
