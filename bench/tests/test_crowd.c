/* test_crowd: the checks other than those of one cell: readers, permits, and versions. */
#include <pthread.h>
#include <sched.h>

#include "bench/measure/crowd.h"
#include "bench/tests/unit.h"

#define CLIENTS 8

static struct crowd crowd[2];
static struct presence presence[CLIENTS];
static const struct crowds crowds = {crowd, presence, CLIENTS};

FIXTURE(setup) {
    memset(crowd, 0, sizeof crowd);
    memset(presence, 0, sizeof presence);
    return 0;
}

/* Returns whether there is room. */
static bool enter(uint32_t client, uint32_t units, uint32_t bound) {
    struct holding me = {client, 100, LB_NEVER, 0};
    return crowd_enter(&crowds, 0, units, bound, &me);
}

/* Returns whether there was room all the time. */
static bool leave(uint32_t client) {
    return crowd_leave(&crowds, client);
}

static uint64_t inside(void) {
    return atomic_load(&crowd[0].inside) % CROWD_ALARM;
}

TEST_WITH(test_permits_within_the_bound, setup, NULL) {
    assert_true(enter(0, 2, 3) && enter(1, 1, 3));
    assert_true(crowd_inside(&crowds, 0));
    assert_false(crowd_inside(&crowds, 1));
    assert_true(leave(0) && enter(2, 2, 3));
    assert_true(leave(1) && leave(2));
    assert_false(crowd_inside(&crowds, 0));
    struct exclusion x = {0};
    crowds_sum(&x, &crowds, 2);
    assert_int_equal(x.grants, 3);
    assert_int_equal(x.counter, 3);
}

/* All who were inside are marked, also one who leaves when there is room again. Who comes later is not. */
TEST_WITH(test_one_permit_too_many, setup, NULL) {
    assert_true(enter(0, 1, 2) && enter(1, 1, 2));
    assert_false(enter(2, 1, 2));
    assert_false(leave(0));
    assert_true(leave(2)); /* it knows since its entry */
    assert_false(leave(1));
    assert_true(enter(3, 1, 2) && leave(3));
    assert_int_equal(inside(), 0);
}

TEST_WITH(test_readers_and_writers, setup, NULL) {
    assert_true(enter(0, 1, CROWD_ALL) && enter(1, 1, CROWD_ALL));
    assert_false(enter(2, CROWD_ALL, CROWD_ALL));
    assert_true(leave(2));
    assert_false(leave(0));
    assert_false(leave(1));
    assert_true(enter(2, CROWD_ALL, CROWD_ALL));
    assert_false(enter(0, 1, CROWD_ALL));
}

/* A writer's grant is counted by its cell alone. */
TEST_WITH(test_writers_are_counted_once, setup, NULL) {
    struct exclusion x = {0};
    assert_true(enter(0, CROWD_ALL, CROWD_ALL) && leave(0));
    assert_true(enter(0, CROWD_ALL, CROWD_ALL) && crowd_abandon(&crowds, 0));
    crowds_sum(&x, &crowds, 2);
    assert_int_equal(x.grants, 0);
    assert_true(enter(0, 1, CROWD_ALL) && leave(0));
    assert_true(enter(0, 1, CROWD_ALL) && crowd_abandon(&crowds, 0));
    crowds_sum(&x, &crowds, 2);
    assert_int_equal(x.grants, 1);
}

TEST_WITH(test_the_dead_are_buried, setup, NULL) {
    enter(0, CROWD_ALL, CROWD_ALL);
    crowd_bury(&crowds, 0);
    crowd_bury(&crowds, 3); /* it was not inside */
    assert_int_equal(inside(), 0);
    assert_true(enter(1, 1, CROWD_ALL) && leave(1));
}

TEST_WITH(test_versions, setup, NULL) {
    struct versions versions = {0};
    struct exclusion x = {0};
    for (uint64_t v = 7; v < 12; v++) versions_add(&versions, v);
    versions_add(&versions, 15); /* others may have written between */
    versions_add(&versions, 0);  /* not said which */
    versions_sum(&x, &versions, 1);
    assert_int_equal(x.grants, 6);
    assert_int_equal(x.lost_updates, 0);
    for (uint64_t v = 12; v < 15; v++) versions_add(&versions, v);
    versions_add(&versions, 9); /* again */
    x = (struct exclusion){0};
    versions_sum(&x, &versions, 1);
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
static _Atomic int marked;

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
        bool room = enter(visitor->client, 1, 2);
        if (!visitor->mutex) sched_yield(); /* inside: the others' turn */
        if (!leave(visitor->client) || !room) atomic_fetch_add(&marked, 1);
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
    assert_int_equal(inside(), 0);
}

TEST_WITH(test_threads_with_permits_are_clean, setup, NULL) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    marked = 0;
    visit(&mutex);
    assert_int_equal(marked, 0);
}

TEST_WITH(test_threads_without_are_caught, setup, NULL) {
    visit(NULL);
    assert_true(marked > 0);
}

TEST_MAIN(NULL, NULL)
