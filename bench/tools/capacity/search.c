/* search: see search.h. */
#include "bench/tools/capacity/search.h"

#include <math.h>
#include <string.h>

#include "bench/base/rng.h"
#include "results/stats/quantile.h"

#define EDGE_LOW 2.0    /* 1/e^2 of the share that is allowed */
#define EDGE_FAR 2.5    /* e^2.5: 12 times that share */
#define EDGE_SIDE_MIN 3 /* points on each side that are enough for an answer */
struct edge_point {
    double x; /* log of the load */
    double y; /* share over the limit, in shares that are allowed; 0 or above */
};

struct edge {
    double x, low, high;
    int below, above; /* points on each side of x; a point at x itself counts as above */
};

#define GRID 80      /* steps of the grid of loads */
#define BEYOND 0.2   /* how far the edge may lie beyond the outermost points, in x */
#define NARROWINGS 3 /* how often the grid is narrowed to the steps that have weight */
#define NOTHING 1e-5 /* the weight that narrowing may cut off on each side */

/* The steepnesses that are possible. At steepness s, a load that is e^(1/s) times as high has a
 * share over the limit that is e times as high: 2 is a polling lock, 256 a queue near its
 * capacity. */
static const double steeps[] = {2, 4, 8, 16, 32, 64, 128, 256};
#define STEEPS ((int)(sizeof steeps / sizeof *steeps))

static double cut(double z) {
    return fmax(-EDGE_LOW, fmin(EDGE_FAR, z));
}

/* Half the deviance of counts: how badly the curve through 1 at x describes the points. */
static double misfit_of(const struct edge_point *points, int count, double x, double steep) {
    double sum = 0;
    for (int i = 0; i < count; i++) {
        double y = points[i].y, z = cut(steep * (points[i].x - x));
        sum += exp(z) - y - y * (y > 0 ? z - log(y) : 0);
    }
    return sum;
}

/* The probabilities of the edge lying in each of GRID steps between from and to, over all
 * steepnesses, for counts with `scatter` times the variance of independent ones. */
static void weigh_steps(const struct edge_point *points, int count, double from, double to,
                        double scatter, double weights[GRID], double *ret_x, double *ret_steep) {
    double misfits[GRID][STEEPS], least = INFINITY, sum = 0;
    for (int i = 0; i < GRID; i++) {
        double x = from + (to - from) * (i + 0.5) / GRID;
        for (int s = 0; s < STEEPS; s++) {
            misfits[i][s] = misfit_of(points, count, x, steeps[s]);
            if (misfits[i][s] >= least) continue;
            least = misfits[i][s];
            *ret_x = x;
            *ret_steep = steeps[s];
        }
    }
    for (int i = 0; i < GRID; i++) {
        weights[i] = 0;
        for (int s = 0; s < STEEPS; s++) weights[i] += exp((least - misfits[i][s]) / scatter);
        sum += weights[i];
    }
    for (int i = 0; i < GRID; i++) weights[i] /= sum;
}

#define SCATTER_POINTS 8 /* what the caller says of the scatter counts like so many points */

/* The variance of the points near the fit, as a multiple of the variance of independent counts: by the
 * caller's scatter_min and by the points together, or by the points alone where they scatter more. */
static double scatter_of(const struct edge_point *points, int count, double x, double steep,
                         double scatter_min) {
    double sum = 0;
    int near = 0;
    for (int i = 0; i < count; i++) {
        double z = steep * (points[i].x - x), m = exp(cut(z));
        if (fabs(z) >= EDGE_LOW) continue;
        sum += (points[i].y - m) * (points[i].y - m) / m;
        near++;
    }
    if (near <= 2) return scatter_min;
    double seen = sum / (near - 2);
    double both = (SCATTER_POINTS * scatter_min + sum) / (SCATTER_POINTS + near - 2);
    return fmax(seen, both);
}

/* The load (its logarithm) between from and to below which this part of the weight lies. */
static double edge_place(const double weights[GRID], double from, double to, double part) {
    double sum = 0;
    for (int i = 0; i < GRID; i++) {
        if (sum + weights[i] >= part)
            return from + (to - from) * (i + (part - sum) / weights[i]) / GRID;
        sum += weights[i];
    }
    return to;
}

/* The edge of count points (at most EDGE_POINTS_MAX) and its interval at SEARCH_LEVEL. scatter_min:
 * the variance of y where its mean is 1, at least. Returns 0; -1 if the promise
 * was kept at all points, and 1 if it was broken at all points: then there is no edge among them,
 * and *ret is untouched. */
static int edge_find(const struct edge_point *points, int count, double scatter_min,
                     struct edge *ret) {
    struct edge_point seen[EDGE_POINTS_MAX];
    double from = INFINITY, to = -INFINITY, weights[GRID], x = 0, steep = 0;
    double scatter = scatter_min;
    struct edge edge = {0};
    int kept = 0;
    for (int i = 0; i < count; i++) {
        seen[i] = (struct edge_point){.x = points[i].x, .y = fmin(points[i].y, exp(EDGE_FAR))};
        from = fmin(from, seen[i].x);
        to = fmax(to, seen[i].x);
        kept += seen[i].y <= 1;
    }
    if (kept == count) return -1;
    if (kept == 0) return 1;
    from -= BEYOND;
    to += BEYOND;
    for (int i = 0;; i++) {
        weigh_steps(seen, count, from, to, scatter, weights, &x, &steep);
        scatter = scatter_of(seen, count, x, steep, scatter_min);
        if (i == NARROWINGS) break;
        double step = (to - from) / GRID, begin = edge_place(weights, from, to, NOTHING);
        to = fmin(to, edge_place(weights, from, to, 1 - NOTHING) + step);
        from = fmax(from, begin - step);
    }
    edge.x = edge_place(weights, from, to, 0.5);
    edge.low = edge_place(weights, from, to, (1 - SEARCH_LEVEL) / 2);
    edge.high = edge_place(weights, from, to, (1 + SEARCH_LEVEL) / 2);
    for (int i = 0; i < count; i++) edge.below += seen[i].x < edge.x;
    edge.above = count - edge.below;
    *ret = edge;
    return 0;
}

/* ---- how long a probe must last ---- */

#define WINDOW_MIN_S 5.0
#define LIMITS 20     /* a window lasts so many limits or RELAXATIONS, whichever is longer */
#define WARM_LIMITS 5 /* a warm-up lasts so many limits, */
#define WARM_RELAXATIONS 2.0
#define WARM_PART 0.25 /* and at most this part of the window */
/* A window should have so many requests that this number may be over the limit. */
#define SAMPLES 5.0
#define PROBES 12    /* the budget has room for so many probes, */
#define PROBES_MIN 4 /* and for so many if the quantile needs many samples */
/* The budget of a slow lock has room for so many windows with SAMPLES. */
#define PROBES_SLOW 30
#define BUDGET_MIN_S 150.0
#define BUDGET_MAX_S 600.0

/* The relaxation time of the queue at a rate; infinite at the capacity and above. */
static double relaxation_s(double rate_per_s, double capacity_per_s) {
    double root = sqrt(rate_per_s / capacity_per_s);
    return root < 1 ? 1 / capacity_per_s / ((1 - root) * (1 - root)) : INFINITY;
}

/* The greatest rate whose queue settles within a warm-up and window of span_s together; 0 = none. */
static double window_settled_rate(double capacity_per_s, double span_s) {
    double root = 1 - sqrt(RELAXATIONS_MIN / (capacity_per_s * span_s));
    return root > 0 ? root * root * capacity_per_s : 0;
}

/* The relaxation time at the rate at which a queue with constant service times, served in order of
 * arrival, begins to break the promise. At that rate the share of waits beyond w falls like exp(-2
 * (1 - rate/capacity) w capacity). 0 = not known. */
static double edge_relaxation_s(const struct search_ask *ask) {
    if (!(ask->capacity_per_s > 0)) return 0;
    double idle = log(1 / ask->allowed) / (2 * ask->limit_s * ask->capacity_per_s);
    return idle < 1 ? relaxation_s((1 - idle) * ask->capacity_per_s, ask->capacity_per_s) : 0;
}

struct window search_window(const struct search *search, double load) {
    const struct search_ask *ask = &search->ask;
    double last_per_s = search->count ? search->results[search->count - 1].throughput_per_s : 0;
    double rate_per_s = ask->whole ? last_per_s : load, relaxed_s = edge_relaxation_s(ask);
    double samples_s = rate_per_s > 0 ? SAMPLES / ask->allowed / rate_per_s : 0;
    double wanted_s = fmax(LIMITS * ask->limit_s, RELAXATIONS * relaxed_s);
    double duration_s = fmin(wanted_s, ask->budget_s / PROBES / (1 + WARM_PART));
    duration_s = fmax(duration_s, fmin(samples_s, ask->budget_s / PROBES_MIN));
    duration_s = fmax(duration_s, WINDOW_MIN_S);
    double warmup_s = fmax(WARM_LIMITS * ask->limit_s, WARM_RELAXATIONS * relaxed_s);
    warmup_s = fmax(ask->warmup_s, fmin(warmup_s, WARM_PART * duration_s));
    return (struct window){.warmup_s = warmup_s, .duration_s = duration_s};
}

static double budget_of(const struct search_ask *ask) {
    double limits_s = PROBES * (1 + WARM_PART) * LIMITS * ask->limit_s;
    double samples_s =
        ask->capacity_per_s > 0 ? PROBES_SLOW * SAMPLES / ask->allowed / ask->capacity_per_s : 0;
    return fmax(BUDGET_MIN_S, fmin(BUDGET_MAX_S, fmax(limits_s, samples_s)));
}

/* ---- the search ---- */

/* Probes from NEAR below an edge to ABOVE it, in the logarithm of the load, show its scatter: above it
 * a queue grows. */
#define NEAR 0.35
#define ABOVE 0.03
#define SCATTER_WAITS 1.2 /* of the relaxation times that the waits show */
#define SCATTER_MIN 3.5   /* the scatter of probes of very long windows */
#define TAIL_LEAST 0.95
#define CLUSTER_LEAST 3 /* requests of a queue whose waits are alike, at least */
#define TAIL_MOST 6.5   /* a heavier tail needs more time, */
#define TAIL_LIMITS 700
/* If the relaxation time is longer than this part of the window, the queue still grows at its end. */
#define UNSETTLED 0.6
#define STEP 1.6 /* the ratio of two loads of the bracket */
/* A round of probes reaches so far to each side of the edge, in the logarithm of the load. The
 * greatest width is half a STEP; below the least one a lock is seldom constant. */
#define WIDTH_MAX 0.24
#define WIDTH_MIN 0.02
/* If half the interval is below this (relative), further probes would change little. */
#define GOOD_ENOUGH 0.02
#define ROUNDS_MIN 3
#define TIMES_MOST 20 /* a time that is longer by more is no advice */
#define TOO_WIDE 0.8  /* an interval with high / low - 1 above this is no answer */
#define BAD_MOST 3    /* the search ends after so many probes in a row without a result */
#define SIDE_LEAST 2  /* probes on each side of an answer */
/* The generator is taken for the limit if it spoilt so many probes above all other loads. */
#define LIMITED_MOST 5
#define TOO_SLOW "the load generator or a busy machine was too slow at every load"
#define START_PART 0.75 /* the first load, as a part of the closed loop's throughput */
#define START_PER_S 50  /* the first load after a closed loop without a grant */
#define START_CLIENTS 4
/* A window must have so many requests that this number may be over the limit: with fewer, the
 * quantile has no interval. */
#define SAMPLES_LEAST 3.7
#define WINDOWS 4 /* the budget must have room for so many windows */
#define AT_END 2  /* probes at an end of the range that are enough for that end */

void search_init(struct search *search, const struct search_ask *asked) {
    struct search_ask ask = *asked;
    double rate_per_s = ask.capacity_per_s > 0 ? START_PART * ask.capacity_per_s : START_PER_S;
    if (ask.budget_s <= 0) ask.budget_s = budget_of(&ask);
    if (ask.start <= 0) ask.start = ask.whole ? START_CLIENTS : rate_per_s;
    if (ask.least <= 0)
        ask.least = ask.whole ? 1 : SAMPLES_LEAST / ask.allowed / (ask.budget_s / WINDOWS);
    ask.least = fmin(ask.least, ask.most);
    *search = (struct search){.ask = ask};
}

void search_add(struct search *search, const struct search_result *result) {
    if (search->count < EDGE_POINTS_MAX) search->results[search->count++] = *result;
}

static bool shows(const struct search_result *result) {
    return result->samples > 0 && !result->thin;
}

/* The share over the limit, in shares that are allowed: above 1 the promise was broken. */
static double over_of(const struct search *search, const struct search_result *result) {
    if (result->grew) return exp(EDGE_FAR);
    return (double)result->over / (double)result->samples / search->ask.allowed;
}

/* True if the promise was not kept and the generator may be the reason. A promise that was kept in
 * spite of a slow generator was kept. */
static bool is_spoilt(const struct search *search, const struct search_result *result) {
    return result->limited && shows(result) && over_of(search, result) > 1;
}

/* The greatest load at which a probe showed anything about the lock; 0 = there is none. */
static double greatest_told(const struct search *search) {
    double greatest = 0;
    for (int i = 0; i < search->count; i++) {
        const struct search_result *result = &search->results[i];
        if (shows(result) && !is_spoilt(search, result) && result->load > greatest)
            greatest = result->load;
    }
    return greatest;
}

/* The number of probes in which the generator was too slow, at loads above all other probes. */
static int limited_beyond(const struct search *search) {
    double told = greatest_told(search);
    int count = 0;
    for (int i = 0; i < search->count; i++) {
        const struct search_result *result = &search->results[i];
        count += is_spoilt(search, result) && result->load > told;
    }
    return count;
}

/* The probes that an edge is fitted to. */
enum points {
    POINTS_CLEAN, /* probes in which the generator was never too slow */
    POINTS_TOLD,  /* also probes in which the promise was kept although the generator was slow */
    POINTS_BEYOND /* also spoilt probes at loads above all others */
};

/* Collects these probes. Returns how many. */
static int points_of(const struct search *search, enum points which,
                     struct edge_point points[EDGE_POINTS_MAX]) {
    int count = 0;
    double told = greatest_told(search);
    for (int i = 0; i < search->count; i++) {
        const struct search_result *result = &search->results[i];
        if (!shows(result) || (which == POINTS_CLEAN && result->limited)) continue;
        if (is_spoilt(search, result) && !(which == POINTS_BEYOND && result->load > told)) continue;
        points[count++] = (struct edge_point){.x = log(result->load), .y = over_of(search, result)};
    }
    return count;
}

static double longest_span_s(const struct search *search) {
    double span_s = 0;
    for (int i = 0; i < search->count; i++) span_s = fmax(span_s, search->results[i].span_s);
    return span_s;
}

/* The greatest throughput that the lock was seen to have; 0 = not known. */
static double most_served(const struct search *search) {
    double most = search->ask.capacity_per_s;
    for (int i = 0; most > 0 && i < search->count; i++)
        most = fmax(most, search->results[i].served_per_s);
    return most;
}

/* What the waits of the probes around an edge show. */
struct around {
    double scatter; /* the variance of the share over the limit, in shares that are allowed */
    double tail; /* how heavy the tail of the services is: 2 for exponential ones; 0 = not known */
};

/* A window has as many independent samples as relaxation times; probes with rare long services count
 * most. The mean wait tells 1 + cv^2 of the services (Pollaczek and Khinchine). `ratio` is the mean
 * square of the waits over that of exponential waits, which a queue has near its capacity: it is
 * above 1 where single services are as long as the limit. Then few of them decide, and a search has
 * seen too few. A lock that polls has such waits, too, but who waits long there does not make the next
 * ones wait: in a queue long waits come in clusters. */
static struct around look_around(const struct search *search, double x) {
    double most = most_served(search), spread = 0, weight = 0, variances = 0, squares = 0,
           exponential = 0, busy_sum = 0, worth = 0, samples = 0;
    for (int i = 0; i < search->count; i++) {
        const struct search_result *result = &search->results[i];
        const struct search_waits *waits = &result->waits;
        double off = log(result->load) - x, mean = waits->mean_s;
        if (!(waits->worth > 0) || result->grew || off < -NEAR || off > ABOVE) continue;
        double variance = waits->square_s2 - mean * mean, busy = fmin(1, result->load / most);
        variances += variance / waits->worth;
        weight += variance;
        squares += waits->square_s2;
        exponential += 2 * mean * mean / busy;
        spread += 2 * (1 - busy) * most * mean;
        busy_sum += busy;
        worth += waits->worth;
        samples += (double)result->samples;
    }
    struct around around = {.scatter = 0};
    if (weight > 0) around.scatter = SCATTER_WAITS * variances / weight / search->ask.allowed;
    double ratio = squares / exponential; /* not a number if nothing is known */
    bool queued = worth * CLUSTER_LEAST < samples;
    if (most > 0 && queued && ratio > TAIL_LEAST) around.tail = pow(ratio, 3) * spread / busy_sum;
    return around;
}

static int find_among(const struct search *search, enum points which, struct edge *ret) {
    struct edge_point points[EDGE_POINTS_MAX];
    int count = points_of(search, which, points);
    double most = most_served(search);
    int side = edge_find(points, count, SCATTER_MIN, ret);
    if (side != 0) return side;
    double relaxed_s = most > 0 ? relaxation_s(exp(ret->x), most) : 0;
    if (relaxed_s > UNSETTLED * longest_span_s(search)) return 0;
    double scatter = fmax(SCATTER_MIN, look_around(search, ret->x).scatter);
    return edge_find(points, count, scatter, ret);
}

/* Finds the edge like edge_find, from the clean probes if they suffice, so that the generator does
 * not influence it. If the lock's edge is not among the probes, and the generator is too slow at
 * all greater loads, the generator's edge is taken instead. *ret_which: the probes that the edge is
 * from. */
static int find(const struct search *search, struct edge *ret, enum points *ret_which) {
    *ret_which = POINTS_CLEAN;
    if (find_among(search, POINTS_CLEAN, ret) == 0 && ret->below >= EDGE_SIDE_MIN &&
        ret->above >= EDGE_SIDE_MIN)
        return 0;
    *ret_which = POINTS_TOLD;
    int side = find_among(search, POINTS_TOLD, ret);
    if (side >= 0 || limited_beyond(search) < LIMITED_MOST) return side;
    *ret_which = POINTS_BEYOND;
    return find_among(search, POINTS_BEYOND, ret);
}

/* Rounds a load, to a whole number if it must be one, and keeps it within the range. */
static double fit_load(const struct search *search, double load) {
    if (!(load > 0)) return search->ask.least; /* also for NAN: no stage has such a rate */
    /* a probe cannot tell loads apart beyond three digits */
    double step = pow(10, floor(log10(load)) - 2);
    load = search->ask.whole ? round(load) : round(load / step) * step;
    if (load < search->ask.least) load = search->ask.least;
    return load > search->ask.most ? search->ask.most : load;
}

/* The number of probes at a load; clean: only those in which the generator was not too slow. */
static int probes_at(const struct search *search, double load, bool clean) {
    int count = 0;
    for (int i = 0; i < search->count; i++) {
        const struct search_result *result = &search->results[i];
        count += result->load == load && shows(result) && !(clean && result->limited);
    }
    return count;
}

static bool kept_from(const struct search *search, double load) {
    for (int i = 0; i < search->count; i++) {
        if (search->results[i].kept && search->results[i].load >= load) return true;
    }
    return false;
}

/* True if this end of the range was probed often enough: there is nothing to probe beyond it. */
static bool is_end_settled(const struct search *search, double load, bool up) {
    return probes_at(search, load, up) >= AT_END && (!up || kept_from(search, load));
}

/* The last probes without a result; limited_too: also those of which a busy machine was the reason. */
static int failures(const struct search *search, bool limited_too) {
    int count = 0;
    for (int i = search->count - 1; i >= 0 && !shows(&search->results[i]); i--)
        count += limited_too || !search->results[i].limited;
    return count;
}

/* A load beyond all probes, on the side where the edge must be; the last one again if none of them shows a side. */
static double widen(const struct search *search, bool up) {
    double end = 0;
    for (int i = 0; i < search->count; i++) {
        double load = search->results[i].load;
        if (!shows(&search->results[i]) || (up && is_spoilt(search, &search->results[i]))) continue;
        if (end == 0 || (up ? load > end : load < end)) end = load;
    }
    if (end == 0) return search->results[search->count - 1].load;
    double load = fit_load(search, up ? end * STEP : end / STEP);
    return load == end && search->ask.whole ? fit_load(search, up ? end + 1 : end - 1) : load;
}

static void plan_round(struct search *search, const struct edge *edge) {
    struct lb_rng rng;
    rng_seed(&rng, search->ask.seed, 1 + (uint64_t)search->rounds);
    double width = (edge->high - edge->low) / 2;
    width = width > WIDTH_MAX ? WIDTH_MAX : width < WIDTH_MIN ? WIDTH_MIN : width;
    for (int i = 0; i < SEARCH_ROUND; i++) {
        /* One load in each quarter of the width, so that both sides get equally many. */
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
    search->rounds++;
}

bool search_next(struct search *search, bool more, double *ret_load) {
    struct edge edge;
    if (!more || search->count == EDGE_POINTS_MAX || failures(search, false) >= BAD_MOST)
        return false;
    if (search->round_left == 0) {
        if (search->count == 0 || failures(search, true) == search->count) {
            *ret_load = fit_load(search, search->ask.start);
            return true;
        }
        const struct search_result *last = &search->results[search->count - 1];
        enum points which;
        int side = find(search, &edge, &which);
        if (side != 0 && is_spoilt(search, last) && limited_beyond(search) < LIMITED_MOST) {
            *ret_load = last->load;
            return true;
        }
        if (side != 0) {
            *ret_load = widen(search, side < 0);
            return !is_end_settled(search, *ret_load, side < 0);
        }
        if (search->rounds >= ROUNDS_MIN && (edge.high - edge.low) / 2 < GOOD_ENOUGH) return false;
        plan_round(search, &edge);
    }
    *ret_load = search->round[--search->round_left];
    return true;
}

bool search_next_probe(struct search *search, double *ret_load, struct window *ret_window) {
    double left_s = search->ask.budget_s - search->spent_s;
    if (!search_next(search, search->cost_s <= left_s, ret_load)) return false;
    *ret_window = search_window(search, *ret_load);
    /* the first probe always runs */
    return search->count == 0 || ret_window->warmup_s + ret_window->duration_s <= left_s;
}

static bool any_limited(const struct search *search) {
    for (int i = 0; i < search->count; i++) {
        if (search->results[i].limited && shows(&search->results[i])) return true;
    }
    return false;
}

static struct search_answer no_answer(const char *why) {
    return (struct search_answer){.limit = SEARCH_NO_ANSWER, .why = why};
}

static struct search_answer with_more_time(struct search_answer answer, double times) {
    if (times > TIMES_MOST)
        return no_answer(
            "the probes tell so little that more time would not help: use a less busy machine");
    answer.times = times;
    return answer;
}

/* How many times the time would be enough for the tail of the services. A search of a usual lock takes
 * TAIL_LIMITS limits. */
static double tail_times(const struct search *search, const struct edge *edge) {
    double limits = 0;
    for (int i = 0; i < search->count && search->ask.limit_s > 0; i++)
        limits += search->results[i].span_s / search->ask.limit_s;
    return pow(look_around(search, edge->x).tail / TAIL_MOST, 2) / fmax(1, limits / TAIL_LIMITS);
}

/* Bounds the answer by the greatest throughput that the lock was seen to have: no greater rate can
 * last. At a rate near that, the queue may settle more slowly than the longest probe lasted. Then a
 * promise that the probe kept might not last, and the answer is the middle of the possible
 * range. */
static void bound_by_capacity(const struct search *search, struct search_answer *answer) {
    double most = most_served(search);
    if (!(most > 0)) return;
    double settled = window_settled_rate(most, longest_span_s(search));
    answer->load = fmin(answer->load, most);
    if (isfinite(answer->high)) answer->high = fmax(answer->load, fmin(answer->high, most));
    if (settled < answer->low) {
        answer->low = settled;
        if (isfinite(answer->high))
            answer->load = fmin(answer->load, (answer->low + answer->high) / 2);
        answer->why = "a queue at this rate settles more slowly than a probe lasted: more time "
                      "(--time) narrows the interval";
    }
    answer->low = fmin(answer->low, answer->load);
    if (answer->load > search->ask.capacity_per_s)
        answer->why =
            "the answer is above the throughput of the closed loop that ran first, because a probe "
            "granted at least as many requests a second";
}

/* The answer if the greatest load of the range kept the promise often enough. */
static struct search_answer at_range_end(const struct search *search) {
    double most = search->ask.most;
    if (greatest_told(search) == 0) return no_answer(TOO_SLOW);
    if (!is_end_settled(search, most, true))
        return no_answer(
            "the promise was kept as far as the probes went: give it more time (--time)");
    struct search_answer answer = {
        .limit = SEARCH_BY_RANGE,
        .load = most,
        .low = most,
        .high = INFINITY,
        .why = "the greatest load that was allowed keeps the promise (--most)"};
    bound_by_capacity(search, &answer);
    return answer;
}

struct search_answer search_answer(const struct search *search) {
    struct edge edge;
    enum points which;
    int side = find(search, &edge, &which);
    if (search->count == 0) return no_answer("no probe could be measured");
    if (failures(search, true) == search->count)
        return no_answer(
            "no probe could be measured, or none had the samples that the quantile takes: give "
            "it more time (--time), or promise a lesser quantile");
    if (side < 0) return at_range_end(search);
    if (side > 0) {
        return no_answer(
            which == POINTS_BEYOND
                ? TOO_SLOW
                : "the promise was broken at every load, down to the least that the time allows (--time)");
    }
    if (edge.below < SIDE_LEAST || edge.above < SIDE_LEAST)
        return no_answer("too few probes around the edge: give it more time (--time)");
    struct search_answer answer = {.limit = SEARCH_BY_PROMISE,
                                   .load = exp(edge.x),
                                   .low = exp(edge.low),
                                   .high = exp(edge.high)};
    bound_by_capacity(search, &answer);
    if (search->ask.whole) {
        answer.load = floor(answer.load + 1e-9);
        answer.low = floor(answer.low + 1e-9);
        answer.high = floor(answer.high + 1e-9);
    }
    if (answer.load < search->ask.least || answer.low <= 0)
        return no_answer(
            "the promise was broken at every load, down to the least that the time allows (--time)");
    if (answer.high / answer.low - 1 > TOO_WIDE &&
        !(search->ask.whole && answer.high - answer.low < 3)) {
        answer = no_answer(
            "the probes differ too much: give it more time (--time), or use a less busy machine");
        return with_more_time(answer, pow((edge.high - edge.low) / log(1 + TOO_WIDE), 2));
    }
    double times = which == POINTS_BEYOND ? 0 : tail_times(search, &edge);
    if (times > 1) {
        answer = no_answer("rare long services decide, and the time shows too few of them");
        return with_more_time(answer, times);
    }
    if (which == POINTS_TOLD && any_limited(search))
        answer.why =
            "too few probes had a load generator that was fast enough, so probes with a slow one count "
            "too: the lock may carry less";
    if (which == POINTS_BEYOND) {
        answer.limit = SEARCH_BY_GENERATOR;
        answer.high = INFINITY;
        answer.why =
            "beyond it the load generator or a busy machine was too slow: the lock may carry more";
    }
    return answer;
}
