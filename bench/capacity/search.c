/* search: see search.h. */
#include "bench/capacity/search.h"

#include <math.h>
#include <string.h>

#include "bench/base/rng.h"

#define STEP 1.6         /* from one load of the bracket to the next */
#define WIDTH_MAX 0.24   /* of a round to each side, in the load's logarithm: half a step */
#define WIDTH_MIN 0.04   /* ... for a lock is seldom more constant than that */
#define GOOD_ENOUGH 0.03 /* half the interval, relative: further probes would not change much */
#define ROUNDS_MIN 3
#define TOO_WIDE 0.5 /* high / low - 1: such an interval is no answer */
#define BAD_MOST 3   /* probes in a row that brought nothing */
#define LIMITED_MOST                                                                                         \
    5            /* probes beyond all others that the generator spoils until it is taken for the limit */
#define AT_END 2 /* probes at the end of the range that settle it */

void search_init(struct search *search, const struct search_ask *ask) {
    *search = (struct search){.ask = *ask};
}

/* A load of the round once more, when its others are done. */
static void probe_again(struct search *search, double load) {
    if (search->again_left == 0 || search->round_left == SEARCH_ROUND) return;
    for (int i = search->round_left; i > 0; i--) search->round[i] = search->round[i - 1];
    search->round[0] = load;
    search->round_left++;
    search->again_left--;
}

void search_add(struct search *search, const struct search_result *result) {
    if (search->count == EDGE_POINTS_MAX) return;
    search->results[search->count++] = *result;
    if (search->rounds > 0 && result->limited) probe_again(search, result->load);
}

static double distance(const struct search *search, const struct search_result *result) {
    return edge_distance(result->over, result->samples, search->ask.allowed);
}

/* The greatest load at which a probe said anything of the lock; 0 = at none. */
static double greatest_told(const struct search *search) {
    double greatest = 0;
    for (int i = 0; i < search->count; i++) {
        const struct search_result *result = &search->results[i];
        if (result->samples > 0 && !result->limited && result->load > greatest) greatest = result->load;
    }
    return greatest;
}

/* Probes beyond all others in which the generator was too slow. */
static int limited_beyond(const struct search *search) {
    double told = greatest_told(search);
    int count = 0;
    for (int i = 0; i < search->count; i++) {
        const struct search_result *result = &search->results[i];
        count += result->samples > 0 && result->limited && result->load > told;
    }
    return count;
}

/* The probes that say anything; those that the generator spoilt say nothing of the lock, and are only counted
 * when asked, beyond all others. Returns how many. */
static int points_of(const struct search *search, bool spoilt_too,
                     struct edge_point points[EDGE_POINTS_MAX]) {
    int count = 0;
    double told = greatest_told(search);
    for (int i = 0; i < search->count; i++) {
        const struct search_result *result = &search->results[i];
        if (result->samples == 0 || (result->limited && !(spoilt_too && result->load > told))) continue;
        points[count++] = (struct edge_point){.x = log(result->load), .z = distance(search, result)};
    }
    return count;
}

/* The edge as edge_find has it. Where no lock's edge is among the probes and nothing else could be learned of
 * all loads beyond, the generator's is taken for it. */
static int find(const struct search *search, struct edge *ret, bool *ret_generator) {
    struct edge_point points[EDGE_POINTS_MAX];
    int count = points_of(search, false, points);
    int side = edge_find(points, count, SEARCH_LEVEL, search->ask.seed, ret);
    *ret_generator = side < 0 && limited_beyond(search) >= LIMITED_MOST;
    if (!*ret_generator) return side;
    count = points_of(search, true, points);
    return edge_find(points, count, SEARCH_LEVEL, search->ask.seed, ret);
}

/* Within the range, and whole where it must be. */
static double fit_load(const struct search *search, double load) {
    double step = pow(10, floor(log10(load)) - 2); /* three digits are more than a probe can tell apart */
    load = search->ask.whole ? round(load) : round(load / step) * step;
    if (load < search->ask.least) load = search->ask.least;
    return load > search->ask.most ? search->ask.most : load;
}

static int probes_at(const struct search *search, double load) {
    int count = 0;
    for (int i = 0; i < search->count; i++) {
        count += search->results[i].load == load && search->results[i].samples > 0;
    }
    return count;
}

static int failures(const struct search *search) {
    int count = 0;
    for (int i = search->count - 1; i >= 0 && search->results[i].samples == 0; i--) count++;
    return count;
}

/* Beyond all probes, to the side on which the edge must be. */
static double widen(const struct search *search, bool up) {
    double end = 0;
    for (int i = 0; i < search->count; i++) {
        double load = search->results[i].load;
        if (search->results[i].samples == 0 || (up && search->results[i].limited)) continue;
        if (end == 0 || (up ? load > end : load < end)) end = load;
    }
    double load = fit_load(search, up ? end * STEP : end / STEP);
    return load == end && search->ask.whole ? fit_load(search, up ? end + 1 : end - 1) : load;
}

static void plan_round(struct search *search, const struct edge *edge) {
    struct lb_rng rng;
    rng_seed(&rng, search->ask.seed, 1 + (uint64_t)search->rounds);
    double width = edge->high - edge->low;
    width = width > WIDTH_MAX ? WIDTH_MAX : width < WIDTH_MIN ? WIDTH_MIN : width;
    for (int i = 0; i < SEARCH_ROUND; i++) {
        /* A load in each quarter of the width, so that both sides get as many. */
        double at = (i + rng_unit(&rng)) / SEARCH_ROUND * 2 - 1;
        search->round[i] = fit_load(search, exp(edge->x + at * width));
    }
    for (int i = SEARCH_ROUND - 1; i > 0; i--) {
        int j = (int)rng_below(&rng, (uint64_t)i + 1);
        double kept = search->round[i];
        search->round[i] = search->round[j];
        search->round[j] = kept;
    }
    search->round_left = SEARCH_ROUND;
    search->again_left = SEARCH_ROUND;
    search->rounds++;
}

static bool is_settled(const struct search *search, const struct edge *edge) {
    return search->rounds >= ROUNDS_MIN && (edge->high - edge->low) / 2 < GOOD_ENOUGH;
}

bool search_next(struct search *search, bool more, double *ret_load) {
    struct edge edge;
    if (!more || search->count == EDGE_POINTS_MAX || failures(search) >= BAD_MOST) return false;
    if (search->round_left == 0) {
        if (search->count == 0 || failures(search) == search->count) {
            *ret_load = fit_load(search, search->ask.start);
            return true;
        }
        const struct search_result *last = &search->results[search->count - 1];
        bool generator;
        int side = find(search, &edge, &generator);
        if (side != 0 && last->limited && limited_beyond(search) < LIMITED_MOST) {
            *ret_load = last->load;
            return true;
        }
        if (side != 0) {
            *ret_load = widen(search, side < 0);
            return probes_at(search, *ret_load) < AT_END;
        }
        if (is_settled(search, &edge)) return false;
        plan_round(search, &edge);
    }
    *ret_load = search->round[--search->round_left];
    return true;
}

static bool any_kept(const struct search *search, double up_to) {
    for (int i = 0; i < search->count; i++) {
        if (search->results[i].kept && search->results[i].load <= up_to) return true;
    }
    return false;
}

static struct search_answer no_answer(const char *why) {
    return (struct search_answer){.limit = SEARCH_NO_ANSWER, .why = why};
}

/* The greatest load was kept as often as it takes. */
static struct search_answer at_range_end(const struct search *search) {
    double most = search->ask.most;
    if (probes_at(search, most) < AT_END || !any_kept(search, most))
        return no_answer("the promise was kept as far as the probes went: give it more time (--time)");
    return (struct search_answer){.limit = SEARCH_BY_RANGE,
                                  .load = most,
                                  .low = most,
                                  .high = INFINITY,
                                  .why = "the greatest load that was allowed keeps the promise (--most)"};
}

struct search_answer search_answer(const struct search *search) {
    struct edge edge;
    bool generator;
    int side = find(search, &edge, &generator);
    if (search->count == 0 || failures(search) == search->count)
        return no_answer("no probe could be measured");
    if (side < 0) return at_range_end(search);
    if (side > 0) {
        return no_answer(
            generator
                ? "the load generator or a busy machine was too slow at every load"
                : "the promise was broken at every load, down to the least that the time allows (--time)");
    }
    struct search_answer answer = {
        .limit = SEARCH_BY_PROMISE, .load = exp(edge.x), .low = exp(edge.low), .high = exp(edge.high)};
    if (search->ask.whole) {
        answer.load = floor(answer.load + 1e-9);
        answer.low = floor(answer.low + 1e-9);
        answer.high = floor(answer.high + 1e-9);
    }
    if (answer.load < search->ask.least || answer.low <= 0)
        return no_answer(
            "the promise was broken at every load, down to the least that the time allows (--time)");
    if (answer.high / answer.low - 1 > TOO_WIDE && !(search->ask.whole && answer.high - answer.low < 3))
        return no_answer("the probes differ too much: give it more time (--time), or an idler machine");
    if (generator) {
        answer.limit = SEARCH_BY_GENERATOR;
        answer.high = INFINITY;
        answer.why = "beyond it the load generator or a busy machine was too slow: the lock may carry more";
    }
    return answer;
}
