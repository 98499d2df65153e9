/* ranking: see ranking.h. */
#include "report/run/ranking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/doc/escape.h"
#include "results/format/run_read.h"

/* ---- the loads ---- */

static bool group_competes(const struct report_group *group) {
    for (int r = 0; r < group->row_count; r++)
        if (report_competes(group->rows[r].typical)) return true;
    return false;
}

const struct report_group *ranking_alone(const struct report *report) {
    const struct report_group *alone = NULL;
    for (int g = 0; g < report->group_count; g++) {
        const struct report_group *group = &report->groups[g];
        if (group_competes(group)) continue;
        if (!alone || group->clients < alone->clients ||
            (group->clients == alone->clients && group->row_count > alone->row_count))
            alone = group;
    }
    return alone;
}

const struct report_group *ranking_load(const struct report *report) {
    const struct report_group *most = NULL;
    for (int g = 0; g < report->group_count; g++) {
        const struct report_group *group = &report->groups[g];
        if (!group_competes(group)) continue;
        if (!most || group->clients > most->clients ||
            (group->clients == most->clients && group->row_count > most->row_count))
            most = group;
    }
    return most ? most : ranking_alone(report);
}

const struct report_group *ranking_group(const struct report *report) {
    const struct report_group *group = ranking_load(report);
    return group && ranking_next_class(group, -1) >= 0 ? group : NULL;
}

/* ---- the cost of a grant ---- */

/* Readers hold together, and of several keys some are free for a while, so the time between two grants is no cost of
 * theirs. */
static bool always_waits(const struct run_stage *stage) {
    return report_wait_is_fixed(stage) && !(stage->readers > 0) &&
           !(stage->keys && strtod(stage->keys, NULL) > 1);
}

bool ranking_by_cost(const struct report_group *group) {
    for (int r = 0; r < group->row_count; r++)
        if (group->rows[r].candidate && always_waits(group->rows[r].typical)) return true;
    return false;
}

static const struct result_field *median_wait(const struct report_group *group) {
    return column_compared("latency_ns.acquire.p50", group);
}

const char *ranking_figure(const struct report_group *group) {
    return ranking_by_cost(group) ? "cost of a grant" : median_wait(group)->title;
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

double ranking_cost_ns(const struct report_group *group, int row) {
    const struct report_row *mine = &group->rows[row];
    if (!mine->candidate) return NAN;
    return ranking_by_cost(group) ? stage_cost_ns(&mine->figures)
                                  : column_value(median_wait(group), mine);
}

double ranking_share(const struct report_group *group, int row) {
    const struct run_stage *figures = &group->rows[row].figures;
    bool holds = !figures->hold || strcmp(figures->hold, "0") != 0;
    return ranking_by_cost(group) && always_waits(figures) && holds
               ? figures->inside_mean_ns / round_ns(figures)
               : NAN;
}

/* The figure that ranks, of one stage. */
static double stage_rank_ns(const struct report_group *group, const struct run_stage *stage) {
    return ranking_by_cost(group) ? stage_cost_ns(stage)
                                  : result_field_figure(median_wait(group), stage);
}

static void add_interval(const struct report_group *group, struct ranked *rank) {
    const struct report_row *row = &group->rows[rank->row];
    double *costs = calloc((size_t)row->repeats, sizeof *costs);
    int count = 0;
    for (int i = 0; i < row->repeats && costs; i++) {
        double cost_ns = stage_rank_ns(group, row->stages[i]);
        if (isfinite(cost_ns)) costs[count++] = cost_ns;
    }
    struct spread spread = spread_of_values(costs, count);
    free(costs);
    rank->low_ns = spread.low;
    rank->high_ns = spread.high;
}

/* The stage of a list that ran in the same round; NULL: there is none. */
static const struct run_stage *of_round(const struct run_stage *const *stages, int count,
                                        const struct run_stage *stage) {
    for (int i = 0; i < count; i++) {
        if (stages[i]->repeat == stage->repeat) return stages[i];
    }
    return NULL;
}

/* The interval of the ratio of two lists' costs, round by round: what changed the machine changed both. */
static struct spread ratio_of(const struct report_group *group, const struct run_stage *const *over,
                              int over_count, const struct run_stage *const *under,
                              int under_count) {
    double *ratios = calloc((size_t)over_count + 1, sizeof *ratios);
    int count = 0;
    for (int i = 0; i < over_count && ratios; i++) {
        const struct run_stage *other = of_round(under, under_count, over[i]);
        double ratio = other ? stage_rank_ns(group, over[i]) / stage_rank_ns(group, other) : NAN;
        if (isfinite(ratio)) ratios[count++] = ratio;
    }
    struct spread spread = spread_of_values(ratios, count);
    free(ratios);
    return spread;
}

double ranking_resolution(const struct report_group *group) {
    if (group->again_count == 0) return NAN;
    for (int r = 0; r < group->row_count; r++) {
        const struct report_row *row = &group->rows[r];
        if (strcmp(row->typical->lock, group->again[0]->lock) != 0) continue;
        struct spread spread =
            ratio_of(group, group->again, group->again_count, row->stages, row->repeats);
        if (spread.kind != SPREAD_REPEATS) return NAN;
        bool level = spread.low < 1 + RANKING_TIE && spread.high > 1 / (1 + RANKING_TIE);
        return level ? fmax(spread.high, 1 / spread.low) - 1 : INFINITY;
    }
    return NAN;
}

/* True if the rounds tell no lock from another: they are too few, or the lock that ran twice differed from itself. */
static bool tells_nothing(const struct report_group *group) {
    int rounds = 0;
    for (int r = 0; r < group->row_count; r++)
        if (group->rows[r].repeats > rounds) rounds = group->rows[r].repeats;
    return group->paired &&
           (rounds < RANKING_ROUNDS || ranking_resolution(group) > RANKING_MULTIPLE - 1);
}

/* True if the figures do not tell the costs of the two apart. */
static bool is_level(const struct report_group *group, const struct ranked *one,
                     const struct ranked *other) {
    if (!isfinite(one->cost_ns) || !isfinite(other->cost_ns)) return false;
    if (tells_nothing(group)) return true;
    const struct report_row *row = &group->rows[other->row], *first = &group->rows[one->row];
    double whole_ns = ranking_by_cost(group)
                          ? fmax(round_ns(&row->figures), round_ns(&first->figures))
                          : fmax(one->cost_ns, other->cost_ns);
    if (fabs(other->cost_ns - one->cost_ns) <= RANKING_TIE * whole_ns) return true;
    if (!group->paired) /* false where one has no interval */
        return other->low_ns <= one->high_ns && one->low_ns <= other->high_ns;
    struct spread spread =
        ratio_of(group, row->stages, row->repeats, first->stages, first->repeats);
    return other->cost_ns < one->cost_ns ? spread.high >= 1 : spread.low <= 1;
}

/* ---- the classes ---- */

bool ranking_is_in_class(const struct report_group *group, int row, int first) {
    return report_is_real(group->rows[row].typical) &&
           words_same_class(group->rows[row].typical, group->rows[first].typical);
}

static bool opens_class(const struct report_group *group, int row) {
    if (!report_is_real(group->rows[row].typical)) return false;
    for (int before = 0; before < row; before++)
        if (ranking_is_in_class(group, before, row)) return false;
    return true;
}

int ranking_next_class(const struct report_group *group, int after) {
    int d = after < 0 ? 0 : (int)words_durability(group->rows[after].typical);
    for (int from = after + 1; d < DURABILITIES; d++, from = 0) {
        for (int r = from; r < group->row_count; r++)
            if ((int)words_durability(group->rows[r].typical) == d && opens_class(group, r))
                return r;
    }
    return -1;
}

char *ranking_class_text(const struct report_group *group, int row, char *text) {
    const struct run_stage *stage = group->rows[row].typical;
    bool stated = stage->guarantee != NULL;
    bool unknown = words_durability(stage) == DURABILITY_UNKNOWN && stage->backend;
    snprintf(text, RANKING_NOTE_MAX, "%s%s%s%s%s", unknown ? stage->backend : "",
             unknown ? ": " : "", words_durability_text(words_durability(stage)),
             stated ? ", " : "", stated ? words_guarantee(stage) : "");
    return text;
}

static int by_rank(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    if (isnan(x->cost_ns) || isnan(y->cost_ns)) return isnan(x->cost_ns) - isnan(y->cost_ns);
    if (x->cost_ns == y->cost_ns) return x->row - y->row;
    return x->cost_ns < y->cost_ns ? -1 : 1;
}

/* Whether so much waiting is in no percentile that a p99 is a lower bound. */
static bool lacks_waits(const struct report_row *row) {
    return row->unrecorded > UNRECORDED_SHARE;
}

static bool is_unfair(const struct report_row *row) {
    const struct run_stage *figures = &row->figures;
    double grants =
        figures->grants / row->repeats; /* of n to m clients chance makes 1 / (1 + m / n) */
    double chance = grants > 0 ? figures->clients / grants : 0;
    return figures->jain * (1 + chance) < RANKING_FAIR && !report_fault_is_of_clients(row->typical);
}

/* True if a lock leads before a cheaper one: its p99 is shorter by a multiple of what it costs more, or they are level and it
 * is the fairer one. A p99 that is a lower bound loses to a smaller one, and wins against none. */
static bool is_steadier(const struct report_group *group, const struct ranked *rank,
                        const struct ranked *cheaper) {
    const struct report_row *other = &group->rows[rank->row], *first = &group->rows[cheaper->row];
    const struct result_field *p99 = column_compared("latency_ns.acquire.p99", group);
    double tail_ns = column_value(p99, other), first_tail_ns = column_value(p99, first);
    double dearer = rank->cost_ns / cheaper->cost_ns;
    bool fairer = is_unfair(first) && !is_unfair(other);
    bool less_fair = is_unfair(other) && !is_unfair(first);
    bool sooner = !lacks_waits(other) && first_tail_ns > RANKING_MULTIPLE * dearer * tail_ns;
    bool later = !lacks_waits(first) && tail_ns > RANKING_MULTIPLE * first_tail_ns;
    return (fairer && !later && is_level(group, cheaper, rank)) || (sooner && !less_fair);
}

static void choose_first(const struct report_group *group, struct ranked *ranks, int count) {
    for (int i = 1; i < count && !tells_nothing(group); i++) {
        if (!isfinite(ranks[i].cost_ns) || !is_steadier(group, &ranks[i], &ranks[0])) continue;
        struct ranked steadier = ranks[i];
        memmove(&ranks[1], &ranks[0], (size_t)i * sizeof *ranks);
        ranks[0] = steadier;
    }
}

int ranking_class(const struct report_group *group, int first, struct ranked *ret) {
    int count = 0;
    for (int r = 0; r < group->row_count; r++) {
        if (!ranking_is_in_class(group, r, first)) continue;
        ret[count] = (struct ranked){.row = r, .cost_ns = ranking_cost_ns(group, r)};
        add_interval(group, &ret[count++]);
    }
    qsort(ret, (size_t)count, sizeof *ret, by_rank);
    choose_first(group, ret, count);
    for (int i = 1; i < count; i++) ret[i].level = is_level(group, &ret[0], &ret[i]);
    return count;
}

bool ranking_is_contest(const struct ranked *ranks, int count) {
    return count > 1 && !isnan(ranks[1].cost_ns);
}

const struct ranked *ranking_cheapest(const struct ranked *ranks, int count) {
    const struct ranked *least = &ranks[0];
    for (int i = 1; i < count; i++)
        if (ranks[i].cost_ns < least->cost_ns) least = &ranks[i];
    return least;
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

static const char *label_of(const struct report *report, const struct report_group *group,
                            const struct ranked *rank) {
    return report->locks[group->rows[rank->row].lock].label;
}

/* Adds " (p99 or fairness decides; memcached-add costs less)", where the first is not the cheapest. */
static void add_cheaper(const struct report *report, const struct report_group *group,
                        const struct ranked *ranks, int count, struct doc *doc) {
    const struct ranked *least = ranking_cheapest(ranks, count);
    if (least == &ranks[0]) return;
    doc_span(doc, DOC_PLAIN, " (p99 or fairness decides");
    if (!least->level) doc_span(doc, DOC_PLAIN, "; %s costs less", label_of(report, group, least));
    doc_span(doc, DOC_PLAIN, ")");
}

/* Adds "in memory: pg-advisory, level with redis-setnx". */
static void add_first(const struct report *report, const struct report_group *group, int first,
                      const struct ranked *ranks, int count, bool brief, struct doc *doc) {
    char text[RANKING_NOTE_MAX];
    int level = 0, said = 0;
    for (int i = 1; i < count; i++) level += ranks[i].level;
    bool named = level <= LEVEL_SAID && !brief;
    doc_span(doc, DOC_PLAIN, "%s: ", ranking_class_text(group, first, text));
    doc_span(doc, DOC_STRONG, "%s", label_of(report, group, &ranks[0]));
    add_cheaper(report, group, ranks, count, doc);
    if (level > 0 && !named && !brief) doc_span(doc, DOC_PLAIN, ", level with %d more", level);
    for (int i = 1; i < count && named; i++)
        if (ranks[i].level)
            doc_span(doc, DOC_PLAIN, "%s%s", said++ > 0 ? ", " : ", level with ",
                     label_of(report, group, &ranks[i]));
}

/* The classes in which somebody was compared. */
static int count_contests(const struct report_group *group, struct ranked *ranks) {
    int contests = 0;
    for (int c = ranking_next_class(group, -1); c >= 0; c = ranking_next_class(group, c))
        contests += ranking_is_contest(ranks, ranking_class(group, c, ranks));
    return contests;
}

static struct ranked *room_for(const struct report_group *group, struct doc *doc) {
    struct ranked *ranks = group ? calloc((size_t)group->row_count, sizeof *ranks) : NULL;
    if (group && !ranks) doc->failed = true;
    return ranks;
}

/* Adds what a reader must know of the first of each class. */
static void add_notes(const struct report *report, const struct report_group *group,
                      struct ranked *ranks, struct doc *doc) {
    char text[RANKING_NOTE_MAX];
    for (int c = ranking_next_class(group, -1); c >= 0; c = ranking_next_class(group, c)) {
        ranking_class(group, c, ranks);
        if (isfinite(ranks[0].cost_ns) && *ranking_note(&group->rows[ranks[0].row], text))
            doc_span(doc, DOC_PLAIN, " %s: %s.", label_of(report, group, &ranks[0]), text);
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
    const struct report_group *group = ranking_group(report);
    struct ranked *ranks = room_for(group, doc);
    char clients[NUMBER_TEXT_MAX], rtt[NUMBER_TEXT_MAX];
    int said = 0, contests = ranks ? count_contests(group, ranks) : 0;
    for (int c = ranks ? ranking_next_class(group, -1) : -1; c >= 0;
         c = ranking_next_class(group, c)) {
        int count = ranking_class(group, c, ranks);
        if (!isfinite(ranks[0].cost_ns) || !ranking_is_contest(ranks, count)) continue;
        if (said++ == 0) {
            doc_say(doc, TONE_PLAIN, "Which? By the %s with %s client%s%s, ", ranking_figure(group),
                    number_count_text(group->clients, clients), group->clients == 1 ? "" : "s",
                    report_rtt_text(group->rtt_ns, rtt));
            doc_set_only(doc, DOC_TERMINAL | DOC_MARKDOWN); /* the page's first screen says it */
        } else {
            doc_span(doc, DOC_PLAIN, "; ");
        }
        add_first(report, group, c, ranks, count, contests > LEVEL_SAID, doc);
    }
    if (said > 0) doc_span(doc, DOC_PLAIN, ".");
    if (said == 0 && ranks) say_not_stated(group, doc);
    if (said > 0 && notes) add_notes(report, group, ranks, doc);
    free(ranks);
}

/* ---- for machines ---- */

static json_t *lock_json(const struct report *report, const struct report_group *group,
                         const struct ranked *rank) {
    char note[RANKING_NOTE_MAX];
    return json_pack("{s:o, s:o, s:o, s:o, s:b, s:o}", "lock",
                     escape_json(label_of(report, group, rank)), "cost_ns",
                     escape_json_figure(rank->cost_ns), "low_ns", escape_json_figure(rank->low_ns),
                     "high_ns", escape_json_figure(rank->high_ns), "level", (int)rank->level,
                     "note", escape_json(ranking_note(&group->rows[rank->row], note)));
}

static json_t *class_json(const struct report *report, const struct report_group *group, int first,
                          struct ranked *ranks) {
    char text[RANKING_NOTE_MAX];
    json_t *locks = json_array();
    int count = ranking_class(group, first, ranks), rc = 0;
    for (int i = 0; i < count; i++)
        rc |= json_array_append_new(locks, lock_json(report, group, &ranks[i]));
    json_t *class = json_pack("{s:o, s:s, s:o, s:o}", "class",
                              escape_json(ranking_class_text(group, first, text)), "figure",
                              ranking_figure(group), "clients", escape_json_figure(group->clients),
                              "locks", locks);
    if (rc == 0) return class;
    json_decref(class);
    return NULL;
}

json_t *ranking_json(const struct report *report) {
    const struct report_group *group = ranking_group(report);
    struct ranked *ranks = calloc((size_t)(group ? group->row_count : 1), sizeof *ranks);
    json_t *classes = ranks ? json_array() : NULL;
    for (int c = group ? ranking_next_class(group, -1) : -1; c >= 0 && classes;
         c = ranking_next_class(group, c)) {
        if (json_array_append_new(classes, class_json(report, group, c, ranks)) == 0) continue;
        json_decref(classes);
        classes = NULL;
    }
    free(ranks);
    return classes;
}
