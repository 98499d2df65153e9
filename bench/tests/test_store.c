/* test_store: the guarded store: known answers by hand, with the trap of fencing the write alone;
 * locks that lose their leases: a fence rejects every stale write. */
#include <pthread.h>

#include "bench/stage/stage.h"
#include "bench/tests/toy_primitives.h"

static struct guarded key;
static struct store_counts counts;

FIXTURE(setup) {
    memset(&key, 0, sizeof key);
    memset(&counts, 0, sizeof counts);
    return 0;
}

static struct visit visit(uint64_t token) {
    return store_enter(&key, token, true);
}

static void leave(struct visit visit) {
    store_leave(&key, &counts, &visit);
}

/* What holders did: "a33" comes in with the token 33 ("an": of a lock without tokens), "-a" writes and leaves; and what
 * the store then counts. */
TEST(test_known_answers) {
    static const struct {
        const char *story;
        uint64_t stale, rejected, accepted;
    } cases[] = {
        {"a1 -a a2 -a a3 -a a4 -a a5 -a", 0, 0, 0},
        {"a33 b34 -b -a", 1, 1, 0}, /* paused, overtaken, going on */
        {"a33 b34 -a -b", 1, 1, 0},
        {"a34 -a b33 -b", 1, 1, 0}, /* came in stale, and nobody came after it */
        /* A holder writes more than once; a token that was raised on re-entry is taken too. */
        {"a7 b7 -b c8 -c -a d7 -d", 2, 2, 0},
        /* Tokens that two holders share, or that go backwards, protect no data: the counts must show it. */
        {"a5 b5 -b -a", 1, 0, 1},
        {"a5 b5 -b -a c4 -c", 2, 1, 1},
        {"an bn -b -a", 1, 0, 0},
        {"a3 -a b0 c4 -c -b", 1, 0, 1}, /* it has tokens, but gave none this time */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct visit visits[4];
        setup(NULL);
        for (const char *at = cases[i].story; *at; at += strcspn(at, " "), at += *at == ' ') {
            struct visit *its = &visits[at[*at == '-'] - 'a'];
            if (*at == '-')
                leave(*its);
            else
                *its = store_enter(&key, strtoul(at + 1, NULL, 10), at[1] != 'n');
        }
        struct store_sum sum = store_judge(&counts, 0);
        print_message("%s\n", cases[i].story);
        assert_int_equal(sum.stale, cases[i].stale);
        assert_int_equal(sum.rejected, cases[i].rejected);
        assert_int_equal(sum.accepted, cases[i].accepted);
    }
}

/* The counter of the tokens was lost: later holders get smaller tokens than an earlier one, who is gone. Their
 * writes are not stale. */
TEST_WITH(test_the_rightful_holder_is_refused, setup, NULL) {
    leave(visit(34));
    for (uint64_t token = 1; token <= 3; token++) {
        struct visit rightful = visit(token);
        assert_true(rightful.refused);
        leave(rightful);
    }
    assert_int_equal(store_judge(&counts, 3).stale, 0);
    assert_int_equal(store_judge(&counts, 3).refused, 3);
    /* One whom a later holder with a greater token overtook is stale all the same. */
    struct visit overtaken = visit(4);
    leave(visit(35));
    leave(overtaken);
    assert_int_equal(store_judge(&counts, 3).stale, 1);
    /* Of the three one had outlived its lease. */
    assert_int_equal(store_judge(&counts, 2).rejected, 2);
    assert_int_equal(store_judge(&counts, 3).refused, 3);
}

#define THREADS 4
#define TURNS 20000

static _Atomic uint64_t next_token;

static void *crowd(void *arg) {
    (void)arg;
    for (int i = 0; i < TURNS; i++) leave(visit(1 + atomic_fetch_add(&next_token, 1)));
    return NULL;
}

/* Without any lock, but with tokens that grow: under any interleaving the fence accepts no stale write. */
TEST_WITH(test_a_fence_holds_without_a_lock, setup, NULL) {
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, crowd, NULL), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
    struct store_sum sum = store_judge(&counts, 0);
    assert_int_equal(sum.accepted, 0);
    assert_int_equal(sum.rejected, sum.stale);
}

/* ---- stages ---- */

static struct lb_lock without_tokens(void) {
    struct lb_lock lock = toy_mutex;
    lock.caps &= ~(unsigned)LB_CAP_FENCE;
    return lock;
}

#define CROWD "load.clients=6", "load.threads=3", "load.think=1ms", "check.store=memory"

TEST(test_a_right_lock_has_no_stale_writes) {
    struct lb_lock tokenless = without_tokens();
    const struct lb_lock *locks[] = {&toy_mutex, &tokenless, &toy_rwlock};
    for (int i = 0; i < 3; i++) {
        struct stage *stage =
            run_toy(locks[i], RIGHT, (struct stage_case){.readers = i == 2 ? 50 : 0}, SETS(CROWD));
        assert_int_equal(stage->exclusion.verdict, VERDICT_CLEAN);
        const struct run_stage *result = &stage->result;
        assert_int_equal(result->store_fenced, i == 0);
        assert_true(result->grants > 20);
        assert_int_equal(result->stale_attempted, 0);
    }
}

/* Holders that hold for longer than their lease, and are not told when it ends. */
TEST(test_a_lease_that_ends) {
    struct lb_lock tokenless = without_tokens();
    for (int with = 0; with < 2; with++) {
        struct stage *stage = run_toy(
            with ? &toy_mutex : &tokenless, RIGHT, PLAIN,
            SETS(CROWD, "load.hold=exponential:3ms", "acquire.lease=2ms", "run.duration=400ms"));
        assert_int_equal(stage->exclusion.verdict, VERDICT_EXPIRED);
        const struct run_stage *result = &stage->result;
        assert_true(result->stale_attempted > 0);
        assert_int_equal(result->stale_accepted_unfenced, result->stale_attempted);
        assert_int_equal(result->store_fenced, with);
        if (!with) continue;
        assert_int_equal(result->stale_rejected_fenced, result->stale_attempted);
        assert_int_equal(result->stale_accepted_fenced, 0);
    }
}

/* A right mutex whose tokens begin at 1 again: no holder was overtaken, so no write was stale. */
TEST(test_tokens_that_begin_again) {
    struct stage *stage = run_toy(&toy_mutex, (struct toy_faults){.tokens_restart = 20}, PLAIN,
                                  SETS(CROWD, "load.hold=10us"));
    assert_int_equal(stage->exclusion.double_holders + stage->exclusion.lost_updates, 0);
    assert_int_equal(stage->exclusion.token_errors, 20);
    assert_int_equal(stage->result.refused_fenced, 19); /* the fence takes an equal token */
    assert_int_equal(stage->result.stale_attempted, 0);
    assert_true(any_text_has(stage->result.warnings, "of the rightful holder"));
    assert_false(any_text_has(stage->result.warnings, "stale writes"));
}

static bool warns_of_stale_writes(const struct stage *stage) {
    return any_text_has(stage->result.warnings, "stale writes");
}

TEST(test_who_learns_its_loss_does_not_write) {
    struct stage *stage = run_toy(
        &toy_mutex, (struct toy_faults){.evict_every = 5}, (struct stage_case){.renew = true},
        SETS(CROWD, "load.hold=20ms", "acquire.lease=15ms", "run.duration=500ms"));
    assert_true(stage->exclusion.detected > 0);
    assert_int_equal(warns_of_stale_writes(stage), stage->result.stale_attempted > 0);
}

TEST_MAIN(NULL, NULL)
