/* test_plan_leases: a list of leases gives each lock a stage for each lease, and a lock without leases one stage. */

#include "bench/tests/plan_help.h"
#include "bench/workload/stages.h"

TEST(each_lease_is_a_stage_of_its_own) {
    static const int64_t leases_ns[] = {500 * LB_MS_NS, LB_S_NS, 5 * LB_S_NS};
    struct lb_err err = {0};
    struct plan *plan =
        load("[acquire]\nlease = 500ms, 1s, 5s\n[load]\nclients = 1,2\n", "sim", NULL, &err);
    if (!plan) fail_msg("%s", err.text);
    int count;
    struct plan_stage *stages = stages_new(plan, STAGES_BY_PLACE, &count);
    assert_int_equal(count, 6);
    for (int i = 0; i < count; i++) {
        assert_int_equal(stages[i].plan->lease_ns, leases_ns[i / 2]);
        assert_int_equal(stages[i].clients, i % 2 + 1);
        assert_ptr_equal(stages[i].lock, &plan->locks[0]);
        assert_true(leases_differ(stages[i].plan, stages[i].lock->lock));
    }
    char name[96];
    assert_string_equal(stage_name(&stages[0], name, sizeof name), "sim-lease500ms-c1-r0");
    assert_ptr_equal(leases_find(plan, LB_S_NS), stages[2].plan);
    assert_null(leases_find(plan, 2 * LB_S_NS));
    assert_int_equal(leases_shortest_ns(plan), 500 * LB_MS_NS);
    free(stages);
}

TEST(a_lock_without_leases_runs_once) {
    struct plan *plan = taken("[acquire]\nlease = 500ms, 1s\n", "mem-mutex", NULL);
    int count;
    struct plan_stage *stages = stages_new(plan, STAGES_BY_PLACE, &count);
    assert_int_equal(count, 1);
    assert_false(leases_differ(stages[0].plan, stages[0].lock->lock));
    char name[96];
    assert_string_equal(stage_name(&stages[0], name, sizeof name), "mem-mutex-c1-r0");
    free(stages);
}

/* A single lease stays a number in run.json, as scripts expect it. */
TEST(one_lease_is_a_number_and_several_are_an_array) {
    struct lb_err err = {0};
    struct plan *one = load("[acquire]\nlease = 2s\n", "sim", NULL, &err);
    struct plan *two = load("[acquire]\nlease = 2s,1s\n", "sim", NULL, &err);
    if (!one || !two) fail_msg("%s", err.text);
    json_t *of_one = plan_json(one), *of_two = plan_json(two);
    json_t *number = json_object_get(json_object_get(of_one, "acquire"), "lease_ns");
    json_t *array = json_object_get(json_object_get(of_two, "acquire"), "lease_ns");
    assert_int_equal(json_integer_value(number), 2 * LB_S_NS);
    assert_int_equal(json_array_size(array), 2);
    assert_int_equal(json_integer_value(json_array_get(array, 1)), LB_S_NS);
    json_decref(of_one);
    json_decref(of_two);
}

TEST_MAIN(find_folder, remove_path)
