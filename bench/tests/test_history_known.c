/* test_history_known: histories whose verdict is known, among them those of published failures of locks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "bench/history/judge.h"

#define CLIENTS 8
#define SESSION 1000

static struct book book;
static struct judgement judgement;
static struct lb_err err;

static void begin_as(enum history_model model, uint32_t bound, bool by_slot) {
    struct history_rules rules = {.model = model,
                                  .bound = bound,
                                  .by_slot = by_slot,
                                  .clients = CLIENTS,
                                  .session_ns = SESSION,
                                  .cut_ns = 0};
    err.code = 0;
    assert_int_equal(book_begin(&book, &rules, &err), 0);
}

static int begin(void **state) {
    (void)state;
    begin_as(HISTORY_MUTEX, 1, false);
    return 0;
}

static int end(void **state) {
    (void)state;
    book_done(&book);
    return 0;
}

static void become(enum history_model model, uint32_t bound, bool by_slot) {
    book_done(&book);
    begin_as(model, bound, by_slot);
}

static void add(struct history_record record) {
    if (record.lease_end_ns == 0) record.lease_end_ns = LB_NEVER;
    assert_int_equal(book_add(&book, &record, 1, &err), 0);
}

static void got(uint32_t client, int64_t called_ns, int64_t from_ns) {
    add((struct history_record){
        .kind = HISTORY_ACQUIRE, .client = client, .begin_ns = called_ns, .end_ns = from_ns});
}

static void got_lease(uint32_t client, int64_t called_ns, int64_t from_ns, int64_t lease_end_ns) {
    add((struct history_record){.kind = HISTORY_ACQUIRE,
                                .client = client,
                                .begin_ns = called_ns,
                                .end_ns = from_ns,
                                .lease_end_ns = lease_end_ns});
}

static void got_token(uint32_t client, int64_t called_ns, int64_t from_ns, uint64_t token) {
    add((struct history_record){
        .kind = HISTORY_ACQUIRE, .client = client, .begin_ns = called_ns, .end_ns = from_ns, .token = token});
}

static void tried(uint32_t client, int64_t called_ns, int64_t returned_ns, enum history_outcome outcome) {
    add((struct history_record){.kind = HISTORY_ACQUIRE,
                                .outcome = (uint8_t)outcome,
                                .client = client,
                                .begin_ns = called_ns,
                                .end_ns = returned_ns});
}

static void left(uint32_t client, int64_t to_ns, int64_t released_ns, enum history_outcome outcome,
                 unsigned flags) {
    add((struct history_record){.kind = HISTORY_RELEASE,
                                .outcome = (uint8_t)outcome,
                                .flags = (uint8_t)flags,
                                .client = client,
                                .begin_ns = to_ns,
                                .end_ns = released_ns});
}

static void released(uint32_t client, int64_t to_ns, int64_t released_ns) {
    left(client, to_ns, released_ns, HISTORY_OK, 0);
}

static void renewed(uint32_t client, int64_t now_ns, int64_t lease_end_ns) {
    add((struct history_record){.kind = HISTORY_RENEWAL,
                                .client = client,
                                .begin_ns = now_ns,
                                .end_ns = now_ns,
                                .lease_end_ns = lease_end_ns});
}

static void happened(enum history_kind kind, uint32_t first, uint32_t count, int64_t begin_ns,
                     int64_t end_ns) {
    add((struct history_record){
        .kind = (uint8_t)kind, .client = first, .clients = count, .begin_ns = begin_ns, .end_ns = end_ns});
}

static void assert_verdict(enum history_verdict verdict, uint64_t violations, uint64_t expired,
                           uint64_t token_errors) {
    book_end(&book, 0, true);
    assert_int_equal(history_judge(&book, &judgement, NULL, &err), 0);
    assert_int_equal(judgement.verdict, verdict);
    assert_int_equal(judgement.violations, violations);
    assert_int_equal(judgement.expired, expired);
    assert_int_equal(judgement.token_errors, token_errors);
}

static void assert_witnesses(int64_t first_from_ns, int64_t second_from_ns) {
    assert_int_equal(judgement.witness_count, 2);
    assert_int_equal(book.holds[judgement.witness[0]].from_ns, first_from_ns);
    assert_int_equal(book.holds[judgement.witness[1]].from_ns, second_from_ns);
}

static void test_nothing(void **state) {
    (void)state;
    assert_verdict(HISTORY_CLEAN, 0, 0, 0);
    assert_int_equal(judgement.clash, CLASH_NONE);
}

static void test_one_after_the_other(void **state) {
    (void)state;
    got(0, 10, 20);
    released(0, 30, 45);
    got(1, 12, 30); /* at the very moment that the release is called */
    released(1, 40, 50);
    got(0, 46, 47);
    released(0, 47, 60);
    assert_verdict(HISTORY_CLEAN, 0, 0, 0);
}

static void test_an_overlap_and_who_is_in_it(void **state) {
    (void)state;
    got(2, 500, 600);
    released(2, 700, 710);
    got(3, 650, 690); /* the second clash */
    released(3, 720, 730);
    got(0, 10, 20);
    released(0, 30, 45);
    got(1, 15, 29); /* the first: by a moment */
    released(1, 40, 50);
    assert_verdict(HISTORY_VIOLATED, 2, 0, 0);
    assert_witnesses(20, 29);
    assert_int_equal(judgement.clash_ns, 29);
}

/* Two that meet the same long one are two findings. */
static void test_each_intruder_counts(void **state) {
    (void)state;
    got(0, 10, 20);
    released(0, 100, 110);
    got(1, 15, 30);
    released(1, 40, 50);
    got(2, 15, 60);
    released(2, 70, 80);
    assert_verdict(HISTORY_VIOLATED, 2, 0, 0);
    assert_witnesses(20, 30);
}

/* Jepsen's history of etcd that a model of a mutex calls bad since two releases failed: no holds overlap. */
static void test_a_failed_release_ends_a_hold(void **state) {
    (void)state;
    got(0, 10, 20);
    left(0, 30, 45, HISTORY_LOST, 0);
    got(1, 15, 35);
    left(1, 40, 50, HISTORY_UNKNOWN, 0);
    got(2, 15, 45);
    released(2, 50, 60);
    assert_verdict(HISTORY_CLEAN, 0, 0, 0);
}

static void test_paused_past_its_lease(void **state) {
    (void)state;
    got_lease(0, 10, 20, 2010);
    left(0, 5000, 5001, HISTORY_LOST, 0);
    got_lease(1, 15, 2020, 4020);
    released(1, 2100, 2101);
    assert_verdict(HISTORY_EXPIRED, 0, 1, 0);
    assert_witnesses(20, 2020);
    assert_true(book.holds[0].inside_ns == 2010);
}

/* Its own lease was over before it knew of the grant. */
static void test_came_in_too_late(void **state) {
    (void)state;
    got_lease(0, 10, 20, 5010);
    released(0, 3000, 3001);
    got_lease(1, 5, 2500, 2005);
    left(1, 2600, 2601, HISTORY_LOST, 0);
    assert_verdict(HISTORY_EXPIRED, 0, 1, 0);
}

static void test_state_lost_within_the_lease(void **state) {
    (void)state;
    got_lease(0, 10, 20, 2010);
    left(0, 5000, 5001, HISTORY_LOST, 0);
    got_lease(1, 15, 2009, 4020);
    released(1, 2100, 2101);
    assert_verdict(HISTORY_VIOLATED, 1, 0, 0);
}

static void test_a_violation_outranks_what_came_before(void **state) {
    (void)state;
    got_lease(0, 10, 20, 100);
    released(0, 500, 501);
    got_lease(1, 15, 200, 10000); /* expired */
    released(1, 900, 901);
    got_lease(2, 15, 600, 10000); /* violated */
    released(2, 700, 701);
    assert_verdict(HISTORY_VIOLATED, 1, 1, 0);
    assert_witnesses(200, 600);
}

static void test_renewed_in_time(void **state) {
    (void)state;
    got_lease(0, 10, 20, 2010);
    renewed(0, 1500, 3500);
    released(0, 5000, 5001);
    got_lease(1, 15, 2500, 4500);
    released(1, 2600, 2601);
    assert_verdict(HISTORY_VIOLATED, 1, 0, 0);
}

/* Between a lease's end and its late renewal the key was nobody's. */
static void test_renewed_too_late(void **state) {
    (void)state;
    got_lease(0, 10, 20, 2010);
    renewed(0, 3000, 5000);
    released(0, 3500, 3501);
    got_lease(1, 15, 2500, 4500);
    released(1, 2900, 2901);
    assert_verdict(HISTORY_EXPIRED, 0, 1, 0);
    assert_int_equal(book.hold_count, 3);
}

/* ... but a renewal that says yes while another is inside contradicts it. */
static void test_renewed_while_another_was_inside(void **state) {
    (void)state;
    got_lease(0, 10, 20, 2010);
    renewed(0, 3000, 5000);
    released(0, 3500, 3501);
    got_lease(1, 15, 2500, 4500);
    released(1, 3200, 3201);
    assert_verdict(HISTORY_VIOLATED, 1, 1, 0);
}

static void test_learned_before_it_wrote(void **state) {
    (void)state;
    got(0, 10, 20);
    left(0, 100, 120, HISTORY_LOST, HISTORY_UNCALLED | HISTORY_LEARNED);
    got(1, 15, 90);
    released(1, 200, 210);
    assert_verdict(HISTORY_EXPIRED, 0, 1, 0);
}

/* A session ends for want of a sign of life, not before. */
static void test_a_stall_ends_a_session(void **state) {
    (void)state;
    happened(HISTORY_STALL, 0, 1, 100, LB_NEVER);
    happened(HISTORY_STALL, 0, 1, 100, 5000); /* it is over: the same stall */
    got(0, 10, 20);
    left(0, 5000, 5001, HISTORY_LOST, 0);
    got(1, 15, 1100);
    released(1, 1200, 1201);
    got(0, 6000, 6001); /* a stall of the past does not touch it */
    released(0, 9000, 9001);
    assert_verdict(HISTORY_EXPIRED, 0, 1, 0);
    assert_int_equal(book.mishap_count, 1);
}

static void test_a_stall_is_no_excuse_before(void **state) {
    (void)state;
    happened(HISTORY_STALL, 0, 1, 100, 5000);
    got(0, 10, 20);
    left(0, 5000, 5001, HISTORY_LOST, 0);
    got(1, 15, 1099);
    released(1, 1200, 1201);
    assert_verdict(HISTORY_VIOLATED, 1, 0, 0);
}

static void test_a_short_stall_is_none(void **state) {
    (void)state;
    happened(HISTORY_STALL, 0, 8, 100, 1100);
    got(0, 10, 20);
    left(0, 5000, 5001, HISTORY_LOST, 0);
    got(1, 15, 1500);
    released(1, 1600, 1601);
    assert_verdict(HISTORY_VIOLATED, 1, 0, 0);
}

/* A release that says that all was well says that the session had not ended. */
static void test_a_lock_that_did_not_notice(void **state) {
    (void)state;
    happened(HISTORY_STALL, 0, 1, 100, 5000);
    got(0, 10, 20);
    released(0, 5000, 5001);
    got(1, 15, 2000);
    released(1, 2100, 2101);
    assert_verdict(HISTORY_VIOLATED, 1, 0, 0);
}

static void test_a_cut_connection(void **state) {
    (void)state;
    happened(HISTORY_CUT, 0, 2, 1000, 1000);
    got(0, 10, 20);
    left(0, 5000, 5001, HISTORY_LOST, 0);
    got(2, 15, 1000);
    released(2, 1100, 1101);
    got(1, 1500, 1600); /* on its next connection: that one was not cut */
    left(1, 5100, 5101, HISTORY_LOST, 0);
    got(3, 15, 2000);
    released(3, 2100, 2101);
    assert_verdict(HISTORY_VIOLATED, 1, 2, 0);
    assert_witnesses(1600, 2000);
}

/* A cut that lasts: who asked for it while it lasted, too, was cut off, but not before it was granted. */
static void test_a_cut_that_lasts(void **state) {
    (void)state;
    happened(HISTORY_CUT, 0, 1, 1000, LB_NEVER);
    got(0, 1100, 1200);
    left(0, 5000, 5001, HISTORY_LOST, 0);
    got(1, 1300, 1400);
    released(1, 1500, 1501);
    happened(HISTORY_CUT, 0, 1, 1000, 2000);
    got(0, 6000, 6100); /* it is over */
    left(0, 7000, 7001, HISTORY_LOST, 0);
    got(1, 6200, 6300);
    released(1, 6400, 6401);
    assert_verdict(HISTORY_VIOLATED, 1, 1, 0);
    assert_int_equal(book.mishap_count, 1);
    assert_witnesses(6100, 6300);
}

static void test_killed_while_it_held(void **state) {
    (void)state;
    got(0, 10, 20);
    got(1, 15, 2500);
    released(1, 2600, 2601);
    happened(HISTORY_DEATH, 0, 1, 2000, 2000);
    assert_verdict(HISTORY_CLEAN, 0, 0, 0);
    assert_true(book.holds[0].flags & HOLD_DEAD);
}

static void test_never_released(void **state) {
    (void)state;
    got(0, 10, 20);
    got(1, 15, 2500);
    released(1, 2600, 2601);
    assert_verdict(HISTORY_VIOLATED, 1, 0, 0);
}

/* Where the file was cut off nobody knows when it was released. */
static void test_a_file_cut_off(void **state) {
    (void)state;
    got(0, 10, 20);
    got(1, 15, 2500);
    released(1, 2600, 2601);
    book_end(&book, 0, false);
    assert_int_equal(history_judge(&book, &judgement, NULL, &err), 0);
    assert_int_equal(judgement.verdict, HISTORY_CLEAN);
    assert_false(judgement.busy_judged);
}

static void test_an_unknown_acquire_accuses_nobody(void **state) {
    (void)state;
    got(0, 10, 20);
    released(0, 100, 110);
    tried(1, 15, 50, HISTORY_UNKNOWN);
    tried(2, 120, 130, HISTORY_BUSY); /* may be for the unknown one */
    assert_verdict(HISTORY_CLEAN, 0, 0, 0);
    assert_int_equal(judgement.spurious_busy, 0);
}

static void test_busy_for_no_reason(void **state) {
    (void)state;
    got(0, 10, 20);
    released(0, 100, 110);
    got(0, 130, 140);
    released(0, 150, 160);
    tried(2, 105, 112, HISTORY_BUSY);
    tried(2, 115, 125, HISTORY_BUSY); /* nobody had it */
    tried(2, 126, 131, HISTORY_BUSY);
    tried(2, 161, 170, HISTORY_TIMEOUT);
    assert_verdict(HISTORY_CLEAN, 0, 0, 0);
    assert_true(judgement.busy_judged);
    assert_int_equal(judgement.spurious_busy, 1);
}

/* A lock whose first unlock frees it, though it was taken twice. */
static void test_the_inner_release_frees_all(void **state) {
    (void)state;
    become(HISTORY_REENTRANT, 1, false);
    got(0, 10, 20);
    add((struct history_record){.kind = HISTORY_ACQUIRE, .depth = 1, .begin_ns = 30, .end_ns = 40});
    add((struct history_record){.kind = HISTORY_RELEASE, .depth = 1, .begin_ns = 50, .end_ns = 60});
    got(1, 15, 65);
    released(1, 90, 95);
    released(0, 70, 80);
    assert_verdict(HISTORY_VIOLATED, 1, 0, 0);
    assert_int_equal(book.holds[0].depth, 1);
}

static void test_readers_and_writers(void **state) {
    (void)state;
    become(HISTORY_RWLOCK, 1, false);
    for (uint32_t i = 0; i < 3; i++) {
        add((struct history_record){
            .kind = HISTORY_ACQUIRE, .flags = HISTORY_SHARED, .client = i, .begin_ns = 10, .end_ns = 20 + i});
        left(i, 100 + i, 110, HISTORY_OK, HISTORY_SHARED);
    }
    got(4, 50, 102); /* as the last of them goes */
    released(4, 200, 210);
    assert_verdict(HISTORY_CLEAN, 0, 0, 0);
    become(HISTORY_RWLOCK, 1, false);
    add((struct history_record){.kind = HISTORY_ACQUIRE, .flags = HISTORY_SHARED, .end_ns = 20});
    left(0, 100, 110, HISTORY_OK, HISTORY_SHARED);
    got(1, 15, 50);
    released(1, 60, 70);
    assert_verdict(HISTORY_VIOLATED, 1, 0, 0);
}

/* A reader's try is busy for a writer, not for another reader. */
static void test_a_reader_that_was_busy(void **state) {
    (void)state;
    for (int writer = 0; writer < 2; writer++) {
        unsigned shared = writer ? 0 : HISTORY_SHARED;
        become(HISTORY_RWLOCK, 1, false);
        add((struct history_record){
            .kind = HISTORY_ACQUIRE, .flags = (uint8_t)shared, .begin_ns = 10, .end_ns = 20});
        left(0, 100, 110, HISTORY_OK, shared);
        add((struct history_record){.kind = HISTORY_ACQUIRE,
                                    .outcome = HISTORY_BUSY,
                                    .flags = HISTORY_SHARED,
                                    .client = 1,
                                    .begin_ns = 50,
                                    .end_ns = 60});
        assert_verdict(HISTORY_CLEAN, 0, 0, 0);
        assert_int_equal(judgement.spurious_busy, !writer);
    }
}

static void permits(uint32_t client, uint16_t count, int64_t from_ns, int64_t to_ns) {
    add((struct history_record){.kind = HISTORY_ACQUIRE,
                                .client = client,
                                .permits = count,
                                .begin_ns = from_ns - 5,
                                .end_ns = from_ns});
    released(client, to_ns, to_ns + 5);
}

static void test_permits(void **state) {
    (void)state;
    become(HISTORY_SEMAPHORE, 3, false);
    permits(0, 2, 10, 100);
    permits(1, 1, 20, 80);
    permits(2, 1, 80, 90);
    assert_verdict(HISTORY_CLEAN, 0, 0, 0);
    become(HISTORY_SEMAPHORE, 3, false);
    permits(0, 2, 10, 100);
    permits(1, 1, 20, 80);
    permits(2, 1, 79, 90);
    assert_verdict(HISTORY_VIOLATED, 1, 0, 0);
    assert_int_equal(judgement.witness_count, 3); /* all who had permits, and the one too many */
}

static void slot(uint32_t client, uint16_t number, int64_t from_ns, int64_t to_ns) {
    add((struct history_record){.kind = HISTORY_ACQUIRE,
                                .client = client,
                                .slot = number,
                                .begin_ns = from_ns - 5,
                                .end_ns = from_ns});
    add((struct history_record){
        .kind = HISTORY_RELEASE, .client = client, .slot = number, .begin_ns = to_ns, .end_ns = to_ns + 5});
}

static void test_slots(void **state) {
    (void)state;
    become(HISTORY_SEMAPHORE, 3, true);
    slot(0, 0, 10, 100);
    slot(1, 1, 20, 100);
    slot(2, 2, 30, 100);
    assert_verdict(HISTORY_CLEAN, 0, 0, 0);
    become(HISTORY_SEMAPHORE, 3, true);
    slot(0, 1, 10, 100);
    slot(1, 1, 20, 100); /* the same one */
    assert_verdict(HISTORY_VIOLATED, 1, 0, 0);
}

static void test_tokens(void **state) {
    (void)state;
    got_token(0, 10, 20, 5);
    released(0, 30, 31);
    got_token(1, 12, 40, 5); /* the same again */
    released(1, 50, 51);
    got_token(2, 13, 60, 8);
    released(2, 70, 71);
    got_token(3, 14, 80, 6); /* back; called before the others returned, but the order of holds tells */
    released(3, 90, 91);
    got_token(4, 15, 100, 7); /* more than the last one, but not than all before it */
    released(4, 110, 111);
    assert_verdict(HISTORY_VIOLATED, 0, 0, 3);
    assert_int_equal(judgement.clash, CLASH_TOKEN);
    assert_witnesses(20, 40);
}

/* Holds that overlap have an order, too, if one had returned before the other was called. */
static void test_tokens_of_holds_that_overlap(void **state) {
    (void)state;
    add((struct history_record){
        .kind = HISTORY_ACQUIRE, .begin_ns = 10, .end_ns = 20, .lease_end_ns = 100, .token = 7});
    left(0, 1000, 1001, HISTORY_LOST, 0);
    add((struct history_record){.kind = HISTORY_ACQUIRE,
                                .client = 1,
                                .begin_ns = 30,
                                .end_ns = 200,
                                .lease_end_ns = 2000,
                                .token = 6});
    released(1, 300, 301);
    assert_verdict(HISTORY_VIOLATED, 0, 1, 1);
}

/* ... and else they have none that anybody could tell. */
static void test_tokens_of_holds_without_an_order(void **state) {
    (void)state;
    add((struct history_record){
        .kind = HISTORY_ACQUIRE, .begin_ns = 10, .end_ns = 20, .lease_end_ns = 100, .token = 7});
    left(0, 1000, 1001, HISTORY_UNKNOWN, 0);
    add((struct history_record){.kind = HISTORY_ACQUIRE,
                                .client = 1,
                                .begin_ns = 15,
                                .end_ns = 200,
                                .lease_end_ns = 2000,
                                .token = 6});
    released(1, 300, 301);
    got_token(2, 400, 500, 8);
    left(2, 600, 610, HISTORY_OK, 0);
    assert_verdict(HISTORY_EXPIRED, 0, 2, 0);
}

/* A grant that was on its way for longer than its lease comes behind later ones. */
static void test_tokens_of_late_grants(void **state) {
    (void)state;
    add((struct history_record){.kind = HISTORY_ACQUIRE,
                                .client = 1,
                                .begin_ns = 1000,
                                .end_ns = 1100,
                                .lease_end_ns = 9000,
                                .token = 8});
    released(1, 1200, 1201);
    add((struct history_record){
        .kind = HISTORY_ACQUIRE, .begin_ns = 10, .end_ns = 1300, .lease_end_ns = 900, .token = 7});
    left(0, 1400, 1401, HISTORY_LOST, 0);
    assert_verdict(HISTORY_CLEAN, 0, 0, 0);
}

static void test_who_asked_first(void **state) {
    (void)state;
    got(0, 10, 20);
    released(0, 30, 31);
    got(1, 18, 40); /* asked after client 2 */
    released(1, 50, 51);
    got(2, 15, 60);
    released(2, 70, 71);
    assert_verdict(HISTORY_CLEAN, 0, 0, 0);
    assert_int_equal(judgement.inversions, 1);
}

/* Keys and the rest of a client's grants are apart; a release without a grant, and a grant whose release is
 * missing, make nothing up. */
static void test_gaps(void **state) {
    (void)state;
    for (uint32_t key = 0; key < 8; key++) {
        add((struct history_record){.kind = HISTORY_ACQUIRE, .key = key, .begin_ns = 10, .end_ns = 20});
    }
    for (uint32_t key = 0; key < 8; key++) {
        add((struct history_record){.kind = HISTORY_RELEASE, .key = key, .begin_ns = 30, .end_ns = 40});
    }
    released(1, 5, 6);
    got(2, 31, 35); /* its release is missing */
    got(2, 50, 60);
    released(2, 70, 80);
    got(3, 50, 70);
    released(3, 80, 90);
    assert_verdict(HISTORY_CLEAN, 0, 0, 0);
    assert_int_equal(book.hold_count, 11);
}

int main(void) {
#define KNOWN(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        KNOWN(test_nothing),
        KNOWN(test_one_after_the_other),
        KNOWN(test_an_overlap_and_who_is_in_it),
        KNOWN(test_each_intruder_counts),
        KNOWN(test_a_failed_release_ends_a_hold),
        KNOWN(test_paused_past_its_lease),
        KNOWN(test_came_in_too_late),
        KNOWN(test_state_lost_within_the_lease),
        KNOWN(test_a_violation_outranks_what_came_before),
        KNOWN(test_renewed_in_time),
        KNOWN(test_renewed_too_late),
        KNOWN(test_renewed_while_another_was_inside),
        KNOWN(test_learned_before_it_wrote),
        KNOWN(test_a_stall_ends_a_session),
        KNOWN(test_a_stall_is_no_excuse_before),
        KNOWN(test_a_short_stall_is_none),
        KNOWN(test_a_lock_that_did_not_notice),
        KNOWN(test_a_cut_connection),
        KNOWN(test_a_cut_that_lasts),
        KNOWN(test_killed_while_it_held),
        KNOWN(test_never_released),
        KNOWN(test_a_file_cut_off),
        KNOWN(test_an_unknown_acquire_accuses_nobody),
        KNOWN(test_busy_for_no_reason),
        KNOWN(test_the_inner_release_frees_all),
        KNOWN(test_readers_and_writers),
        KNOWN(test_a_reader_that_was_busy),
        KNOWN(test_permits),
        KNOWN(test_slots),
        KNOWN(test_tokens),
        KNOWN(test_tokens_of_holds_that_overlap),
        KNOWN(test_tokens_of_holds_without_an_order),
        KNOWN(test_tokens_of_late_grants),
        KNOWN(test_who_asked_first),
        KNOWN(test_gaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
