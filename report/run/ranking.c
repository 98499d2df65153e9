/* ranking: see ranking.h. */
#include "report/run/ranking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/doc/escape.h"
#include "results/format/run_read.h"

/* ---- the cost of a grant ---- */

/* Readers hold together, and of several keys some are free for a while, so the time between two grants is no cost of
 * theirs. */
static bool always_waits(const struct run_stage *stage) {
    return report_wait_is_fixed(stage) && !(stage->readers > 0) &&
           !(stage->keys && strtod(stage->keys, NULL) > 1);
}

static const struct result_field *median_wait(const struct report_group *group) {
    return column_compared("latency_ns.acquire.p50", group);
}

const char *ranking_figure(const struct report_group *group) {
    return group->by_cost ? "cost of a grant" : median_wait(group)->title;
}

/* The time between two grants of a key. */
static double round_ns(const struct run_stage *stage) {
    return stage->throughput_per_s > 0 ? 1e9 * report_most_holders(stage) / stage->throughput_per_s
                                       : NAN;
}

/* INFINITY: nothing was granted; NAN: not known, also where holders were inside for longer than a round. A file that does
 * not tell the time inside tells it of no lock of the load. */
static double stage_cost_ns(const struct run_stage *stage) {
    double inside_ns = isnan(stage->inside_mean_ns) ? 0 : stage->inside_mean_ns;
    if (!always_waits(stage)) return NAN;
    if (stage->throughput_per_s == 0) return INFINITY;
    double cost_ns = round_ns(stage) - inside_ns;
    return cost_ns > 0 ? cost_ns : NAN;
}

/* The figure that ranks, of one stage or of all of a row. */
static double rank_ns(const struct report_group *group, const struct run_stage *stage) {
    return group->by_cost ? stage_cost_ns(stage) : result_field_figure(median_wait(group), stage);
}

double ranking_share(const struct report_group *group, const struct report_row *row) {
    const struct run_stage *figures = &row->figures;
    bool holds = !figures->hold || strcmp(figures->hold, "0") != 0;
    return group->by_cost && always_waits(figures) && holds
               ? figures->inside_mean_ns / round_ns(figures)
               : NAN;
}

static void add_interval(const struct report_group *group, struct report_row *row) {
    double *costs = calloc((size_t)row->repeats, sizeof *costs);
    int count = 0;
    for (int i = 0; i < row->repeats && costs; i++) {
        double cost_ns = rank_ns(group, row->stages[i]);
        if (isfinite(cost_ns)) costs[count++] = cost_ns;
    }
    struct spread spread = spread_of_values(costs, count);
    free(costs);
    row->low_ns = spread.low;
    row->high_ns = spread.high;
}

/* The stage of a list that ran in the same round; NULL: there is none. */
static const struct run_stage *of_round(const struct run_stage *const *stages, int count,
                                        const struct run_stage *stage) {
    for (int i = 0; i < count; i++) {
        if (stages[i]->repeat == stage->repeat) return stages[i];
    }
    return NULL;
}

/* The interval of the ratio of two lists' costs, round by round: what changed the machine changed both. again:
 * of the first list those count that ran once more in their round. */
static struct spread ratio_of(const struct report_group *group, const struct run_stage *const *over,
                              int over_count, const struct report_row *under, bool again) {
    double *ratios = calloc((size_t)over_count + 1, sizeof *ratios);
    int count = 0;
    for (int i = 0; i < over_count && ratios; i++) {
        if (again && (!over[i]->again || over[i]->aside)) continue;
        const struct run_stage *other = of_round(under->stages, under->repeats, over[i]);
        double ratio = other ? rank_ns(group, over[i]) / rank_ns(group, other) : NAN;
        if (isfinite(ratio)) ratios[count++] = ratio;
    }
    struct spread spread = spread_of_values(ratios, count);
    free(ratios);
    return spread;
}

static double resolution_of(const struct report_group *group) {
    for (int r = 0; r < group->row_count; r++) {
        const struct report_row *row = &group->rows[r];
        const struct run_stage *const *aside = row->stages + row->repeats;
        bool again = false;
        for (int i = 0; i < row->aside; i++) again |= aside[i]->again && !aside[i]->aside;
        if (!again) continue;
        struct spread spread = ratio_of(group, aside, row->aside, row, true);
        if (spread.kind != SPREAD_REPEATS) return NAN;
        bool level = spread.low < 1 + RANKING_TIE && spread.high > 1 / (1 + RANKING_TIE);
        return level ? fmax(spread.high, 1 / spread.low) - 1 : INFINITY;
    }
    return NAN;
}

/* True if the rounds tell no lock from another: they are too few, or the lock that ran twice differed from itself. */
static bool tells_nothing(const struct report_group *group) {
    return group->paired &&
           (group->rounds < RANKING_ROUNDS || group->resolution > RANKING_MULTIPLE - 1);
}

/* True if the figures do not tell the costs of the two apart. */
static bool is_level(const struct report_group *group, const struct report_row *first,
                     const struct report_row *row) {
    if (!isfinite(first->cost_ns) || !isfinite(row->cost_ns)) return false;
    if (tells_nothing(group)) return true;
    double whole_ns = group->by_cost ? fmax(round_ns(&row->figures), round_ns(&first->figures))
                                     : fmax(first->cost_ns, row->cost_ns);
    if (fabs(row->cost_ns - first->cost_ns) <= RANKING_TIE * whole_ns) return true;
    if (!group->paired) /* false where one has no interval */
        return row->low_ns <= first->high_ns && first->low_ns <= row->high_ns;
    struct spread spread = ratio_of(group, row->stages, row->repeats, first, false);
    return row->cost_ns < first->cost_ns ? spread.high >= 1 : spread.low <= 1;
}

/* ---- the order in a class ---- */

/* Whether so much waiting is in no percentile that a p99 is a lower bound. */
static bool lacks_waits(const struct report_row *row) {
    return row->unrecorded > UNRECORDED_SHARE;
}

/* True if the plan kills, stops or starves some of the clients: those can't ask as often as the others. */
static bool fault_is_of_clients(const struct run_stage *stage) {
    static const char *const kinds[] = {"kill", "pause", "starve"};
    for (const char *at = stage->fault; at && *at; at += *at == '+') {
        size_t length = strcspn(at, "+");
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (strlen(kinds[i]) == length && strncmp(at, kinds[i], length) == 0) return true;
        at += length;
    }
    return false;
}

static bool is_unfair(const struct report_row *row) {
    const struct run_stage *figures = &row->figures;
    double grants =
        figures->grants / row->repeats; /* of n to m clients chance makes 1 / (1 + m / n) */
    double chance = grants > 0 ? figures->clients / grants : 0;
    return figures->jain * (1 + chance) < RANKING_FAIR && !fault_is_of_clients(row->typical);
}

/* True if a lock leads before a cheaper one: its p99 is shorter by a multiple of what it costs more, or they are level and it
 * is the fairer one. A p99 that is a lower bound loses to a smaller one, and wins against none. */
static bool is_steadier(const struct report_group *group, const struct report_row *row,
                        const struct report_row *cheaper) {
    const struct result_field *p99 = column_compared("latency_ns.acquire.p99", group);
    double tail_ns = column_value(p99, row), first_tail_ns = column_value(p99, cheaper);
    double dearer = row->cost_ns / cheaper->cost_ns;
    bool fairer = is_unfair(cheaper) && !is_unfair(row);
    bool less_fair = is_unfair(row) && !is_unfair(cheaper);
    bool sooner = !lacks_waits(row) && first_tail_ns > RANKING_MULTIPLE * dearer * tail_ns;
    bool later = !lacks_waits(cheaper) && tail_ns > RANKING_MULTIPLE * first_tail_ns;
    return (fairer && !later && is_level(group, cheaper, row)) || (sooner && !less_fair);
}

static int by_rank(const void *a, const void *b) {
    const struct report_row *x = *(const struct report_row *const *)a,
                            *y = *(const struct report_row *const *)b;
    if (isnan(x->cost_ns) || isnan(y->cost_ns)) return isnan(x->cost_ns) - isnan(y->cost_ns);
    if (x->cost_ns == y->cost_ns) return (x > y) - (x < y);
    return x->cost_ns < y->cost_ns ? -1 : 1;
}

static void order_class(const struct report_group *group, struct report_class *class) {
    struct report_row **rows = class->rows;
    qsort(rows, (size_t) class->count, sizeof(struct report_row *), by_rank);
    for (int i = 1; i < class->count && !tells_nothing(group); i++) {
        if (!isfinite(rows[i]->cost_ns) || !is_steadier(group, rows[i], rows[0])) continue;
        struct report_row *steadier = rows[i];
        memmove(&rows[1], &rows[0], (size_t)i * sizeof(struct report_row *));
        rows[0] = steadier;
    }
    class->cheapest = rows[0];
    for (int i = 1; i < class->count; i++) {
        rows[i]->level = is_level(group, rows[0], rows[i]);
        if (rows[i]->cost_ns < class->cheapest->cost_ns) class->cheapest = rows[i];
    }
    class->contest = class->count > 1 && !isnan(rows[1]->cost_ns);
}

/* ---- the classes ---- */

/* True if two locks survive the same failures and keep their truth in the same kind of place, so
 * that they may be ranked against each other. */
static bool is_same_class(const struct run_stage *a, const struct run_stage *b) {
    /* What one server does not tell, two servers have not in common. */
    bool known = words_durability(a) != DURABILITY_UNKNOWN;
    return words_durability(a) == words_durability(b) &&
           (known || strcmp(doc_or(a->backend, ""), doc_or(b->backend, "")) == 0) &&
           strcmp(words_guarantee(a), words_guarantee(b)) == 0;
}

static void name_class(struct report_class *class, const struct run_stage *stage) {
    enum durability durability = words_durability(stage);
    bool stated = stage->guarantee != NULL;
    bool unknown = durability == DURABILITY_UNKNOWN && stage->backend;
    snprintf(class->name, sizeof class->name, "%s%s%s%s%s", unknown ? stage->backend : "",
             unknown ? ": " : "", words_durability_text(durability), stated ? ", " : "",
             stated ? words_guarantee(stage) : "");
}

/* Opens the class of a row, and moves all its rows there. by_rank: the list's next rows. Returns how many it took. */
static int open_class(struct report_group *group, int row, struct report_row **by_rank) {
    struct report_class *class = &group->classes[group->class_count++];
    const struct run_stage *first = group->rows[row].typical;
    class->first = first;
    class->rows = by_rank;
    name_class(class, first);
    for (int r = row; r < group->row_count; r++) {
        struct report_row *other = &group->rows[r];
        if (!report_is_real(other->typical) || !is_same_class(other->typical, first)) continue;
        class->rows[class->count++] = other;
        other->class = class;
    }
    return class->count;
}

static void rank_group(struct report_group *group, struct report_row **by_rank) {
    for (int r = 0; r < group->row_count; r++)
        group->by_cost |= group->rows[r].candidate && always_waits(group->rows[r].typical);
    for (int r = 0; r < group->row_count; r++) {
        struct report_row *row = &group->rows[r];
        if (row->repeats > group->rounds) group->rounds = row->repeats;
        group->competes |= report_competes(row->typical);
        row->cost_ns = row->candidate ? rank_ns(group, &row->figures) : NAN;
        add_interval(group, row);
    }
    group->resolution = resolution_of(group);
    for (int d = 0; d < DURABILITIES; d++)
        for (int r = 0; r < group->row_count; r++) {
            const struct report_row *row = &group->rows[r];
            bool real = report_is_real(row->typical) && (int)words_durability(row->typical) == d;
            if (real && !row->class) by_rank += open_class(group, r, by_rank);
        }
    for (int c = 0; c < group->class_count; c++) order_class(group, &group->classes[c]);
}

/* The load whose clients meet, or do not, with the most clients, or the fewest; of several the one with the most locks. */
static const struct report_group *find_load(const struct report *report, bool competes) {
    const struct report_group *found = NULL;
    for (int g = 0; g < report->group_count; g++) {
        const struct report_group *group = &report->groups[g];
        if (group->competes != competes) continue;
        double more = found ? group->clients - found->clients : 0;
        if (!competes) more = -more;
        if (!found || more > 0 || (more == 0 && group->row_count > found->row_count)) found = group;
    }
    return found;
}

int report_rank(struct report *report) {
    size_t count = (size_t)report->run->stage_count, used = 0; /* at most so many rows */
    report->classes = calloc(count, sizeof *report->classes);
    report->by_rank = calloc(count, sizeof(struct report_row *));
    if (!report->classes || !report->by_rank) return -1;
    for (int g = 0; g < report->group_count; g++) {
        struct report_group *group = &report->groups[g];
        group->classes = &report->classes[used];
        rank_group(group, &report->by_rank[used]);
        used += (size_t)group->row_count;
    }
    report->alone = find_load(report, false);
    report->decides = find_load(report, true);
    if (!report->decides) report->decides = report->alone;
    if (report->decides && report->decides->class_count > 0) report->ranked = report->decides;
    return 0;
}

/* ---- what takes away from a lock ---- */

#define RANKING_PROGRAM                                                                            \
    "a line protocol and two process switches in each call; exec-null has them alone"

char *ranking_note(const struct report_row *row, char *text) {
    const struct run_stage *figures = &row->figures;
    double failed = run_failed_requests(figures);
    bool program =
        row->candidate && row->typical->backend && strcmp(row->typical->backend, "exec") == 0;
    size_t used = (size_t)snprintf(text, RANKING_NOTE_MAX, "%s", program ? RANKING_PROGRAM : "");
    /* Jain's index is the part of the clients among which equal shares would give it. */
    if (is_unfair(row))
        used += (size_t)snprintf(
            text + used, RANKING_NOTE_MAX - used, "%s%s (Jain %.2f)", used ? "; " : "",
            figures->jain * figures->clients < 1.1 ? "one client got almost all grants"
                                                   : "few clients got most of the grants",
            figures->jain);
    if (lacks_waits(row))
        used += (size_t)snprintf(text + used, RANKING_NOTE_MAX - used,
                                 "%s%.0f %% of its waiting is in no percentile", used ? "; " : "",
                                 unrecorded_per_cent(row->unrecorded));
    if (failed > 0 && (!row->typical->fault || strcmp(row->typical->fault, "none") == 0))
        snprintf(text + used, RANKING_NOTE_MAX - used, "%s%.0f requests failed", used ? "; " : "",
                 failed);
    return text;
}

/* ---- the sentence ---- */

#define LEVEL_SAID 3 /* names, where the sentence is about at most so many classes */

/* Adds " (p99 or fairness decides; memcached-add costs less)", where the first is not the cheapest. */
static void add_cheaper(const struct report_class *class, struct doc *doc) {
    const struct report_row *least = class->cheapest;
    if (least == class->rows[0]) return;
    doc_span(doc, DOC_PLAIN, " (p99 or fairness decides");
    if (!least->level) doc_span(doc, DOC_PLAIN, "; %s costs less", least->lock->label);
    doc_span(doc, DOC_PLAIN, ")");
}

/* Adds "in memory: pg-advisory, level with redis-setnx". */
static void add_first(const struct report_class *class, bool brief, struct doc *doc) {
    int level = 0, said = 0;
    for (int i = 1; i < class->count; i++) level += class->rows[i]->level;
    bool named = level <= LEVEL_SAID && !brief;
    doc_span(doc, DOC_PLAIN, "%s: ", class->name);
    doc_span(doc, DOC_STRONG, "%s", class->rows[0]->lock->label);
    add_cheaper(class, doc);
    if (level > 0 && !named && !brief) doc_span(doc, DOC_PLAIN, ", level with %d more", level);
    for (int i = 1; i < class->count && named; i++)
        if (class->rows[i]->level)
            doc_span(doc, DOC_PLAIN, "%s%s", said++ > 0 ? ", " : ", level with ",
                     class->rows[i]->lock->label);
}

/* Adds what a reader must know of the first of each class. */
static void add_notes(const struct report_group *group, struct doc *doc) {
    char text[RANKING_NOTE_MAX];
    for (int c = 0; c < group->class_count; c++) {
        const struct report_row *first = group->classes[c].rows[0];
        if (isfinite(first->cost_ns) && *ranking_note(first, text))
            doc_span(doc, DOC_PLAIN, " %s: %s.", first->lock->label, text);
    }
}

/* Nobody was compared, since a server does not tell where it keeps a lock. */
static void say_not_stated(const struct report_group *group, struct doc *doc) {
    int locks = 0;
    const char *silent = NULL;
    for (int r = 0; r < group->row_count; r++) {
        const struct run_stage *stage = group->rows[r].typical;
        if (!report_is_real(stage)) continue;
        locks++;
        if (strstr(doc_or(stage->durability, ""), ".durability=")) silent = stage->backend;
    }
    if (locks > 1 && silent)
        doc_say(doc, TONE_WARN,
                "Which? %s does not tell its durability, so it is compared with no other: --set "
                "%s.durability=memory, log or disk states it.",
                silent, silent);
}

void ranking_say(const struct report *report, bool notes, struct doc *doc) {
    const struct report_group *group = report->ranked;
    char clients[NUMBER_TEXT_MAX], rtt[NUMBER_TEXT_MAX];
    int said = 0, contests = 0;
    if (!group) return;
    for (int c = 0; c < group->class_count; c++) contests += group->classes[c].contest;
    for (int c = 0; c < group->class_count; c++) {
        const struct report_class *class = &group->classes[c];
        if (!isfinite(class->rows[0]->cost_ns) || !class->contest) continue;
        if (said++ == 0) {
            doc_say(doc, TONE_PLAIN, "Which? By the %s with %s client%s%s, ", ranking_figure(group),
                    number_count_text(group->clients, clients), group->clients == 1 ? "" : "s",
                    report_rtt_text(group->rtt_ns, rtt));
            doc_set_only(doc, DOC_TERMINAL | DOC_MARKDOWN); /* the page's first screen says it */
        } else {
            doc_span(doc, DOC_PLAIN, "; ");
        }
        add_first(class, contests > LEVEL_SAID, doc);
    }
    if (said == 0) {
        say_not_stated(group, doc);
        return;
    }
    doc_span(doc, DOC_PLAIN, ".");
    if (notes) add_notes(group, doc);
}

/* ---- for machines ---- */

static json_t *rank_json(const struct report_row *row) {
    char note[RANKING_NOTE_MAX];
    return json_pack("{s:o, s:o, s:o, s:o, s:b, s:o}", "lock", escape_json(row->lock->label),
                     "cost_ns", escape_json_figure(row->cost_ns), "low_ns",
                     escape_json_figure(row->low_ns), "high_ns", escape_json_figure(row->high_ns),
                     "level", (int)row->level, "note", escape_json(ranking_note(row, note)));
}

json_t *ranking_json(const struct report *report) {
    const struct report_group *group = report->ranked;
    json_t *classes = json_array();
    int rc = 0;
    for (int c = 0; group && c < group->class_count; c++) {
        const struct report_class *class = &group->classes[c];
        json_t *locks = json_array();
        for (int i = 0; i < class->count; i++)
            rc |= json_array_append_new(locks, rank_json(class->rows[i]));
        rc |= json_array_append_new(
            classes, json_pack("{s:o, s:s, s:o, s:o}", "class", escape_json(class->name), "figure",
                               ranking_figure(group), "clients", escape_json_figure(group->clients),
                               "locks", locks));
    }
    if (rc == 0) return classes;
    json_decref(classes);
    return NULL;
}
