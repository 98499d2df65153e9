/* test_history_stage: stages whose history is kept, by toys that are right and toys that are wrong:
 * the history says what the cells say, and with faults how long keys stayed out of reach. */
#include "bench/evidence/stage_history.h"
#include "bench/tests/toy_primitives.h"

#define HISTORY "check.history=yes"
#define CROWD "load.clients=6", "load.threads=3", "run.duration=50ms", "run.warmup=10ms"
#define PROCESSES HISTORY, "load.clients=6", "load.processes=6", "load.threads=6"

static const struct stage_history *judged(const struct stage *stage) {
    if (stage->status != STAGE_COMPLETE) fail_msg("not complete: %s", stage->err.text);
    assert_non_null(stage->history);
    if (!stage->history->judged) fail_msg("not judged: %s", stage->history->err.text);
    return stage->history;
}

struct kind {
    const struct lb_lock *lock;
    struct stage_case wanted;
    struct toy_faults wrong;
    const char *set;
};

static const struct kind kinds[] = {
    {&toy_mutex, {0}, {.nothing_is_locked = true}, "load.keys=3"},
    {&toy_mutex, {.renew = true}, {.nothing_is_locked = true}, "acquire.lease=3ms"},
    {&toy_mutex, {.clients_per_session = 3}, {.nothing_is_locked = true}, "load.keys=1"},
    {&toy_mutex, {0}, {.nothing_is_locked = true}, "acquire.mode=try"},
    {&toy_mutex, {.depth = 3}, {.first_unlock_frees = true}, "load.keys=1"},
    {&toy_rwlock, {.readers = 50}, {.writers_ignore_readers = true}, "load.keys=1"},
    {&toy_rwlock, {.readers = 50}, {.readers_ignore_writers = true}, "load.keys=1"},
    {&toy_semaphore, {.permits = 2, .bound = 5}, {.extra_permits = 1}, "load.keys=1"},
};

#define KINDS (int)(sizeof kinds / sizeof *kinds)

static const char *const kept_or_not[] = {"check.history=no", HISTORY};

/* With all operations recorded, or the evidence alone. With a lease of 3 ms a holder may be late: that is not the lock's fault,
 * and neither the cells nor the history call it a violation. */
TEST(test_right_ones_are_clean) {
    for (int i = 0; i < 2 * KINDS; i++) {
        const struct kind *kind = &kinds[i / 2];
        bool kept = i % 2;
        struct stage *stage = run_toy(kind->lock, RIGHT, kind->wanted,
                                      SETS(CROWD, "load.hold=200us", kind->set, kept_or_not[kept]));
        const struct stage_history *history = judged(stage);
        assert_true(stage->exclusion.grants > 0);
        assert_true(history->judgement.verdict != VERDICT_VIOLATED);
        assert_true(stage->exclusion.verdict != VERDICT_VIOLATED);
        if (!kind->wanted.renew) assert_int_equal(stage->exclusion.verdict, VERDICT_CLEAN);
        if (!kept && !kind->wanted.renew) assert_int_equal(history->ops, 0);
        if (!kept) continue;
        assert_int_equal(history->dropped, 0);
        if (strcmp(kind->set, "acquire.mode=try") == 0) continue; /* most are no grants */
        /* Each grant's acquire and release, those of the warm-up too. */
        uint64_t ops = 2 * stage->exclusion.grants;
        if (kind->wanted.depth) ops *= (uint64_t)kind->wanted.depth;
        assert_int_equal(history->ops, ops);
    }
}

/* Fewer operations, the same verdict. */
TEST(test_wrong_ones_are_violated) {
    for (int i = 0; i < 2 * KINDS; i++) {
        const struct kind *kind = &kinds[i / 2];
        struct stage *stage =
            run_toy(kind->lock, kind->wrong, kind->wanted,
                    SETS(CROWD, "load.hold=500us", kind->set, kept_or_not[i % 2]));
        assert_int_equal(judged(stage)->judgement.verdict, VERDICT_VIOLATED);
        assert_string_equal(stage->result.verdict, "violated");
        assert_true(stage->exclusion.double_holders > 0);
        assert_non_null(i % 2 ? stage->result.counterexample : stage->result.overlap);
        if (i % 2) assert_true(json_array_size(stage->result.counterexample) >= 2);
    }
}

/* Each dead client is recorded, however many died at once. A death that is missing would leave its client's grant open,
 * and accuse the lock when another client gets the key. */
TEST(test_thousands_die_at_once) {
    struct stage *stage =
        run_toy(&toy_mutex, RIGHT, (struct stage_case){.faults = 1},
                SETS(HISTORY, "load.clients=3000", "load.processes=2", "load.threads=2",
                     "load.keys=100", "fault.kind=kill", "fault.target=holder", "fault.first=50ms",
                     "load.hold=20ms", "acquire.lease=100ms", UNTIL_ENOUGH, "run.drain=30s"));
    const struct stage_history *history = judged(stage);
    assert_int_equal(stage->faults.count, 1);
    assert_int_equal(history->dropped, 0);
    assert_true(history->judgement.verdict != VERDICT_VIOLATED);
}

/* The window never began: the file is whole all the same, and the next stages' are read. */
TEST(test_a_stage_that_no_client_got_into) {
    struct stage *stage =
        run_toy(&toy_mutex, (struct toy_faults){.shut_after = 1}, PLAIN, SETS(CROWD, HISTORY));
    assert_int_equal(stage->status, STAGE_FAILED);
    assert_non_null(stage->history);
    if (stage->history->err.code) fail_msg("%s", stage->history->err.text);
    assert_int_equal(stage->history->ops, 0);
}

/* A session that ends in a pause excuses; unless the release says that all was well. */
TEST(test_a_session_in_a_pause) {
    for (int deaf = 0; deaf < 2; deaf++) {
        struct stage *stage = run_toy(
            &toy_session, (struct toy_faults){.deaf = deaf}, (struct stage_case){.faults = 1},
            SETS(PROCESSES, "fault.kind=pause", "fault.target=holder", "fault.first=50ms",
                 "fault.for=900ms", "load.hold=20ms", "acquire.lease=400ms", UNTIL_ENOUGH));
        assert_int_equal(judged(stage)->judgement.verdict,
                         deaf ? VERDICT_VIOLATED : VERDICT_EXPIRED);
        if (deaf) assert_int_equal(stage->exclusion.verdict, VERDICT_VIOLATED);
        if (!deaf) assert_int_equal(stage->exclusion.double_holders, 0);
    }
}

TEST_MAIN(NULL, NULL)
