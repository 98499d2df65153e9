/* planner: the best answer for each lock and place, in order of fitness. See planner.h. */
#include "report/planner/planner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/durability.h"
#include "bench/base/guarantee.h"
#include "report/doc/number.h"

const char *planner_word(enum planner_verdict verdict) {
    static const char *const words[] = {"carries", "close", "unknown", "too much"};
    return words[verdict];
}

char *planner_ask_text(const struct planner_ask *ask, char *text, size_t size) {
    char part[4][NUMBER_TEXT_MAX];
    snprintf(text, size, "%s%s%s%s%s, hold %s, %s key%s, %s",
             isnan(ask->clients) ? "" : number_count_text(ask->clients, part[0]),
             isnan(ask->clients) ? ""
             : ask->clients == 1 ? " client"
                                 : " clients",
             isnan(ask->clients) || isnan(ask->rate) ? "" : ", ",
             isnan(ask->rate) ? ", each as fast as it can"
                              : number_text(ask->rate, &number_plain, part[1]),
             isnan(ask->rate) ? "" : "/s together",
             isnan(ask->hold_ns) ? "as measured" : number_time_text(ask->hold_ns, part[2]),
             number_count_text(ask->keys, part[3]), ask->keys == 1 ? "" : "s", ask->slo);
    return text;
}

/* The strength of the guarantee, and the durability: greater is better. */
static int guarantee_rank(const struct capacity_lock *lock) {
    static const int ranks[LB_GUARANTEES + 1] = {
        [LB_ON_ONE_HOST] = 0, [LB_ON_ASYNC_REPLICA] = 1, [LB_ON_ONE_NODE] = 2,
        [LB_ON_MAJORITY] = 3, [LB_NO_GUARANTEE] = -1,    [LB_GUARANTEES] = -1};
    return ranks[lb_guarantee_from(lock->guarantee)];
}

static int durability_rank(const struct capacity_lock *lock) {
    enum durability durability = durability_from(lock->durability_class);
    return durability == DURABILITY_UNKNOWN ? -1 : (int)durability;
}

/* Compares two answers by their lock and place. */
static int compare_places(const struct planner_answer *x, const struct planner_answer *y) {
    int order = strcmp(x->lock->lock, y->lock->lock);
    if (!order) order = strcmp(doc_or(x->lock->topology, ""), doc_or(y->lock->topology, ""));
    return order ? order : strcmp(doc_or(x->lock->durability, ""), doc_or(y->lock->durability, ""));
}

/* The rank of an answer among those for one place, the smallest first: the lock does not exclude,
 * which no other search takes back; a measurement, even a close one; a measurement for another limit;
 * the model, decisive answers first; no answer. */
static int rank_of(const struct planner_answer *answer) {
    if (answer->lock->violated) return -1;
    if (answer->verdict == PLANNER_UNKNOWN) return 4;
    return answer->model ? 2 + (answer->verdict == PLANNER_CLOSE) : answer->of_another;
}

/* True if the search found an answer and was not cut off. Only the last lock of a file may be cut
 * off. */
static bool is_whole(const struct planner_answer *answer) {
    const struct capacity *from = answer->from;
    bool last = answer->lock == &from->locks[from->lock_count - 1];
    return answer->lock->answered && !(from->partial && last);
}

static int by_place_best_first(const void *a, const void *b) {
    const struct planner_answer *x = a, *y = b;
    int order = compare_places(x, y);
    if (!order) order = rank_of(x) - rank_of(y);
    if (!order) order = is_whole(y) - is_whole(x);
    return order ? order : strcmp(doc_or(y->from->started_at, ""), doc_or(x->from->started_at, ""));
}

static int by_fitness(const void *a, const void *b) {
    const struct planner_answer *x = a, *y = b;
    int order = (int)x->verdict - (int)y->verdict;
    if (!order) order = x->model - y->model;
    if (!order) order = guarantee_rank(y->lock) - guarantee_rank(x->lock);
    if (!order) order = durability_rank(y->lock) - durability_rank(x->lock);
    if (!order && !isnan(x->margin) && !isnan(y->margin))
        order = (y->margin > x->margin) - (y->margin < x->margin);
    return order ? order : compare_places(x, y);
}

static void free_answer(struct planner_answer *answer) {
    free(answer->why);
    free(answer->settle);
}

/* Keeps the best answer for each place. */
static void keep_best(struct planner *planner) {
    int kept = 0;
    qsort(planner->answers, (size_t)planner->count, sizeof *planner->answers, by_place_best_first);
    for (int i = 0; i < planner->count; i++) {
        if (kept > 0 && compare_places(&planner->answers[kept - 1], &planner->answers[i]) == 0) {
            free_answer(&planner->answers[i]);
        } else {
            planner->answers[kept++] = planner->answers[i];
        }
    }
    planner->count = kept;
    qsort(planner->answers, (size_t)kept, sizeof *planner->answers, by_fitness);
}

/* The least part of the time for which each key would be held; NAN if it is not known of a lock. */
static double least_held(const struct planner *planner) {
    double least = planner->count > 0 ? INFINITY : NAN;
    for (int i = 0; i < planner->count; i++) {
        double held = planner->answers[i].held;
        if (isnan(held)) return NAN;
        least = fmin(least, held);
    }
    return least;
}

static int check_ask(const struct planner_ask *ask, struct lb_err *err) {
    if (isnan(ask->rate) && isnan(ask->clients))
        return err_set(err, LB_EXIT_USAGE,
                       "plan: neither a rate nor clients: say --rate, --clients or both");
    bool due = strcmp(ask->metric, "acquire_due") == 0;
    if (due == !isnan(ask->rate)) return 0;
    return err_set(
        err, LB_EXIT_USAGE,
        due ? "plan: without a rate nothing falls due: promise acquire, or say --rate"
            : "plan: with --rate a request waits from when it is due: promise acquire_due");
}

struct planner *planner_make(struct capacity *const *files, int file_count,
                             const struct planner_ask *ask, struct lb_err *err) {
    size_t room = 1;
    if (check_ask(ask, err) != 0) return NULL;
    for (int f = 0; f < file_count; f++) room += (size_t)files[f]->lock_count;
    struct planner *planner = calloc(1, sizeof *planner);
    if (planner) planner->answers = calloc(room, sizeof *planner->answers);
    if (!planner || !planner->answers) goto no_memory;
    planner->ask = *ask;
    for (int f = 0; f < file_count; f++) {
        for (int l = 0; l < files[f]->lock_count; l++) {
            const struct capacity_lock *lock = &files[f]->locks[l];
            if (ask->lock && strcmp(lock->lock, ask->lock) != 0) continue;
            bool unsafe = lb_guarantee_from(lock->guarantee) == LB_NO_GUARANTEE;
            planner->unsafe += unsafe && !ask->lock;
            if (unsafe && !ask->lock) continue;
            if (planner_answer(ask, files[f], lock, &planner->answers[planner->count++]) != 0)
                goto no_memory;
        }
    }
    keep_best(planner);
    planner->held = least_held(planner);
    planner->impossible = planner->held >= 1;
    if (planner->count == 0 && planner_settle(ask, &planner->settle) != 0) goto no_memory;
    return planner;
no_memory:
    err_set(err, LB_EXIT_MACHINE, "out of memory");
    planner_free(planner);
    return NULL;
}

void planner_free(struct planner *planner) {
    if (!planner) return;
    for (int i = 0; i < planner->count; i++) free_answer(&planner->answers[i]);
    free(planner->answers);
    free(planner->settle);
    free(planner);
}

int planner_exit(const struct planner *planner) {
    int counts[PLANNER_VERDICTS] = {0};
    for (int i = 0; i < planner->count; i++) counts[planner->answers[i].verdict]++;
    if (counts[PLANNER_CARRIES] > 0) return LB_EXIT_OK;
    bool all = planner->count > 0 && counts[PLANNER_TOO_MUCH] == planner->count;
    return all || planner->impossible ? LB_EXIT_REGRESSION : LB_EXIT_INCONCLUSIVE;
}
