/* The search for capacity against locks whose capacity is known. An ideal lock (one request at a time, in order of
 * arrival, with random arrivals) is computed by Lindley's recursion, one that polls event by event, with the tool's own
 * rules for probes: warm-up, window, pool of clients, who may start after the window's end, half seconds. The measurements go through probe_read
 * and the search, as those of a real stage do. Nothing is timed and nothing runs; the same seed gives the same answer. */

#include "bench/tools/capacity/probe.h"
#include "bench/tools/capacity/search.h"
#include "results/stats/tests/stats_help.h"

#define QUANTILE 0.99
#define POOL_MAX 1024
#define HALVES_MAX 1000

struct ideal {
    double service_s, limit_s, quantile;
    /* The greatest rate that keeps the promise for ever. Of constant service times (M/D/1) it was
     * computed by Franx's formula (Operations Research Letters 29, 2001); 0: exponential service
     * times (M/M/1). */
    double exact_per_s;
    int pool;
    double time_s; /* as --time; 0 = the default */
    /* Heavy tails, where exact_per_s is from the sum of Pollaczek and Khinchine, on a grid. */
    double slow_part, slow_s; /* this part of the services takes slow_s; service_s is the others' */
    double sigma;             /* lognormal; service_s is the mean */
    double cv2;               /* hyperexponential with balanced means; service_s is the mean */
    /* The lock polls: who finds it held tries again after poll_least_s, then after twice as long each time, at most
     * poll_most_s; half to one and a half of that is drawn. exact_per_s is from 40,000 computed seconds a rate. */
    double poll_least_s, poll_most_s;
};

static double draw_exponential(struct lb_rng *rng, double mean) {
    return -mean * log(1 - rng_unit(rng));
}

static double draw_service(const struct ideal *ideal, struct lb_rng *rng) {
    if (ideal->slow_part > 0)
        return rng_unit(rng) < ideal->slow_part ? ideal->slow_s : ideal->service_s;
    if (ideal->sigma > 0)
        return ideal->service_s * exp(ideal->sigma * (normal(rng) - ideal->sigma / 2));
    if (ideal->cv2 > 0) {
        double part = (1 + sqrt((ideal->cv2 - 1) / (ideal->cv2 + 1))) / 2;
        if (rng_unit(rng) >= part) part = 1 - part;
        return draw_exponential(rng, ideal->service_s / 2 / part);
    }
    return ideal->exact_per_s > 0 ? ideal->service_s : draw_exponential(rng, ideal->service_s);
}

static double mean_service_s(const struct ideal *ideal) {
    return ideal->slow_part * ideal->slow_s + (1 - ideal->slow_part) * ideal->service_s;
}

/* The throughput of a closed loop of 3 s. */
static double saturate(const struct ideal *ideal, struct lb_rng *rng) {
    if (ideal->slow_part + ideal->sigma + ideal->cv2 == 0) return floor(3 / ideal->service_s) / 3;
    double count = -1;
    for (double end_s = 0; end_s < 3; count++) end_s += draw_service(ideal, rng);
    return fmax(0, count - 1) / 3;
}

/* A stage of an ideal lock, whose recorders are used again for each. */
struct played {
    struct probe_ask ask;
    struct run_stage stage;
    struct probe_log log;
    struct quantile_batch halves[HALVES_MAX];
    double finish_s[POOL_MAX]; /* of the latest requests */
    int late;                  /* grants after the window's end */
};

static struct played *played_new(const struct ideal *ideal) {
    struct played *played = calloc(1, sizeof *played);
    played->log.promise = (struct stage_promise){METRIC_ACQUIRE_DUE, ideal->quantile,
                                                 (int64_t)(1e9 * ideal->limit_s)};
    played->log.batches = played->halves;
    for (int i = 0; i < METRICS; i++) played->log.hist[i] = hist_new(HIST_DIGITS, HIST_HIGHEST_NS);
    return played;
}

static void played_free(struct played *played) {
    for (int i = 0; i < METRICS; i++) hist_free(played->log.hist[i]);
    free(played);
}

/* A grant at a time from the window's begin. */
static void note_grant(struct played *played, double wait_s, double granted_s) {
    int half = (int)(2 * granted_s), last = played->log.count - 1;
    struct quantile_batch *batch = &played->halves[half < last ? half : last];
    batch->count++;
    batch->below += wait_s <= (double)played->log.promise.limit_ns / 1e9;
    batch->sum += 1e9 * wait_s;
    batch->squares += 1e18 * wait_s * wait_s;
    hist_record(played->log.hist[METRIC_ACQUIRE_DUE], (int64_t)(1e9 * wait_s) + 1);
    played->stage.grants++;
    played->late += granted_s >= played->stage.duration_s;
}

static void begin_stage(struct played *played, double rate_per_s, struct window window) {
    for (int i = 0; i < METRICS; i++) hist_reset(played->log.hist[i]);
    memset(played->halves, 0, sizeof played->halves);
    played->late = 0;
    played->log.count = (int)(2 * window.duration_s);
    assert_true(played->log.count <= HALVES_MAX);
    played->ask = (struct probe_ask){.window_s = window.duration_s, .one_key = true};
    played->stage = (struct run_stage){.id = "000-ideal",
                                       .status = "complete",
                                       .offered_per_s = rate_per_s,
                                       .duration_s = window.duration_s,
                                       .warmup_s = window.warmup_s,
                                       .threads = 1,
                                       .client_cpu_ns_per_grant = NAN,
                                       .stolen_share = NAN};
}

/* The series has the grants after the window's end. */
static struct probe end_stage(struct played *played, double rate_per_s) {
    json_t *series = json_pack("[{s:i, s:b}]", "ok", played->late, "draining", 1);
    played->stage.series = series;
    struct probe probe = probe_read(&played->ask, &played->stage, &played->log);
    json_decref(series);
    probe.seen.load = rate_per_s;
    return probe;
}

/* Counts an arrival that a client is free for at start_s. Returns false if it is too late to start. */
static bool note_start(struct played *played, const struct ideal *ideal, double due_s,
                       double start_s) {
    struct run_stage *stage = &played->stage;
    bool counted = due_s >= 0, starts = start_s < stage->duration_s + ideal->limit_s;
    stage->due += counted;
    stage->missed += counted && !starts;
    stage->started += counted && starts;
    stage->queued += counted && starts && start_s > due_s;
    return starts;
}

/* A lock that grants in order of arrival. */
static void play_queue(struct played *played, const struct ideal *ideal, double rate_per_s,
                       struct window window, struct lb_rng *rng) {
    double due_s = -window.warmup_s, free_s = due_s;
    for (uint64_t i = 0;; i++) {
        due_s += draw_exponential(rng, 1 / rate_per_s);
        if (due_s >= window.duration_s) break;
        double *client_s = &played->finish_s[i % (uint64_t)ideal->pool];
        double start_s = i >= (uint64_t)ideal->pool ? fmax(due_s, *client_s) : due_s;
        if (!note_start(played, ideal, due_s, start_s)) continue;
        double granted_s = fmax(start_s, free_s);
        free_s = granted_s + draw_service(ideal, rng);
        *client_s = free_s;
        if (due_s >= 0) note_grant(played, granted_s - due_s, granted_s);
    }
}

struct poller {
    bool busy, holds;
    double due_s, next_s, wait_s; /* next_s: the next try, or the end of the hold */
};

static void poll_once(struct played *played, const struct ideal *ideal, struct poller *poller,
                      double *free_s, struct lb_rng *rng) {
    double now_s = poller->next_s;
    if (poller->holds) {
        poller->busy = poller->holds = false;
    } else if (now_s < *free_s) {
        poller->next_s = now_s + poller->wait_s * (0.5 + rng_unit(rng));
        poller->wait_s = fmin(2 * poller->wait_s, ideal->poll_most_s);
    } else {
        poller->holds = true;
        poller->next_s = *free_s = now_s + draw_service(ideal, rng);
        if (poller->due_s >= 0) note_grant(played, now_s - poller->due_s, now_s);
    }
}

/* A lock that grants to whoever tries first after it is free. */
static void play_polling(struct played *played, const struct ideal *ideal, double rate_per_s,
                         struct window window, struct lb_rng *rng) {
    struct poller pollers[POOL_MAX] = {0};
    double now_s = -window.warmup_s, free_s = now_s;
    double due_s = now_s + draw_exponential(rng, 1 / rate_per_s);
    for (;;) {
        struct poller *next = NULL, *idle = NULL;
        for (int i = 0; i < ideal->pool; i++) {
            struct poller *poller = &pollers[i];
            if (!poller->busy) idle = poller;
            if (poller->busy && (!next || poller->next_s < next->next_s)) next = poller;
        }
        double start_s = fmax(due_s, now_s);
        if (idle && due_s < window.duration_s && (!next || start_s <= next->next_s)) {
            if (note_start(played, ideal, due_s, start_s))
                *idle = (struct poller){true, false, due_s, start_s, ideal->poll_least_s};
            due_s += draw_exponential(rng, 1 / rate_per_s);
        } else if (next) {
            now_s = next->next_s;
            poll_once(played, ideal, next, &free_s, rng);
        } else {
            return;
        }
    }
}

static struct probe play(struct played *played, const struct ideal *ideal, double rate_per_s,
                         struct window window, struct lb_rng *rng) {
    begin_stage(played, rate_per_s, window);
    if (ideal->poll_least_s > 0) {
        play_polling(played, ideal, rate_per_s, window, rng);
    } else {
        play_queue(played, ideal, rate_per_s, window, rng);
    }
    return end_stage(played, rate_per_s);
}

static double true_capacity(const struct ideal *ideal) {
    double low = 0, high = 1 / ideal->service_s, share = 1 - ideal->quantile;
    for (int i = 0; i < 40 && ideal->exact_per_s == 0; i++) {
        double rate = (low + high) / 2, busy = rate * ideal->service_s;
        bool kept = busy * exp(-(1 / ideal->service_s - rate) * ideal->limit_s) <= share;
        *(kept ? &low : &high) = rate;
    }
    return ideal->exact_per_s > 0 ? ideal->exact_per_s : low;
}

/* A whole search, as lockbench capacity makes it. */
static struct search_answer search_ideal(struct played *played, const struct ideal *ideal,
                                         uint64_t seed) {
    static struct search search; /* large */
    struct lb_rng rng;
    rng_seed(&rng, seed, 9);
    double allowed = 1 - ideal->quantile, capacity_per_s = saturate(ideal, &rng), load;
    struct window window;
    struct search_ask ask = {.most = 200000,
                             .allowed = allowed,
                             .seed = seed,
                             .capacity_per_s = capacity_per_s,
                             .limit_s = ideal->limit_s,
                             .warmup_s = 0.5,
                             .budget_s = ideal->time_s};
    search_init(&search, &ask);
    while (search_next_probe(&search, &load, &window)) {
        double takes_s = window.warmup_s + window.duration_s + 0.3;
        struct probe probe = play(played, ideal, load, window, &rng);
        search_add(&search, &probe.seen);
        search.spent_s += takes_s;
        search.cost_s = fmax(search.cost_s, takes_s);
    }
    return search_answer(&search);
}

/* Answers over many seeds. */
struct score {
    int answered, inside, too_much, low_above;
    double bias;
};

#define SEEDS 20

static struct score score_of(const struct ideal *ideal) {
    struct played *played = played_new(ideal);
    double truth = true_capacity(ideal);
    struct score score = {0};
    for (int seed = 1; seed <= SEEDS; seed++) {
        struct search_answer answer = search_ideal(played, ideal, (uint64_t)seed);
        if (answer.limit == SEARCH_NO_ANSWER) continue;
        double off = answer.load / truth - 1;
        score.answered++;
        score.inside += answer.low <= truth && truth <= answer.high;
        score.low_above += answer.low > truth;
        score.too_much += answer.load > 1 / mean_service_s(ideal) && !answer.why;
        score.bias += off;
    }
    played_free(played);
    score.bias /= score.answered;
    return score;
}

/* The mean of the answers must be within 3 % of the truth, and 18 of 20 intervals must contain the
 * truth. */
static void try_ideal(const struct ideal *ideal) {
    struct score score = score_of(ideal);
    if (score.too_much > 0) fail_msg("%d answers that no lock can keep", score.too_much);
    if (score.answered < 0.75 * SEEDS) fail_msg("%d answers of %d", score.answered, SEEDS);
    if (fabs(score.bias) > 0.03 || score.inside < 0.89 * score.answered)
        fail_msg("%g ms, limit %g ms: bias %.2f %%, %d of %d intervals have it",
                 1e3 * ideal->service_s, 1e3 * ideal->limit_s, 100 * score.bias, score.inside,
                 score.answered);
}

TEST(limits_from_short_to_long) {
    static const struct ideal cases[] = {
        {0.0017, 0.02, QUANTILE, 483.361, .pool = 64},
        {0.002, 0.02, QUANTILE, 396.828, .pool = 64},
        {0.005, 0.05, QUANTILE, 158.731, .pool = 64},
        {0.0017, 0.05, QUANTILE, 543.874, .pool = 64},
        {0.002, 0.05, QUANTILE, 455.930, .pool = 64},
        {0.0017, 0.2, QUANTILE, 576.830, .pool = 64},
        {0.002, 0.2, QUANTILE, 488.613, .pool = 64},
        {0.005, 0.2, QUANTILE, 188.799, .pool = 64},
        {0.002, 1, QUANTILE, 497.702, .pool = 64},
        {0.025, 1, QUANTILE, 37.760, .pool = 1000},
        {0.025, 2, QUANTILE, 38.864, .pool = 1000},
        {0.025, 2, 0.9, 39.429, .pool = 1000},
        {0.00117, 0.2, QUANTILE, 487.2, .pool = 64, .poll_least_s = 0.001, .poll_most_s = 0.064},
        {0.005, 0.5, QUANTILE, 107.3, .pool = 64, .poll_least_s = 0.002, .poll_most_s = 0.256},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) try_ideal(&cases[i]);
}

/* Of 100 searches at most 7 have a wrong answer, and at most 3 a lower end above the truth; up to a cv^2 of 4 most have
 * an answer. */
static void try_heavy(const struct ideal *ideal) {
    struct score score = score_of(ideal);
    bool usual = ideal->sigma == 1 || ideal->cv2 == 4;
    if (score.answered - score.inside > fmax(2, 0.07 * SEEDS) ||
        score.low_above > fmax(2, 0.03 * SEEDS) || (usual && score.answered < 0.4 * SEEDS))
        fail_msg("%g ms, limit %g ms: %d of %d intervals have it, %d above", 1e3 * ideal->service_s,
                 1e3 * ideal->limit_s, score.inside, score.answered, score.low_above);
}

TEST(services_with_heavy_tails) {
    static const struct ideal cases[] = {
        {0.002, 0.2, QUANTILE, 440.857, .pool = 200, .cv2 = 4},
        {0.005, 0.2, QUANTILE, 139.266, .pool = 200, .cv2 = 4},
        {0.002, 0.2, QUANTILE, 467.678, .pool = 200, .sigma = 1},
        {0.005, 0.2, QUANTILE, 166.048, .pool = 200, .sigma = 1},
        {0.002, 0.2, QUANTILE, 361.974, .pool = 200, .cv2 = 10},
        {0.001, 0.2, QUANTILE, 542.6, .pool = 200, .slow_part = 0.02, .slow_s = 0.03},
        {0.001, 0.1, QUANTILE, 453.741, .pool = 200, .slow_part = 0.02, .slow_s = 0.03},
        {0.001, 0.2, QUANTILE, 389.001, .pool = 200, .slow_part = 0.005, .slow_s = 0.1},
        {0.001, 0.2, QUANTILE, 841.168, .pool = 1000, .sigma = 1.5},
        {0.002, 0.2, QUANTILE, 328.925, .pool = 1000, .sigma = 1.5},
        {0.005, 0.2, QUANTILE, 67.258, .pool = 1000, .sigma = 1.5},
        {0.001, 0.2, QUANTILE, 542.6, 200, 600, .slow_part = 0.02, .slow_s = 0.03},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) try_heavy(&cases[i]);
}

TEST_MAIN(NULL, NULL)
