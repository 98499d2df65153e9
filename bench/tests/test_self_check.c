/* The self-checks of a stage: each passes on a sound stage and fails on facts that are wrong, and
 * chance fails those of samples as seldom as they say. */

#include <math.h>

#include "bench/base/rng.h"
#include "bench/run/canary.h"
#include "bench/run/self_check.h"
#include "bench/tests/stage_help.h"

#define GAPS 400
#define SECONDS 20

static double gaps[GAPS], seconds[SECONDS];

/* A sound open loop of 20 s. */
static struct self_facts sound_facts(uint64_t seed) {
    struct lb_rng rng;
    rng_seed(&rng, seed, 1);
    for (int i = 0; i < GAPS; i++) gaps[i] = -log1p(-rng_unit(&rng));
    for (int i = 0; i < SECONDS; i++) seconds[i] = 100 + rng_unit(&rng) + rng_unit(&rng);
    return (struct self_facts){.whole = true,
                               .attempts = 1000,
                               .outcomes = 1000,
                               .grants_of_clients = 990,
                               .grants_recorded = 990,
                               .failed_recorded = 10,
                               .log_read = true,
                               .clients_ns = 4e9,
                               .states_ns = 3.99e9,
                               .arrival = ARRIVAL_POISSON,
                               .due_expected = 1000,
                               .due = 1030,
                               .gaps = gaps,
                               .gap_count = GAPS,
                               .seconds = seconds,
                               .second_count = SECONDS};
}

static const char *result_of_check(const struct self_facts *facts, const char *name) {
    static char text[40];
    json_t *results = self_checks_json(facts), *check;
    size_t i;
    snprintf(text, sizeof text, "no such check");
    json_array_foreach(results, i, check) {
        if (strcmp(json_string_value(json_object_get(check, "name")), name) == 0)
            snprintf(text, sizeof text, "%s", json_string_value(json_object_get(check, "result")));
    }
    json_decref(results);
    return text;
}

static enum self_result compute_check(const struct self_facts *facts, const char *name) {
    double figure, limit;
    for (const struct self_check *check = self_checks(); check->name; check++) {
        if (strcmp(check->name, name) == 0) return check->compute(facts, &figure, &limit);
    }
    fail_msg("no check is called %s", name);
    return SELF_NOT_APPLICABLE;
}

TEST(a_sound_stage_passes_every_check) {
    struct self_facts facts = sound_facts(1);
    for (const struct self_check *check = self_checks(); check->name; check++)
        assert_string_equal(result_of_check(&facts, check->name), "passed");
}

TEST(sums_that_do_not_agree_fail) {
    struct self_facts facts = sound_facts(1);
    facts.outcomes = 999;
    assert_string_equal(result_of_check(&facts, "outcomes"), "failed");
    facts = sound_facts(1);
    facts.grants_of_clients = 991;
    assert_string_equal(result_of_check(&facts, "grants"), "failed");
    facts = sound_facts(1);
    facts.failed_recorded = 9;
    assert_string_equal(result_of_check(&facts, "records"), "failed");
    facts = sound_facts(1);
    facts.log_apart = 1;
    assert_string_equal(result_of_check(&facts, "log"), "failed");
    facts = sound_facts(1);
    facts.states_ns = 0.97 * facts.clients_ns;
    assert_string_equal(result_of_check(&facts, "states"), "failed");
}

TEST(another_load_than_asked_for_fails) {
    struct self_facts facts = sound_facts(1);
    for (int i = 0; i < GAPS; i++) gaps[i] *= 1.3; /* the rate is too low */
    assert_string_equal(result_of_check(&facts, "arrivals"), "failed");
    facts = sound_facts(1);
    for (int i = 0; i < GAPS; i++) gaps[i] = 0.5 + gaps[i] / 2; /* too even */
    assert_string_equal(result_of_check(&facts, "arrivals"), "failed");
    facts = sound_facts(1);
    facts.due = 1150;
    assert_string_equal(result_of_check(&facts, "arrival-count"), "failed");
    facts = sound_facts(1);
    facts.arrival = ARRIVAL_CONSTANT;
    facts.due = 1001;
    assert_string_equal(result_of_check(&facts, "arrivals"), "passed");
    assert_string_equal(result_of_check(&facts, "arrival-count"), "passed");
    facts.grid_off_ns = 1000;
    facts.due = 990;
    assert_string_equal(result_of_check(&facts, "arrivals"), "failed");
    assert_string_equal(result_of_check(&facts, "arrival-count"), "failed");
}

TEST(what_moves_or_depends_on_its_neighbours_fails) {
    struct self_facts facts = sound_facts(1);
    for (int i = 0; i < SECONDS; i++) seconds[i] += 3 * i;
    assert_string_equal(result_of_check(&facts, "stationary"), "failed");
    for (int i = 0; i < SECONDS; i++) seconds[i] = i < SECONDS / 2 ? 100 + i % 3 : 130 + i % 3;
    assert_string_equal(result_of_check(&facts, "independent"), "failed");
    facts.disturbed = true; /* by a fault */
    assert_string_equal(result_of_check(&facts, "independent"), "not-applicable");
}

/* A change of one per cent is real, and changes no decision. */
TEST(a_trend_too_small_to_matter_passes) {
    struct self_facts facts = sound_facts(1);
    for (int i = 0; i < SECONDS; i++) seconds[i] = 1000 + i + 0.1 * (i % 2);
    assert_string_equal(result_of_check(&facts, "stationary"), "passed");
}

TEST(what_a_stage_cannot_tell_does_not_apply) {
    struct self_facts facts = {.whole = false};
    for (const struct self_check *check = self_checks(); check->name; check++)
        assert_string_equal(result_of_check(&facts, check->name), "not-applicable");
    facts = sound_facts(1);
    facts.arrival = ARRIVAL_CLOSED;
    facts.second_count = 9;
    assert_string_equal(result_of_check(&facts, "arrivals"), "not-applicable");
    assert_string_equal(result_of_check(&facts, "stationary"), "not-applicable");
    facts = sound_facts(1);
    facts.rounds = true;
    facts.grants_of_clients = 1;
    assert_string_equal(result_of_check(&facts, "grants"), "not-applicable");
    assert_string_equal(result_of_check(&facts, "records"), "not-applicable");
}

/* 2 are expected of each. */
TEST(chance_fails_no_more_than_it_says) {
    static const char *const names[] = {"arrivals", "stationary", "independent"};
    int alarms[3] = {0};
    for (uint64_t seed = 0; seed < 2000; seed++) {
        for (int i = 0; i < 3; i++) {
            struct self_facts facts = sound_facts(seed);
            alarms[i] += compute_check(&facts, names[i]) == SELF_FAILED;
        }
    }
    for (int i = 0; i < 3; i++)
        if (alarms[i] > 10) fail_msg("%s: %d of 2000", names[i], alarms[i]);
}

/* ---- real stages ---- */

static void assert_exact_checks_pass(const struct stage *stage, const char *what) {
    const json_t *results = stage->result.self_checks;
    size_t i;
    json_t *check;
    assert_non_null(results);
    json_array_foreach(results, i, check) {
        const char *name = json_string_value(json_object_get(check, "name"));
        if (strcmp(json_string_value(json_object_get(check, "result")), "failed") == 0)
            fail_msg("%s: %s", what, name);
    }
}

TEST(every_kind_of_stage_adds_up) {
    static const struct {
        const char *lock;
        const char *sets[8];
    } stages[] = {
        {"sim", {"load.clients=4", "load.hold=1ms"}},
        {"sim", {"load.clients=8", "load.arrival=poisson:2000/s"}},
        {"sim", {"load.clients=8", "load.arrival=constant:700/s", "load.threads=2"}},
        {"sim", {"load.clients=4", "acquire.mode=timed", "acquire.timeout=2ms", "load.hold=1ms"}},
        {"sim", {"load.clients=4", "acquire.mode=try", "load.think=1ms", "load.hold=1ms"}},
        {"sim", {"load.clients=4", "load.processes=2", "load.threads=2"}},
        {"mem-rwlock", {"load.clients=4"}},
        {"mem-semaphore", {"load.clients=6"}},
        /* a thread each, with few arrivals */
        {"mem-mutex", {"load.clients=100", "load.keys=own", "load.arrival=poisson:1500/s"}},
        {"null", {"load.clients=2"}}};
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        const char *sets[12] = {"run.duration=100ms", "run.warmup=20ms"};
        int count = 2;
        for (int k = 0; stages[i].sets[k]; k++) sets[count++] = stages[i].sets[k];
        struct stage *stage =
            run_stage_as(stages[i].lock, &(struct stage_wish){.readers = 50}, sets);
        assert_exact_checks_pass(stage, stages[i].lock);
        stage_free(stage);
    }
}

TEST(a_failed_check_is_a_warning) {
    struct self_facts facts = sound_facts(1);
    facts.outcomes = 999;
    json_t *results = self_checks_json(&facts), *warnings = json_array();
    self_checks_warn(results, warnings);
    assert_int_equal(json_array_size(warnings), 1);
    assert_non_null(strstr(json_string_value(json_array_get(warnings, 0)), "self-check outcomes"));
    json_decref(results);
    json_decref(warnings);
}

/* ---- the canary ---- */

static struct canary draw_canary(struct lb_rng *rng, double rate_per_s, double scatter) {
    struct canary canary = {.count = CANARY_STAGES};
    for (int i = 0; i < CANARY_STAGES; i++)
        canary.rate_per_s[i] = rate_per_s * (1 + scatter * (rng_unit(rng) - 0.5));
    return canary;
}

TEST(a_machine_that_changed_is_told_from_one_that_scatters) {
    int alarms = 0;
    double part;
    struct lb_rng rng;
    rng_seed(&rng, 1, 3);
    for (int i = 0; i < 10000; i++) {
        struct canary before = draw_canary(&rng, 1e6, 0.8), after = draw_canary(&rng, 1e6, 0.8);
        alarms += canary_moved(&before, &after, &part);
    }
    if (alarms > 25) fail_msg("%d of 10000", alarms); /* at most 10 are expected */
    struct canary before = draw_canary(&rng, 1e6, 0.1), after = draw_canary(&rng, 7e5, 0.1);
    assert_true(canary_moved(&before, &after, &part));
    assert_true(part < -0.2 && part > -0.4);
    after = draw_canary(&rng, 1.05e6, 0.001); /* real, and too small to matter */
    before = draw_canary(&rng, 1e6, 0.001);
    assert_false(canary_moved(&before, &after, &part));
    after.count--;
    assert_false(canary_moved(&before, &after, &part));
}

TEST_MAIN(NULL, NULL)
