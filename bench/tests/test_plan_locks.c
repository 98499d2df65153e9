/* test_plan_locks: which locks a plan runs, on which servers, in which stages. */

#include "bench/tests/plan_help.h"
#include "bench/workload/stages.h"
#include "drivers/registry.h"

/* The stages of a plan, which last until the next call. */
static struct plan_stage *stages_of(struct plan *plan, enum stages_order order, int *ret_count) {
    static struct plan_stage *kept;
    free(kept);
    return kept = stages_new(plan, order, ret_count);
}

TEST(naming_makes_chosen) {
    struct plan *plan = taken(NULL, "unsafe-none, all", NULL);
    assert_string_equal(plan->locks[0].lock->name, "unsafe-none");
    for (int i = 0; i < plan->lock_count; i++) assert_int_equal(plan->locks[i].chosen, i == 0);
    /* Behind "all" it keeps its place in the list. */
    plan = taken(NULL, "all,unsafe-none", NULL);
    for (int i = 0; i < plan->lock_count; i++) {
        assert_int_equal(plan->locks[i].chosen,
                         strcmp(plan->locks[i].lock->name, "unsafe-none") == 0);
    }
    /* A workload's list is as good as the command line's, which replaces it. */
    plan = taken("[workload]\nlocks = null, mem-mutex\n", NULL, NULL);
    assert_int_equal(plan->lock_count, 2);
    assert_true(plan->locks[1].chosen);
    plan = taken("[workload]\nlocks = null, mem-mutex\n", "sim", NULL);
    assert_int_equal(plan->lock_count, 1);
    assert_string_equal(plan->locks[0].lock->name, "sim");
}

TEST(groups_of_locks_are_as_good_as_all) {
    int semaphores = 0, of_memory = 0;
    for (int i = 0; registry_locks()[i]; i++) {
        semaphores += registry_locks()[i]->primitive == LB_SEMAPHORE;
        of_memory += strcmp(registry_locks()[i]->backend->name, "memory") == 0;
    }
    struct plan *plan = taken("", "semaphore", NULL);
    assert_int_equal(plan->lock_count + (int)json_array_size(plan->skipped), semaphores);
    assert_int_equal(plan->locks[0].lock->primitive, LB_SEMAPHORE);
    assert_false(plan->locks[0].chosen);
    plan = taken("", "memory", NULL);
    assert_true(of_memory > 0);
    assert_int_equal(plan->lock_count + (int)json_array_size(plan->skipped), of_memory);
    plan = taken("", "one-of-each", NULL);
    for (int i = 1; i < plan->lock_count; i++) {
        const struct lb_lock *lock = plan->locks[i].lock;
        if (lock->caps & LB_CAP_CONTROL) continue;
        for (int k = 0; k < i; k++)
            assert_true((plan->locks[k].lock->caps & LB_CAP_CONTROL) ||
                        plan->locks[k].lock->backend != lock->backend);
    }
}

/* A stage each, in the order of running, with names of their own. */
TEST(ladders_make_stages) {
    int count = 0;
    char name[96];
    struct plan *plan =
        taken("[load]\nclients = 2, 4\n[acquire]\nreaders = 0, 50\n[run]\nrepeat = 2\n",
              "mem-rwlock, null", NULL);
    struct plan_stage *stages = stages_of(plan, STAGES_BY_PLACE, &count);
    int64_t time_ns;
    assert_int_equal(plan_stages(plan, &time_ns), 16);
    assert_int_equal(time_ns, 16 * 6 * LB_S_NS);
    assert_string_equal(stage_name(&stages[1], name, sizeof name), "mem-rwlock-c2-rd50-r0");
    assert_string_equal(stage_name(&stages[7], name, sizeof name), "mem-rwlock-c2-rd50-r1");
    assert_string_equal(stages[8].lock->lock->name, "null");
    assert_null(stages[0].topology);
    /* One step of a ladder is not worth a word in the name. */
    plan = taken("[acquire]\nreaders = 50\n", "mem-rwlock", NULL);
    stages = stages_of(plan, STAGES_BY_PLACE, &count);
    assert_int_equal(count, 1);
    assert_string_equal(stage_name(&stages[0], name, sizeof name), "mem-rwlock-c1-r0");
}

/* The locks of the stages of a plan, with blanks between. */
static char *order_of(const char *text, char *order, size_t size) {
    int count = 0;
    size_t used = 0;
    struct plan *plan = taken(text, "mem-rwlock, null, mem-mutex, mem-semaphore", NULL);
    struct plan_stage *stages = stages_of(plan, STAGES_BY_PLACE, &count);
    order[0] = '\0';
    for (int i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(order + used, size - used, "%s ", stages[i].lock->lock->name);
    return order;
}

/* The same seed gives the same order, another seed and another repeat another one. */
TEST(locks_run_in_an_order_drawn_from_the_seed) {
    char one[200], again[200], other[200], twice[400];
    order_of("[load]\nseed = 1\n", one, sizeof one);
    order_of("[load]\nseed = 1\n", again, sizeof again);
    assert_string_equal(one, again);
    bool differs = false;
    for (int seed = 2; seed < 8; seed++) {
        char text[40];
        snprintf(text, sizeof text, "[load]\nseed = %d\n", seed);
        differs |= strcmp(order_of(text, other, sizeof other), one) != 0;
        assert_int_equal(strlen(other), strlen(one)); /* each of them once */
    }
    assert_true(differs);
    order_of("[run]\nrepeat = 6\n", twice, sizeof twice);
    differs = false;
    for (int repeat = 1; repeat < 6; repeat++)
        differs |= strncmp(twice, twice + repeat * (int)strlen(one), strlen(one)) != 0;
    assert_true(differs);
}

/* Each round has every lock once, and all but the first one, which warms, one of a server twice; of two rounds the
 * second one mirrors the first, so that no lock has always the same place. What is there for show runs in round 1. */
TEST(a_round_has_every_lock) {
    int count = 0, shown = 0;
    struct plan *plan =
        taken("[run]\nrepeat = 3\n", "redis-setnx, mem-mutex, mem-rwlock, controls", NULL);
    struct plan_stage *stages = stages_of(plan, STAGES_BY_ROUND, &count),
                      *round[4 + STAGES_SPARE] = {0};
    int of_round[4 + STAGES_SPARE] = {0};
    for (int i = 0; i < count; i++) {
        int repeat = stages[i].repeat;
        bool control = stages[i].lock->lock->caps & LB_CAP_CONTROL;
        assert_in_range(repeat, i > 0 ? stages[i - 1].repeat : 0, 3 + STAGES_SPARE);
        if (control) assert_int_equal(repeat, 1);
        shown += control;
        if (!round[repeat]) round[repeat] = &stages[i];
        of_round[repeat]++;
        if (stages[i].again) assert_string_equal(stages[i].lock->lock->name, "redis-setnx");
    }
    assert_int_not_equal(shown, 0);
    assert_int_equal(count, (4 + STAGES_SPARE) * (3 + 1) - 1 + shown);
    assert_int_equal(of_round[0], 3);
    for (int i = 0; i < of_round[2]; i++)
        assert_string_equal(round[2][i].lock->lock->name, round[3][3 - i].lock->lock->name);
}

/* A lone client waits for nobody, so half a window says as much of it. */
TEST(beside_others_a_lone_client_has_half_the_window) {
    int count = 0;
    struct plan *plan =
        taken("[run]\nrepeat = 2\nduration = 400ms\n", "redis-setnx", SETS("load.clients=1,4"));
    struct plan_stage *stages = stages_of(plan, STAGES_BY_ROUND, &count);
    for (int i = 0; i < count; i++)
        assert_int_equal(stages[i].window_ns, (stages[i].clients == 1 ? 200 : 400) * LB_MS_NS);
    stages = stages_of(plan, STAGES_BY_PLACE, &count);
    for (int i = 0; i < count; i++) assert_int_equal(stages[i].window_ns, 400 * LB_MS_NS);
    plan->faults[0].kind = INJECT_PAUSE; /* at a time of the whole window */
    stages = stages_of(plan, STAGES_BY_ROUND, &count);
    for (int i = 0; i < count; i++) assert_int_equal(stages[i].window_ns, 400 * LB_MS_NS);
}

/* "all" leaves out locks that lack what the workload needs. Of a named lock it is an error: plans.txt. */
TEST(what_a_lock_cannot_do_is_said) {
    struct plan *plan = taken("", "all", SETS("acquire.readers=10", "load.clients=4"));
    json_t *entry;
    size_t index;
    bool told = false;
    json_array_foreach(plan->skipped, index, entry) {
        if (strcmp(json_string_value(json_object_get(entry, "lock")), "mem-mutex") != 0) continue;
        told = strstr(json_string_value(json_object_get(entry, "reason")), "'shared'") != NULL;
    }
    assert_true(told);
    /* The baseline does nothing, whatever is asked. */
    assert_string_equal(plan->locks[0].lock->name, "null");
}

TEST(topologies_are_chosen_by_name) {
    struct lb_err err = {0};
    char text[200];
    struct plan *plan =
        load("[servers]\ntopology = zookeeper, redis\n", "redis-setnx, mem-mutex", NULL, &err);
    if (!plan && err.code == LB_EXIT_MACHINE)
        skip_for("the redis backend is not in this build: install libhiredis-dev");
    if (!plan) fail_msg("%s", err.text);
    assert_int_equal(plan->topology_count, 2);
    assert_string_equal(plan_key_text(plan, "servers", "topology", text, sizeof text),
                        "zookeeper, redis");
    assert_string_equal(topologies_of(plan, plan->locks[0].lock, 0), "redis");
    assert_null(topologies_of(plan, plan->locks[0].lock, 1));
    assert_null(topologies_of(plan, plan->locks[1].lock, 0));
    /* A lock that can run on none of the listed topologies runs on its usual one. */
    plan = taken("[servers]\ntopology = zookeeper\n", "redis-setnx", NULL);
    assert_string_equal(topologies_of(plan, plan->locks[0].lock, 0), "redis");
}

/* The same locks without and with TLS, on servers of their own; embedded locks have nothing to encrypt. */
TEST(servers_with_tls_are_places_of_their_own) {
    static const char *const settings[] = {"servers.tls=no", "servers.tls=yes", "servers.tls=both"};
    static const int stages_of_redis[] = {2, 2, 4}, with_tls[] = {0, 2, 2};
    for (int i = 0; i < 3; i++) {
        struct plan *plan =
            taken("[load]\nclients=2,4\n", "redis-setnx,mem-mutex", SETS(settings[i]));
        int count = 0, redis = 0, encrypted = 0, shared = 0;
        struct plan_stage *stages = stages_of(plan, STAGES_BY_PLACE, &count);
        for (int s = 0; s < count; s++) {
            redis += stages[s].topology != NULL;
            encrypted += stages[s].tls;
            shared += s > 0 && stages_share(&stages[s - 1], &stages[s]);
            assert_false(stages[s].tls && !stages[s].topology);
        }
        assert_int_equal(redis, stages_of_redis[i]);
        assert_int_equal(encrypted, with_tls[i]);
        assert_int_equal(shared, count / 2);
    }
}

/* Each round trip is a place of its own; embedded locks have no connections to make longer. */
TEST(servers_at_distances_are_places_of_their_own) {
    struct plan *plan = taken("[load]\nclients=2,4\n", "redis-setnx,mem-mutex",
                              SETS("servers.rtt=none, 0, 500us,20ms"));
    static const int64_t rtts_ns[] = {-1, 0, 500 * LB_US_NS, 20 * LB_MS_NS};
    static const char *const names[] = {"redis-setnx-c2-r0", "redis-setnx-rtt0-c2-r0",
                                        "redis-setnx-rtt500us-c2-r0", "redis-setnx-rtt20ms-c2-r0"};
    int count = 0, far = 0;
    char text[96];
    struct plan_stage *stages = stages_of(plan, STAGES_BY_PLACE, &count);
    assert_int_equal(count, 2 + 4 * 2);
    for (int i = 0; i < count; i++) {
        const struct distance *distance = &stages[i].distance;
        if (!stages[i].topology) {
            assert_false(distance->wired);
            continue;
        }
        assert_int_equal(distance->wired ? distance->rtt_ns : -1, rtts_ns[far / 2]);
        if (far % 2 == 0)
            assert_string_equal(stage_name(&stages[i], text, sizeof text), names[far / 2]);
        if (i > 0) assert_int_equal(stages_share(&stages[i - 1], &stages[i]), far % 2);
        far++;
    }
    assert_int_equal(far, 8);
}

/* ---- leases: a list of them gives each lock a stage for each, and a lock without leases one ---- */

TEST(each_lease_is_a_stage_of_its_own) {
    static const int64_t leases_ns[] = {500 * LB_MS_NS, LB_S_NS, 5 * LB_S_NS};
    struct plan *plan =
        taken("[acquire]\nlease = 500ms, 1s, 5s\n[load]\nclients = 1,2\n", "sim", NULL);
    int count;
    struct plan_stage *stages = stages_of(plan, STAGES_BY_PLACE, &count);
    assert_int_equal(count, 6);
    for (int i = 0; i < count; i++) {
        assert_int_equal(stages[i].lease_ns, leases_ns[i / 2]);
        assert_int_equal(stages[i].clients, i % 2 + 1);
        assert_true(leases_differ(stages[i].plan, stages[i].lock->lock));
    }
    char name[96];
    assert_string_equal(stage_name(&stages[0], name, sizeof name), "sim-lease500ms-c1-r0");
    assert_int_equal(leases_shortest_ns(plan), 500 * LB_MS_NS);
    plan = taken("[acquire]\nlease = 500ms, 1s\n", "mem-mutex", NULL);
    stages = stages_of(plan, STAGES_BY_PLACE, &count);
    assert_int_equal(count, 1); /* it has no leases */
    assert_string_equal(stage_name(&stages[0], name, sizeof name), "mem-mutex-c1-r0");
}

/* A single lease stays a number in run.json, as scripts expect it. */
TEST(one_lease_is_a_number_and_several_are_an_array) {
    struct plan *one = taken("[acquire]\nlease = 2s\n", "sim", NULL);
    struct plan *two = taken("[acquire]\nlease = 2s,1s\n", "sim", NULL);
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
