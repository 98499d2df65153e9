/* test_plan_faults: fault sections: read, refused, printed and read back. */
#include "bench/tests/plan_help.h"
#include "bench/workload/faults.h"
#include "bench/workload/workfile.h"

#define PROCESSES "[load]\nclients = 4\nprocesses = 4\n"

TEST(several_sections_are_read) {
    struct plan *plan =
        taken(PROCESSES "[fault]\nkind = wire-cut\ntarget = replication\nfirst = 1s\nfor = 0\n"
                        "[fault.2]\nkind = server-kill\ntarget = primary\nfirst = 1500ms\nfor = 0\n"
                        "after = holder\n"
                        "[fault.3]\nkind = promote\ntarget = 1\nfirst = 1600ms\n"
                        "[fault.8]\nkind = wire-drop\ntarget = holder\n"
                        "every = 2s\ntimes = 4\n",
              "null", SETS("fault.3.target=2", "fault.4.kind=clock", "fault.4.by=-60s"));
    const struct plan_fault *f = plan->faults;
    assert_int_equal(f[0].kind, INJECT_WIRE_CUT);
    assert_int_equal(f[0].target, TARGET_REPLICATION);
    assert_int_equal(f[0].for_ns, 0);
    assert_int_equal(f[0].way, WAY_BOTH);
    assert_int_equal(f[1].kind, INJECT_SERVER_KILL);
    assert_int_equal(f[1].target, TARGET_PRIMARY);
    assert_int_equal(f[1].after, AFTER_HOLDER);
    assert_int_equal(f[2].kind, INJECT_PROMOTE);
    assert_int_equal(f[2].target, TARGET_NODE);
    assert_int_equal(f[2].node, 2);
    assert_int_equal(f[2].first_ns, 1600 * LB_MS_NS);
    assert_int_equal(f[3].by_ns, -60 * LB_S_NS);
    assert_int_equal(f[4].kind, INJECT_NONE);
    assert_int_equal(f[7].times, 4);
    assert_int_equal(f[7].every_ns, 2 * LB_S_NS);
    char text[160];
    assert_string_equal(faults_text(plan, text, sizeof text),
                        "wire-cut+server-kill+promote+clock+wire-drop");
}

TEST(every_kind_has_its_name) {
    for (int kind = 1; kind < INJECTIONS; kind++) {
        char text[400];
        snprintf(text, sizeof text, PROCESSES "[fault]\nkind = %s\nby = 1s\n",
                 injection_name((enum injection)kind));
        struct plan *plan = taken(text, "null", NULL);
        assert_int_equal(plan->faults[0].kind, kind);
        assert_int_not_equal(injection_acts_on((enum injection)kind), ON_NOTHING);
    }
}

/* Faults on servers and all wires act with the clients in this process too. */
TEST(servers_and_wires_need_no_processes) {
    taken("[fault]\nkind = server-kill\n[fault.2]\nkind = wire-reset\ntarget = all\n"
          "[fault.3]\nkind = starve\ntarget = holder\n",
          "null", NULL);
}

/* A fault that meets no holder is no trial. Where holds are short and the fault does not look for its victim, it waits
 * until a client holds; of many faults some meet one. */
TEST(a_scenario_meets_a_holder) {
    struct workload_list list;
    struct lb_err err = {0};
    assert_int_equal(workloads_find(folder, &list, &err), 0);
    int waiting = 0;
    for (int i = 0; i < list.count; i++) {
        const char *name = list.item[i].name;
        if (strncmp(name, "check/", 6) != 0) continue;
        struct plan *plan = shipped(name, "null");
        const struct plan_fault *first = &plan->faults[0];
        bool seeks = first->target == TARGET_HOLDER || first->target == TARGET_WAITER;
        bool few = first->times > 0 ? first->times < 6 : first->every_ns == 0;
        bool waits =
            first->kind != INJECT_NONE && !seeks && few && plan->hold.mean_ns < 2 * LB_S_NS;
        if (waits && first->after != AFTER_HOLDER) fail_msg("%s: waits for nobody", name);
        waiting += waits;
    }
    assert_true(waiting >= 3);
    workloads_done(&list);
}

TEST_MAIN(find_folder, remove_path)
