/* test_cell: the exclusion checks: each one fails on a broken history, and none fails on a clean
 * one. */
#include <pthread.h>
#include <unistd.h>

#include "bench/engine/loop.h"
#include "bench/load/entry.h"
#include "bench/measure/cell.h"
#include "bench/tests/unit.h"

static struct cell cell;
static struct findings findings;
static struct found all_holders[8];

FIXTURE(setup) {
    memset(&cell, 0, sizeof cell);
    memset(&findings, 0, sizeof findings);
    memset(all_holders, 0, sizeof all_holders);
    findings.holders = all_holders;
    return 0;
}

static struct entry enter(uint32_t client, int64_t acquired_ns, int64_t lease_end_ns,
                          uint64_t token) {
    struct holding me = {client, acquired_ns, lease_end_ns, token};
    return cell_enter(&cell, &findings, 7, &me);
}

static void leave(uint32_t client, struct entry entry, int64_t releasing_ns) {
    cell_leave(&cell, client, &entry, releasing_ns);
}

TEST_WITH(test_turns_are_clean, setup, NULL) {
    struct entry a = enter(0, 100, LB_NEVER, 1);
    assert_int_equal(a.releasing_ns, 0);
    assert_int_equal(a.run, 1);
    leave(0, a, 110);
    struct entry again = enter(0, 120, LB_NEVER, 2);
    assert_int_equal(again.run, 2);
    assert_int_equal(again.releasing_ns, 110);
    leave(0, again, 130);
    struct entry b = enter(1, 140, LB_NEVER, 5);
    assert_int_equal(b.run, 1);
    leave(1, b, 150);
    struct exclusion x = cells_judge(&cell, 1, &findings);
    assert_int_equal(x.verdict, VERDICT_CLEAN);
    assert_int_equal(x.grants, 3);
    assert_int_equal(x.counter, 3);
    assert_int_equal(x.lost_updates, 0);
}

TEST_WITH(test_two_holders, setup, NULL) {
    struct entry a = enter(3, 100, 500, 0), b = enter(4, 200, 600, 0);
    leave(3, a, 210);
    leave(4, b, 220);
    struct exclusion x = cells_judge(&cell, 1, &findings);
    assert_int_equal(x.verdict, VERDICT_VIOLATED);
    assert_int_equal(x.double_holders, 1);
    assert_int_equal(x.expired_holders, 0);
    assert_int_equal(x.lost_updates, 1);
    assert_int_equal(atomic_load(&findings.first_state), 2);
    assert_int_equal(findings.first_key, 7);
    assert_int_equal(findings.first_holder.client, 3);
    assert_int_equal(findings.first_holder.acquired_ns, 100);
    assert_int_equal(findings.first_holder.lease_end_ns, 500);
    assert_int_equal(findings.first_intruder.client, 4);
    assert_int_equal(findings.first_intruder.acquired_ns, 200);
}

/* A second client enters between the first two instructions of the first client's entry, on a key whose last holder's
 * lease is long over. The overlap must be judged by the first client's lease, not by that of the last holder. */
TEST_WITH(test_who_has_just_come_in_is_met_with_its_own_lease, setup, NULL) {
    leave(2, enter(2, 100, 500, 0), 110);
    struct holding me = {3, 1000, 2000, 0};
    findings_publish(&findings, &me);
    atomic_store(&cell.owner, 3 + 1);
    enter(4, 1001, 2001, 0);
    struct exclusion x = cells_judge(&cell, 1, &findings);
    assert_int_equal(x.double_holders, 1);
    assert_int_equal(x.expired_holders, 0);
}

TEST_WITH(test_a_holder_outlived_its_lease, setup, NULL) {
    struct entry a = enter(3, 100, 500, 0), b = enter(4, 500, 900, 0);
    leave(3, a, 600);
    leave(4, b, 610);
    struct exclusion x = cells_judge(&cell, 1, &findings);
    assert_int_equal(x.verdict, VERDICT_EXPIRED);
    assert_int_equal(x.double_holders, 0);
    assert_int_equal(x.expired_holders, 1);
}

/* The verdict if another client came and went after the end of a holder's lease. said: the outcome of the holder's
 * release. */
static enum verdict after_release(int64_t lease_end_ns, int64_t other_lease_end_ns,
                                  enum lb_outcome said) {
    static struct shared shared;
    struct worker worker = {.shared = &shared};
    struct client client = {.index = 3, .worker = &worker};
    setup(NULL);
    memset(&shared, 0, sizeof shared);
    shared.findings.holders = all_holders;
    struct holding holder = {3, 100, lease_end_ns, 0}, other = {4, 600, other_lease_end_ns, 0};
    struct entry a = cell_enter(&cell, &shared.findings, 7, &holder);
    struct entry b = cell_enter(&cell, &shared.findings, 7, &other);
    leave(4, b, 610);
    assert_false(cell_leave(&cell, 3, &a, 620));
    entry_was_found(&client, said, false);
    return cells_judge(&cell, 1, &shared.findings).verdict;
}

/* A holder past its lease is not excused if its release succeeds, although the lock had given the grant to another
 * client meanwhile. */
TEST(test_a_lost_lease_is_not_called_released) {
    assert_int_equal(after_release(500, 900, LB_LOST), VERDICT_EXPIRED);
    assert_int_equal(after_release(500, 900, LB_UNKNOWN), VERDICT_EXPIRED);
    assert_int_equal(after_release(500, 900, LB_OK), VERDICT_VIOLATED);
    /* The other client was the late one, and the holder's release is right. */
    assert_int_equal(after_release(LB_NEVER, 550, LB_OK), VERDICT_EXPIRED);
    /* Both were late: nobody knows which of them the lock had let in. */
    assert_int_equal(after_release(500, 550, LB_OK), VERDICT_EXPIRED);
}

/* An intruder that stands still between its exchange and its look at the holder. The holder learns that it lost the
 * grant, and would have its next grant before the intruder looks. The overlap must not be judged by that next grant. */
struct late_intruder {
    struct shared *shared;
    struct client *client;
};

static void *look_late(void *arg) {
    struct late_intruder *late = arg;
    struct holding me = {4, 600, 900, 0};
    usleep(50000);
    cell_overlap(&late->shared->findings, 7, 3 + 1, &me);
    return NULL;
}

static void leave_and_hold_again(void *arg) {
    struct late_intruder *late = arg;
    entry_leave(late->client, 620);
    if (late->client->at.was_found) entry_was_found(late->client, LB_LOST, false);
    struct holding next = {3, 700, LB_NEVER, 0};
    findings_publish(&late->shared->findings, &next);
}

TEST_WITH(test_a_holder_has_no_other_grant_before_it_is_judged, setup, NULL) {
    static struct shared shared;
    struct worker worker = {.shared = &shared};
    struct client_stats stats = {0};
    struct client client = {.index = 3, .worker = &worker, .stats = &stats, .at.cell = &cell};
    struct late_intruder late = {.shared = &shared, .client = &client};
    struct lb_err err = {0};
    pthread_t thread;
    memset(&shared, 0, sizeof shared);
    shared.findings.holders = all_holders;
    client.at.entry = cell_enter(&cell, &shared.findings, 7, &(struct holding){3, 100, 500, 0});
    atomic_store(&cell.owner, 4 + 1);
    assert_int_equal(pthread_create(&thread, NULL, look_late, &late), 0);
    assert_int_equal(loop_once("holder", leave_and_hold_again, &late, &err), 0);
    pthread_join(thread, NULL);
    assert_int_equal(shared.findings.double_holders, 0);
    assert_int_equal(shared.findings.expired_holders, 1);
    /* An intruder that was killed never judges. The holder goes on nevertheless. */
    client.at.entry = cell_enter(&cell, &shared.findings, 7, &(struct holding){3, 100, 500, 0});
    atomic_store(&cell.owner, 4 + 1);
    assert_int_equal(loop_once("holder", leave_and_hold_again, &late, &err), 0);
    assert_true(findings_judged(&shared.findings, 3, client.at.replaced));
}

/* Client 3 stood still between its grant and its entry, so it enters last, with the older stamp.
 * Its lease was over when client 4 got its grant, and client 4's token is rightly the greater
 * one. */
TEST_WITH(test_who_comes_in_late_is_no_second_holder, setup, NULL) {
    struct entry b = enter(4, 600, 900, 6), a = enter(3, 100, 500, 5);
    leave(4, b, 610);
    leave(3, a, 620);
    assert_int_equal(cells_judge(&cell, 1, &findings).double_holders, 0);
    assert_int_equal(cells_judge(&cell, 1, &findings).expired_holders, 1);
    /* A late client inside its lease is a second holder. */
    b = enter(4, 1000, 1900, 7);
    a = enter(3, 990, 1500, 8);
    assert_int_equal(cells_judge(&cell, 1, &findings).double_holders, 1);
}

/* A client stood still between the stamp of its grant and its entry. Its lease ended meanwhile, and
 * another client came and went. The late client's token is rightly the older one. */
TEST_WITH(test_an_old_token_of_who_stood_still, setup, NULL) {
    int64_t now_ns = lb_now();
    leave(4, enter(4, now_ns - LB_S_NS, now_ns + LB_S_NS, 6), now_ns);
    leave(3, enter(3, now_ns - 3 * LB_S_NS, now_ns - 2 * LB_S_NS, 5), now_ns);
    assert_int_equal(cells_judge(&cell, 1, &findings).token_errors, 0);
    assert_int_equal(cells_judge(&cell, 1, &findings).verdict, VERDICT_CLEAN);
    /* For a client inside its lease an old token is an error. */
    leave(3, enter(3, now_ns - 3 * LB_S_NS, now_ns + 3600 * LB_S_NS, 5), now_ns);
    assert_int_equal(cells_judge(&cell, 1, &findings).token_errors, 1);
}

/* The program stood still from 100 to 700 ms ago while client 0 waited. Its session lasts 200 ms: the
 * lock went to client 1, and client 0 learns of its grant before it learns that it is over. */
static void session_in_a_stall(bool late_is_intruder, uint64_t late_token, int64_t gap_ns) {
    static struct found holders[2];
    static struct heartbeat beats[2];
    int64_t now_ns = lb_now(), resumed_ns = now_ns - 100 * LB_MS_NS;
    setup(NULL);
    memset(holders, 0, sizeof holders);
    findings.holders = holders;
    findings.session_ns = 200 * LB_MS_NS;
    for (int i = 0; i < 2; i++) holders[i].heartbeat = &beats[i];
    atomic_store(&beats[0].beat_ns, now_ns);
    atomic_store(&beats[0].gap_ns, resumed_ns - gap_ns);
    atomic_store(&beats[0].gap_end_ns, resumed_ns);
    atomic_store(&beats[1].beat_ns, now_ns);
    atomic_store(&holders[0].asked_ns, now_ns - LB_S_NS);
    atomic_store(&holders[1].asked_ns, now_ns - LB_S_NS);
    int64_t first_ns = late_is_intruder ? now_ns - 300 * LB_MS_NS : resumed_ns + 1;
    uint32_t first = late_is_intruder ? 1 : 0;
    uint64_t first_token = first == 0 ? late_token : 6, second_token = first == 0 ? 6 : late_token;
    struct entry a = enter(first, first_ns, LB_NEVER, first_token);
    struct entry b = enter(1 - first, resumed_ns + 2, LB_NEVER, second_token);
    leave(first, a, now_ns);
    leave(1 - first, b, now_ns);
}

TEST_WITH(test_a_session_that_ended_while_its_client_waited, setup, NULL) {
    for (int late_is_intruder = 0; late_is_intruder < 2; late_is_intruder++) {
        session_in_a_stall(late_is_intruder, 5, 600 * LB_MS_NS);
        struct exclusion x = cells_judge(&cell, 1, &findings);
        assert_int_equal(x.double_holders, 0);
        assert_int_equal(x.token_errors, 0);
        assert_int_equal(x.verdict, VERDICT_EXPIRED);
        /* A stall that is shorter than the session excuses nothing. */
        session_in_a_stall(late_is_intruder, 5, 50 * LB_MS_NS);
        assert_int_equal(cells_judge(&cell, 1, &findings).double_holders, 1);
    }
}

/* A grant that arrived after the end of its lease, when others had come and gone: its token is old,
 * and a fenced store would reject it. */
TEST_WITH(test_an_old_token_of_a_lease_that_is_over, setup, NULL) {
    leave(0, enter(0, 100, 500, 6), 110);
    leave(1, enter(1, 600, 550, 5), 610);
    assert_int_equal(cells_judge(&cell, 1, &findings).verdict, VERDICT_CLEAN);
    leave(0, enter(0, 700, LB_NEVER, 6), 710); /* the old token has not become the last one */
    assert_int_equal(cells_judge(&cell, 1, &findings).token_errors, 1);
}

/* A client that waits while others get the lock again and again tests each of their grants, and
 * each grant counts once. */
TEST_WITH(test_grants_that_somebody_waited_for, setup, NULL) {
    struct client client = {.at = {.kind = ENTRY_CELL, .cell = &cell}};
    static const struct {
        int64_t asked_ns;
        uint64_t asked_turn, turn;
        int64_t left_ns;
        uint64_t trials;
    } cases[] = {
        {100, 0, 0, 0, 0},   /* the first of all */
        {110, 0, 5, 150, 5}, /* asked in the first grant, and waited for five */
        {130, 2, 6, 160, 1}, /* waited for some of the same */
        {200, 7, 7, 190, 0}, /* nobody was there */
        {210, 7, 9, 220, 2}, /* asked in the grant of before */
        {215, 7, 10, 230, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        client.at.asked_ns = cases[i].asked_ns;
        client.at.asked_turn = cases[i].asked_turn;
        client.at.entry = (struct entry){.turn = cases[i].turn, .releasing_ns = cases[i].left_ns};
        assert_int_equal(entry_trials(&client), cases[i].trials);
    }
}

/* Of a reader/writer lock each writer's grant is a trial, whoever waits for it; a reader's grant is one only for a
 * writer. */
TEST_WITH(test_writers_grants_that_somebody_waited_for, setup, NULL) {
    static struct shared shared = {.readers = 50};
    static struct worker worker = {.shared = &shared};
    struct client client = {.worker = &worker, .at = {.kind = ENTRY_READERS, .cell = &cell}};
    static const struct {
        bool reader;
        int64_t asked_ns;
        uint64_t asked_turn;
        int64_t asked_left_ns;
        uint64_t turn;
        int64_t left_ns;
        uint64_t trials;
    } cases[] = {
        {false, 100, 0, 0, 0, 0, 0},    /* the first of all */
        {false, 110, 0, 0, 5, 150, 5},  /* a writer waited for five writers */
        {true, 120, 3, 90, 7, 160, 2},  /* a reader waited for some of the same, and for two more */
        {true, 200, 7, 190, 7, 190, 0}, /* nobody was there */
        {true, 210, 7, 190, 7, 215, 0}, /* readers were */
        {false, 210, 7, 190, 7, 220, 1}, /* a writer waited for readers */
        /* A writer left while this one began to wait; another waiter counts its grant. */
        {false, 230, 7, 231, 7, 231, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        client.request.shared = cases[i].reader;
        client.at.asked_ns = cases[i].asked_ns;
        client.at.asked_turn = cases[i].asked_turn;
        client.at.asked_left_ns = cases[i].asked_left_ns;
        client.at.entry = (struct entry){.turn = cases[i].turn, .releasing_ns = cases[i].left_ns};
        if (cases[i].reader) client.at.entry = (struct entry){.run = 1};
        atomic_store(&cell.grants, cases[i].turn);
        atomic_store(&cell.releasing_ns, cases[i].left_ns);
        assert_int_equal(entry_trials(&client), cases[i].trials);
    }
}

/* What a client notes when it begins to wait. */
TEST_WITH(test_who_asks_sees_the_holders_number, setup, NULL) {
    static struct shared shared;
    static struct worker worker = {.shared = &shared};
    struct client client = {.worker = &worker, .at = {.kind = ENTRY_READERS}};
    shared.cells = &cell;
    entry_ask(&client, 90);
    assert_int_equal(client.at.asked_turn, 0);
    struct entry first = enter(0, 100, LB_NEVER, 0);
    entry_ask(&client, 105);
    assert_int_equal(client.at.asked_turn, 0);
    leave(0, first, 110);
    entry_ask(&client, 109); /* its time was taken before the holder left */
    assert_int_equal(client.at.asked_turn, 1);
    assert_int_equal(client.at.asked_left_ns, 110);
    struct entry second = enter(1, 120, LB_NEVER, 0);
    client.at.cell = &cell;
    client.at.entry = second;
    assert_int_equal(entry_trials(&client), 0);
}

TEST_WITH(test_tokens_must_grow, setup, NULL) {
    leave(0, enter(0, 100, LB_NEVER, 5), 110);
    leave(1, enter(1, 120, LB_NEVER, 5), 130);
    struct exclusion x = cells_judge(&cell, 1, &findings);
    assert_int_equal(x.token_errors, 1);
    assert_int_equal(x.verdict, VERDICT_VIOLATED);
    leave(1, enter(1, 140, LB_NEVER, 4), 150);
    assert_int_equal(cells_judge(&cell, 1, &findings).token_errors, 2);
    /* No token is no error. */
    leave(1, enter(1, 160, LB_NEVER, 0), 170);
    assert_int_equal(cells_judge(&cell, 1, &findings).token_errors, 2);
}

/* The counter alone: damage that the owner word did not see. */
TEST_WITH(test_lost_updates_alone, setup, NULL) {
    leave(0, enter(0, 100, LB_NEVER, 0), 110);
    atomic_store(&cell.counter, 0);
    struct exclusion x = cells_judge(&cell, 1, &findings);
    assert_int_equal(x.lost_updates, 1);
    assert_int_equal(x.verdict, VERDICT_VIOLATED);
}

/* One cell's surplus must not hide another's loss. */
TEST_WITH(test_each_cell_counts_for_itself, setup, NULL) {
    struct cell two[2];
    memset(two, 0, sizeof two);
    atomic_store(&two[0].grants, 10);
    atomic_store(&two[0].counter, 8);
    atomic_store(&two[1].grants, 10);
    atomic_store(&two[1].counter, 12);
    struct exclusion x = cells_judge(two, 2, &findings);
    assert_int_equal(x.lost_updates, 2);
    assert_int_equal(x.grants, 20);
    assert_int_equal(x.counter, 20);
}

TEST_WITH(test_no_grant_is_no_verdict, setup, NULL) {
    assert_int_equal(cells_judge(&cell, 1, &findings).verdict, VERDICT_UNCHECKED);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

struct rush {
    uint32_t client;
    bool locks;
};

static void *in_and_out(void *arg) {
    const struct rush *rush = arg;
    for (int i = 0; i < 200000; i++) {
        if (rush->locks) pthread_mutex_lock(&mutex);
        struct entry entry = enter(rush->client, lb_now(), LB_NEVER, 0);
        leave(rush->client, entry, lb_now());
        if (rush->locks) pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static struct exclusion run_crowd(bool locks) {
    pthread_t threads[4];
    struct rush rush[4];
    for (uint32_t i = 0; i < 4; i++) {
        rush[i] = (struct rush){.client = i, .locks = locks};
        pthread_create(&threads[i], NULL, in_and_out, &rush[i]);
    }
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    return cells_judge(&cell, 1, &findings);
}

TEST_WITH(test_threads_with_a_real_lock_are_clean, setup, NULL) {
    struct exclusion x = run_crowd(true);
    assert_int_equal(x.verdict, VERDICT_CLEAN);
    assert_int_equal(x.counter, 800000);
}

TEST_WITH(test_threads_without_a_lock_are_caught, setup, NULL) {
    struct exclusion x = run_crowd(false);
    assert_int_equal(x.verdict, VERDICT_VIOLATED);
    assert_int_equal(x.grants, 800000);
    assert_true(x.double_holders > 0);
}

/* The next holder meets the owner word of a client that was killed in its cell, whether that
 * client's lease ended or its session. This overlap is not the lock's fault. */
TEST_WITH(test_the_dead_are_excused, setup, NULL) {
    static const int64_t leases_ns[] = {150, LB_NEVER};
    for (int i = 0; i < 2; i++) {
        struct found holders[8] = {0};
        setup(NULL);
        findings.holders = holders;
        enter(1, 100, leases_ns[i], 0);
        struct entry next = enter(2, 200, LB_NEVER, 0);
        leave(2, next, 210);
        struct exclusion x = cells_judge(&cell, 1, &findings);
        assert_int_equal(x.verdict, leases_ns[i] == 150 ? VERDICT_EXPIRED : VERDICT_VIOLATED);
        assert_int_equal(x.lost_updates, 1);
        exclusion_excuse(&x, &findings, 1, 1);
        assert_int_equal(x.verdict, VERDICT_CLEAN);
        assert_int_equal(x.grants, 2);
        assert_int_equal(x.lost_updates + x.double_holders + x.expired_holders, 0);
    }
}

/* Each killed client excuses one overlap; the other findings stay. */
TEST_WITH(test_an_excuse_covers_one_overlap, setup, NULL) {
    struct found holders[8] = {0};
    findings.holders = holders;
    struct entry living = enter(3, 100, LB_NEVER, 0);
    enter(1, 110, LB_NEVER, 0);
    struct entry next = enter(2, 120, LB_NEVER, 0);
    leave(2, next, 130);
    leave(3, living, 140);
    struct exclusion x = cells_judge(&cell, 1, &findings);
    assert_int_equal(x.double_holders, 2);
    exclusion_excuse(&x, &findings, 1, 1);
    assert_int_equal(x.double_holders, 1);
    assert_int_equal(x.verdict, VERDICT_VIOLATED);
    assert_int_equal(atomic_load(&holders[3].doubled), 1);
}

static int64_t asked_ns;

/* The finding about a holder whose connection an injection cut: the cut is not the lock's fault. */
static enum how found_how(int64_t grace_ns, int64_t from_ns, int64_t to_ns, int64_t acquired_ns,
                          int64_t met_ns) {
    static struct found holders[2];
    memset(holders, 0, sizeof holders);
    findings.holders = holders;
    findings.cut_grace_ns = grace_ns;
    findings_cut(&findings, 0, from_ns, LB_NEVER);
    if (to_ns != LB_NEVER) findings_cut_over(&findings, 0, from_ns, to_ns);
    atomic_store(&holders[0].asked_ns, asked_ns);
    struct holding holder = {0, acquired_ns, LB_NEVER, 0}, intruder = {1, met_ns, LB_NEVER, 0};
    enum how how = findings_how(&findings, &holder, &intruder);
    return how;
}

TEST_WITH(test_who_was_cut_off, setup, NULL) {
    assert_int_equal(found_how(0, 100, 110, 50, 120), FOUND_EXCUSED);
    assert_int_equal(found_how(0, 100, 110, 105, 106), FOUND_EXCUSED);
    assert_int_equal(found_how(0, 100, 110, 50, 99), FOUND_DOUBLED);   /* before it */
    assert_int_equal(found_how(0, 100, 110, 111, 120), FOUND_DOUBLED); /* a grant from after it */
    /* The client asked before the cut, and learned of its grant after the cut: its session may have
     * ended. */
    asked_ns = 90;
    assert_int_equal(found_how(40, 100, 110, 141, 142), FOUND_EXCUSED);
    asked_ns = 0;
    /* its session lasts longer */
    assert_int_equal(found_how(40, 100, 110, 50, 120), FOUND_DOUBLED);
    assert_int_equal(found_how(40, 100, 110, 50, 140), FOUND_EXCUSED);
    assert_int_equal(found_how(40, 100, LB_NEVER, 200, 201), FOUND_EXCUSED);
    /* Several cuts: an earlier cut still counts after a later one, and the last four are kept. */
    static struct found holders[2];
    memset(holders, 0, sizeof holders);
    findings.holders = holders;
    findings.cut_grace_ns = 10;
    for (int64_t from_ns = 100; from_ns <= 500; from_ns += 100)
        findings_cut(&findings, 0, from_ns, from_ns + 5);
    struct holding holder = {0, 190, LB_NEVER, 0}, intruder = {1, 503, LB_NEVER, 0};
    assert_int_equal(findings_how(&findings, &holder, &intruder), FOUND_EXCUSED);
    holder.acquired_ns = 506;
    intruder.acquired_ns = 520;
    assert_int_equal(findings_how(&findings, &holder, &intruder), FOUND_DOUBLED);
    /* findings_cut_over ends only the cut that it names, and a cut that lasts is not replaced by
     * later ones. */
    memset(holders, 0, sizeof holders);
    for (int64_t from_ns = 100; from_ns <= 500; from_ns += 100)
        findings_cut(&findings, 0, from_ns, from_ns == 100 ? LB_NEVER : from_ns + 5);
    findings_cut_over(&findings, 0, 500, 505);
    assert_int_equal(findings_how(&findings, &holder, &intruder), FOUND_EXCUSED);
    findings_cut_over(&findings, 0, 100, 105);
    assert_int_equal(findings_how(&findings, &holder, &intruder), FOUND_DOUBLED);
    for (int64_t from_ns = 600; from_ns <= 1000; from_ns += 100)
        findings_cut(&findings, 0, from_ns, LB_NEVER);
    for (int i = 0; i < FOUND_CUTS; i++)
        assert_true(atomic_load(&holders[0].cuts[i].from_ns) < 1000);
    holder.client = 1; /* which was not cut */
    holder.acquired_ns = 50;
    assert_int_equal(findings_how(&findings, &holder, &intruder), FOUND_DOUBLED);
}

TEST_MAIN(NULL, NULL)
