/* test_stage_cause: a known cause is reported only for a figure beyond its bound, and each lock's table names figures
 * and options that exist. */
#include <math.h>

#include "bench/option/option.h"
#include "bench/stage/stage.h"
#include "bench/tests/unit.h"
#include "drivers/registry.h"

static const struct lb_known_cause made_causes[] = {
    {"fairness.jain", .below = 0.8, .cause = "one client hogs it", .option = "wait"},
    {"latency_ns.handoff.p99", .above = 50e6, .cause = "a tick", .option = "mode"},
    {"cost.commands_per_grant", .above = 8, .cause = "a herd"},
    {0},
};

static json_t *made_faults;
static double made_tested = 100;

/* The texts that a stage with these figures gets, with | between. */
static const char *causes_of(double jain, double handoff_p99_ns) {
    static char text[500];
    struct run_stage stage;
    const struct lb_algorithm algorithm = {.causes = made_causes};
    const struct lb_lock lock = {.name = "made", .algorithm = &algorithm};
    result_field_clear_all(run_stage_fields(), &stage);
    stage.faults = made_faults;
    stage.tested_grants = made_tested;
    stage.jain = jain;
    stage.latency[METRIC_HANDOFF].p99 = handoff_p99_ns;
    json_t *causes = stage_causes(&stage, &lock);
    text[0] = '\0';
    for (size_t i = 0; i < json_array_size(causes); i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", used ? "|" : "",
                 json_string_value(json_array_get(causes, i)));
    }
    json_decref(causes);
    return text;
}

/* Beyond its bound alone; a figure that is not there has none. */
TEST(a_cause_is_told_beyond_its_bound_alone) {
    static const struct {
        double jain, handoff_p99_ns;
        const char *told;
    } cases[] = {
        {0.5, 1e6, "Jain: known cause: one client hogs it; the option wait changes it"},
        {0.8, 50e6, ""},
        {1, 51e6, "handoff p99: known cause: a tick; the option mode changes it"},
        {NAN, NAN, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(causes_of(cases[i].jain, cases[i].handoff_p99_ns), cases[i].told);
}

/* A fault, or clients that never met, may have made the figure. */
TEST(no_cause_is_told_where_another_is_at_hand) {
    made_tested = 0;
    assert_string_equal(causes_of(0.5, 90e6), "");
    made_tested = 100;
    made_faults = json_pack("[{}]");
    assert_string_equal(causes_of(0.5, 90e6), "");
    json_decref(made_faults);
    made_faults = NULL;
    assert_string_not_equal(causes_of(0.5, 90e6), "");
}

static bool is_figure(const char *path) {
    for (const struct result_field *field = run_stage_fields(); field->path; field++) {
        if (strcmp(field->path, path) == 0) return result_field_is_figure(field) && field->title;
    }
    return false;
}

TEST(each_locks_causes_name_figures_and_options_that_exist) {
    int count = 0;
    for (const struct lb_lock *const *lock = registry_locks(); *lock; lock++) {
        const struct lb_algorithm *algorithm = (*lock)->algorithm;
        for (const struct lb_known_cause *cause = algorithm->causes; cause && cause->figure;
             cause++, count++) {
            if (!is_figure(cause->figure)) fail_msg("%s: %s", (*lock)->name, cause->figure);
            if ((cause->above > 0) == (cause->below > 0))
                fail_msg("%s: %s has no bound, or two", (*lock)->name, cause->figure);
            if (cause->option && !options_find(algorithm->options, cause->option))
                fail_msg("%s has no option %s", (*lock)->name, cause->option);
        }
    }
    assert_true(count > 10);
}

TEST_MAIN(NULL, NULL)
