/* The search for the greatest load that keeps a promise, against a made-up lock whose edge is
 * known: noise, probes that a busy machine spoils, ends of the range, seeds. Nothing is timed and
 * nothing runs. */

#include "bench/tools/capacity/search.h"
#include "results/stats/tests/stats_help.h"

#define ALLOWED 0.01
#define SAMPLES 2000

/* A lock whose share over the limit grows with the load's logarithm: 1 % in the mean at its edge. */
struct toy {
    double edge;
    double steep; /* growth of the share's logarithm */
    double noise; /* its standard deviation from probe to probe */
    /* part of the probes in which the machine was busy: the promise is broken at any load */
    double spoilt;
    double ceiling; /* from here on the generator is always too slow; 0 = never */
    double late;    /* part of the probes in which it may have been late, kept or broken */
    struct lb_rng rng;
};

static struct search_result probe(struct toy *toy, double load) {
    bool spoilt = rng_unit(&toy->rng) < toy->spoilt || (toy->ceiling > 0 && load >= toy->ceiling);
    double share = ALLOWED * exp(toy->steep * log(load / toy->edge) +
                                 toy->noise * normal(&toy->rng) - toy->noise * toy->noise / 2);
    if (spoilt) share = 0.3;
    if (share > 1) share = 1;
    struct search_result result = {
        .load = load, .samples = SAMPLES, .over = (uint64_t)lround(share * SAMPLES)};
    result.kept = share < ALLOWED / 2;
    result.limited = spoilt || rng_unit(&toy->rng) < toy->late;
    return result;
}

static const struct search_ask usual = {
    .start = 100, .least = 1, .most = 1e6, .allowed = ALLOWED, .seed = 1};

/* Runs a whole search of so many probes at most. */
static struct search_answer run(struct toy *toy, const struct search_ask *ask, int probes,
                                struct search *ret) {
    static struct search search; /* large */
    double load;
    search_init(&search, ask);
    for (int i = 0; search_next(&search, i < probes, &load); i++) {
        assert_true(load >= ask->least && load <= ask->most);
        struct search_result result = probe(toy, load);
        search_add(&search, &result);
    }
    if (ret) *ret = search;
    return search_answer(&search);
}

/* Searches with many seeds: checks how far the answers lie from the edge, and how often the
 * interval contains it. Returns how far they lie from it in the mean. */
static double try_seeds(struct toy toy, int probes, double most_off, int least_inside) {
    int inside = 0, answered = 0;
    double off = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct search_ask ask = usual;
        ask.seed = seed;
        rng_seed(&toy.rng, seed, 7);
        struct search_answer answer = run(&toy, &ask, probes, NULL);
        if (answer.limit != SEARCH_BY_PROMISE) continue;
        answered++;
        off += log(answer.load / toy.edge);
        inside += answer.low <= toy.edge && toy.edge <= answer.high;
        if (fabs(log(answer.load / toy.edge)) > most_off)
            fail_msg("seed %d: %g (%g .. %g) for %g", (int)seed, answer.load, answer.low,
                     answer.high, toy.edge);
    }
    if (answered < 38) fail_msg("only %d of 40 answers", answered);
    if (inside < least_inside) fail_msg("only %d of 40 intervals have the edge", inside);
    return off / answered;
}

TEST(the_start_may_be_far_off) {
    try_seeds((struct toy){.edge = 9000, .steep = 20, .noise = 0.5}, 26, 0.1, 32);
    try_seeds((struct toy){.edge = 4, .steep = 20, .noise = 0.5}, 26, 0.1, 32);
}

TEST(spoilt_probes_do_not_move_it) {
    try_seeds((struct toy){.edge = 700, .steep = 20, .noise = 0.5, .spoilt = 0.4}, 32, 0.1, 32);
}

/* The machine was late in half of all probes. If the kept ones counted and the broken ones were
 * left out, the answers would be too high in the mean. */
TEST(late_probes_do_not_push_it_up) {
    const struct toy toy = {.edge = 700, .steep = 10, .noise = 0.7, .late = 0.5};
    double off = try_seeds(toy, 40, 0.25, 34);
    if (fabs(off) > 0.008) fail_msg("off by %g in the mean", off);
}

TEST(the_same_seed_asks_the_same) {
    static struct search first, second;
    struct toy toy = {.edge = 700, .steep = 10, .noise = 0.5};
    rng_seed(&toy.rng, 3, 7);
    run(&toy, &usual, 20, &first);
    rng_seed(&toy.rng, 3, 7);
    run(&toy, &usual, 20, &second);
    assert_int_equal(first.count, second.count);
    assert_true(first.count > 8);
    for (int i = 0; i < first.count; i++)
        assert_true(first.results[i].load == second.results[i].load);
}

TEST(each_end_of_a_search_is_told_apart) {
    static const struct {
        double edge, ceiling, least, most;
        int probes;
        enum search_limit limit;
        const char *why; /* NULL: none */
    } cases[] = {
        {1e5, 500, 1, 1e6, 40, SEARCH_BY_GENERATOR, ""},
        {1e5, 0, 1, 1000, 40, SEARCH_BY_RANGE, NULL},
        {1, 0, 20, 1e6, 40, SEARCH_NO_ANSWER, "broken at every load"},
        {1e5, 0, 1, 1e6, 3, SEARCH_NO_ANSWER, "--time"},
        {1e5, 0, 1, 1e6, 0, SEARCH_NO_ANSWER, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static struct search search;
        struct search_ask ask = usual;
        struct toy toy = {.edge = cases[i].edge, .steep = 20, .ceiling = cases[i].ceiling};
        ask.least = cases[i].least;
        ask.most = cases[i].most;
        rng_seed(&toy.rng, 1, 7);
        struct search_answer answer = run(&toy, &ask, cases[i].probes, &search);
        assert_int_equal(answer.limit, cases[i].limit);
        if (cases[i].why) assert_non_null(strstr(answer.why, cases[i].why));
        if (cases[i].limit == SEARCH_NO_ANSWER)
            assert_true(search.count < 12); /* it gives up */
        else
            assert_true(isinf(answer.high));
        if (cases[i].limit == SEARCH_BY_GENERATOR)
            assert_true(answer.load < 500 && answer.load > 150);
        if (cases[i].limit == SEARCH_BY_RANGE)
            assert_true(answer.load == 1000 && answer.low == 1000);
    }
}

/* The answer from these probes, for a range of loads up to `most`. */
static struct search_answer told_by(const struct search_result *results, int count, double most) {
    static struct search search;
    struct search_ask ask = usual;
    ask.most = most;
    search_init(&search, &ask);
    for (int i = 0; i < count; i++) search_add(&search, &results[i]);
    return search_answer(&search);
}

TEST(one_probe_on_a_side_is_no_edge) {
    const struct search_result two[] = {{.load = 140, .samples = 2000, .kept = true},
                                        {.load = 160, .over = 2000, .samples = 2000}};
    struct search_answer answer = told_by(two, 2, 1e6);
    assert_int_equal(answer.limit, SEARCH_NO_ANSWER);
    assert_non_null(strstr(answer.why, "too few probes around the edge"));
    /* The generator's limit is no edge either, with a single kept probe below it. */
    struct search_result spoilt[6] = {{.load = 140, .samples = 2000, .kept = true}};
    for (int i = 1; i < 6; i++)
        spoilt[i] =
            (struct search_result){.load = 160, .over = 2000, .samples = 2000, .limited = true};
    answer = told_by(spoilt, 6, 1e6);
    assert_int_equal(answer.limit, SEARCH_NO_ANSWER);
    assert_non_null(strstr(answer.why, "too few probes around the edge"));
    /* Two on each side. */
    const struct search_result four[] = {{.load = 140, .samples = 2000, .kept = true},
                                         {.load = 145, .over = 2, .samples = 2000, .kept = true},
                                         {.load = 155, .over = 200, .samples = 2000},
                                         {.load = 160, .over = 2000, .samples = 2000}};
    answer = told_by(four, 4, 1e6);
    assert_int_equal(answer.limit, SEARCH_BY_PROMISE);
    if (!(answer.low < 150 && answer.high > 150))
        fail_msg("%g (%g .. %g)", answer.load, answer.low, answer.high);
}

TEST(spoilt_probes_alone_kept_nothing) {
    const struct search_result spoilt[] = {
        {.load = 100, .over = 2000, .samples = 2000, .limited = true},
        {.load = 100, .over = 900, .samples = 2000, .limited = true}};
    struct search_answer answer = told_by(spoilt, 2, 1e6);
    assert_int_equal(answer.limit, SEARCH_NO_ANSWER);
    assert_non_null(strstr(answer.why, "too slow at every load"));
}

TEST(the_end_of_the_range_must_be_kept_there) {
    const struct search_result spoilt[] = {
        {.load = 625, .samples = 2000, .kept = true},
        {.load = 1000, .over = 2000, .samples = 2000, .limited = true},
        {.load = 1000, .over = 2000, .samples = 2000, .limited = true}};
    assert_int_equal(told_by(spoilt, 3, 1000).limit, SEARCH_NO_ANSWER);
    struct search_result unsure[] = {{.load = 100, .samples = 2000, .kept = true},
                                     {.load = 160, .over = 7, .samples = 800},
                                     {.load = 160, .over = 7, .samples = 800}};
    assert_int_equal(told_by(unsure, 3, 160).limit, SEARCH_NO_ANSWER);
    unsure[2] = (struct search_result){.load = 160, .samples = 800, .kept = true};
    assert_int_equal(told_by(unsure, 3, 160).limit, SEARCH_BY_RANGE);
}

TEST(probes_that_bring_nothing_end_it) {
    static struct search search;
    double load;
    int count = 0;
    search_init(&search, &usual);
    while (search_next(&search, true, &load)) {
        search_add(&search, &(struct search_result){.load = load});
        assert_true(++count < 10);
    }
    assert_int_equal(search_answer(&search).limit, SEARCH_NO_ANSWER);
}

/* A busy machine may be idle again: only time ends that. */
TEST(probes_that_a_busy_machine_emptied_do_not) {
    static struct search search;
    double load;
    search_init(&search, &usual);
    for (int i = 0; i < 10; i++) {
        assert_true(search_next(&search, true, &load));
        search_add(&search, &(struct search_result){.load = load, .limited = true});
    }
    assert_true(search_next(&search, true, &load));
    assert_false(search_next(&search, false, &load));
    assert_int_equal(search_answer(&search).limit, SEARCH_NO_ANSWER);
}

/* A busy machine spoilt the first probe, and the second one brought nothing: there is no load to go on from. */
TEST(a_search_that_knows_no_load_yet_asks_for_the_same_again) {
    static struct search search; /* large */
    double load, again;
    search_init(&search, &usual);
    assert_true(search_next(&search, true, &load));
    search_add(&search, &(struct search_result){
                            .load = load, .samples = SAMPLES, .over = 600, .limited = true});
    assert_true(search_next(&search, true, &again));
    search_add(&search, &(struct search_result){.load = again});
    assert_true(search_next(&search, true, &again));
    assert_true(again == load);
}

/* ---- what the lock was seen to do ---- */

/* Probes that began with an empty queue, so that they kept the promise for a while at loads above
 * the lock's capacity. */
static struct search_answer beyond_capacity(double capacity_per_s, double served_per_s) {
    static struct search search;
    struct search_ask ask = usual;
    ask.capacity_per_s = capacity_per_s;
    search_init(&search, &ask);
    for (int i = 0; i < 12; i++) {
        double load = 96 + 3 * i;
        struct search_result result = {.load = load,
                                       .samples = SAMPLES,
                                       .over = load > 115 ? SAMPLES / 5 : 0,
                                       .served_per_s = served_per_s,
                                       .span_s = 15};
        search_add(&search, &result);
    }
    return search_answer(&search);
}

TEST(no_answer_is_above_what_was_ever_granted) {
    struct search_answer answer = beyond_capacity(100, 99);
    assert_int_equal(answer.limit, SEARCH_BY_PROMISE);
    assert_true(answer.load <= 100 && answer.high <= 100);
    /* ... and the lower end is a rate whose queue settles in 15 s: (1 - sqrt(3/1500))^2. */
    assert_true(fabs(answer.low - 91.3) < 0.1);
    assert_non_null(strstr(answer.why, "settles more slowly"));
    /* Without a closed loop nothing is known. */
    assert_true(beyond_capacity(0, 99).load > 110);
}

/* Waits as rare long services make them, at loads around an edge that the shares show clearly; and as a polling lock
 * or exponential services do. */
TEST(rare_long_services_take_more_time) {
    static const struct {
        double mean_s, square_ratio;
        bool answered, hopeless;
    } cases[] = {{0.06, 1, .answered = false},
                 {0.08, 1.6, .hopeless = true},
                 {0.04, 0.6, .answered = true},
                 {0.006, 1, .answered = true},
                 {0, 0, .answered = true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static struct search search;
        struct search_ask ask = usual;
        ask.capacity_per_s = 200;
        ask.limit_s = 0.2;
        search_init(&search, &ask);
        for (int k = 0; k < 12; k++) {
            double mean_s = cases[i].mean_s;
            struct search_result result = {
                .load = 96 + 3 * k,
                .samples = SAMPLES,
                .over = k > 6 ? SAMPLES / 5 : 0,
                .span_s = 12,
                .waits = {100, mean_s, cases[i].square_ratio * 2 * mean_s * mean_s / 0.55}};
            search_add(&search, &result);
        }
        struct search_answer answer = search_answer(&search);
        if ((answer.limit == SEARCH_BY_PROMISE) != cases[i].answered)
            fail_msg("case %zu: %s, %g times", i, answer.why, answer.times);
        if (!cases[i].answered) assert_int_equal(answer.times > 1, !cases[i].hopeless);
    }
}

/* Eleven probes of redis-setnx, as measured. They lie on one curve, which grows slowly; their waits have a heavy tail,
 * but no clusters. */
TEST(probes_of_a_lock_that_polls_give_an_answer) {
    static const struct search_result probes[] = {
        {638, 225, 4460, .served_per_s = 628, .span_s = 9.5, .waits = {995, 0.0325, 0.0105}},
        {399, 9, 4014, .served_per_s = 401, .span_s = 12.5, .waits = {2894, 0.00366, 0.000337}},
        {616, 215, 5699, .served_per_s = 598, .span_s = 12, .waits = {1259, 0.0238, 0.00674}},
        {532, 92, 5259, .served_per_s = 525, .span_s = 12.5, .waits = {3251, 0.0128, 0.00266}},
        {441, 17, 4461, .served_per_s = 446, .span_s = 12.5, .waits = {2824, 0.00565, 0.00057}},
        {395, 5, 3952, .served_per_s = 395, .span_s = 12.5, .waits = {3114, 0.00332, 0.000239}},
        {606, 182, 5943, .served_per_s = 592, .span_s = 12.5, .waits = {1410, 0.0207, 0.00493}},
        {530, 69, 5242, .served_per_s = 524, .span_s = 12.5, .waits = {1950, 0.0109, 0.00189}},
        {418, 7, 4216, .served_per_s = 421, .span_s = 12.5, .waits = {4216, 0.00366, 0.00031}},
        {457, 20, 4557, .served_per_s = 455, .span_s = 12.5, .waits = {1548, 0.0058, 0.00069}},
        {476, 28, 4711, .served_per_s = 471, .span_s = 12.5, .waits = {1604, 0.007, 0.0011}},
    };
    static struct search search;
    struct search_ask ask = usual;
    ask.capacity_per_s = 851;
    ask.limit_s = 0.2;
    search_init(&search, &ask);
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) search_add(&search, &probes[i]);
    struct search_answer answer = search_answer(&search);
    assert_int_equal(answer.limit, SEARCH_BY_PROMISE);
    /* All probes up to 476/s kept the promise; all from 530/s on broke it. */
    assert_true(answer.load > 476 && answer.load < 530);
}

TEST(an_answer_above_the_closed_loop_says_so) {
    struct search_answer answer = beyond_capacity(100, 130);
    assert_true(answer.load > 100 && answer.load < 130);
    assert_non_null(strstr(answer.why, "above the throughput of the closed loop"));
}

TEST_MAIN(NULL, NULL)
