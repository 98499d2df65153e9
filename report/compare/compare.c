/* compare: see compare.h. */
#define _GNU_SOURCE
#include "report/compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/doc/number.h"
#include "report/run/model.h"
#include "report/run/words.h"
#include "results/format/run_read.h"
#include "results/format/tree.h"
#include "results/stats/rank.h"

int compare_fails(enum lock_state state) {
    static const int failures[] = {[LOCK_VIOLATED] = LB_EXIT_VIOLATED,
                                   [LOCK_REVOKED] = LB_EXIT_VIOLATED,
                                   [LOCK_TOKENS] = LB_EXIT_VIOLATED,
                                   [LOCK_STUCK] = LB_EXIT_REGRESSION,
                                   [LOCK_STARVED] = LB_EXIT_REGRESSION};
    return (size_t)state < sizeof failures / sizeof *failures ? failures[state] : 0;
}

int compare_exit(const struct compare *compare) {
    int failed = compare_fails(compare->state);
    if (failed) return failed;
    if (compare->counts[COMPARE_WORSE] > 0) return LB_EXIT_REGRESSION;
    bool unsure = compare->counts[COMPARE_INCONCLUSIVE] > 0 || compare->missing > 0;
    return unsure ? LB_EXIT_INCONCLUSIVE : LB_EXIT_OK;
}

/* ---- samples ---- */

double compare_value(const struct result_field *metric, const struct run_stage *stage) {
    for (const struct result_field *other = run_stage_fields(); other->path; other++) {
        bool stands_in =
            other->compared && other->instead_of && strcmp(other->instead_of, metric->path) == 0;
        if (stands_in && !isnan(result_field_figure(other, stage))) return NAN;
    }
    return result_field_figure(metric, stage);
}

#define MEDIANS_BEAR 0.05 /* of a window that the load generator lost: more may move a median */
#define LOST_LEAST 0.01   /* less is not what made a stage generator-limited */

/* The share of the window that was lost to the load generator's own side; 1 = not known. */
static double lost_share(const struct run_stage *stage) {
    if (!report_limited(stage)) return 0;
    double share = fmax(stage->stood_still_ns / (stage->duration_s * 1e9), stage->stolen_share);
    return share >= LOST_LEAST ? share : 1;
}

static bool is_tail(const struct result_field *metric) {
    const char *part = strrchr(metric->path, '.');
    return part && (strcmp(part, ".p99") == 0 || strcmp(part, ".p999") == 0);
}

/* True if the stage ran to its end and gives figures. */
static bool is_whole(const struct run_stage *stage) {
    return stage->status && strcmp(stage->status, "complete") == 0 && !report_is_aside_stage(stage);
}

bool compare_is_sample(const struct run_stage *stage, const struct result_field *metric) {
    bool counted = !metric || strncmp(metric->path, "cost.", strlen("cost.")) == 0;
    double lost = lost_share(stage);
    return is_whole(stage) && (counted || lost <= (is_tail(metric) ? 0 : MEDIANS_BEAR));
}

/* ---- pairing ---- */

/* A stage and the texts by which it is paired. */
struct ref {
    const struct run_stage *stage;
    char *task; /* its load, without the place where it ran; owned */
    const char *
        where; /* that place: its topology, durability, encryption and round trip; in the same memory */
    bool new;
    int run;   /* index of its run on its side */
    int place; /* its number in the order of reading */
};

struct refs {
    struct ref *item;
    int count, room;
};

/* Compares the lock and its load. */
static int by_task(const void *a, const void *b) {
    const struct ref *x = a, *y = b;
    int order = strcmp(x->stage->lock, y->stage->lock);
    if (!order) order = strcmp(x->task, y->task);
    if (!order)
        order = (x->stage->clients > y->stage->clients) - (x->stage->clients < y->stage->clients);
    return order;
}

/* Compares the place too: a stage that ran at another place answers another question. */
static int by_pair(const void *a, const void *b) {
    int order = by_task(a, b);
    return order ? order : strcmp(((const struct ref *)a)->where, ((const struct ref *)b)->where);
}

static int by_pair_and_place(const void *a, const void *b) {
    const struct ref *x = a, *y = b;
    int order = by_pair(a, b);
    return order ? order : x->place - y->place;
}

char *compare_rtt_text(const struct run_stage *stage, char *text) {
    if (stage->rtt_ns >= 0) return number_time_text(stage->rtt_ns, text);
    snprintf(text, NUMBER_TEXT_MAX, "none");
    return text;
}

/* The load without the round trip that the wire adds, the same for all distances; and behind it the place. */
static char *task_text(const struct run_stage *stage, const char **ret_where) {
    struct run_stage near = *stage;
    near.rtt_ns = NAN;
    char rtt[NUMBER_TEXT_MAX], *text = NULL, *task = report_load_text(&near);
    if (task && asprintf(&text, "%s%c%s, %s, %s, %s", task, 0, doc_or(stage->topology, ""),
                         doc_or(stage->durability, ""), doc_or(stage->encryption, ""),
                         compare_rtt_text(stage, rtt)) < 0)
        text = NULL;
    if (text) *ret_where = text + strlen(text) + 1;
    free(task);
    return text;
}

static int add_ref(struct refs *refs, const struct ref *ref) {
    if (refs->count == refs->room) {
        int room = refs->room ? 2 * refs->room : 64;
        struct ref *more = realloc(refs->item, (size_t)room * sizeof *more);
        if (!more) return -1;
        refs->item = more;
        refs->room = room;
    }
    struct ref *added = &refs->item[refs->count];
    *added = *ref;
    added->place = refs->count;
    added->task = task_text(ref->stage, &added->where);
    if (!added->task) return -1;
    refs->count++;
    return 0;
}

/* Collects all stages of a side that are to be compared. */
static int add_refs(struct refs *refs, struct run *const *runs, int run_count, bool new) {
    for (int r = 0; r < run_count; r++) {
        for (int s = 0; s < runs[r]->stage_count; s++) {
            const struct run_stage *stage = &runs[r]->stages[s];
            if (!stage->lock) continue;
            struct ref ref = {.stage = stage, .new = new, .run = r};
            if (add_ref(refs, &ref) != 0) return -1;
        }
    }
    return 0;
}

static void free_refs(struct refs *refs) {
    for (int i = 0; i < refs->count; i++) free(refs->item[i].task);
    free(refs->item);
}

/* ---- rows ---- */

/* The stages of one side with the same lock and load, in the order of their runs. */
struct pick {
    const struct ref *refs;
    int count;
    bool by_run; /* the stages of a run are one sample together */
};

/* The worst state of a lock that is not broken on purpose. */
static enum lock_state worst_state(const struct pick *pick) {
    enum lock_state worst = LOCK_BASELINE;
    for (int i = 0; i < pick->count; i++) {
        if (!pick->refs[i].stage->control)
            worst = report_worse(worst, report_stage_state(pick->refs[i].stage));
    }
    return worst;
}

static int count_limited(const struct pick *pick) {
    int count = 0;
    for (int i = 0; i < pick->count; i++) count += report_limited(pick->refs[i].stage);
    return count;
}

/* The number of runs with a stage that is a sample. */
static int count_samples(const struct pick *pick) {
    int count = 0, last = -1;
    for (int i = 0; i < pick->count; i++) {
        if (!compare_is_sample(pick->refs[i].stage, NULL)) continue;
        count += !pick->by_run || pick->refs[i].run != last;
        last = pick->refs[i].run;
    }
    return count;
}

/* The value of the stages of one run, or of one stage. NAN if none of them is a sample of the figure; disturbed: those
 * that are none count, too. *at moves past these stages. */
static double next_sample(const struct pick *pick, const struct result_field *metric,
                          bool disturbed, int *at, double *room) {
    int run = pick->refs[*at].run, count = 0;
    do {
        const struct run_stage *stage = pick->refs[*at].stage;
        double value = compare_value(metric, stage);
        bool is_sample = disturbed ? is_whole(stage) : compare_is_sample(stage, metric);
        if (is_sample && !isnan(value)) room[count++] = value;
        ++*at;
    } while (pick->by_run && *at < pick->count && pick->refs[*at].run == run);
    return rank_median(room, count);
}

static int fill_side(const struct pick *pick, int metric, struct compare_side *side) {
    double *room = calloc((size_t)pick->count + 1, sizeof *room);
    side->values = calloc((size_t)pick->count + 1, sizeof *side->values);
    if (!room || !side->values) {
        free(room);
        return -1;
    }
    /* A figure that was measured is shown, also if it can't be judged. */
    for (int pass = 0; pass < 2 && side->count == 0; pass++) {
        side->disturbed = pass > 0;
        for (int i = 0; i < pick->count;) {
            double value = next_sample(pick, compare_metric(metric), side->disturbed, &i, room);
            if (!isnan(value)) side->values[side->count++] = value;
        }
    }
    side->disturbed &= side->count > 0;
    free(room);
    return 0;
}

/* Adds a lock under a load that only one side has. */
static int add_alone(struct compare *compare, const struct ref *ref, struct lb_err *err) {
    char *load = report_load_text(ref->stage);
    int failed =
        !load || compare_add_text(&compare->alone, "only in the %s runs: %s, %.0f client%s, %s",
                                  ref->new ? "new" : "base", ref->stage->lock, ref->stage->clients,
                                  ref->stage->clients == 1 ? "" : "s", load) != 0;
    free(load);
    compare->missing += !ref->new;
    return failed ? err_set(err, LB_EXIT_MACHINE, "out of memory") : 0;
}

/* "one server; redis; in memory, ...": the promises behind the figures. Malloced. */
static char *guarantee_text(const struct run_stage *stage) {
    char *durability = words_durability_full(stage), *text = NULL;
    if (durability &&
        asprintf(&text, "truth: %s; %s; %s", words_guarantee(stage),
                 stage->topology ? stage->topology : "topology not stated", durability) < 0)
        text = NULL;
    free(durability);
    return text;
}

/* Adds a row of two sides that both have stages. */
static int add_pair(struct compare *compare, const struct pick *base, const struct pick *new,
                    struct lb_err *err) {
    const struct ref *first = base->refs;
    struct compare_row *more =
        realloc(compare->rows, (size_t)(compare->row_count + 1) * sizeof *more);
    if (!more) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    compare->rows = more;
    struct compare_row *row = &more[compare->row_count++];
    *row = (struct compare_row){.lock = first->stage->lock,
                                .load = report_load_text(first->stage),
                                .clients = first->stage->clients,
                                .place = first->place,
                                .guarantee = guarantee_text(first->stage),
                                .new_guarantee = guarantee_text(new->refs->stage),
                                .base_count = count_samples(base),
                                .new_count = count_samples(new),
                                .base_limited = count_limited(base),
                                .new_limited = count_limited(new),
                                .state = worst_state(new)};
    compare->limited_count += row->base_limited + row->new_limited;
    compare->stage_count += base->count + new->count;
    if (!row->load || !row->guarantee || !row->new_guarantee)
        return err_set(err, LB_EXIT_MACHINE, "out of memory");
    for (int m = 0; m < compare_metric_count(); m++) {
        struct compare_figure *figure = &row->figure[m];
        if (fill_side(base, m, &figure->base) != 0 || fill_side(new, m, &figure->new) != 0)
            return err_set(err, LB_EXIT_MACHINE, "out of memory");
        if (compare_test(row, m, err) != 0) return -1;
    }
    return 0;
}

/* Compares one lock under one load: refs of both sides, those of the base first. */
static int add_compare_row(struct compare *compare, const struct ref *refs, int count,
                           struct lb_err *err) {
    int of_base = 0;
    while (of_base < count && !refs[of_base].new) of_base++;
    /* The stages of one run share the state of its machine and its servers, so they are samples of
     * their own only if there is no other run. */
    struct pick base = {refs, of_base, !compare->by_stage},
                new = {refs + of_base, count - of_base, !compare->by_stage};
    compare->state = report_worse(compare->state, worst_state(&new));
    if (base.count == 0 || new.count == 0) return add_alone(compare, refs, err);
    for (int i = 1; i < count; i++) {
        if (compare_differ_stages(compare, refs[0].stage, refs[i].stage) != 0)
            return err_set(err, LB_EXIT_MACHINE, "out of memory");
    }
    return add_pair(compare, &base, &new, err);
}

/* The one place at which only this side has the refs of a task; NULL if there is no such place, or
 * several. */
static const char *own_place(const struct ref *refs, int count, bool new) {
    const char *own = NULL;
    for (int from = 0, to; from < count; from = to) {
        bool here = false, there = false;
        for (to = from; to < count && strcmp(refs[from].where, refs[to].where) == 0; to++) {
            here |= refs[to].new == new;
            there |= refs[to].new != new;
        }
        if (!here || there) continue;
        if (own) return NULL;
        own = refs[from].where;
    }
    return own;
}

/* A task that each side has at one place only, but at different places, becomes a
 * pair. A task that both sides have at the same place is a pair already. */
static void join_places(struct refs *refs) {
    for (int from = 0, to; from < refs->count; from = to) {
        struct ref *ref = &refs->item[from];
        for (to = from; to < refs->count && by_task(ref, &refs->item[to]) == 0;) to++;
        const char *base = own_place(ref, to - from, false), *new = own_place(ref, to - from, true);
        for (int i = from; i < to && base && new; i++) {
            if (strcmp(refs->item[i].where, new) == 0) refs->item[i].where = base;
        }
    }
    qsort(refs->item, (size_t)refs->count, sizeof *refs->item, by_pair_and_place);
}

static int by_row_place(const void *a, const void *b) {
    return ((const struct compare_row *)a)->place - ((const struct compare_row *)b)->place;
}

/* Sets err to the reason why no ref of the base and none of the new runs are a pair, by the example of a
 * lock that both have. Returns -1. */
static int say_none(const struct refs *refs, struct lb_err *err) {
    const struct run_stage *base = NULL, *new = NULL;
    for (int i = 0; i < refs->count; i++) {
        const struct ref *ref = &refs->item[i];
        bool other = base && strcmp(base->lock, ref->stage->lock) != 0;
        if (base && new &&strcmp(base->lock, new->lock) == 0) break;
        if (!ref->new && (!base || other)) base = ref->stage;
        if (ref->new) new = ref->stage;
    }
    if (!base || !new || strcmp(base->lock, new->lock) != 0)
        return err_set(
            err, LB_EXIT_USAGE,
            "compare: no stage in common: no lock stands on both sides (base: %s; new runs: %s)",
            base ? base->lock : "none", new ? new->lock : "none");
    char *was = report_load_text(base), *is = report_load_text(new);
    err_set(err, LB_EXIT_USAGE,
            "compare: no stage in common: only stages with the same load are compared, and %s has "
            "%.0f clients, %s in the base, and %.0f clients, %s in the new runs",
            new->lock, base->clients, doc_or(was, "?"), new->clients, doc_or(is, "?"));
    free(was);
    free(is);
    return -1;
}

int compare_check_loads(struct run *base, struct run *new, struct lb_err *err) {
    struct refs refs = {0};
    bool paired = false;
    int failed = add_refs(&refs, &base, 1, false);
    if (!failed) failed = add_refs(&refs, &new, 1, true);
    if (failed) err_set(err, LB_EXIT_MACHINE, "out of memory");
    if (!failed && refs.count > 0)
        qsort(refs.item, (size_t)refs.count, sizeof *refs.item, by_pair_and_place);
    for (int from = 0, to; from < refs.count && !failed; from = to) {
        bool has_base = false, has_new = false;
        for (to = from; to < refs.count && by_task(&refs.item[from], &refs.item[to]) == 0; to++)
            *(refs.item[to].new ? &has_new : &has_base) = true;
        paired |= has_base && has_new;
    }
    if (!failed && !paired) failed = say_none(&refs, err);
    free_refs(&refs);
    return failed ? -1 : 0;
}

static int add_compare_rows(struct compare *compare, struct lb_err *err) {
    struct refs refs = {0};
    int failed = add_refs(&refs, compare->base, compare->base_count, false);
    if (!failed) failed = add_refs(&refs, compare->new, compare->new_count, true);
    if (failed) err_set(err, LB_EXIT_MACHINE, "out of memory");
    if (!failed && refs.count > 0) {
        qsort(refs.item, (size_t)refs.count, sizeof *refs.item, by_pair_and_place);
        join_places(&refs);
    }
    for (int from = 0, to; !failed && from < refs.count; from = to) {
        for (to = from + 1; to < refs.count && by_pair(&refs.item[from], &refs.item[to]) == 0;)
            to++;
        failed = add_compare_row(compare, &refs.item[from], to - from, err);
    }
    if (!failed && compare->row_count == 0) failed = say_none(&refs, err);
    free_refs(&refs);
    if (failed) return -1;
    qsort(compare->rows, (size_t)compare->row_count, sizeof *compare->rows, by_row_place);
    return 0;
}

static struct run *run_at(const struct compare *compare, int i) {
    return i < compare->base_count ? compare->base[i] : compare->new[i - compare->base_count];
}

/* Refuses a run that is given twice: it is one sample, and compared with itself it would never show a change. */
static int check_twice(const struct compare *compare, struct lb_err *err) {
    int all = compare->base_count + compare->new_count;
    for (int i = 0; i < all; i++) {
        for (int j = i + 1; j < all; j++) {
            const char *one = run_at(compare, i)->path;
            if (!tree_same_file(one, run_at(compare, j)->path)) continue;
            bool across = i < compare->base_count && j >= compare->base_count;
            return err_set(err, LB_EXIT_USAGE, "compare: %s: the same run %s", one,
                           across ? "is on both sides, so no change could ever show"
                                  : "is named twice on one side: it is one sample");
        }
    }
    return 0;
}

struct compare *compare_make(const struct compare_ask *ask, struct lb_err *err) {
    struct compare *compare = calloc(1, sizeof *compare);
    if (!compare) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        return NULL;
    }
    compare->min_effect = ask->min_effect;
    compare->metrics = ask->metrics;
    compare->partial_reason = ask->partial_reason;
    if (run_read_all(ask->base, ask->base_count, &compare->base, &compare->base_count, err) != 0 ||
        run_read_all(ask->new, ask->new_count, &compare->new, &compare->new_count, err) != 0 ||
        check_twice(compare, err) != 0)
        goto failed;
    compare->by_stage = compare->base_count == 1 && compare->new_count == 1;
    if (add_compare_rows(compare, err) != 0) goto failed;
    for (int i = 0; i < compare->base_count + compare->new_count; i++)
        compare->partial_count += run_at(compare, i)->partial;
    if (compare_find_differences(compare) == 0 && compare_judge(compare) == 0) return compare;
    err_set(err, LB_EXIT_MACHINE, "out of memory");
failed:
    compare_free(compare);
    return NULL;
}

void compare_free(struct compare *compare) {
    if (!compare) return;
    for (int i = 0; i < compare->row_count; i++) {
        free(compare->rows[i].load);
        free(compare->rows[i].guarantee);
        free(compare->rows[i].new_guarantee);
        for (int m = 0; m < compare_metric_count(); m++) {
            free(compare->rows[i].figure[m].base.values);
            free(compare->rows[i].figure[m].new.values);
        }
    }
    for (int i = 0; i < compare->base_count; i++) run_free(compare->base[i]);
    for (int i = 0; i < compare->new_count; i++) run_free(compare->new[i]);
    json_decref(compare->alone);
    json_decref(compare->differences);
    free(compare->rows);
    free(compare->base);
    free(compare->new);
    free(compare);
}
