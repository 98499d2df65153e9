/* test_history_stage: stages whose history is kept, by toys that are right and toys that are wrong:
 * the history says what the cells say, and with faults how long keys stayed out of reach.
 * Needs: the machine to itself. */
#include "bench/evidence/stage_history.h"
#include "bench/tests/toy_primitives.h"

#define HISTORY "check.history=yes"
#define CROWD HISTORY, "load.clients=6", "load.threads=3", "run.duration=200ms", "run.warmup=50ms"
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
    enum oplog_model model;
    int keys; /* that a grant is of */
    const char *set;
};

static const struct kind kinds[] = {
    {&toy_mutex, {0}, {.nothing_is_locked = true}, OPLOG_MUTEX, 1, "load.keys=3"},
    {&toy_mutex, {.renew = true}, {.nothing_is_locked = true}, OPLOG_MUTEX, 1, "acquire.lease=3ms"},
    {&toy_mutex,
     {.clients_per_session = 3},
     {.nothing_is_locked = true},
     OPLOG_MUTEX,
     1,
     "load.keys=1"},
    {&toy_mutex, {0}, {.nothing_is_locked = true}, OPLOG_MUTEX, 1, "acquire.mode=try"},
    {&toy_mutex, {.keys_at_once = 3}, {.first_key_only = true}, OPLOG_MUTEX, 3, "load.keys=4"},
    {&toy_mutex, {.depth = 3}, {.first_unlock_frees = true}, OPLOG_REENTRANT, 1, "load.keys=1"},
    {&toy_rwlock,
     {.readers = 50},
     {.writers_ignore_readers = true},
     OPLOG_RWLOCK,
     1,
     "load.keys=1"},
    {&toy_rwlock,
     {.readers = 50},
     {.readers_ignore_writers = true},
     OPLOG_RWLOCK,
     1,
     "load.keys=1"},
    {&toy_semaphore,
     {.permits = 2, .bound = 5},
     {.extra_permits = 1},
     OPLOG_SEMAPHORE,
     1,
     "load.keys=1"},
    {&toy_slots, {.bound = 3}, {.slot_is_shared = true}, OPLOG_SEMAPHORE, 1, "load.keys=1"},
};

#define KINDS (int)(sizeof kinds / sizeof *kinds)

TEST(test_right_ones_are_clean) {
    for (int i = 0; i < KINDS; i++) {
        const struct kind *kind = &kinds[i];
        struct stage *stage = run_toy(kind->lock, (struct toy_faults){0}, kind->wanted,
                                      SETS(CROWD, "load.hold=200us", kind->set));
        const struct stage_history *history = judged(stage);
        assert_int_equal(history->rules.model, kind->model);
        /* Tries that only spin fill the rings faster than a busy machine empties them. */
        bool spins = strcmp(kind->set, "acquire.mode=try") == 0;
        if (!spins) assert_int_equal(history->dropped, 0);
        /* With a lease of 3 ms a holder may be late. That is not the lock's fault, and neither the
         * cells nor the history call it a violation. */
        assert_true(history->judgement.verdict != OPLOG_VIOLATED);
        assert_true(stage->exclusion.verdict != VERDICT_VIOLATED);
        if (!kind->wanted.renew) assert_int_equal(history->judgement.verdict, OPLOG_CLEAN);
        assert_true(stage->exclusion.grants > 0);
        /* Each grant's acquire and release, those of the warm-up too, and each try. */
        uint64_t grants = stage->exclusion.grants;
        if (kind->wanted.depth) grants *= (uint64_t)kind->wanted.depth;
        if (kind->keys == 1 && !spins) {
            assert_int_equal(history->ops, 2 * grants);
        } else if (!spins) {
            assert_true(history->ops >= 2 * grants);
        }
    }
}

/* On a busy machine two clients may not meet in one short stage. kept: all operations, not only those that failed a
 * check. */
static struct stage *run_until_violated(const struct kind *kind, bool kept) {
    for (int tries = 0; tries < 10; tries++) {
        struct stage *stage =
            run_toy(kind->lock, kind->wrong, kind->wanted,
                    SETS(CROWD, "load.hold=500us", kind->set, kept ? HISTORY : "check.history=no"));
        if (judged(stage)->judgement.verdict == OPLOG_VIOLATED) return stage;
    }
    fail_msg("kind %d came out clean%s", (int)(kind - kinds), kept ? "" : " by its evidence");
    return NULL;
}

/* Fewer operations, the same verdict. */
TEST(test_evidence_is_enough) {
    for (int i = 0; i < KINDS; i++) {
        struct stage *stage = run_until_violated(&kinds[i], false);
        assert_int_equal(stage->exclusion.verdict, VERDICT_VIOLATED);
        assert_true(stage->exclusion.double_holders > 0);
        assert_null(stage->result.history_model);
        assert_non_null(stage->result.overlap);
        stage = run_toy(kinds[i].lock, (struct toy_faults){0}, kinds[i].wanted,
                        SETS(CROWD, "load.hold=200us", kinds[i].set, "check.history=no"));
        if (!kinds[i].wanted.renew) assert_int_equal(stage->exclusion.verdict, VERDICT_CLEAN);
        if (!kinds[i].wanted.renew) assert_int_equal(judged(stage)->ops, 0);
    }
}

TEST(test_wrong_ones_are_violated) {
    for (int i = 0; i < KINDS; i++) {
        struct stage *stage = run_until_violated(&kinds[i], true);
        const struct stage_history *history = stage->history;
        assert_true(history->judgement.violations > 0);
        assert_true(history->judgement.witness_count >= 2);
        assert_string_equal(stage->result.verdict, "violated");
        const json_t *example = stage->result.counterexample;
        assert_true(json_array_size(example) >= 2);
        const json_t *first = json_array_get(example, 0);
        assert_string_equal(json_string_value(json_object_get(first, "op")), "acquire");
    }
}

static bool all_recovered(const struct stage *stage) {
    return judged(stage)->recovery.trial_count == 3 && stage->history->recovery.unrecovered == 0 &&
           stage->faults.count == 3;
}

/* A killed holder leaves a key that is out of reach until its lease ends. A machine that stands still
 * for longer than the lease makes another holder late; it never makes two holders. */
TEST(test_a_killed_holder) {
    struct stage *stage =
        run_toy(&toy_mutex, (struct toy_faults){0},
                (struct stage_case){.faults = 3, .until = all_recovered},
                SETS(PROCESSES, "fault.kind=kill", "fault.target=holder", "fault.first=50ms",
                     "fault.every=300ms", "fault.times=3", "load.hold=20ms", "acquire.lease=100ms",
                     UNTIL_ENOUGH, "run.drain=30s"));
    const struct stage_history *history = judged(stage);
    assert_int_equal(stage->faults.count, 3);
    assert_true(history->judgement.verdict != OPLOG_VIOLATED);
    assert_true(stage->exclusion.verdict != VERDICT_VIOLATED);
    assert_int_equal(history->recovery.trial_count, 3);
    assert_int_equal(history->recovery.unrecovered, 0);
    for (int i = 0; i < 3; i++) assert_true(history->recovery.trials_ns[i] > 0);
    assert_int_equal(json_array_size(stage->result.trials), 3);
    assert_int_equal(stage->result.recovery_count, 3);
}

/* Each dead client is recorded, however many died at once. A death that is missing would leave its client's grant open,
 * and accuse the lock when another client gets the key. */
TEST(test_thousands_die_at_once) {
    struct stage *stage =
        run_toy(&toy_mutex, (struct toy_faults){0}, (struct stage_case){.faults = 1},
                SETS(HISTORY, "load.clients=3000", "load.processes=2", "load.threads=2",
                     "load.keys=100", "fault.kind=kill", "fault.target=holder", "fault.first=50ms",
                     "load.hold=20ms", "acquire.lease=100ms", UNTIL_ENOUGH, "run.drain=30s"));
    const struct stage_history *history = judged(stage);
    assert_int_equal(stage->faults.count, 1);
    assert_int_equal(history->dropped, 0);
    assert_true(history->judgement.verdict != OPLOG_VIOLATED);
}

/* The window never began: the file is whole all the same, and the next stages' are read. */
TEST(test_a_stage_that_no_client_got_into) {
    struct stage *stage = run_toy(&toy_mutex, (struct toy_faults){.shut_after = 1},
                                  (struct stage_case){0}, SETS(CROWD));
    assert_int_equal(stage->status, STAGE_FAILED);
    assert_non_null(stage->history);
    if (stage->history->err.code) fail_msg("%s", stage->history->err.text);
    assert_int_equal(stage->history->ops, 0);
}

/* The pause met a holder, and no other holder was late. */
static bool judged_expired(const struct stage *stage) {
    const struct stage_history *history = judged(stage);
    return stage->faults.count == 1 && stage->faults.events[0].held == 1 &&
           history->recovery.trial_count == 1 && history->judgement.verdict == OPLOG_EXPIRED &&
           stage->exclusion.verdict == VERDICT_EXPIRED;
}

/* A holder that stands still past its lease is met by others: "expired", not "violated", by the
 * cells and by the history. */
TEST(test_a_paused_holder) {
    struct stage *stage =
        run_toy(&toy_mutex, (struct toy_faults){0},
                (struct stage_case){.faults = 1, .until = judged_expired},
                SETS(PROCESSES, "fault.kind=pause", "fault.target=holder", "fault.first=50ms",
                     "fault.for=600ms", "load.hold=20ms", "acquire.lease=100ms", UNTIL_ENOUGH));
    const struct stage_history *history = judged(stage);
    assert_int_equal(stage->faults.count, 1);
    assert_int_equal(history->judgement.verdict, OPLOG_EXPIRED);
    assert_int_equal(history->judgement.violations, 0);
    assert_int_equal(stage->exclusion.verdict, VERDICT_EXPIRED);
    assert_int_equal(history->recovery.trial_count, 1);
    assert_int_equal(stage->faults.events[0].held, 1);
    assert_int_equal(stage->faults.events[0].outlasted, 0); /* its lease had ended */
}

static bool holders_met(const struct stage *stage) {
    return judged(stage)->judgement.violations + stage->history->judgement.expired > 0 &&
           stage->exclusion.double_holders + stage->exclusion.expired_holders > 0;
}

/* A session that ends in a pause excuses; unless the release says that all was well. */
TEST(test_a_session_in_a_pause) {
    for (int deaf = 0; deaf < 2; deaf++) {
        struct stage *stage =
            run_toy(&toy_session, (struct toy_faults){.deaf = deaf},
                    (struct stage_case){.faults = 1, .until = holders_met},
                    SETS(PROCESSES, "fault.kind=pause", "fault.target=holder", "fault.first=50ms",
                         "fault.for=900ms", "load.hold=20ms", "acquire.lease=400ms", UNTIL_ENOUGH));
        assert_true(holders_met(stage));
        assert_int_equal(stage->history->judgement.verdict, deaf ? OPLOG_VIOLATED : OPLOG_EXPIRED);
        if (deaf) assert_int_equal(stage->exclusion.verdict, VERDICT_VIOLATED);
        if (!deaf) assert_int_equal(stage->exclusion.double_holders, 0);
    }
}

TEST_MAIN(NULL, NULL)
