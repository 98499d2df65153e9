/* test_expected: the verdicts that drivers state for their locks under faults: they are there, they
 * agree with the claims of the same tables, and each fault has its workload. `lockbench check`
 * finds out whether they are true. */
#include "bench/base/home.h"
#include "bench/tests/unit.h"
#include "drivers/registry.h"

#define REASON_MAX 100

static bool is_real(const struct lb_lock *lock) {
    return !(lock->caps & (LB_CAP_CONTROL | LB_CAP_BASELINE));
}

static enum lb_expect worst(const struct lb_lock *lock, enum lb_scenario scenario) {
    return lb_expected(lock, scenario)->worst;
}

static bool states(const struct lb_lock *lock, enum lb_scenario scenario) {
    return worst(lock, scenario) != LB_EXPECT_UNSTATED;
}

TEST(test_names_lead_back) {
    for (int i = 0; i < LB_SCENARIOS; i++) {
        enum lb_scenario scenario = (enum lb_scenario)i;
        assert_non_null(lb_scenario_name(scenario));
        assert_non_null(lb_scenario_summary(scenario));
        assert_int_equal(lb_scenario_from(lb_scenario_name(scenario)), scenario);
    }
    assert_int_equal(lb_scenario_from("no-such-fault"), LB_SCENARIOS);
    assert_int_equal(lb_scenario_from(""), LB_SCENARIOS);
    assert_string_equal(lb_expect_name(LB_EXPECT_UNSTATED), "unstated");
    assert_string_equal(lb_expect_name(LB_EXPECT_VIOLATED), "violated");
}

TEST(test_each_fault_has_its_workload) {
    for (int i = 0; i < LB_SCENARIOS; i++) {
        char name[128], path[512];
        struct lb_err err = {0};
        snprintf(name, sizeof name, "workloads/check/%s.ini",
                 lb_scenario_name((enum lb_scenario)i));
        if (home_path(name, path, sizeof path, &err) != 0) fail_msg("%s", err.text);
        if (access(path, R_OK) != 0) fail_msg("no %s", name);
    }
}

/* `none` and the scenarios of the short tour (bench/tools/check/matrix.c): each lock states a verdict for each of them. */
TEST(test_what_everybody_states) {
    static const enum lb_scenario of_all[] = {LB_SCENARIO_NONE, LB_SCENARIO_PAUSE,
                                              LB_SCENARIO_HOLDER_KILL};
    static const enum lb_scenario of_servers[] = {LB_SCENARIO_SERVER_RESTART, LB_SCENARIO_WIRE_CUT};
    int missing = 0;
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        if (lock->caps & LB_CAP_BASELINE) continue;
        for (size_t k = 0; k < sizeof of_all / sizeof *of_all; k++) {
            if (states(lock, of_all[k])) continue;
            print_error("%s does not state %s\n", lock->name, lb_scenario_name(of_all[k]));
            missing++;
        }
        for (size_t k = 0; lock->backend->topologies && k < sizeof of_servers / sizeof *of_servers;
             k++) {
            if (states(lock, of_servers[k])) continue;
            print_error("%s does not state %s\n", lock->name, lb_scenario_name(of_servers[k]));
            missing++;
        }
    }
    if (missing) fail_msg("%d expectations are missing", missing);
}

TEST(test_only_servers_have_servers_faults) {
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        if (lock->backend->topologies) continue;
        for (int scenario = LB_SCENARIO_SERVER_PAUSE; scenario < LB_SCENARIOS; scenario++) {
            if (states(lock, (enum lb_scenario)scenario))
                fail_msg("%s: %s, but it has no server", lock->name,
                         lb_scenario_name((enum lb_scenario)scenario));
        }
    }
}

TEST(test_claims_agree) {
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        if (lb_unavailable(lock->backend)) continue;
        if (!is_real(lock)) continue;
        if (worst(lock, LB_SCENARIO_NONE) != LB_EXPECT_SAFE)
            fail_msg("%s: not safe when nothing happens", lock->name);
        if (!!(lock->claims & LB_CLAIM_SAFE_PAUSE) !=
            (worst(lock, LB_SCENARIO_PAUSE) == LB_EXPECT_SAFE))
            fail_msg("%s: pause, against its claim", lock->name);
        bool fails_over = worst(lock, LB_SCENARIO_MINORITY_LOST) == LB_EXPECT_SAFE;
        bool claimed = lock->claims & LB_CLAIM_SAFE_FAILOVER;
        /* A guarantee that a cluster (Galera) adds to a database is no claim of the lock. */
        bool own = lock->about.guarantee == LB_ON_MAJORITY;
        if (claimed != fails_over && (claimed || own))
            fail_msg("%s: minority-lost, against its claim", lock->name);
        if (states(lock, LB_SCENARIO_LEADER_KILL) &&
            (worst(lock, LB_SCENARIO_LEADER_KILL) == LB_EXPECT_SAFE) != fails_over)
            fail_msg("%s: leader-kill, against its claim", lock->name);
        /* holds nothing, so nothing has to be freed */
        if (lock->primitive == LB_OPTIMISTIC) continue;
        bool freed = worst(lock, LB_SCENARIO_HOLDER_KILL) != LB_EXPECT_STUCK;
        if (!!(lock->claims & LB_CLAIM_CRASH_RELEASE) != freed)
            fail_msg("%s: holder-kill, against its claim", lock->name);
        if ((lock->about.crash != LB_CRASH_NEVER) != freed)
            fail_msg("%s: holder-kill, against .about.crash", lock->name);
    }
}

/* Only a lock that renews its lease, or whose driver keeps a session alive, can be starved of renewals; a program of
 * `exec` renews its own session, which no injection reaches. */
TEST(test_faults_meet_what_they_are_of) {
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        if (lb_unavailable(lock->backend)) continue;
        if (!is_real(lock)) continue;
        bool renews = (lock->caps & LB_CAP_RENEW) || (lock->about.crash == LB_CRASH_SESSION &&
                                                      strcmp(lock->backend->name, "exec") != 0);
        if (states(lock, LB_SCENARIO_STARVED) != renews)
            fail_msg("%s: starved-renewal, and whether it renews", lock->name);
    }
}

TEST(test_reasons_are_phrases) {
    for (int i = 0; registry_locks()[i]; i++) {
        for (int scenario = 0; scenario < LB_SCENARIOS; scenario++) {
            const struct lb_lock *lock = registry_locks()[i];
            const struct lb_expectation *expected = lb_expected(lock, (enum lb_scenario)scenario);
            const char *why = expected->why, *name = lb_scenario_name((enum lb_scenario)scenario);
            if (!states(lock, (enum lb_scenario)scenario)) {
                if (why) fail_msg("%s: %s: a reason for nothing", lock->name, name);
                continue;
            }
            if (!why || !*why) fail_msg("%s: %s: no reason", lock->name, name);
            size_t len = strlen(why);
            if (len > REASON_MAX) fail_msg("%s: %s: %zu bytes: %s", lock->name, name, len, why);
            if (why[len - 1] == '.' || strpbrk(why, "\n|"))
                fail_msg("%s: %s: no phrase: %s", lock->name, name, why);
        }
    }
}

/* A lock without rows of its own has its backend's; without either it states nothing. */
TEST(test_whose_rows_they_are) {
    const struct lb_backend redis = {.name = "redis"}, other = {.name = "other"};
    const struct lb_lock own = {.name = "redis-incr", .backend = &redis},
                         none = {.name = "redis-new", .backend = &redis},
                         nowhere = {.name = "other-new", .backend = &other};
    assert_int_equal(worst(&own, LB_SCENARIO_PAUSE), LB_EXPECT_SAFE);
    assert_int_equal(worst(&own, LB_SCENARIO_STARVED), LB_EXPECT_UNSTATED);
    assert_int_equal(worst(&none, LB_SCENARIO_PAUSE), LB_EXPECT_EXPIRED);
    assert_int_equal(worst(&nowhere, LB_SCENARIO_PAUSE), LB_EXPECT_UNSTATED);
    assert_null(lb_expected(&nowhere, LB_SCENARIO_PAUSE)->why);
}

/* expected.awk knows no locks; a name that no lock has would state nothing. */
TEST(test_each_name_is_of_a_lock_or_a_backend) {
    for (const struct lb_stated *stated = lb_stated; stated->name; stated++) {
        if (!registry_lock(stated->name) && !registry_backend(stated->name))
            fail_msg("%s: no lock and no backend", stated->name);
    }
}

static void assert_awk(const char *rows, const char *says) {
    char path[512], command[1200], line[300] = "";
    struct lb_err err = {0};
    if (home_path("drivers/expected.awk", path, sizeof path, &err) != 0) fail_msg("%s", err.text);
    *strrchr(path, '/') = '\0';
    snprintf(command, sizeof command,
             "printf '%s' | awk -f %s/expected.awk %s/scenario.def - 2>&1 >/dev/null", rows, path,
             path);
    FILE *out = popen(command, "r");
    assert_non_null(out);
    if (!fgets(line, sizeof line, out)) *line = '\0';
    bool failed = pclose(out) != 0;
    if (failed != (*says != '\0') || !strstr(line, says)) fail_msg("%s: %s", rows, line);
}

TEST(test_a_wrong_word_stops_the_build) {
    assert_awk("a:\\n none safe it is\\n with load.hold=1s\\n", "");
    assert_awk("a:\\n nune safe it is\\n", ":2: no scenario is named nune");
    assert_awk("a:\\n none save it is\\n", ":2: no verdict is named save");
    assert_awk("a:\\n none safe\\n", ":2: the reason is missing");
    assert_awk("a:\\n none safe x\\n none stuck x\\n", ":3: none has a row above");
    assert_awk("a:\\nb a:\\n", ":2: a has rows already");
    assert_awk("a as b:\\n", ":1: after \"as\" comes");
    assert_awk("a:\\n none safe x\\n with hold\\n", ":3: not a setting: hold");
}

TEST_MAIN(NULL, NULL)
