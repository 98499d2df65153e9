/* test_history_kinds: histories of known verdict for locks that are more than a mutex: re-entrant
 * locks, readers, permits, slots; and for tokens and the order of grants. */
#include "bench/tests/history_say.h"

/* A lock whose first unlock frees it, though it was taken twice. */
KNOWN(test_the_inner_release_frees_all) {
    become(OPLOG_REENTRANT, 1, false);
    got(0, 10, 20);
    add((struct oplog_record){.kind = OPLOG_ACQUIRE, .depth = 1, .begin_ns = 30, .end_ns = 40});
    add((struct oplog_record){.kind = OPLOG_RELEASE, .depth = 1, .begin_ns = 50, .end_ns = 60});
    got(1, 15, 65);
    released(1, 90, 95);
    released(0, 70, 80);
    assert_verdict(OPLOG_VIOLATED, 1, 0, 0);
    assert_int_equal(book.holds[0].depth, 1);
}

KNOWN(test_readers_and_writers) {
    become(OPLOG_RWLOCK, 1, false);
    for (uint32_t i = 0; i < 3; i++) {
        add((struct oplog_record){.kind = OPLOG_ACQUIRE,
                                  .flags = OPLOG_SHARED,
                                  .client = i,
                                  .begin_ns = 10,
                                  .end_ns = 20 + i});
        left(i, 100 + i, 110, OPLOG_OK, OPLOG_SHARED);
    }
    got(4, 50, 102); /* as the last of them goes */
    released(4, 200, 210);
    assert_verdict(OPLOG_CLEAN, 0, 0, 0);
    become(OPLOG_RWLOCK, 1, false);
    add((struct oplog_record){.kind = OPLOG_ACQUIRE, .flags = OPLOG_SHARED, .end_ns = 20});
    left(0, 100, 110, OPLOG_OK, OPLOG_SHARED);
    got(1, 15, 50);
    released(1, 60, 70);
    assert_verdict(OPLOG_VIOLATED, 1, 0, 0);
}

/* A reader's try is busy for a writer, not for another reader. */
KNOWN(test_a_reader_that_was_busy) {
    for (int writer = 0; writer < 2; writer++) {
        unsigned shared = writer ? 0 : OPLOG_SHARED;
        become(OPLOG_RWLOCK, 1, false);
        add((struct oplog_record){
            .kind = OPLOG_ACQUIRE, .flags = (uint8_t)shared, .begin_ns = 10, .end_ns = 20});
        left(0, 100, 110, OPLOG_OK, shared);
        add((struct oplog_record){.kind = OPLOG_ACQUIRE,
                                  .outcome = OPLOG_BUSY,
                                  .flags = OPLOG_SHARED,
                                  .client = 1,
                                  .begin_ns = 50,
                                  .end_ns = 60});
        assert_verdict(OPLOG_CLEAN, 0, 0, 0);
        assert_int_equal(judgement.spurious_busy, !writer);
    }
}

static void permits(uint32_t client, uint16_t count, int64_t from_ns, int64_t to_ns) {
    add((struct oplog_record){.kind = OPLOG_ACQUIRE,
                              .client = client,
                              .permits = count,
                              .begin_ns = from_ns - 5,
                              .end_ns = from_ns});
    released(client, to_ns, to_ns + 5);
}

KNOWN(test_permits) {
    become(OPLOG_SEMAPHORE, 3, false);
    permits(0, 2, 10, 100);
    permits(1, 1, 20, 80);
    permits(2, 1, 80, 90);
    assert_verdict(OPLOG_CLEAN, 0, 0, 0);
    become(OPLOG_SEMAPHORE, 3, false);
    permits(0, 2, 10, 100);
    permits(1, 1, 20, 80);
    permits(2, 1, 79, 90);
    assert_verdict(OPLOG_VIOLATED, 1, 0, 0);
    assert_int_equal(judgement.witness_count, 3); /* all who had permits, and the one too many */
}

static void slot(uint32_t client, uint16_t number, int64_t from_ns, int64_t to_ns) {
    add((struct oplog_record){.kind = OPLOG_ACQUIRE,
                              .client = client,
                              .slot = number,
                              .begin_ns = from_ns - 5,
                              .end_ns = from_ns});
    add((struct oplog_record){.kind = OPLOG_RELEASE,
                              .client = client,
                              .slot = number,
                              .begin_ns = to_ns,
                              .end_ns = to_ns + 5});
}

KNOWN(test_slots) {
    become(OPLOG_SEMAPHORE, 3, true);
    slot(0, 0, 10, 100);
    slot(1, 1, 20, 100);
    slot(2, 2, 30, 100);
    assert_verdict(OPLOG_CLEAN, 0, 0, 0);
    become(OPLOG_SEMAPHORE, 3, true);
    slot(0, 1, 10, 100);
    slot(1, 1, 20, 100); /* the same one */
    assert_verdict(OPLOG_VIOLATED, 1, 0, 0);
}

KNOWN(test_tokens) {
    got_token(0, 10, 20, 5);
    released(0, 30, 31);
    got_token(1, 12, 40, 5); /* the same again */
    released(1, 50, 51);
    got_token(2, 13, 60, 8);
    released(2, 70, 71);
    /* a step back: called before the others returned, but the order of the holds is certain */
    got_token(3, 14, 80, 6);
    released(3, 90, 91);
    got_token(4, 15, 100, 7); /* more than the last one, but not than all before it */
    released(4, 110, 111);
    assert_verdict(OPLOG_VIOLATED, 0, 0, 3);
    assert_int_equal(judgement.clash, CLASH_TOKEN);
    assert_witnesses(20, 40);
}

/* Holds that overlap have an order, too, if one had returned before the other was called. */
KNOWN(test_tokens_of_holds_that_overlap) {
    add((struct oplog_record){
        .kind = OPLOG_ACQUIRE, .begin_ns = 10, .end_ns = 20, .lease_end_ns = 100, .token = 7});
    left(0, 1000, 1001, OPLOG_LOST, 0);
    add((struct oplog_record){.kind = OPLOG_ACQUIRE,
                              .client = 1,
                              .begin_ns = 30,
                              .end_ns = 200,
                              .lease_end_ns = 2000,
                              .token = 6});
    released(1, 300, 301);
    assert_verdict(OPLOG_VIOLATED, 0, 1, 1);
}

/* ... and else they have none that anybody could tell. */
KNOWN(test_tokens_of_holds_without_an_order) {
    add((struct oplog_record){
        .kind = OPLOG_ACQUIRE, .begin_ns = 10, .end_ns = 20, .lease_end_ns = 100, .token = 7});
    left(0, 1000, 1001, OPLOG_UNKNOWN, 0);
    add((struct oplog_record){.kind = OPLOG_ACQUIRE,
                              .client = 1,
                              .begin_ns = 15,
                              .end_ns = 200,
                              .lease_end_ns = 2000,
                              .token = 6});
    released(1, 300, 301);
    got_token(2, 400, 500, 8);
    left(2, 600, 610, OPLOG_OK, 0);
    assert_verdict(OPLOG_EXPIRED, 0, 2, 0);
}

/* A grant that was on its way for longer than its lease comes behind later ones. */
KNOWN(test_tokens_of_late_grants) {
    add((struct oplog_record){.kind = OPLOG_ACQUIRE,
                              .client = 1,
                              .begin_ns = 1000,
                              .end_ns = 1100,
                              .lease_end_ns = 9000,
                              .token = 8});
    released(1, 1200, 1201);
    add((struct oplog_record){
        .kind = OPLOG_ACQUIRE, .begin_ns = 10, .end_ns = 1300, .lease_end_ns = 900, .token = 7});
    left(0, 1400, 1401, OPLOG_LOST, 0);
    assert_verdict(OPLOG_CLEAN, 0, 0, 0);
}

KNOWN(test_who_asked_first) {
    got(0, 10, 20);
    released(0, 30, 31);
    got(1, 18, 40); /* asked after client 2 */
    released(1, 50, 51);
    got(2, 15, 60);
    released(2, 70, 71);
    assert_verdict(OPLOG_CLEAN, 0, 0, 0);
    assert_int_equal(judgement.inversions, 1);
}

/* Keys are judged apart, and so are grants of one client. Neither a release without a grant nor a
 * grant without a release leads to a finding. */
KNOWN(test_gaps) {
    for (uint32_t key = 0; key < 8; key++) {
        add((struct oplog_record){.kind = OPLOG_ACQUIRE, .key = key, .begin_ns = 10, .end_ns = 20});
    }
    for (uint32_t key = 0; key < 8; key++) {
        add((struct oplog_record){.kind = OPLOG_RELEASE, .key = key, .begin_ns = 30, .end_ns = 40});
    }
    released(1, 5, 6);
    got(2, 31, 35); /* its release is missing */
    got(2, 50, 60);
    released(2, 70, 80);
    got(3, 50, 70);
    released(3, 80, 90);
    assert_verdict(OPLOG_CLEAN, 0, 0, 0);
    assert_int_equal(book.hold_count, 11);
}

TEST_MAIN(NULL, NULL)
