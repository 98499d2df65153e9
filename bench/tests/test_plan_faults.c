/* test_plan_faults: fault sections: read, refused, printed and read back; times that are drawn. */
#include "bench/tests/plan_help.h"
#include "bench/workload/faults.h"
#include "bench/workload/workfile.h"

#define PROCESSES "[load]\nclients = 4\nprocesses = 4\n"

TEST(several_sections_are_read) {
    struct plan *plan =
        taken(PROCESSES "[fault]\nkind = wire-cut\ntarget = replication\nfirst = 1s\nfor = 0\n"
                        "[fault.2]\nkind = server-kill\ntarget = primary\nfirst = 1500ms\nfor = 0\n"
                        "after = holder\n"
                        "[fault.3]\nkind = promote\ntarget = 1\nfirst = random:1600ms..2s\n"
                        "[fault.8]\nkind = wire-drop\ntarget = holder\n"
                        "every = random:1s..2s\ntimes = 4\n",
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
    assert_int_equal(f[2].first.from_ns, 1600 * LB_MS_NS);
    assert_int_equal(f[2].first.to_ns, 2 * LB_S_NS);
    assert_int_equal(f[3].by_ns, -60 * LB_S_NS);
    assert_int_equal(f[4].kind, INJECT_NONE);
    assert_int_equal(f[7].times, 4);
    assert_int_equal(f[7].every.to_ns, 2 * LB_S_NS);
    char text[160];
    assert_string_equal(faults_text(plan, text, sizeof text),
                        "wire-cut+server-kill+promote+clock+wire-drop");
    plan_free(plan);
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

TEST(what_was_valid_stays_valid) {
    static const char *const names[] = {"pause", "crash"};
    for (int i = 0; i < 2; i++) {
        struct plan_wish wish = {.workload = names[i], .folder = folder, .locks = "null"};
        struct lb_err err = {0};
        struct plan *plan = plan_load(&wish, &err);
        if (!plan) fail_msg("%s", err.text);
        assert_int_equal(plan->faults[0].kind, i == 0 ? INJECT_PAUSE : INJECT_KILL);
        assert_int_equal(plan->faults[0].target, TARGET_ANY);
        assert_int_equal(plan->faults[1].kind, INJECT_NONE);
        plan_free(plan);
    }
}

TEST(wrong_input_is_one_clear_line) {
    static const struct refusal cases[] = {
        REFUSED("[fault]\nkind = pauze\n", ".ini:2: fault.kind", "did you mean 'pause'?"),
        REFUSED("[fault.2]\nkind = x\n", ".ini:2: fault.2.kind", "is not one of", "server-empty"),
        REFUSED("[fault.9]\nkind = kill\n", "no section [fault.9]", "fault.2 to fault.8"),
        REFUSED("[fault.1]\nkind = kill\n", "no section [fault.1]"),
        REFUSED("[fault.22]\nkind = kill\n", "no section [fault.22]"),
        REFUSED("[fault.2]\nkinds = kill\n", ".ini:2: fault.2.kinds", "did you mean 'kind'?"),
        REFUSED("[fault.2]\nfrom = 1s\n", ".ini:2: fault.2.from"),
        REFUSED("[fault]\ntarget = nobody\n", ".ini:2: fault.target", "is not one of",
                "a node's number"),
        REFUSED("[fault]\ntarget = 16\n", ".ini:2: fault.target", "not between 0 and 15"),
        REFUSED("[fault]\nfirst = -1s\n", ".ini:2: fault.first", "not between 0 and 24h",
                "random:2s..5s"),
        REFUSED("[fault]\nfirst = none\n", ".ini:2: fault.first"),
        REFUSED("[fault]\nfirst = random:2s\n", ".ini:2: fault.first", "FROM..TO"),
        REFUSED("[fault]\nfirst = random:5s..2s\n", ".ini:2: fault.first", "ends before it begins"),
        REFUSED("[fault]\nfirst = random:1..2s\n", ".ini:2: fault.first", "lacks its unit"),
        REFUSED("[fault]\nevery = 1ms\n", ".ini:2: fault.every", "not between 10ms and 24h"),
        REFUSED("[fault]\nevery = random:0..1s\n", ".ini:2: fault.every",
                "not between 10ms and 24h"),
        REFUSED("[fault]\nfor = -1s\n", ".ini:2: fault.for", "-1s is", "1h"),
        REFUSED("[fault]\ntimes = -1\n", ".ini:2: fault.times", "not between 0 and"),
        REFUSED("[fault]\nafter = waiter\n", ".ini:2: fault.after", "nothing or holder"),
        REFUSED("[fault]\nby = 1\n", ".ini:2: fault.by", "lacks its unit"),
        REFUSED("[fault]\nway = up\n", ".ini:2: fault.way", "both, requests or answers"),
        REFUSED("[fault]\nkind = kill\n", "fault.kind = kill", "load.processes"),
        REFUSED("[fault]\nkind = client-clock\nby = 60s\n", "fault.kind = client-clock",
                "load.processes"),
        REFUSED(PROCESSES "[fault]\nkind = client-clock\n", "fault.by = 0",
                "by = 60s or by = -60s"),
        REFUSED(PROCESSES "[fault]\nkind = client-clock\nby = 60s\ntarget = all\n",
                "client-clock can't have this target", "any, holder, waiter"),
        REFUSED("[fault]\nkind = none\n[fault.2]\nkind = terminate\n", ".ini:4: fault.2.kind",
                "load.processes"),
        REFUSED("[fault]\nkind = wire-cut\ntarget = holder\n", "fault.kind = wire-cut",
                "load.processes"),
        REFUSED(PROCESSES "[fault]\nkind = pause\ntarget = leader\n",
                ".ini:6: fault.target = leader", "pause can't have this target",
                "any, holder, waiter"),
        REFUSED("[fault]\nkind = server-kill\ntarget = holder\n", "fault.target = holder",
                "a node's number (from 0)"),
        REFUSED("[fault.3]\nkind = server-pause\nfor = 0\n", "fault.3.for = 0", "how long"),
        REFUSED("[fault]\nkind = server-empty\nfor = 0\n", "fault.for = 0", "after how long"),
        REFUSED("[fault]\nkind = clock\n", "fault.by = 0 (the default)", "by = 60s or by = -60s"),
        REFUSED("[fault]\nkind = wire-delay\ntarget = all\nby = -1s\n", "fault.by = -1s", "later"),
        {"", "fault.2.first=x", NULL, {"--set fault.2.first"}},
        {"", "first=1s", NULL, {"--set fault.first=1s"}},
    };
    assert_refused(cases, sizeof cases / sizeof *cases, "null");
}

/* Faults on servers and all wires act with the clients in this process too. */
TEST(servers_and_wires_need_no_processes) {
    plan_free(taken("[fault]\nkind = server-kill\n[fault.2]\nkind = wire-reset\ntarget = all\n"
                    "[fault.3]\nkind = starve\ntarget = holder\n",
                    "null", NULL));
}

TEST(a_late_section_is_warned_about) {
    struct plan *plan =
        taken("[fault.2]\nkind = server-kill\nfirst = random:1h..2h\n", "null", NULL);
    const char *text = json_string_value(json_array_get(plan->warnings, 0));
    assert_non_null(text);
    assert_non_null(strstr(text, "fault.2.first is no earlier"));
    plan_free(plan);
}

/* A fault that meets no holder is no trial. Where holds are short and the fault does not look for its victim, it waits
 * until a client holds; of many faults some meet one. */
TEST(a_scenario_meets_a_holder) {
    struct workload_list list;
    struct lb_err err = {0};
    assert_int_equal(workloads_find(folder, &list, &err), 0);
    int waiting = 0;
    for (int i = 0; i < list.count; i++) {
        struct plan_wish wish = {.workload = list.item[i].name, .folder = folder, .locks = "null"};
        if (strncmp(wish.workload, "check/", 6) != 0) continue;
        struct plan *plan = plan_load(&wish, &err);
        if (!plan) fail_msg("%s: %s", wish.workload, err.text);
        const struct plan_fault *first = &plan->faults[0];
        bool seeks = first->target == TARGET_HOLDER || first->target == TARGET_WAITER;
        bool few = first->times > 0 ? first->times < 6 : first->every.to_ns == 0;
        bool waits =
            first->kind != INJECT_NONE && !seeks && few && plan->hold.mean_ns < 2 * LB_S_NS;
        if (waits && first->after != AFTER_HOLDER) fail_msg("%s: waits for nobody", wish.workload);
        waiting += waits;
        plan_free(plan);
    }
    assert_true(waiting >= 3);
    workloads_done(&list);
}

TEST_MAIN(find_folder, remove_path)
