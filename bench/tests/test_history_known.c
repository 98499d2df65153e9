/* test_history_known: histories of a mutex whose verdict is known, among them those of published
 * failures of locks. */
#include "bench/tests/history_say.h"

KNOWN(test_nothing) {
    assert_verdict(OPLOG_CLEAN, 0, 0, 0);
    assert_int_equal(judgement.clash, CLASH_NONE);
}

KNOWN(test_one_after_the_other) {
    got(0, 10, 20);
    released(0, 30, 45);
    got(1, 12, 30); /* at the very moment that the release is called */
    released(1, 40, 50);
    got(0, 46, 47);
    released(0, 47, 60);
    assert_verdict(OPLOG_CLEAN, 0, 0, 0);
}

KNOWN(test_an_overlap_and_who_is_in_it) {
    got(2, 500, 600);
    released(2, 700, 710);
    got(3, 650, 690); /* the second clash */
    released(3, 720, 730);
    got(0, 10, 20);
    released(0, 30, 45);
    got(1, 15, 29); /* the first: by a moment */
    released(1, 40, 50);
    assert_verdict(OPLOG_VIOLATED, 2, 0, 0);
    assert_witnesses(20, 29);
    assert_int_equal(judgement.clash_ns, 29);
}

/* Two that meet the same long one are two findings. */
KNOWN(test_each_intruder_counts) {
    got(0, 10, 20);
    released(0, 100, 110);
    got(1, 15, 30);
    released(1, 40, 50);
    got(2, 15, 60);
    released(2, 70, 80);
    assert_verdict(OPLOG_VIOLATED, 2, 0, 0);
    assert_witnesses(20, 30);
}

/* Jepsen's history of etcd that a model of a mutex calls bad since two releases failed: no holds
 * overlap. */
KNOWN(test_a_failed_release_ends_a_hold) {
    got(0, 10, 20);
    left(0, 30, 45, OPLOG_LOST, 0);
    got(1, 15, 35);
    left(1, 40, 50, OPLOG_UNKNOWN, 0);
    got(2, 15, 45);
    released(2, 50, 60);
    assert_verdict(OPLOG_CLEAN, 0, 0, 0);
}

KNOWN(test_paused_past_its_lease) {
    got_lease(0, 10, 20, 2010);
    left(0, 5000, 5001, OPLOG_LOST, 0);
    got_lease(1, 15, 2020, 4020);
    released(1, 2100, 2101);
    assert_verdict(OPLOG_EXPIRED, 0, 1, 0);
    assert_witnesses(20, 2020);
    assert_true(book.holds[0].inside_ns == 2010);
}

/* The second client's lease was over before the client knew of its grant. */
KNOWN(test_a_client_that_entered_after_its_own_lease) {
    got_lease(0, 10, 20, 5010);
    released(0, 3000, 3001);
    got_lease(1, 5, 2500, 2005);
    left(1, 2600, 2601, OPLOG_LOST, 0);
    assert_verdict(OPLOG_EXPIRED, 0, 1, 0);
}

KNOWN(test_state_lost_within_the_lease) {
    got_lease(0, 10, 20, 2010);
    left(0, 5000, 5001, OPLOG_LOST, 0);
    got_lease(1, 15, 2009, 4020);
    released(1, 2100, 2101);
    assert_verdict(OPLOG_VIOLATED, 1, 0, 0);
}

KNOWN(test_a_violation_outranks_what_came_before) {
    got_lease(0, 10, 20, 100);
    left(0, 500, 501, OPLOG_LOST, 0);
    got_lease(1, 15, 200, 10000); /* expired */
    released(1, 900, 901);
    got_lease(2, 15, 600, 10000); /* violated */
    released(2, 700, 701);
    assert_verdict(OPLOG_VIOLATED, 1, 1, 0);
    assert_witnesses(200, 600);
}

/* Three histories with the same times: the outcome of the late holder's release says whether it had lost the key, or
 * had held it all the time. */
KNOWN(test_who_lost_a_lease_must_be_told) {
    static const enum oplog_outcome said[] = {OPLOG_LOST, OPLOG_UNKNOWN, OPLOG_OK};
    for (int i = 0; i < 3; i++) {
        become(OPLOG_MUTEX, 1, false);
        got_lease(0, 10, 20, 100);
        got_lease(1, 15, 200, 10000);
        released(1, 300, 301);
        left(0, 500, 501, said[i], 0);
        bool told = said[i] != OPLOG_OK;
        assert_verdict(told ? OPLOG_EXPIRED : OPLOG_VIOLATED, !told, told, 0);
    }
}

KNOWN(test_renewed_in_time) {
    got_lease(0, 10, 20, 2010);
    renewed(0, 1500, 3500);
    released(0, 5000, 5001);
    got_lease(1, 15, 2500, 4500);
    released(1, 2600, 2601);
    assert_verdict(OPLOG_VIOLATED, 1, 0, 0);
}

/* Between a lease's end and its late renewal the key was nobody's. */
KNOWN(test_renewed_too_late) {
    got_lease(0, 10, 20, 2010);
    renewed(0, 3000, 5000);
    released(0, 3500, 3501);
    got_lease(1, 15, 2500, 4500);
    released(1, 2900, 2901);
    assert_verdict(OPLOG_EXPIRED, 0, 1, 0);
    assert_int_equal(book.hold_count, 3);
}

/* ... but a renewal that succeeds while another client is inside contradicts that client's
 * grant. */
KNOWN(test_renewed_while_another_was_inside) {
    got_lease(0, 10, 20, 2010);
    renewed(0, 3000, 5000);
    released(0, 3500, 3501);
    got_lease(1, 15, 2500, 4500);
    released(1, 3200, 3201);
    assert_verdict(OPLOG_VIOLATED, 1, 1, 0);
}

KNOWN(test_learned_before_it_wrote) {
    got(0, 10, 20);
    left(0, 100, 120, OPLOG_LOST, OPLOG_UNCALLED | OPLOG_LEARNED);
    got(1, 15, 90);
    released(1, 200, 210);
    assert_verdict(OPLOG_EXPIRED, 0, 1, 0);
}

KNOWN(test_a_session_that_the_server_ended) {
    got(0, 10, 20);
    left(0, 100, 120, OPLOG_LOST, OPLOG_OVER);
    got(1, 15, 90);
    released(1, 200, 210);
    assert_verdict(OPLOG_EXPIRED, 0, 1, 0);
}

/* A lease says when it ends. Whoever came in before that, and before the holder was told, was let in beside it. */
KNOWN(test_a_loss_inside_the_lease_is_no_excuse) {
    got_lease(0, 10, 20, 2010);
    left(0, 100, 120, OPLOG_LOST, OPLOG_UNCALLED | OPLOG_LEARNED);
    got_lease(1, 15, 90, 2015);
    released(1, 200, 210);
    assert_verdict(OPLOG_VIOLATED, 1, 0, 0);
}

KNOWN(test_a_loss_after_the_lease_is_one) {
    got_lease(0, 10, 20, 80);
    left(0, 100, 120, OPLOG_LOST, OPLOG_UNCALLED | OPLOG_LEARNED);
    got_lease(1, 15, 90, 2015);
    left(1, 200, 210, OPLOG_LOST, OPLOG_UNCALLED | OPLOG_LEARNED);
    got_lease(2, 15, 205, 2015); /* the holder knew by then */
    released(2, 300, 301);
    assert_verdict(OPLOG_EXPIRED, 0, 1, 0);
}

/* A session ends only after its time without a sign of life. */
KNOWN(test_a_stall_ends_a_session) {
    happened(OPLOG_STALL, 0, 1, 100, LB_NEVER);
    happened(OPLOG_STALL, 0, 1, 100, 5000); /* it is over: the same stall */
    got(0, 10, 20);
    left(0, 5000, 5001, OPLOG_LOST, 0);
    got(1, 15, 1100);
    released(1, 1200, 1201);
    got(0, 6000, 6001); /* a stall of the past does not touch it */
    released(0, 9000, 9001);
    assert_verdict(OPLOG_EXPIRED, 0, 1, 0);
    assert_int_equal(book.mishap_count, 1);
}

KNOWN(test_a_stall_ends_a_session_that_no_cut_ends) {
    book.rules.cut_ns = LB_NEVER;
    happened(OPLOG_STALL, 0, 1, 100, 5000);
    got(0, 10, 20);
    left(0, 5000, 5001, OPLOG_LOST, 0);
    got(1, 15, 1100);
    released(1, 1200, 1201);
    assert_verdict(OPLOG_EXPIRED, 0, 1, 0);
}

KNOWN(test_a_stall_is_no_excuse_before) {
    happened(OPLOG_STALL, 0, 1, 100, 5000);
    got(0, 10, 20);
    left(0, 5000, 5001, OPLOG_LOST, 0);
    got(1, 15, 1099);
    released(1, 1200, 1201);
    assert_verdict(OPLOG_VIOLATED, 1, 0, 0);
}

KNOWN(test_a_short_stall_is_none) {
    happened(OPLOG_STALL, 0, 8, 100, 1100);
    got(0, 10, 20);
    left(0, 5000, 5001, OPLOG_LOST, 0);
    got(1, 15, 1500);
    released(1, 1600, 1601);
    assert_verdict(OPLOG_VIOLATED, 1, 0, 0);
}

/* A release that succeeds states that the session had not ended. */
KNOWN(test_a_lock_that_did_not_notice) {
    happened(OPLOG_STALL, 0, 1, 100, 5000);
    got(0, 10, 20);
    released(0, 5000, 5001);
    got(1, 15, 2000);
    released(1, 2100, 2101);
    assert_verdict(OPLOG_VIOLATED, 1, 0, 0);
}

KNOWN(test_a_cut_connection) {
    happened(OPLOG_CUT, 0, 2, 1000, 1000);
    got(0, 10, 20);
    left(0, 5000, 5001, OPLOG_LOST, 0);
    got(2, 15, 1000);
    released(2, 1100, 1101);
    got(1, 1500, 1600); /* on its next connection: that one was not cut */
    left(1, 5100, 5101, OPLOG_LOST, 0);
    got(3, 15, 2000);
    released(3, 2100, 2101);
    assert_verdict(OPLOG_VIOLATED, 1, 2, 0);
    assert_witnesses(1600, 2000);
}

/* A cut that lasts: a client that asked while the cut lasted was cut off, too. */
KNOWN(test_a_cut_that_lasts) {
    happened(OPLOG_CUT, 0, 1, 1000, LB_NEVER);
    got(0, 1100, 1200);
    left(0, 5000, 5001, OPLOG_LOST, 0);
    got(1, 1300, 1400);
    released(1, 1500, 1501);
    happened(OPLOG_CUT, 0, 1, 1000, 2000);
    got(0, 6000, 6100); /* it is over */
    left(0, 7000, 7001, OPLOG_LOST, 0);
    got(1, 6200, 6300);
    released(1, 6400, 6401);
    assert_verdict(OPLOG_VIOLATED, 1, 1, 0);
    assert_int_equal(book.mishap_count, 1);
    assert_witnesses(6100, 6300);
}

/* A grant that was on its way when its client was cut off: the server counts the session from the last
 * request that it got, not from the grant's arrival. A request that was answered during the cut shows
 * that the session lived then. */
KNOWN(test_a_grant_that_arrives_in_a_cut) {
    book.rules.cut_ns = SESSION / 2;
    happened(OPLOG_CUT, 0, 1, 1000, LB_NEVER);
    got(0, 900, 1400);
    left(0, 5000, 5001, OPLOG_LOST, 0);
    got(1, 950, 1700); /* more than half a session after the cut, less after the arrival */
    released(1, 1800, 1801);
    assert_verdict(OPLOG_EXPIRED, 0, 1, 0);
    assert_witnesses(1400, 1700);
}

KNOWN(test_a_request_in_a_cut_is_a_sign_of_life) {
    book.rules.cut_ns = SESSION / 2;
    happened(OPLOG_CUT, 0, 1, 1000, LB_NEVER);
    got(0, 1350, 1400);
    left(0, 5000, 5001, OPLOG_LOST, 0);
    got(1, 950, 1700);
    released(1, 1800, 1801);
    assert_verdict(OPLOG_VIOLATED, 1, 0, 0);
}

KNOWN(test_killed_while_it_held) {
    got(0, 10, 20);
    got(1, 15, 2500);
    released(1, 2600, 2601);
    happened(OPLOG_DEATH, 0, 1, 2000, 2000);
    assert_verdict(OPLOG_CLEAN, 0, 0, 0);
    assert_true(book.holds[0].flags & HOLD_DEAD);
}

KNOWN(test_never_released) {
    got(0, 10, 20);
    got(1, 15, 2500);
    released(1, 2600, 2601);
    assert_verdict(OPLOG_VIOLATED, 1, 0, 0);
}

/* In a file that was cut off, the release of a grant may be missing, so no overlap is certain. */
KNOWN(test_a_file_cut_off) {
    got(0, 10, 20);
    got(1, 15, 2500);
    released(1, 2600, 2601);
    book_end(&book, 0, false);
    assert_int_equal(oplog_judge(&book, &judgement, NULL, &err), 0);
    assert_int_equal(judgement.verdict, OPLOG_CLEAN);
    assert_false(judgement.busy_judged);
}

KNOWN(test_an_unknown_acquire_accuses_nobody) {
    got(0, 10, 20);
    released(0, 100, 110);
    tried(1, 15, 50, OPLOG_UNKNOWN);
    tried(2, 120, 130, OPLOG_BUSY); /* may be for the unknown one */
    assert_verdict(OPLOG_CLEAN, 0, 0, 0);
    assert_int_equal(judgement.spurious_busy, 0);
}

KNOWN(test_busy_for_no_reason) {
    got(0, 10, 20);
    released(0, 100, 110);
    got(0, 130, 140);
    released(0, 150, 160);
    tried(2, 105, 112, OPLOG_BUSY);
    tried(2, 115, 125, OPLOG_BUSY); /* nobody had it */
    tried(2, 126, 131, OPLOG_BUSY);
    tried(2, 161, 170, OPLOG_TIMEOUT);
    assert_verdict(OPLOG_CLEAN, 0, 0, 0);
    assert_true(judgement.busy_judged);
    assert_int_equal(judgement.spurious_busy, 1);
}

/* Only others may be in the way of who asks for what it holds. */
KNOWN(test_busy_where_it_held_itself) {
    for (int other = 0; other < 2; other++) {
        become(OPLOG_REENTRANT, 1, false);
        if (other) got(1, 1, 2);
        if (other) released(1, 8, 60); /* perhaps as late as at 60 */
        got(0, 10, 20);
        add((struct oplog_record){.kind = OPLOG_ACQUIRE,
                                  .outcome = OPLOG_BUSY,
                                  .depth = 1,
                                  .begin_ns = 30,
                                  .end_ns = 40});
        released(0, 200, 210);
        assert_verdict(OPLOG_CLEAN, 0, 0, 0);
        assert_int_equal(judgement.spurious_busy, !other);
    }
}

/* Of two that overlapped, the one that came in may be the one whose session was over: it wrote nothing. */
KNOWN(test_the_note_names_whose_session_had_ended) {
    struct oplog_line lines[EXPLAIN_LINES];
    got(0, 40, 50);
    got(1, 90, 100);
    left(1, 150, 150, OPLOG_LOST, OPLOG_UNCALLED | OPLOG_LEARNED);
    released(0, 200, 210);
    assert_verdict(OPLOG_EXPIRED, 0, 1, 0);
    const struct hold witness[] = {book.holds[judgement.witness[0]],
                                   book.holds[judgement.witness[1]]};
    assert_int_equal(oplog_explain(&book.rules, &judgement, witness, lines), 3);
    assert_string_equal(
        lines[1].note,
        "came in while another was there, and learned later that its own session had ended");
}

/* What holders were told: a lost grant is revoked if its lease and session lasted, and its session was ended if the
 * driver said so. Without a lease somebody who came in shows it, too. */
KNOWN(test_what_holders_were_told) {
    got_lease(0, 10, 20, 2010);
    left(0, 100, 120, OPLOG_LOST, 0);
    got_lease(1, 200, 210, 400);
    left(1, 390, 410, OPLOG_LOST, 0); /* its lease ended before the answer */
    got(2, 500, 510);
    left(2, 600, 610, OPLOG_LOST, OPLOG_UNCALLED | OPLOG_LEARNED | OPLOG_OVER);
    got(3, 700, 710);
    left(3, 800, 810, OPLOG_UNKNOWN, OPLOG_OVER); /* nobody came in */
    got(4, 900, 910);
    got(5, 950, 960);
    released(5, 970, 980);
    left(4, 1000, 1010, OPLOG_UNKNOWN, OPLOG_OVER);
    happened(OPLOG_CUT, 6, 1, 1100, 1100);
    got(6, 1050, 1060);
    left(6, 1200, 1210, OPLOG_LOST, 0); /* the cut explains it */
    assert_verdict(OPLOG_EXPIRED, 0, 1, 0);
    assert_int_equal(judgement.revoked, 1);
    assert_int_equal(judgement.ended, 2);
}

/* A grant that lasted was marked by its client, though the one before it is not here. */
KNOWN(test_marks_of_grants_that_lasted) {
    static const unsigned marks = OPLOG_OLD_TOKEN | OPLOG_REFUSED_TOKEN;
    got_token(0, 10, 20, 5);
    left(0, 100, 110, OPLOG_OK, marks);
    got_lease(1, 10, 200, 150); /* its lease was over */
    left(1, 300, 310, OPLOG_UNKNOWN, marks);
    got_token(2, 390, 400, 7);
    left(2, 500, 510, OPLOG_OK, OPLOG_REFUSED_TOKEN);
    assert_verdict(OPLOG_VIOLATED, 0, 0, 1);
    assert_int_equal(judgement.refused, 2);
}

TEST_MAIN(NULL, NULL)
