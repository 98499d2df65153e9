/* test_conclusion: what stages' findings make of a run: clean locks, violations, stuck keys, controls
 * that are caught, missed, or not even tried. */
#include "bench/run/conclusion.h"
#include "bench/tests/unit.h"

static const struct lb_lock real = {.name = "real", .about = {.crash = LB_CRASH_LEASE}};
static const struct lb_lock baseline = {.name = "baseline", .caps = LB_CAP_BASELINE};
static const struct lb_lock none = {.name = "unsafe-none", .caps = LB_CAP_CONTROL};
static const struct lb_lock expiring = {
    .name = "unsafe-expiring",
    .caps = LB_CAP_CONTROL,
    .about = {.exposed_by = "late", .exposed_as = LB_EXPOSED_EXPIRED}};
static const struct lb_lock neighbourly = {.name = "unsafe-neighbourly",
                                           .caps = LB_CAP_CONTROL,
                                           .about = {.exposed_by = "contended",
                                                     .exposed_as = LB_EXPOSED_VIOLATED,
                                                     .exposed_on_one_host = true}};

static const struct exclusion clean = {.verdict = VERDICT_CLEAN, .grants = 9};
static const struct exclusion expired = {
    .verdict = VERDICT_EXPIRED, .grants = 9, .expired_holders = 2};
static const struct exclusion stuck = {.verdict = VERDICT_STUCK, .grants = 9, .stuck = 2};
static const struct exclusion starved = {.verdict = VERDICT_STARVED, .grants = 9, .starved = 3};
static const struct exclusion violated = {
    .verdict = VERDICT_VIOLATED, .grants = 9, .double_holders = 2};
static const struct exclusion tokens = {
    .verdict = VERDICT_VIOLATED, .grants = 9, .token_errors = 2};
static const struct exclusion nothing = {.verdict = VERDICT_UNCHECKED};

static struct plan_lock entry;
static struct plan plan;
static struct conclusion conclusion;
static char line[200];

/* A run of one lock. */
static void begin(const struct lb_lock *lock, bool chosen) {
    struct lb_err err = {0};
    entry = (struct plan_lock){.lock = lock, .chosen = chosen};
    plan = (struct plan){.name = "contended",
                         .keys = {.pick = KEYS_UNIFORM, .count = 1},
                         .locks = &entry,
                         .lock_count = 1};
    assert_int_equal(conclusion_init(&conclusion, &plan, &err), 0);
}

static json_t *hosts;           /* of the next stage; NULL = one machine */
static double throughput_per_s; /* of the next stage */
static int held;                /* keys that somebody else held then */

static bool take(const struct exclusion *found, int clients) {
    struct stage stage = {.status = STAGE_COMPLETE, .exclusion = *found, .result.hosts = hosts};
    stage.result.grants = (double)found->grants;
    stage.result.throughput_per_s = throughput_per_s;
    stage.stuck_keys = (struct stage_idle_keys){.key = 7, .idle_ns = 6 * LB_S_NS, .clients = 5};
    stage.result.held_elsewhere = held;
    struct plan_stage of = {.plan = &plan, .lock = &entry, .clients = clients};
    return conclusion_add_stage(&conclusion, &stage, &of, line, sizeof line);
}

static void expect(const char *verdict) {
    assert_string_equal(verdict_name(conclusion_verdict(&conclusion)), verdict);
    conclusion_done(&conclusion);
}

TEST(real_locks_must_come_out_clean) {
    static const struct {
        const struct lb_lock *lock;
        const struct exclusion *found[2]; /* in one stage and the next */
        const char *line;                 /* of the first; NULL = it is no problem */
        const char *verdict;
    } cases[] = {
        {&real, {&clean}, NULL, "clean"},
        {&real, {&nothing}, NULL, "nothing-granted"},
        {&real,
         {&expired},
         "real: expired with 8 clients: 2 expired holders in 9 grants",
         "expired"},
        {&real,
         {&violated, &expired},
         "real: violated with 8 clients: 2 double holders",
         "violated"},
        /* Only the tokens are wrong: the lock excluded, but fencing would not protect data. */
        {&real, {&tokens}, "real: violated with 8 clients: 2 tokens that did not grow", "violated"},
        /* Stuck keys do not break exclusion, so a violation weighs more. */
        {&real, {&stuck, &violated}, "real: stuck with 8 clients: 2 free keys", "violated"},
        {&real,
         {&stuck, &clean},
         "; nobody was granted key 7 for the last 6.0 s, while 5 clients waited",
         "stuck"},
        {&real,
         {&starved, &clean},
         "real: starved with 8 clients: 3 clients that waited",
         "starved"},
        {&baseline, {&violated}, NULL, "clean"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(cases[i].lock, false);
        assert_int_equal(take(cases[i].found[0], 8), cases[i].line != NULL);
        if (cases[i].line && !strstr(line, cases[i].line)) fail_msg("%s", line);
        if (cases[i].found[1]) take(cases[i].found[1], 8);
        const char *why = conclusion.violated ? conclusion.violated : "";
        assert_int_equal(strcmp(why, "mutual exclusion was violated") == 0,
                         cases[i].lock == &real &&
                             (cases[i].found[0] == &violated || cases[i].found[1] == &violated));
        expect(cases[i].verdict);
    }
    begin(&real, false);
    held = 1;
    assert_true(take(&starved, 8));
    held = 0;
    if (!strstr(line, "; somebody else holds the key")) fail_msg("%s", line);
    conclusion_done(&conclusion);
    begin(&real, false);
    throughput_per_s = 2; /* all to clients that asked in the warm-up */
    assert_false(take(&(struct exclusion){.verdict = VERDICT_CLEAN}, 8));
    throughput_per_s = 0;
    expect("clean");
}

/* With one client a host nothing shows a mistake that only two clients of one host make. */
TEST(a_mistake_between_neighbours_needs_two_clients_on_a_host) {
    hosts = json_pack("[{},{},{}]");
    for (int named = 0; named < 2; named++) {
        begin(&neighbourly, named);
        assert_false(take(&clean, 3));
        assert_null(conclusion_missed_control(&conclusion));
        assert_false(take(&clean, 4));
        assert_string_equal(conclusion_missed_control(&conclusion), "unsafe-neighbourly");
        conclusion_done(&conclusion);
    }
    json_decref(hosts);
    hosts = NULL;
}

TEST(what_contention_exposes_must_be_caught_each_time) {
    begin(&none, false);
    assert_false(take(&clean, 1));
    assert_false(take(&violated, 8));
    expect("clean");
    begin(&none, false);
    take(&violated, 8);
    take(&clean, 8);
    assert_string_equal(conclusion_missed_control(&conclusion), "unsafe-none");
    expect("control-missed");
    /* A control that is named is judged like a real lock, */
    begin(&none, true);
    assert_true(take(&violated, 8));
    expect("violated");
    /* and missed if it shows nothing where two clients may meet. */
    begin(&none, true);
    assert_false(take(&clean, 1));
    assert_null(conclusion_missed_control(&conclusion));
    assert_false(take(&clean, 8));
    assert_string_equal(conclusion_missed_control(&conclusion), "unsafe-none");
    expect("control-missed");
    const struct exclusion *const shown[] = {&violated, &expired, &stuck};
    for (int i = 0; i < 3; i++) {
        begin(&none, true);
        assert_true(take(shown[i], 8));
        assert_false(take(&clean, 8));
        assert_null(conclusion_missed_control(&conclusion));
        conclusion_done(&conclusion);
    }
    begin(&expiring, true); /* in a workload that does not expose it */
    assert_false(take(&clean, 8));
    expect("clean");
}

TEST(a_verdict_has_an_exit_code) {
    static const int codes[VERDICTS] = {
        [VERDICT_EXPIRED] = 3, [VERDICT_VIOLATED] = 3,        [VERDICT_STARVED] = 2,
        [VERDICT_STUCK] = 2,   [VERDICT_NOTHING_GRANTED] = 2, [VERDICT_CONTROL_MISSED] = 2,
    };
    for (int i = 0; i < VERDICTS; i++) assert_int_equal(verdict_exit((enum verdict)i), codes[i]);
}

TEST_MAIN(NULL, NULL)
