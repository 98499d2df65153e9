/* test_crowd: the checks other than those of one cell: readers and permits in known histories,
 * and versions; and how a finding moves when a holder learns of its loss. */
#include <pthread.h>
#include <sched.h>

#include "bench/measure/crowd.h"
#include "bench/tests/unit.h"

#define CLIENTS 8

static struct crowd crowd[2];
static struct presence presence[CLIENTS];
static struct found holders[CLIENTS];
static struct findings findings;
static const struct crowds crowds = {crowd, presence, CLIENTS};

FIXTURE(setup) {
    memset(crowd, 0, sizeof crowd);
    memset(presence, 0, sizeof presence);
    memset(holders, 0, sizeof holders);
    memset(&findings, 0, sizeof findings);
    findings.holders = holders;
    return 0;
}

/* The order of loads can't be seen on x86, which keeps it. So the source itself is looked at: only the
 * last look at the version may be relaxed, since on ARM a relaxed load before it could move below it,
 * and a torn presence would accuse a correct lock. */
TEST(test_no_load_of_a_presence_moves_below_the_last_look) {
    char source[20000] = "";
    FILE *file = fopen("bench/measure/crowd.c", "re");
    assert_non_null(file);
    assert_true(fread(source, 1, sizeof source - 1, file) < sizeof source - 1);
    fclose(file);
    char *from = strstr(source, "read_presence(struct presence *presence) {");
    assert_non_null(from);
    *strstr(from, "} while") = '\0';
    int loads = 0;
    for (char *load = from; (load = strstr(load, "atomic_load")); loads++) {
        char *order = strstr(load, "memory_order_"), *next = strstr(load + 1, "atomic_load");
        assert_true(order && (!next || order < next));
        assert_int_equal(strncmp(order, "memory_order_acquire", 20) == 0, next != NULL);
        load = order;
    }
    assert_int_equal(loads, 7);
}

static void enter(uint32_t client, uint32_t units, uint32_t bound, int64_t acquired_ns,
                  int64_t lease_end_ns) {
    struct holding me = {client, acquired_ns, lease_end_ns, 0};
    crowd_enter(&crowds, &findings, 0, units, bound, &me);
}

static void assert_found(uint64_t doubled, uint64_t expired) {
    assert_int_equal(atomic_load(&findings.double_holders), doubled);
    assert_int_equal(atomic_load(&findings.expired_holders), expired);
}

TEST_WITH(test_permits_within_the_bound, setup, NULL) {
    enter(0, 2, 3, 100, LB_NEVER);
    enter(1, 1, 3, 110, LB_NEVER);
    assert_true(crowd_inside(&crowds, &findings, 0));
    assert_false(crowd_inside(&crowds, &findings, 1));
    crowd_leave(&crowds, 0, 120);
    enter(2, 2, 3, 130, LB_NEVER);
    crowd_leave(&crowds, 1, 140);
    crowd_leave(&crowds, 2, 150);
    assert_found(0, 0);
    assert_false(crowd_inside(&crowds, &findings, 0));
    struct exclusion x = {0};
    crowds_judge(&x, &crowds, 2);
    assert_int_equal(x.grants, 3);
    assert_int_equal(x.counter, 3);
}

TEST_WITH(test_one_permit_too_many, setup, NULL) {
    enter(0, 2, 3, 100, 1000);
    enter(1, 2, 3, 110, 1000);
    assert_found(1, 0);
    assert_int_equal(findings.first_holder.client, 0);
    assert_int_equal(findings.first_intruder.client, 1);
}

TEST_WITH(test_past_its_lease_is_told_apart, setup, NULL) {
    enter(0, 2, 3, 100, 200);
    enter(1, 2, 3, 210, 1000); /* the first one's lease is over */
    assert_found(0, 1);
    enter(2, 2, 3, 220, 1000); /* the second one's is not */
    assert_found(1, 1);
    /* Renewed in time it is inside its lease. */
    setup(NULL);
    enter(0, 2, 3, 100, 200);
    crowd_renewed(&crowds, 0, 300);
    enter(1, 2, 3, 210, 1000);
    assert_found(1, 0);
}

TEST_WITH(test_readers_and_writers, setup, NULL) {
    enter(0, 1, CROWD_ALL, 100, LB_NEVER);
    enter(1, 1, CROWD_ALL, 110, LB_NEVER);
    assert_found(0, 0);
    enter(2, CROWD_ALL, CROWD_ALL, 120, LB_NEVER);
    assert_found(1, 0);
    setup(NULL);
    enter(2, CROWD_ALL, CROWD_ALL, 100, LB_NEVER);
    enter(0, 1, CROWD_ALL, 110, LB_NEVER);
    assert_found(1, 0);
    /* Two writers are found in the cell, once. */
    setup(NULL);
    enter(2, CROWD_ALL, CROWD_ALL, 100, LB_NEVER);
    enter(3, CROWD_ALL, CROWD_ALL, 110, LB_NEVER);
    assert_found(0, 0);
}

/* A wrong sum only makes the check look at the holders; a client that is not inside is never
 * accused. */
TEST_WITH(test_a_wrong_sum_accuses_nobody, setup, NULL) {
    atomic_store(&crowd[0].inside, 100);
    enter(0, 2, 3, 100, LB_NEVER);
    enter(1, 1, 3, 110, LB_NEVER);
    assert_found(0, 0);
}

/* Two holders that were never inside at the same moment are not added up: by its own stamp the
 * first one left before the second one came, though its units are still in the sum. */
TEST_WITH(test_only_one_moment_counts, setup, NULL) {
    enter(0, 2, 3, 100, LB_NEVER);
    atomic_store(&presence[0].left_ns, 105);
    enter(1, 2, 3, 110, LB_NEVER);
    assert_found(0, 0);
}

/* The holder that is added to the sum last looks at the moment at which the other one came. */
TEST_WITH(test_the_last_one_added_sees_who_came_later, setup, NULL) {
    enter(1, 2, 3, 200, LB_NEVER);
    enter(0, 2, 3, 190, LB_NEVER);
    assert_found(1, 0);
}

/* ... but its own lease may have ended by then. */
TEST_WITH(test_the_last_one_added_may_have_outlived_its_lease, setup, NULL) {
    enter(1, 2, 3, 200, LB_NEVER);
    enter(0, 2, 3, 190, 195);
    assert_found(0, 1);
}

/* A writer's grant is counted by its cell alone. */
TEST_WITH(test_writers_are_counted_once, setup, NULL) {
    struct exclusion x = {0};
    enter(0, CROWD_ALL, CROWD_ALL, 100, LB_NEVER);
    crowd_leave(&crowds, 0, 110);
    enter(0, CROWD_ALL, CROWD_ALL, 120, LB_NEVER);
    crowd_abandon(&crowds, 0, 130);
    crowds_judge(&x, &crowds, 2);
    assert_int_equal(x.grants, 0);
    enter(0, 1, CROWD_ALL, 140, LB_NEVER);
    crowd_leave(&crowds, 0, 150);
    enter(0, 1, CROWD_ALL, 160, LB_NEVER);
    crowd_abandon(&crowds, 0, 170);
    crowds_judge(&x, &crowds, 2);
    assert_int_equal(x.grants, 1);
}

TEST_WITH(test_the_dead_are_buried, setup, NULL) {
    enter(0, CROWD_ALL, CROWD_ALL, 100, LB_NEVER);
    atomic_store(&holders[0].gone, true);
    enter(1, 1, CROWD_ALL, 110, LB_NEVER);
    assert_found(0, 0);
    crowd_bury(&crowds, 0, 120);
    assert_int_equal(atomic_load(&crowd[0].inside), 1);
    /* A client that was killed while it wrote its presence: a client that looks does not wait for
     * it. */
    atomic_store(&presence[3].version, 7);
    crowd_bury(&crowds, 3, 130);
    enter(2, CROWD_ALL, CROWD_ALL, 140, LB_NEVER);
    assert_found(1, 0); /* the living reader */
}

TEST_WITH(test_a_loss_learned_in_time, setup, NULL) {
    struct cell cell = {0};
    struct holding me = {1, 100, LB_NEVER, 0}, other = {2, 150, LB_NEVER, 0};
    struct entry mine = cell_enter(&cell, &findings, 0, &me);
    struct entry others = cell_enter(&cell, &findings, 0, &other);
    assert_found(1, 0);
    (void)mine;
    cell_abandon(&cell, 1);
    findings_excuse_told(&findings, 1, 0);
    atomic_fetch_add(&findings.detected, 1);
    assert_found(0, 1);
    assert_true(cell_leave(&cell, 2, &others, 170));
    struct exclusion x = cells_judge(&cell, 1, &findings);
    assert_int_equal(x.verdict, VERDICT_EXPIRED);
    assert_int_equal(x.grants, 2);
    assert_int_equal(x.counter, 1);
    assert_int_equal(x.detected, 1);
    assert_int_equal(x.lost_updates, 0);
    /* Findings of the holder's earlier grants stay. */
    atomic_store(&holders[1].doubled, 5);
    atomic_store(&findings.double_holders, 5);
    findings_excuse_told(&findings, 1, 5);
    assert_int_equal(atomic_load(&findings.double_holders), 5);
}

/* The lock let another one in before the lease had ended and the holder was told; one that comes after that is not the
 * lock's mistake. */
TEST_WITH(test_a_lease_that_was_lost_inside, setup, NULL) {
    struct holding holder = {1, 100, 1000, 0}, before = {2, 149, 1000, 0},
                   after = {2, 150, 1000, 0};
    atomic_store(&holders[1].told_ns, 150);
    assert_int_equal(findings_how(&findings, &holder, &before), FOUND_DOUBLED);
    assert_int_equal(findings_how(&findings, &holder, &after), FOUND_EXPIRED);
}

TEST_WITH(test_a_session_that_ended, setup, NULL) {
    struct heartbeat heartbeat = {.beat_ns = 100};
    struct holding holder = {1, 90, LB_NEVER, 0}, intruder = {2, 149, LB_NEVER, 0};
    findings.session_ns = 50;
    /* needs no heartbeat */
    assert_int_equal(findings_how(&findings, &holder, &intruder), FOUND_DOUBLED);
    holders[1].heartbeat = &heartbeat;
    assert_int_equal(findings_how(&findings, &holder, &intruder), FOUND_DOUBLED);
    intruder.acquired_ns = 150; /* 50 after the last beat */
    assert_int_equal(findings_how(&findings, &holder, &intruder), FOUND_EXCUSED);
    /* It lives again, but stood still since the grant. */
    atomic_store(&heartbeat.gap_ns, 100);
    atomic_store(&heartbeat.gap_end_ns, 200);
    atomic_store(&heartbeat.beat_ns, 200);
    intruder.acquired_ns = 210;
    assert_int_equal(findings_how(&findings, &holder, &intruder), FOUND_EXCUSED);
    holder.acquired_ns = 205; /* granted after that */
    assert_int_equal(findings_how(&findings, &holder, &intruder), FOUND_DOUBLED);
    /* The intruder came in after its own lease was over. */
    intruder.lease_end_ns = 209;
    assert_int_equal(findings_how(&findings, &holder, &intruder), FOUND_EXPIRED);
    /* The holder's release succeeds, so the finding is no longer excused. */
    findings_note(&findings, FOUND_EXCUSED, 0, &holder, &intruder);
    assert_found(0, 1);
    findings_untold(&findings, 1, 1);
    assert_found(1, 0);
}

/* Two clients hold a permit each. One of them stood still, and its session is over. The next client
 * overlaps with that one, and not with the one that went on, whichever of them is looked at
 * first. */
TEST_WITH(test_one_of_several_stood_still, setup, NULL) {
    for (uint32_t still = 0; still < 2; still++) {
        struct heartbeat alive = {.beat_ns = 290}, stopped = {.beat_ns = 110};
        setup(NULL);
        findings.session_ns = 50;
        holders[still].heartbeat = &stopped;
        holders[1 - still].heartbeat = &alive;
        enter(still, 1, 2, 100, LB_NEVER);
        enter(1 - still, 1, 2, 120, LB_NEVER);
        enter(2, 1, 2, 300, LB_NEVER);
        assert_found(0, 1);
        assert_int_equal(atomic_load(&holders[still].excused), 1);
        assert_int_equal(atomic_load(&holders[1 - still].expired), 0);
        /* A third that works is one too many all the same. */
        enter(3, 1, 2, 301, LB_NEVER);
        assert_found(1, 1);
    }
}

TEST_WITH(test_versions, setup, NULL) {
    struct versions versions = {0};
    struct exclusion x = {0};
    for (uint64_t v = 7; v < 12; v++) versions_add(&versions, v);
    versions_add(&versions, 15); /* others may have written between */
    versions_add(&versions, 0);  /* not said which */
    versions_judge(&x, &versions, 1);
    assert_int_equal(x.grants, 6);
    assert_int_equal(x.lost_updates, 0);
    for (uint64_t v = 12; v < 15; v++) versions_add(&versions, v);
    versions_add(&versions, 9); /* again */
    x = (struct exclusion){0};
    versions_judge(&x, &versions, 1);
    assert_int_equal(x.lost_updates, 1);
    assert_int_equal(x.counter, 9);
    assert_int_equal(exclusion_verdict(&x), VERDICT_VIOLATED);
}

/* The order of badness. */
TEST_WITH(test_verdicts, setup, NULL) {
    struct exclusion x = {.grants = 10};
    assert_int_equal(exclusion_verdict(&x), VERDICT_CLEAN);
    x.expired_holders = 1;
    assert_int_equal(exclusion_verdict(&x), VERDICT_EXPIRED);
    x.stuck = 1;
    assert_int_equal(exclusion_verdict(&x), VERDICT_STUCK);
    x.early = 1;
    assert_int_equal(exclusion_verdict(&x), VERDICT_VIOLATED);
    x = (struct exclusion){.stuck = 1}; /* nobody got it even once */
    assert_int_equal(exclusion_verdict(&x), VERDICT_STUCK);
}

struct visitor {
    pthread_mutex_t *mutex;
    uint32_t client;
    uint32_t units, bound;
};

static int permits_out;

/* Takes a permit rightly (mutex) or not, many times. */
static void *come_and_go(void *arg) {
    struct visitor *visitor = arg;
    for (int i = 0; i < 20000; i++) {
        while (visitor->mutex) {
            pthread_mutex_lock(visitor->mutex);
            bool room = permits_out < 2;
            if (room) permits_out++;
            pthread_mutex_unlock(visitor->mutex);
            if (room) break;
        }
        enter(visitor->client, 1, 2, lb_now(), LB_NEVER);
        if (!visitor->mutex) sched_yield(); /* inside: the others' turn */
        crowd_leave(&crowds, visitor->client, lb_now());
        if (!visitor->mutex) continue;
        pthread_mutex_lock(visitor->mutex);
        permits_out--;
        pthread_mutex_unlock(visitor->mutex);
    }
    return NULL;
}

static void visit(pthread_mutex_t *mutex) {
    pthread_t threads[4];
    struct visitor visitors[4];
    for (uint32_t i = 0; i < 4; i++) {
        visitors[i] = (struct visitor){.mutex = mutex, .client = i};
        pthread_create(&threads[i], NULL, come_and_go, &visitors[i]);
    }
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&crowd[0].inside), 0);
}

TEST_WITH(test_threads_with_permits_are_clean, setup, NULL) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    visit(&mutex);
    assert_found(0, 0);
}

TEST_WITH(test_threads_without_are_caught, setup, NULL) {
    visit(NULL);
    assert_true(atomic_load(&findings.double_holders) > 0);
}

TEST_MAIN(NULL, NULL)
