/* The verdict on a cell from hand-made results of runs, its comparison with what was expected, and
 * several seeds as one. */
#include <math.h>

#include "bench/check/cell_result.h"
#include "bench/tests/unit.h"
#include "results/format/write.h"

#define S_NS 1000000000LL

/* A run with one stage that is fine: a fault at 1 s, grants before and after, recovered in time. */
static json_t *good_run(void) {
    json_t *stage = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:i, s:I, s:{s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:n, s:i},"
        " s:s, s:[{s:s, s:s, s:b, s:f, s:f, s:s}], s:[{s:f, s:i}, {s:f, s:i}, {s:f, s:i}]}",
        "lock", "redis-setnx", "backend", "redis", "topology", "redis", "durability", "in memory",
        "status", "complete", "clients", 4, "lease_ns", (json_int_t)(2 * S_NS), "exclusion",
        "verdict", "clean", "grants", 300, "double_holders", 0, "expired_holders", 0,
        "lost_updates", 0, "token_errors", 0, "detected", 0, "detect_ns_max", "stuck", 0, "fault",
        "pause", "faults", "kind", "pause", "section", "fault", "acted", 1, "from_s", 1.2, "to_s",
        8.2, "sign", "it stood still", "series", "t_s", 0.0, "ok", 10, "t_s", 1.0, "ok", 3, "t_s",
        2.0, "ok", 7);
    json_object_set_new(
        stage, "recovery",
        json_pack("{s:[I, I], s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:I, s:i, s:i}", "trials_ns",
                  (json_int_t)(2 * S_NS), (json_int_t)(1 * S_NS), "count", 2, "min_ns",
                  (json_int_t)(1 * S_NS), "p50_ns", (json_int_t)(1 * S_NS), "p90_ns",
                  (json_int_t)(2 * S_NS), "max_ns", (json_int_t)(2 * S_NS), "theory_min_ns",
                  (json_int_t)0, "theory_max_ns", (json_int_t)(2 * S_NS), "theory",
                  "0 to the lease", "unavailable_ns", (json_int_t)(3 * S_NS), "grants_lost", 1,
                  "lost_wakeups", 0));
    json_object_set_new(stage, "history",
                        json_pack("{s:s, s:i, s:i, s:[], s:[]}", "verdict", "clean", "violations",
                                  0, "expired", 0, "counterexample", "timeline"));
    json_object_set_new(stage, "store",
                        json_pack("{s:i, s:i, s:i, s:i}", "stale_attempted", 2,
                                  "stale_accepted_unfenced", 1, "stale_rejected_fenced", 2,
                                  "stale_accepted_fenced", 0));
    return json_pack("{s:s, s:b, s:[{s:s, s:{s:s}}], s:[o]}", "schema", "lockbench.run/1",
                     "partial", 0, "servers", "backend", "redis", "facts", "version", "7.0.15",
                     "stages", stage);
}

static json_t *part(json_t *run, const char *name) {
    json_t *stage = json_array_get(json_object_get(run, "stages"), 0);
    return name ? json_object_get(stage, name) : stage;
}

static void add_fault(json_t *run, const char *section, const char *kind, bool acted,
                      double from_s) {
    json_array_append_new(part(run, "faults"),
                          json_pack("{s:s, s:s, s:b, s:f, s:n, s:s}", "kind", kind, "section",
                                    section, "acted", acted, "from_s", from_s, "to_s", "sign",
                                    acted ? "gone" : "nobody held"));
}

static struct cell_result result_of(json_t *root, const char *trouble, bool needs_fault) {
    struct cell_result result;
    struct lb_err err = {0};
    struct run *run = root ? run_from_json(root, "run.json", &err) : NULL;
    if (!run && !trouble) trouble = err.text;
    assert_int_equal(cell_result_of_run(run, trouble, needs_fault, &result, &err), 0);
    run_free(run);
    json_decref(root);
    return result;
}

/* As check.json has it; frees the result. */
static json_t *json_of(struct cell_result result) {
    json_t *json = result_fields_json(check_cell_fields(), &result.cell);
    assert_non_null(json);
    cell_result_free(&result);
    return json;
}

/* Judges and frees the run. */
static json_t *judge(json_t *run, const char *trouble, bool needs_fault) {
    return json_of(result_of(run, trouble, needs_fault));
}

static void assert_seen(json_t *seen, const char *verdict, const char *why) {
    const char *is = json_string_value(json_object_get(seen, "verdict"));
    const char *says = json_string_value(json_object_get(seen, "why"));
    assert_string_equal(is, verdict);
    if (why && (!says || !strstr(says, why)))
        fail_msg("'%s' is not in '%s'", why, says ? says : "(null)");
    if (!why && says) fail_msg("why: %s", says);
    json_decref(seen);
}

static json_int_t whole(const json_t *seen, const char *name) {
    return json_integer_value(json_object_get(seen, name));
}

static void assert_bound(const json_t *seen, double bound) {
    const json_t *is = json_object_get(seen, "bound95");
    if (bound == 0) {
        assert_true(json_is_null(is));
    } else if (fabs(json_real_value(is) - bound) > 1e-9) {
        fail_msg("bound95 is %g, not %g", json_real_value(is), bound);
    }
}

/* A fault is one trial of the lock, if it acted while a victim held. */
TEST(the_bound_of_a_fault_counts_faults) {
    static const struct {
        int acted, idle; /* further faults; idle: nobody held */
        double bound;
    } cases[] = {{0, 0, 0.95}, {2, 0, 1 - 0.368403149864}, {2, 5, 1 - 0.368403149864}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *run = good_run();
        for (int k = 0; k < cases[i].acted + cases[i].idle; k++) {
            add_fault(run, "fault", "pause", true, 1.5);
            json_t *fault = json_array_get(part(run, "faults"), (size_t)k + 1);
            json_object_set_new(fault, "held", json_integer(k < cases[i].acted ? 2 : 0));
        }
        add_fault(run, "fault", "pause", false, 2);
        json_t *seen = judge(run, NULL, true);
        assert_bound(seen, cases[i].bound);
        assert_int_equal(whole(seen, "faults_hit"), 1 + cases[i].acted);
        assert_seen(seen, "safe", NULL);
    }
    /* All sections together are one trial. */
    json_t *run = good_run();
    json_object_set_new(part(run, NULL), "fault", json_string("wire-cut+server-kill"));
    add_fault(run, "fault.2", "server-kill", true, 1.5);
    json_t *seen = judge(run, NULL, true);
    assert_int_equal(whole(seen, "faults_hit"), 1);
    json_decref(seen);
    /* Nobody held when the only fault acted, so the fault shows nothing about the lock. */
    run = good_run();
    json_object_set_new(json_array_get(part(run, "faults"), 0), "held", json_integer(0));
    seen = judge(run, NULL, true);
    assert_bound(seen, 0);
    assert_int_equal(whole(seen, "faults_hit"), 0);
    json_decref(seen);
    /* Without a fault, grants are the trials; three of them bound nothing. */
    seen = judge(good_run(), NULL, false);
    assert_bound(seen, 3.0 / 300);
    assert_true(json_is_null(json_object_get(seen, "faults_hit")));
    json_decref(seen);
    run = good_run();
    json_object_set_new(part(run, "exclusion"), "grants", json_integer(2));
    seen = judge(run, NULL, false);
    assert_bound(seen, 0);
    json_decref(seen);
}

static json_t *tested_run(int grants, int tested) {
    json_t *run = good_run(), *exclusion = part(run, "exclusion");
    json_object_set_new(exclusion, "grants", json_integer(grants));
    json_object_set_new(exclusion, "tested", json_integer(tested));
    return run;
}

static struct cell_result merged(struct cell_result a, struct cell_result b);

/* A grant during which nobody waited tests nothing. */
TEST(the_bound_without_a_fault_counts_the_grants_that_tested) {
    json_t *seen = judge(tested_run(1000, 10), NULL, false);
    assert_bound(seen, 0.3);
    assert_int_equal(whole(seen, "tested"), 10);
    json_decref(seen);
    seen = json_of(merged(result_of(tested_run(1000, 10), NULL, false),
                          result_of(tested_run(500, 20), NULL, false)));
    assert_bound(seen, 0.1);
    json_decref(seen);
    seen = judge(tested_run(1000, 10), NULL, true);
    assert_bound(seen, 0.95); /* the fault is the trial */
    json_decref(seen);
}

TEST(what_is_fine_is_safe_with_its_bound) {
    json_t *seen = judge(good_run(), NULL, true);
    assert_int_equal(whole(seen, "grants"), 300);
    assert_bound(seen, 0.95); /* one fault */
    assert_string_equal(json_string_value(json_object_get(seen, "server")), "redis 7.0.15");
    assert_string_equal(json_string_value(json_object_get(seen, "topology")), "redis");
    assert_true(json_is_true(json_object_get(seen, "recovered")));
    assert_int_equal(whole(seen, "stale_attempted"), 2);
    assert_int_equal(whole(seen, "stale_accepted_unfenced"), 1);
    assert_int_equal(whole(seen, "stale_rejected_fenced"), 2);
    assert_int_equal(whole(seen, "unavailable_ns"), 3 * S_NS);
    const json_t *recovery = json_object_get(seen, "recovery_ns");
    assert_int_equal(whole(recovery, "max"), 2 * S_NS);
    assert_int_equal(whole(recovery, "theory_max"), 2 * S_NS);
    assert_int_equal(json_array_size(json_object_get(recovery, "trials")), 2);
    assert_int_equal(json_array_size(json_object_get(seen, "faults")), 1);
    assert_seen(seen, "safe", NULL);
}

/* Each way to be bad, and what it says of it. */
TEST(each_bad_finding_has_its_verdict) {
    static const struct {
        const char *part, *name, *word;
        int number;
        const char *count, *verdict, *why;
    } cases[] = {
        {"exclusion", "verdict", "violated", 2, "double_holders", "violated", "2 double holders"},
        {"exclusion", "verdict", "violated", 1, "token_errors", "violated",
         "1 token that did not grow"},
        {"history", "verdict", "violated", 1, "violations", "violated",
         "1 contradiction in the history"},
        {"exclusion", "verdict", "stuck", 1, "stuck", "stuck", "1 keys that are free"},
        {"exclusion", "verdict", "expired", 3, "expired_holders", "expired", "3 expired holders"},
        {"history", "verdict", "expired", 1, "expired", "expired", "1 hold past its lease"},
        {"store", "none", "", 1, "stale_accepted_fenced", "violated",
         "1 stale write that passed the fence"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *run = good_run();
        json_object_set_new(part(run, cases[i].part), cases[i].name, json_string(cases[i].word));
        json_object_set_new(part(run, cases[i].part), cases[i].count,
                            json_integer(cases[i].number));
        json_t *seen = judge(run, NULL, true);
        assert_true(json_is_null(json_object_get(seen, "bound95")));
        assert_seen(seen, cases[i].verdict, cases[i].why);
    }
}

/* A violation hides whatever else there is, a stuck key an outlived lease. */
TEST(the_worst_finding_counts) {
    json_t *run = good_run();
    json_object_set_new(part(run, "exclusion"), "verdict", json_string("expired"));
    json_object_set_new(part(run, "history"), "verdict", json_string("violated"));
    json_object_set_new(part(run, "history"), "violations", json_integer(4));
    assert_seen(judge(run, NULL, true), "violated", "4 contradictions");
    run = good_run();
    json_object_set_new(part(run, "exclusion"), "verdict", json_string("stuck"));
    json_object_set_new(part(run, "history"), "verdict", json_string("expired"));
    assert_seen(judge(run, NULL, true), "stuck", "keys");
}

/* Thrice the theory and five seconds is still recovered; a little more is stuck. */
TEST(a_recovery_beyond_reason_is_stuck) {
    json_t *run = good_run();
    json_object_set_new(part(run, "recovery"), "max_ns", json_integer(11 * S_NS));
    assert_seen(judge(run, NULL, true), "safe", NULL);
    run = good_run();
    json_object_set_new(part(run, "recovery"), "max_ns", json_integer(11 * S_NS + 1));
    json_t *seen = judge(run, NULL, true);
    assert_true(json_is_false(json_object_get(seen, "recovered")));
    assert_seen(seen, "stuck", "theory: 2.0 s");
    /* Without a theory no recovery is too long. */
    run = good_run();
    json_object_set_new(part(run, "recovery"), "max_ns", json_integer(100 * S_NS));
    json_object_set_new(part(run, "recovery"), "theory_max_ns", json_null());
    assert_seen(judge(run, NULL, true), "safe", NULL);
}

/* A grant that came late because lockbench itself stood still. */
TEST(time_that_lockbench_stood_still_is_no_recovery) {
    json_t *run = good_run();
    json_object_set_new(part(run, "recovery"), "max_ns", json_integer(31 * S_NS));
    json_object_set_new(part(run, NULL), "executor",
                        json_pack("{s:I}", "stood_still_ns", (json_int_t)(20 * S_NS)));
    assert_seen(judge(json_incref(run), NULL, true), "safe", NULL);
    json_object_set_new(part(run, "recovery"), "max_ns", json_integer(31 * S_NS + 1));
    assert_seen(judge(run, NULL, true), "stuck", "theory: 2.0 s");
}

/* One key that no client got back counts as not recovered, even if other keys recovered, and under
 * any verdict. */
TEST(a_key_that_nobody_got_has_not_recovered) {
    static const struct {
        const char *part, *name;
    } counts[] = {{"recovery", "unrecovered"}, {"exclusion", "stuck"}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        json_t *run = good_run();
        json_object_set_new(part(run, "exclusion"), "verdict", json_string("violated"));
        json_object_set_new(part(run, counts[i].part), counts[i].name, json_integer(1));
        json_t *seen = judge(run, NULL, true);
        assert_true(json_is_false(json_object_get(seen, "recovered")));
        json_decref(seen);
    }
}

/* A server that has only its memory was killed while `held` clients held, of whom `outlasted` still did when it was
 * back. */
static json_t *restarted_run(const char *kind, const char *class, int held, int outlasted) {
    json_t *run = good_run(), *fault = json_array_get(part(run, "faults"), 0);
    json_object_set_new(part(run, NULL), "fault", json_string(kind));
    json_object_set_new(part(run, NULL), "durability_class", json_string(class));
    json_object_set_new(fault, "kind", json_string(kind));
    json_object_set_new(fault, "sign", json_string("it listened again after 6.242 s"));
    json_object_set_new(part(run, "recovery"), "unrecovered", json_integer(0));
    json_object_set_new(fault, "held", json_integer(held));
    json_object_set_new(fault, "outlasted", outlasted < 0 ? json_null() : json_integer(outlasted));
    return run;
}

/* Who comes back when the leases have ended has forgotten nothing that mattered. */
TEST(a_server_that_is_back_too_late_shows_nothing) {
    static const struct {
        const char *kind, *class;
        int held, outlasted;
        const char *verdict;
        int hits;
    } cases[] = {{"server-kill", "memory", 2, 0, "inconclusive", 0},
                 {"server-kill", "memory", 2, 1, "safe", 1},
                 {"server-kill", "memory", 2, -1, "safe", 1}, /* by an older lockbench */
                 {"server-kill", "memory", 0, 0, "safe", 0},
                 {"server-kill", "disk", 2, 0, "safe", 1}, /* it kept what it knew */
                 {"server-empty", "disk", 2, 0, "inconclusive", 0},
                 {"server-pause", "memory", 2, 0, "safe", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *run =
            restarted_run(cases[i].kind, cases[i].class, cases[i].held, cases[i].outlasted);
        bool late = strcmp(cases[i].verdict, "inconclusive") == 0;
        json_t *seen = judge(run, NULL, true);
        assert_int_equal(whole(seen, "faults_hit"), cases[i].hits);
        assert_seen(seen, cases[i].verdict, late ? "it listened again after 6.242 s" : NULL);
    }
    /* A second restart was in time; and what is wrong stays wrong. */
    json_t *run = restarted_run("server-kill", "memory", 2, 0);
    add_fault(run, "fault", "server-kill", true, 1.5);
    json_t *seen = judge(run, NULL, true);
    assert_int_equal(whole(seen, "faults_hit"), 1);
    assert_seen(seen, "safe", NULL);
    run = restarted_run("server-kill", "memory", 2, 0);
    json_object_set_new(part(run, "exclusion"), "verdict", json_string("violated"));
    json_object_set_new(part(run, "exclusion"), "double_holders", json_integer(1));
    seen = judge(run, NULL, true);
    assert_int_equal(whole(seen, "faults_hit"), 1);
    assert_seen(seen, "violated", "1 double holder");
    /* The scenario itself waits out the lease, which is 2 s. */
    run = restarted_run("server-kill", "memory", 2, 0);
    json_object_set_new(run, "plan", json_pack("{s:{s:I}}", "fault", "for_ns", 4 * S_NS));
    assert_seen(judge(run, NULL, true), "safe", NULL);
    /* In a failover it is another server that serves. */
    run = restarted_run("server-kill", "memory", 2, 0);
    json_object_set_new(part(run, NULL), "fault", json_string("wire-cut+server-kill"));
    add_fault(run, "fault.2", "promote", true, 1.3);
    assert_seen(judge(run, NULL, true), "safe", NULL);
}

TEST(what_shows_nothing_is_inconclusive) {
    json_t *run = good_run(), *seen;
    json_object_set_new(json_array_get(part(run, "faults"), 0), "acted", json_false());
    assert_seen(judge(run, NULL, true), "inconclusive",
                "fault, pause, did not act: it stood still");
    run = good_run();
    json_object_set_new(json_array_get(part(run, "faults"), 0), "acted", json_false());
    assert_seen(judge(run, NULL, false), "safe", NULL); /* nothing was to happen */
    run = good_run();
    json_array_clear(part(run, "faults"));
    assert_seen(judge(run, NULL, true), "inconclusive", "no fault acted");
    run = good_run();
    json_object_set_new(part(run, "exclusion"), "grants", json_integer(0));
    assert_seen(judge(run, NULL, true), "inconclusive", "ever granted");
    run = good_run();
    json_object_set_new(part(run, "exclusion"), "verdict", json_string("unchecked"));
    assert_seen(judge(run, NULL, true), "inconclusive",
                "nobody was granted anything in the window");
    run = tested_run(1000, 0);
    json_object_set_new(part(run, "exclusion"), "verdict", json_string("untested"));
    seen = judge(json_incref(run), NULL, false);
    assert_bound(seen, 0);
    assert_seen(seen, "inconclusive", "no client ever waited for another");
    assert_seen(judge(json_incref(run), NULL, true), "safe", NULL); /* the fault tested it */
    json_object_set_new(part(run, NULL), "control", json_true());
    assert_seen(judge(run, NULL, false), "safe", NULL); /* a missed control */
    run = good_run();
    json_object_set_new(part(run, "exclusion"), "verdict", json_string("starved"));
    json_object_set_new(part(run, NULL), "fairness", json_pack("{s:i}", "starved", 2));
    assert_seen(judge(run, NULL, false), "inconclusive", "2 clients waited until the drain limit");
    run = good_run();
    json_object_set_new(json_array_get(part(run, "series"), 2), "ok", json_integer(0));
    json_object_set_new(part(run, "recovery"), "count", json_integer(0));
    assert_seen(judge(run, NULL, true), "inconclusive", "after the fault");
    /* A section that acted once and did not act a second time. */
    run = good_run();
    add_fault(run, "fault", "pause", false, 3.0);
    assert_seen(judge(run, NULL, true), "safe", NULL);
}

/* Cut the replication, kill the primary: the cut alone shows nothing, and neither does what came
 * before the kill. */
TEST(all_parts_of_a_scenario_must_act) {
    json_t *run = good_run();
    json_object_set_new(part(run, NULL), "fault", json_string("wire-cut+server-kill"));
    assert_seen(judge(run, NULL, true), "inconclusive",
                "1 of 2 faults (wire-cut+server-kill) acted");
    run = good_run();
    json_object_set_new(part(run, NULL), "fault", json_string("wire-cut+server-kill"));
    add_fault(run, "fault.2", "server-kill", false, 1.5);
    assert_seen(judge(run, NULL, true), "inconclusive",
                "fault.2, server-kill, did not act: nobody held");
    run = good_run();
    json_object_set_new(part(run, NULL), "fault", json_string("wire-cut+server-kill"));
    add_fault(run, "fault.2", "server-kill", false, 1.3);
    add_fault(run, "fault.2", "server-kill", true, 1.5);
    assert_seen(judge(run, NULL, true), "safe", NULL);
    run = good_run();
    json_object_set_new(part(run, NULL), "fault", json_string("wire-cut+server-kill"));
    /* grants until 3 s, recoveries from the first */
    add_fault(run, "fault.2", "server-kill", true, 2.5);
    assert_seen(judge(run, NULL, true), "inconclusive", "after the fault");
}

/* A server was killed at 1.2 s of 9 s, and was back at to_s (0: never); nobody got anything after
 * it. */
static json_t *deserted_run(double to_s, json_int_t for_ns) {
    json_t *run = good_run(), *fault = json_array_get(part(run, "faults"), 0);
    json_object_set_new(part(run, NULL), "duration_s", json_real(9));
    json_object_set_new(part(run, "recovery"), "count", json_integer(0));
    json_object_set_new(part(run, "recovery"), "max_ns", json_null());
    json_object_set_new(part(run, "recovery"), "unrecovered", json_integer(1));
    json_object_set_new(json_array_get(part(run, "series"), 2), "ok", json_integer(0));
    json_object_set_new(fault, "kind", json_string("server-kill"));
    json_object_set_new(fault, "to_s", to_s > 0 ? json_real(to_s) : json_null());
    json_object_set_new(run, "plan", json_pack("{s:{s:I}}", "fault", "for_ns", for_ns));
    return run;
}

TEST(who_does_not_come_back_with_its_servers_is_stuck) {
    assert_seen(judge(deserted_run(6, 4 * S_NS), NULL, true), "stuck",
                "no client got a grant in the");
    /* for good */
    assert_seen(judge(deserted_run(0, 0), NULL, true), "stuck", "no client got a grant in the");
    /* An attempt counts in the second in which its release ends, though it was granted before the fault. */
    json_t *late = deserted_run(0, 0);
    json_object_set_new(json_array_get(part(late, "series"), 2), "ok", json_integer(2));
    assert_seen(judge(late, NULL, true), "stuck", "no client got a grant in the");
    /* A lock without holders has no history, and so no recovery: the series of its grants
     * decides. */
    json_t *holderless = deserted_run(0, 0);
    json_object_set_new(part(holderless, NULL), "recovery", json_null());
    assert_seen(judge(json_deep_copy(holderless), NULL, true), "stuck",
                "no client got a grant in the");
    json_object_set_new(json_array_get(part(holderless, "series"), 2), "ok", json_integer(2));
    assert_seen(judge(json_deep_copy(holderless), NULL, true), "stuck",
                "no client got a grant in the");
    json_t *last = json_deep_copy(json_array_get(part(holderless, "series"), 2));
    json_object_set_new(last, "t_s", json_real(8));
    json_array_append_new(part(holderless, "series"), last);
    assert_seen(judge(holderless, NULL, true), "safe", NULL);
    /* The server came back too late to show a recovery, or did not come back although the plan says
     * so. */
    assert_seen(judge(deserted_run(6.5, 4 * S_NS), NULL, true), "inconclusive", "after the fault");
    assert_seen(judge(deserted_run(0, 4 * S_NS), NULL, true), "inconclusive", "after the fault");
    /* Nobody can get a grant while lockbench itself stands still. */
    json_t *still = deserted_run(6, 4 * S_NS);
    json_object_set_new(part(still, NULL), "executor",
                        json_pack("{s:I}", "stood_still_ns", (json_int_t)(1 * S_NS)));
    assert_seen(judge(still, NULL, true), "inconclusive", "after the fault");
    /* After a fault of a client all servers are there, so this rule does not apply. */
    json_t *run = deserted_run(6, 4 * S_NS);
    json_object_set_new(json_array_get(part(run, "faults"), 0), "kind", json_string("pause"));
    assert_seen(judge(run, NULL, true), "inconclusive", "after the fault");
    /* "stuck" hides "expired", but not a violation. */
    run = deserted_run(6, 4 * S_NS);
    json_object_set_new(part(run, "exclusion"), "verdict", json_string("expired"));
    assert_seen(judge(run, NULL, true), "stuck", "no client got a grant in the");
    run = deserted_run(6, 4 * S_NS);
    json_object_set_new(part(run, "exclusion"), "verdict", json_string("violated"));
    json_object_set_new(part(run, "exclusion"), "double_holders", json_integer(2));
    assert_seen(judge(run, NULL, true), "violated", "2 double holders");
}

TEST(without_its_history_nothing_is_safe) {
    static const struct {
        bool asked;
        const char *primitive, *verdict, *why;
    } cases[] = {{true, "mutex", "inconclusive", "history was not judged"},
                 {false, "mutex", "safe", NULL},
                 {true, "latch", "safe", NULL},
                 {true, "optimistic", "safe", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *run = good_run();
        json_object_set_new(run, "plan",
                            json_pack("{s:{s:b}}", "check", "history", (int)cases[i].asked));
        json_object_set_new(part(run, NULL), "primitive", json_string(cases[i].primitive));
        json_object_set_new(part(run, NULL), "history", json_null());
        assert_seen(judge(run, NULL, true), cases[i].verdict, cases[i].why);
    }
    json_t *run = good_run();
    json_object_set_new(part(run, "history"), "dropped", json_integer(12));
    assert_seen(judge(run, NULL, true), "safe", "12 records of the history were lost");
}

TEST(what_did_not_run_has_failed) {
    assert_seen(judge(NULL, "no such server", true), "failed", "no such server");
    assert_seen(judge(json_object(), NULL, true), "failed", "not a result");
    assert_seen(judge(json_pack("{s:[]}", "stages"), "interrupted", true), "failed", "interrupted");
    json_t *run = good_run();
    json_object_set_new(part(run, NULL), "status", json_string("partial"));
    json_object_set_new(part(run, NULL), "error", json_string("the server ended"));
    assert_seen(judge(run, NULL, true), "failed", "the server ended");
    assert_seen(judge(good_run(), "killed by signal 9", true), "failed", "killed by signal 9");
    /* A violation that was seen before the failure counts. */
    run = good_run();
    json_object_set_new(part(run, "exclusion"), "verdict", json_string("violated"));
    json_object_set_new(part(run, "exclusion"), "double_holders", json_integer(1));
    assert_seen(judge(run, "killed by signal 9", true), "violated", "1 double holder");
}

/* A file may come from anywhere. */
TEST(nothing_of_a_run_is_believed) {
    static const char *const texts[] = {
        "[]",
        "{\"stages\":{}}",
        "{\"stages\":[null]}",
        "{\"stages\":[[]]}",
        "{\"stages\":[{\"exclusion\":3}]}",
        "{\"stages\":[{\"status\":\"complete\",\"exclusion\":{\"grants\":"
        "\"many\"},\"faults\":7,\"recovery\":[]}]}",
        "{\"stages\":[{\"status\":1,\"recovery\":{\"max_ns\":[],\"trials_"
        "ns\":5},\"series\":[4],\"faults\":[9]}]}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_seen(judge(json_loads(texts[i], 0, NULL), NULL, true), "failed", "run.json");
    }
}

TEST(verdicts_are_compared_with_what_was_expected) {
    static const enum check_compared table[4][4] = {
        /* expected: safe, expired, stuck, violated */
        {CHECK_AS_EXPECTED, CHECK_BETTER, CHECK_BETTER, CHECK_BETTER}, /* seen: safe */
        {CHECK_WORSE, CHECK_AS_EXPECTED, CHECK_BETTER, CHECK_BETTER},  /* expired */
        {CHECK_WORSE, CHECK_WORSE, CHECK_AS_EXPECTED, CHECK_BETTER},   /* stuck */
        {CHECK_WORSE, CHECK_WORSE, CHECK_WORSE, CHECK_AS_EXPECTED},    /* violated */
    };
    static const enum check_verdict seen[] = {CHECK_SAFE, CHECK_EXPIRED, CHECK_STUCK,
                                              CHECK_VIOLATED};
    static const enum lb_expect expected[] = {LB_EXPECT_SAFE, LB_EXPECT_EXPIRED, LB_EXPECT_STUCK,
                                              LB_EXPECT_VIOLATED};
    for (int s = 0; s < 4; s++) {
        for (int e = 0; e < 4; e++)
            assert_int_equal(cell_result_compare(seen[s], expected[e]), table[s][e]);
        assert_int_equal(cell_result_compare(seen[s], LB_EXPECT_UNSTATED), CHECK_NOT_COMPARED);
    }
    assert_int_equal(cell_result_compare(CHECK_FAILED, LB_EXPECT_SAFE), CHECK_NOT_COMPARED);
    assert_int_equal(cell_result_compare(CHECK_INCONCLUSIVE, LB_EXPECT_VIOLATED),
                     CHECK_NOT_COMPARED);
    assert_string_equal(check_compared_name(CHECK_AS_EXPECTED), "as expected");
    assert_null(check_compared_name(CHECK_NOT_COMPARED));
}

/* One seed that came out so; its trials are its own. */
static struct cell_result one_seed(const char *verdict, int grants, int64_t trial_ns, int seed) {
    struct cell_result result = result_of(good_run(), NULL, true);
    struct check_cell *cell = &result.cell;
    cell->verdict = CHECK_SAFE;
    while (strcmp(check_verdict_name(cell->verdict), verdict) != 0) cell->verdict++;
    cell->verdict_word = check_verdict_name(cell->verdict);
    cell->grants = grants;
    cell->seed = seed;
    cell->trials = cell_result_keep(&result, json_pack("[I]", (json_int_t)trial_ns));
    return result;
}

static struct cell_result merged(struct cell_result a, struct cell_result b) {
    struct lb_err err = {0};
    assert_int_equal(cell_result_merge(&a, &b, &err), 0);
    cell_result_free(&b);
    return a;
}

TEST(several_seeds_show_their_worst) {
    struct cell_result three =
        merged(one_seed("safe", 100, 3 * S_NS, 1), one_seed("expired", 50, 1 * S_NS, 2));
    json_t *all = json_of(merged(three, one_seed("safe", 200, 2 * S_NS, 3)));
    assert_int_equal(whole(all, "seed"), 2); /* whose evidence it is */
    assert_int_equal(whole(all, "grants"), 350);
    assert_int_equal(whole(all, "stale_attempted"), 6);
    assert_int_equal(whole(all, "unavailable_ns"), 3 * S_NS); /* the longest, not the sum */
    assert_true(json_is_null(json_object_get(all, "bound95")));
    const json_t *recovery = json_object_get(all, "recovery_ns");
    assert_int_equal(whole(recovery, "count"), 3);
    assert_int_equal(whole(recovery, "min"), 1 * S_NS);
    assert_int_equal(whole(recovery, "p50"), 2 * S_NS);
    assert_int_equal(whole(recovery, "p90"), 3 * S_NS);
    assert_int_equal(whole(recovery, "max"), 3 * S_NS);
    assert_seen(all, "expired", NULL);
    all = json_of(merged(one_seed("safe", 100, 1, 1), one_seed("safe", 200, 2, 2)));
    assert_bound(all, 1 - 0.223606797750); /* two faults */
    assert_int_equal(whole(all, "seed"), 1);
    assert_seen(all, "safe", NULL);
    /* The trials of both are in one order, and each stays the whole number that it was. */
    struct cell_result a = one_seed("safe", 1, 1, 1), b = one_seed("safe", 1, 1, 2);
    a.cell.trials = cell_result_keep(&a, json_pack("[i, i]", 1, 9));
    b.cell.trials = cell_result_keep(&b, json_pack("[i, i]", 2, 3));
    all = json_of(merged(a, b));
    json_t *sorted = json_pack("[i, i, i, i]", 1, 2, 3, 9);
    assert_true(json_equal(json_object_get(json_object_get(all, "recovery_ns"), "trials"), sorted));
    json_decref(sorted);
    json_decref(all);
}

/* A failed seed makes a safe cell fail, and hides no bad finding of the other seeds. */
TEST(a_failed_seed_hides_what_is_fine_and_nothing_bad) {
    static const char *const order[] = {"safe",    "inconclusive", "failed",
                                        "expired", "stuck",        "violated"};
    for (int a = 0; a < 6; a++) {
        for (int b = 0; b < 6; b++) {
            assert_seen(json_of(merged(one_seed(order[a], 1, 1, 1), one_seed(order[b], 1, 1, 2))),
                        order[a > b ? a : b], NULL);
        }
    }
}

TEST(what_is_not_there_in_one_seed_is_kept_of_the_other) {
    struct cell_result full = one_seed("safe", 10, 5 * S_NS, 1);
    full.cell.residue = 2;
    full.cell.residue_example = "key a";
    struct cell_result merge = merged(result_of(NULL, "no server", true), full);
    assert_int_equal(cell_result_trials(&merge), 1);
    json_t *both = json_of(merge);
    assert_int_equal(whole(json_object_get(both, "residue"), "count"), 2);
    assert_int_equal(whole(both, "stale_attempted"), 2);
    assert_seen(both, "failed", "no server");
    struct cell_result a = one_seed("safe", 1, 1, 1), b = one_seed("safe", 1, 1, 2);
    a.cell.residue = 0;
    b.cell.residue = 3;
    b.cell.residue_example = "key b";
    b.cell.recovered = 0;
    both = json_of(merged(a, b));
    assert_int_equal(whole(json_object_get(both, "residue"), "count"), 3);
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(both, "residue"), "example")), "key b");
    assert_true(json_is_false(json_object_get(both, "recovered")));
    assert_seen(both, "safe", NULL);
}

/* A workload with several stages (numbers of clients, topologies) is judged by the worst of
 * them. */
TEST(all_stages_of_a_run_count) {
    json_t *run = good_run(), *other = good_run();
    json_object_set_new(part(other, "exclusion"), "verdict", json_string("violated"));
    json_object_set_new(part(other, "exclusion"), "double_holders", json_integer(1));
    json_array_extend(json_object_get(run, "stages"), json_object_get(other, "stages"));
    json_decref(other);
    json_t *seen = judge(run, NULL, true);
    assert_int_equal(whole(seen, "grants"), 600);
    assert_seen(seen, "violated", "1 double holder");
}

/* A check that failed because two clients held at once decides, wherever it stands in the list; otherwise the first
 * check decides in which a call was wrongly granted or wrongly refused. */
TEST(a_suite_is_one_cell) {
    static const struct {
        const char *checks;
        int complete;
        enum check_verdict verdict;
        const char *why;
    } cases[] = {
        {"passed granted 0,left out granted 0", 1, CHECK_SAFE, "1 checks passed, 1 left out"},
        {"passed granted 0", 0, CHECK_FAILED, "it said so"},
        {"left out granted 0", 1, CHECK_FAILED, "0 checks passed"},
        {"passed wrong 0,failed wrong 0", 1, CHECK_FAILED, "'c1': because (1 of 2 checks failed)"},
        {"failed wrong 0,failed refused 0,failed granted 0", 1, CHECK_STUCK, "'c1'"},
        {"failed granted 0,failed refused 0", 0, CHECK_VIOLATED, "'c0'"},
        {"failed refused 0,failed wrong 1", 1, CHECK_VIOLATED, "'c1'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *checks = json_array();
        char text[200], *rest = text;
        snprintf(text, sizeof text, "%s", cases[i].checks);
        for (char *one; (one = strsep(&rest, ","));) {
            char *overlap = strrchr(one, ' '), name[8];
            *overlap = '\0';
            char *shown = strrchr(one, ' ');
            *shown = '\0';
            snprintf(name, sizeof name, "c%zu", json_array_size(checks));
            json_array_append_new(checks, json_pack("{s:s, s:s, s:s, s:s, s:b}", "check", name,
                                                    "result", one, "why", "because", "shown",
                                                    shown + 1, "overlap", overlap[1] == '1'));
        }
        json_t *suite = json_pack("{s:b, s:o}", "complete", cases[i].complete, "checks", checks);
        struct cell_result result;
        struct lb_err err = {0};
        assert_int_equal(cell_result_of_suite(suite, "it said so", &result, &err), 0);
        if (result.cell.verdict != cases[i].verdict || !strstr(result.cell.why, cases[i].why))
            fail_msg("%s: %s: %s", cases[i].checks, result.cell.verdict_word, result.cell.why);
        assert_true(isnan(result.cell.bound95));
        cell_result_free(&result);
        json_decref(suite);
    }
}

TEST_MAIN(NULL, NULL)
