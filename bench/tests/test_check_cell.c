/* The verdict on a cell from hand-made results of runs, and its comparison with what was expected. */
#include "bench/tests/check_cell_help.h"

/* The key was granted again, to a client that came when it may have been free for long: it recovered, at no known time. */
TEST(a_recovery_that_tells_no_time_is_one) {
    json_t *run = good_run(), *recovery = part(run, "recovery");
    json_object_set_new(recovery, "count", json_integer(0));
    json_object_set_new(recovery, "trials_ns", json_array());
    json_object_set_new(recovery, "unasked", json_integer(1));
    json_t *seen = judge(run, NULL, true);
    assert_true(json_is_true(json_object_get(seen, "recovered")));
    json_decref(seen);
}

/* A server that forgot its grants while nobody could ask it shows in nothing else. After a fault of clients it is how the
 * lock is meant to work. */
TEST(grants_that_servers_lost_are_told) {
    for (int clients = 0; clients < 2; clients++) {
        json_t *run = good_run();
        json_object_set_new(part(run, "recovery"), "grants_lost", json_integer(1));
        if (!clients)
            json_object_set_new(json_array_get(part(run, "faults"), 0), "kind",
                                json_string("server-kill"));
        assert_seen(judge(run, NULL, true), "safe",
                    clients ? NULL : "1 grant was lost, though no holder met another one");
    }
}

/* Holders stand still with lockbench, so an overlap may be its own: such a cell says nothing of the lock. */
TEST(a_stall_longer_than_the_lease_excuses_an_overlap) {
    for (int longer = 0; longer < 2; longer++) {
        json_t *run = good_run();
        json_object_set_new(part(run, "exclusion"), "verdict", json_string("expired"));
        json_object_set_new(part(run, "exclusion"), "expired_holders", json_integer(1));
        json_object_set_new(
            part(run, NULL), "executor",
            json_pack("{s:I}", "stood_still_ns", (json_int_t)(longer ? 3 * S_NS : S_NS)));
        assert_seen(judge(run, NULL, true), longer ? "inconclusive" : "expired",
                    longer
                        ? "lockbench itself stood still for 3.0 s, longer than the lease of 2.0 s"
                        : "1 expired holder");
    }
}

/* They decide no verdict, and the cell tells them. */
TEST(lost_wake_ups_are_told) {
    for (int count = 1; count <= 2; count++) {
        json_t *run = good_run();
        json_object_set_new(part(run, "recovery"), "lost_wakeups", json_integer(count));
        assert_seen(judge(run, NULL, true), "safe",
                    count == 1
                        ? "1 lost wake-up: the key had been free for longer than half a lease"
                        : "2 lost wake-ups: ");
    }
}

TEST(what_is_fine_is_safe_with_its_bound) {
    json_t *run = good_run();
    json_object_set_new(part(run, NULL), "durability_note", json_string("kept in memory"));
    json_t *seen = judge(run, NULL, true);
    assert_string_equal(json_string_value(json_object_get(seen, "durability_note")),
                        "kept in memory");
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
        {"exclusion", "verdict", "stuck", 1, "stuck", "stuck", "1 key that is free"},
        {"exclusion", "verdict", "expired", 3, "expired_holders", "expired", "3 expired holders"},
        {"exclusion", "verdict", "violated", 2, "revoked", "violated",
         "2 grants lost inside their leases"},
        {"exclusion", "verdict", "expired", 1, "ended", "expired", "1 session"},
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
    json_object_set_new(fault, "tested", json_integer(held));
    json_object_set_new(fault, "outlasted", json_integer(outlasted));
    return run;
}

/* A server that has lost its grants shows nothing if it comes back when all leases have ended: no grant was at stake. */
TEST(a_server_that_is_back_too_late_shows_nothing) {
    static const struct {
        const char *kind, *class;
        int held, outlasted;
        const char *verdict;
        int hits;
    } cases[] = {{"server-kill", "memory", 2, 0, "inconclusive", 0},
                 {"server-kill", "memory", 2, 1, "safe", 1},
                 {"server-kill", "memory", 0, 0, "inconclusive", 0},
                 {"server-kill", "disk", 2, 0, "safe", 1}, /* it kept what it knew */
                 {"server-empty", "disk", 2, 0, "inconclusive", 0},
                 {"server-pause", "memory", 2, 0, "safe", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *run =
            restarted_run(cases[i].kind, cases[i].class, cases[i].held, cases[i].outlasted);
        bool nothing = strcmp(cases[i].verdict, "inconclusive") == 0;
        json_t *seen = judge(run, NULL, true);
        assert_int_equal(whole(seen, "faults_hit"), cases[i].hits);
        const char *why = cases[i].held > 0 ? "it listened again after 6.242 s" : "no client held";
        assert_seen(seen, cases[i].verdict, nothing ? why : NULL);
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
    assert_seen(judge(run, NULL, false), "inconclusive", "2 clients waited for the whole window");
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
    assert_seen(
        judge(still, NULL, true), "inconclusive",
        "nobody was granted anything after the fault; lockbench itself stood still for 1.0 s");
    /* The servers stood still as well, and begin anew with what takes its time. */
    still = deserted_run(6, 4 * S_NS);
    json_object_set_new(part(still, NULL), "duration_s", json_real(11));
    json_object_set_new(part(still, NULL), "executor",
                        json_pack("{s:I}", "stood_still_ns", (json_int_t)(3 * S_NS / 2)));
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
